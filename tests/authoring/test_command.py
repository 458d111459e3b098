"""`challenge new` at a terminal, and what `challenge check` cannot be asked."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from grader.challenge.course import Course
from tests.authoring.conftest import Write
from tests.cli.conftest import Cli, cli, home  # noqa: F401 - fixtures


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    (tmp_path / "challenges").mkdir(exist_ok=True)
    monkeypatch.setenv("GRADER_CHALLENGES", str(tmp_path))
    return Course(tmp_path)


def test_what_no_option_says_is_asked(cli: Cli, course: Course, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    answers = ["My scale", "warm-up", "hard", "x:input:float32:n", "y:output:float32:n", "", "n=2000000", ""]
    monkeypatch.setattr(sys, "stdin", Terminal("\n".join(answers) + "\n"))
    assert cli("challenge", "new", "scale").code == 0
    manifest = course.load("scale").manifest
    assert (manifest.title, manifest.track, manifest.difficulty) == ("My scale", "warm-up", "hard")
    assert [arg.name for arg in manifest.args] == ["x", "y", "n"]
    assert {"n": 2_000_000} in [it.sizes for it in manifest.workloads]


def test_a_slug_that_is_taken_is_reported_before_anything_is_asked(
    cli: Cli,  # noqa: F811
    course: Course,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (course.root / "reference" / "scale").mkdir(parents=True)
    monkeypatch.setattr(sys, "stdin", Terminal(""))
    ran = cli("challenge", "new", "scale")
    assert ran.code == 2
    assert "exists already" in ran.err


def test_a_track_that_the_course_lacks(cli: Cli, course: Course) -> None:  # noqa: F811
    (course.root / "challenges" / "tracks.toml").write_text(
        '[[tracks]]\ntitle = "one"\ndescription = "The only."\n'
    )
    ran = cli("challenge", "new", "scale", "--track", "two")
    assert ran.code == 2
    assert "Its tracks: one." in ran.err
    assert not (course.root / "reference").exists()


@pytest.mark.parametrize("args", [[], ["--all", "--changed"], ["fresh", "--all"]])
def test_one_way_to_choose(args: list[str], cli: Cli, write: Write, course: Course) -> None:  # noqa: F811
    write()
    ran = cli("challenge", "check", *args)
    assert ran.code == 2
    assert "Which challenges?" in ran.err


def test_an_unknown_challenge(cli: Cli, write: Write, course: Course) -> None:  # noqa: F811
    write()
    ran = cli("challenge", "check", "fresh", "stale")
    assert ran.code == 2
    assert "no challenge 'stale'" in ran.err


def test_a_folder_that_does_not_load_is_an_error_of_its_own(
    cli: Cli,  # noqa: F811
    write: Write,
    course: Course,
) -> None:
    """No process is started for it, and others would go on."""
    write().edit("challenge.toml", "version = 1", "version = 0")
    ran = cli("challenge", "check", "--all")
    assert ran.code == 1
    assert "version" in ran.out
    assert "0 of 1 proven" in ran.out
