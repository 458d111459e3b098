"""Findings of `grader doctor` on bubblewrap, and on an unfit GPU (with a fake driver: no test machine has one)."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.cli import machine_checks
from grader.cli.checks import Level
from grader.cli.commands import challenge
from grader.errors import BoxUnavailable
from grader.judge.cuda import driver
from grader.sandbox import choose, gpu
from grader.sandbox.gpu import Gpu
from tests.service.world import make_catalogue


@pytest.fixture
def _one_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_checks.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(machine_checks, "_first_line", lambda command: "NVIDIA Example, 580.1")
    monkeypatch.setattr(gpu, "find_gpus", lambda: [Gpu(0, "GPU-1", ())])


@pytest.mark.usefixtures("_one_gpu")
def test_a_gpu_without_stream_memory_operations_is_reported_with_a_fix(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(driver, "lacking", lambda index: ["stream memory operations"])
    found = machine_checks.gpu()
    assert found.level is Level.MISSING
    assert "GPU 0 lacks stream memory operations" in found.message
    assert found.hint == driver.NEEDS_MEND


@pytest.mark.usefixtures("_one_gpu")
@pytest.mark.parametrize(
    ("error", "told"),
    [
        (driver.DriverError("CUDA_ERROR_NO_DEVICE"), "CUDA_ERROR_NO_DEVICE"),
        (BoxUnavailable("no bindings", "pip"), "no bindings"),
    ],
)
def test_a_driver_that_does_not_answer_is_reported(
    monkeypatch: pytest.MonkeyPatch, error: Exception, told: str
) -> None:
    def fail(index: int) -> list[str]:
        raise error

    monkeypatch.setattr(driver, "lacking", fail)
    found = machine_checks.gpu()
    assert found.level is Level.MISSING
    assert told in found.message
    assert found.hint


@pytest.mark.usefixtures("_one_gpu")
def test_a_fit_gpu_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "lacking", lambda index: [])
    assert machine_checks.gpu().level is Level.OK


@pytest.mark.parametrize(
    ("status", "lacking", "level", "told", "hint"),
    [
        ((True, "bubblewrap: by root, control groups 1."), "", Level.OK, "control groups 1", ""),
        (
            (True, "bubblewrap: by a user, limits of processes."),
            "no control group would bound the memory of submissions here",
            Level.NOTE,
            "But no control group would bound",
            "docs/boxes.md",
        ),
        (
            (False, "No bubblewrap boxes (bwrap is not installed). Install bubblewrap."),
            "",
            Level.NOTE,
            "Install bubblewrap",
            "",
        ),
    ],
)
def test_bubblewrap_is_reported_with_its_limits(
    status: tuple[bool, str],
    lacking: str,
    level: Level,
    told: str,
    hint: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(choose, "bubblewrap_status", lambda: status)
    monkeypatch.setattr(choose, "why_not_exposed", lambda _: lacking)
    found = machine_checks.bubblewrap()
    assert found.level is level
    assert told in found.message
    assert hint in found.hint


def test_each_broken_challenge_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    catalogue = make_catalogue(tmp_path / "catalogue")
    monkeypatch.setenv("GRADER_CHALLENGES", str(catalogue))
    assert [finding.level for finding in machine_checks.catalogue()] == [Level.OK]
    (catalogue / "challenges" / "scale" / "cases.py").write_text("1 / 0")
    (catalogue / "challenges" / "only_cuda" / "challenge.toml").unlink()
    _, *told = machine_checks.catalogue()
    assert [finding.level for finding in told] == [Level.MISSING, Level.MISSING]
    assert "only_cuda/challenge.toml: the file is missing" in told[0].message
    assert "scale/cases.py: ZeroDivisionError" in told[1].message
    assert all("grader challenge check" in finding.hint for finding in told)


def test_the_hint_for_an_empty_catalogue_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADER_CHALLENGES", str(tmp_path))
    (missing,) = machine_checks.catalogue()
    (tmp_path / "challenges").mkdir()
    (empty,) = machine_checks.catalogue()
    (tmp_path / "challenges").rmdir()
    for found in (missing, empty):
        assert found.level is Level.MISSING
        assert "grader challenge new NAME" in found.hint
    assert challenge.new("first", "First", "any", "easy", "twice(x: f32[n]) -> y: f32[n]", "x + x") == 0
    assert [finding.level for finding in machine_checks.catalogue()] == [Level.OK]
