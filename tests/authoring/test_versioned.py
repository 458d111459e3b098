"""Judging changes only with the version number: a remark for authors, a rule for our challenges."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from grader.authoring.versioned import changed_since_numbered, version_check
from grader.challenge.catalogue import find_catalogue
from grader.challenge.earlier import numbered_in
from tests.authoring.conftest import Made, Write

OURS = find_catalogue()


def commit(root: Path) -> None:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q"], ["add", "."], [*who, "commit", "-q", "-m", "as it is"]):
        subprocess.run(["git", "-C", str(root), *words], check=True, capture_output=True)


def remarks(made: Made) -> list[str]:
    return version_check(made.catalogue, made.challenge).remarks


def test_a_changed_case_is_reported_until_the_version_is_raised(write: Write) -> None:
    made = write()
    assert remarks(made) == [], "git knows nothing of it"
    commit(made.catalogue.root)
    made.edit("challenge.toml", 'title = "Fresh"', 'title = "Fresher"')
    commit(made.catalogue.root)
    assert remarks(made) == []
    made.edit("cases.py", 'case("basic", ', 'case("plain", ')
    commit(made.catalogue.root)
    (remark,) = remarks(made)
    assert remark.startswith("cases basic, cases plain changed since version 1 was committed")
    assert "`version = 2`" in remark
    made.edit("challenge.toml", "version = 1", "version = 2")
    assert remarks(made) == [], "not yet committed"
    commit(made.catalogue.root)
    assert remarks(made) == []
    made.edit("cases.py", 'case("plain", ', 'case("basic", ')
    assert len(remarks(made)) == 1, "under the new number it is fast again"


@pytest.mark.parametrize("slug", OURS.slugs())
def test_our_challenges_match_their_committed_version(slug: str) -> None:
    """Platforms that serve our challenges refuse a folder that changed under its number."""
    if numbered_in(OURS, slug) is None:
        pytest.skip("git does not know these challenges")
    found = changed_since_numbered(OURS, OURS.load(slug))
    assert found is None, f"{slug}: raise `version` in its challenge.toml"
