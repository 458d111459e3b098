"""README and help tell of everything there is: a setting or command that nobody can find does not exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader import errors
from grader.cli import config
from grader.cli.main import CLOSING
from grader.cli.registry import COMMANDS
from grader.schemas.report import Verdict
from grader.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()


@pytest.mark.parametrize("name", Settings.model_fields)
def test_every_setting_is_in_the_readme(name: str) -> None:
    assert f"`GRADER_{name.upper()}`" in README


def test_the_readme_tells_of_no_other_setting() -> None:
    others = {"SERVER", "TOKEN", "REQUIRE", "PROVE"}
    others |= {config.variable(name).removeprefix("GRADER_") for name in config.KEYS}
    told = set(re.findall(r"GRADER_([A-Z_]+)", README))
    assert told - others == {name.upper() for name in Settings.model_fields}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_in_readme_and_changes(name: str) -> None:
    assert re.search(rf"grader {name}\b|`{name}`", README)
    assert re.search(rf"`{name}[ `]", (ROOT / "CHANGES.md").read_text())


@pytest.mark.parametrize("verdict", list(Verdict))
def test_every_verdict_is_in_the_readme(verdict: Verdict) -> None:
    assert f"`{verdict.value}`" in README


def test_every_exit_code_is_in_readme_and_help() -> None:
    codes = {value for name, value in vars(errors).items() if name.startswith("EXIT_")}
    assert {int(code) for code in re.findall(r"^\| (\d) \|", README, re.MULTILINE)} == codes
    assert {int(code) for code in re.findall(r"\b(\d) ", CLOSING)} == codes


def test_every_make_target_is_in_the_readme_and_no_other() -> None:
    targets = set(re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"^\| `make ([a-z-]+)` \|", README, re.MULTILINE)) == targets - {"help"}


def test_folders_of_the_readme_exist() -> None:
    house = README.partition("## The house")[2].partition("## Make targets")[0]
    for row in re.findall(r"^\| (`.*?) \|", house, re.MULTILINE):
        for folder in re.findall(r"`([^`]+)`", row):
            assert (ROOT / folder).is_dir(), folder
