"""README, docs and help name every command: one that nobody can find does not exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader import __version__, errors
from grader.cli.main import CLOSING
from grader.cli.registry import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
DEVELOPING = (ROOT / "docs" / "developing.md").read_text()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_in_a_guide(name: str) -> None:
    guides = "".join(path.read_text() for path in (ROOT / "docs").glob("*.md"))
    assert re.search(rf"grader {name}\b", guides)


def test_changes_of_this_release_are_short() -> None:
    releases = re.split(r"^## ", (ROOT / "CHANGES.md").read_text(), flags=re.MULTILINE)[1:]
    named = {release.split(maxsplit=1)[0]: release for release in releases}
    assert len(named[__version__].split()) <= 800


def test_every_exit_code_is_in_the_help() -> None:
    codes = {value for name, value in vars(errors).items() if name.startswith("EXIT_")}
    assert {int(code) for code in re.findall(r"\b(\d\d?) ", CLOSING)} == codes


def test_every_make_target_is_documented_and_no_other() -> None:
    targets = set(re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"^\| `make ([a-z-]+)` \|", DEVELOPING, re.MULTILINE)) == targets - {"help"}


def test_documented_folders_exist() -> None:
    table = DEVELOPING.partition("## The folders")[2]
    rows = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    assert len(rows) > 10
    for folder in (each for row in rows for each in re.findall(r"`([^`]+)`", row)):
        assert (ROOT / folder).is_dir(), folder


def test_the_readme_is_one_page() -> None:
    assert len(README.splitlines()) <= 60
    for name in ("demo", "test", "up"):
        assert f"make {name}" in README


@pytest.mark.parametrize(("name", "least"), [("README", 9), ("CONTRIBUTING", 5), ("CHANGES", 1)])
def test_every_link_of_a_page_at_the_top_leads_somewhere(name: str, least: int) -> None:
    from grader.manual.sections import split

    text = (ROOT / f"{name}.md").read_text()
    linked = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'(?:src|srcset)="([^"]+)"', text)
    assert len(linked) >= least
    for link in linked:
        path, _, anchor = link.partition("#")
        assert (ROOT / path).is_file(), link
        if anchor:
            assert anchor in {section.anchor for section in split((ROOT / path).read_text())}, link


def test_the_pictures_are_small() -> None:
    pictures = sorted((ROOT / "docs" / "images").glob("*.png"))
    assert len(pictures) == 4
    assert all(path.stat().st_size < 120 * 1024 for path in pictures)
