"""Challenges that a branch changed: committed, uncommitted or new; None if git cannot tell."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from grader.authoring.changed import changed_slugs

SLUGS = ["one", "two", "three", "four"]


def _git(root: Path, *words: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(root), *identity, *words], check=True, capture_output=True)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for slug in SLUGS:
        for part in ("challenges", "reference"):
            (tmp_path / part / slug).mkdir(parents=True)
            (tmp_path / part / slug / "file").write_text(slug)
    _git(tmp_path, "init", "-q", "-b", "main")
    _git(tmp_path, "add", ".")
    _git(tmp_path, "commit", "-q", "-m", "all")
    return tmp_path


def test_a_clean_checkout_has_no_changed_challenge(root: Path) -> None:
    assert changed_slugs(root, SLUGS) == []


def test_committed_uncommitted_and_new_changes_count(root: Path) -> None:
    _git(root, "switch", "-q", "-c", "mine")
    (root / "challenges" / "one" / "file").write_text("other")
    _git(root, "commit", "-q", "-a", "-m", "committed")
    (root / "reference" / "two" / "file").unlink()
    (root / "reference" / "three" / "fresh").write_text("not known to git")
    (root / "elsewhere").write_text("no challenge")
    assert changed_slugs(root, SLUGS) == ["one", "two", "three"]


def test_later_changes_of_the_default_branch_do_not_count(root: Path) -> None:
    _git(root, "switch", "-q", "-c", "mine")
    _git(root, "switch", "-q", "main")
    (root / "challenges" / "four" / "file").write_text("theirs")
    _git(root, "commit", "-q", "-a", "-m", "theirs")
    _git(root, "switch", "-q", "mine")
    assert changed_slugs(root, SLUGS) == []


def test_a_catalogue_may_be_a_subfolder_of_the_repository(root: Path) -> None:
    _git(root, "switch", "-q", "-c", "mine")
    catalogue = root / "catalogue"
    (catalogue / "challenges" / "two").mkdir(parents=True)
    (catalogue / "challenges" / "two" / "file").write_text("new")
    assert changed_slugs(catalogue, SLUGS) == ["two"]
    _git(root, "add", ".")
    assert changed_slugs(catalogue, SLUGS) == ["two"]


def test_changes_are_unknown_without_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert changed_slugs(tmp_path, SLUGS) is None


def test_changes_are_unknown_without_git(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert changed_slugs(root, SLUGS) is None
