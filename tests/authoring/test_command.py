"""`challenge new` at a terminal, and refused options of `challenge check`."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from grader.authoring.candidates import mutant_files
from grader.challenge.catalogue import Catalogue
from tests.authoring.conftest import Write
from tests.cli.conftest import Cli, cli, home  # noqa: F401 - fixtures


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Catalogue:
    (tmp_path / "challenges").mkdir(exist_ok=True)
    monkeypatch.setenv("GRADER_CHALLENGES", str(tmp_path))
    return Catalogue(tmp_path)


def test_new_asks_six_questions(
    cli: Cli,  # noqa: F811
    catalogue: Catalogue,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    signature = "picked(x: f32[rows, cols], at: i64[rows] < cols) -> out: f32[rows]"
    answers = ["warm-up", signature, "x.gather(1, at[:, None])[:, 0]", "exact", "memory", "triton"]
    monkeypatch.setattr(sys, "stdin", Terminal("\n".join(answers) + "\n"))
    ran = cli("challenge", "new", "picked")
    assert ran.code == 0
    challenge = catalogue.load("picked")
    manifest = challenge.manifest
    assert (manifest.title, manifest.track, manifest.languages) == ("Picked", "warm-up", ["triton"])
    assert [arg.name for arg in manifest.args] == ["x", "at", "out", "rows", "cols"]
    assert (manifest.args[1].values.low, manifest.args[1].values.high) == (0, "cols")
    assert (manifest.tolerance.atol, manifest.tolerance.rtol) == (0, 0)
    # No element of an empty row can be picked, nor one at the ends of int64.
    assert "Left out, because the reference does not answer them: cols_0, extremes." in ran.err
    files = [path.name for path in mutant_files(challenge)]
    assert len(files) == 8
    assert "8 mutants, each with a case that it fails" in ran.err
    assert (
        "def reference(x: torch.Tensor, at: torch.Tensor, rows: int, cols: int)" in challenge.reference_source
    )


def test_a_taken_slug_is_refused_before_any_question(
    cli: Cli,  # noqa: F811
    catalogue: Catalogue,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (catalogue.root / "reference" / "scale").mkdir(parents=True)
    monkeypatch.setattr(sys, "stdin", Terminal(""))
    ran = cli("challenge", "new", "scale")
    assert ran.code == 2
    assert "already exists" in ran.err


def test_a_track_missing_from_the_catalogue_is_refused(cli: Cli, catalogue: Catalogue) -> None:  # noqa: F811
    (catalogue.root / "challenges" / "tracks.toml").write_text(
        '[[tracks]]\ntitle = "one"\ndescription = "The only."\n'
    )
    ran = cli("challenge", "new", "scale", "--track", "two")
    assert ran.code == 2
    assert "Its tracks: one." in ran.err
    assert not (catalogue.root / "reference").exists()


@pytest.mark.parametrize("args", [[], ["--all", "--changed"], ["fresh", "--all"]])
def test_check_needs_one_way_to_choose(args: list[str], cli: Cli, write: Write, catalogue: Catalogue) -> None:  # noqa: F811
    write()
    ran = cli("challenge", "check", *args)
    assert ran.code == 2
    assert "Which challenges?" in ran.err


def test_an_unknown_challenge_is_refused(cli: Cli, write: Write, catalogue: Catalogue) -> None:  # noqa: F811
    write()
    ran = cli("challenge", "check", "fresh", "stale")
    assert ran.code == 2
    assert "no challenge 'stale'" in ran.err


@pytest.mark.parametrize(
    ("file", "right", "wrong"),
    [("challenge.toml", "version = 1", "version = 0"), ("cases.py", "def ", "dfe ")],
)
def test_a_folder_that_does_not_load_fails_alone(
    cli: Cli,  # noqa: F811
    write: Write,
    catalogue: Catalogue,
    file: str,
    right: str,
    wrong: str,
) -> None:
    """No process starts for it, and others would go on."""
    write().edit(file, right, wrong)
    ran = cli("challenge", "check", "--all")
    assert ran.code == 1
    assert file in ran.out
    assert "done after" not in ran.err
    assert "0 of 1 proven" in ran.out
