"""What `grader doctor` says of bubblewrap, and of a GPU that judging cannot use (the driver is faked: no test machine
has such a one)."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.cli.commands import challenge
from grader.cli.doctor import Mark, boxes, machine, store
from grader.errors import BoxUnavailable
from grader.judge.cuda import driver
from grader.sandbox import choose, gpu
from grader.sandbox.gpu import Gpu
from tests.service.world import make_course


@pytest.fixture
def _one_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(machine, "_first_line", lambda command: "NVIDIA Example, 580.1")
    monkeypatch.setattr(gpu, "find_gpus", lambda: [Gpu(0, "GPU-1", ())])


@pytest.mark.usefixtures("_one_gpu")
def test_a_gpu_without_stream_memory_operations_is_reported_with_a_fix(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(driver, "lacking", lambda index: ["stream memory operations"])
    found = machine.gpu()
    assert found.mark is Mark.MISSING
    assert "GPU 0 lacks stream memory operations" in found.text
    assert found.mend == driver.NEEDS_MEND


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
    found = machine.gpu()
    assert found.mark is Mark.MISSING
    assert told in found.text
    assert found.mend


@pytest.mark.usefixtures("_one_gpu")
def test_a_fit_gpu_is_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "lacking", lambda index: [])
    assert machine.gpu().mark is Mark.OK


@pytest.mark.parametrize(
    ("status", "lacking", "mark", "told", "mend"),
    [
        ((True, "bubblewrap: by root, control groups 1."), "", Mark.OK, "control groups 1", ""),
        (
            (True, "bubblewrap: by a user, limits of processes."),
            "no control group would bound the memory of submissions here",
            Mark.NOTE,
            "But no control group would bound",
            "docs/boxes.md",
        ),
        (
            (False, "No bubblewrap boxes (the program bwrap is not there). Install bubblewrap."),
            "",
            Mark.NOTE,
            "Install bubblewrap",
            "",
        ),
    ],
)
def test_bubblewrap_and_what_it_holds_less_well(
    status: tuple[bool, str], lacking: str, mark: Mark, told: str, mend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choose, "bubblewrap_status", lambda: status)
    monkeypatch.setattr(choose, "why_not_exposed", lambda _: lacking)
    found = boxes.bubblewrap()
    assert found.mark is mark
    assert told in found.text
    assert mend in found.mend


def test_each_broken_challenge_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    course = make_course(tmp_path / "course")
    monkeypatch.setenv("GRADER_CHALLENGES", str(course))
    assert [it.mark for it in store.course()] == [Mark.OK]
    (course / "challenges" / "scale" / "cases.py").write_text("1 / 0")
    (course / "challenges" / "only_cuda" / "challenge.toml").unlink()
    _, *told = store.course()
    assert [it.mark for it in told] == [Mark.MISSING, Mark.MISSING]
    assert "only_cuda/challenge.toml: the file is missing" in told[0].text
    assert "scale/cases.py: ZeroDivisionError" in told[1].text
    assert all("grader challenge check" in it.mend for it in told)


def test_an_empty_course_says_how_to_begin_and_that_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADER_CHALLENGES", str(tmp_path))
    (missing,) = store.course()
    (tmp_path / "challenges").mkdir()
    (empty,) = store.course()
    (tmp_path / "challenges").rmdir()
    for found in (missing, empty):
        assert found.mark is Mark.MISSING
        assert "grader challenge new NAME" in found.mend
    assert (
        challenge.new(
            "first", "First", "any", "easy", 1, ["x:input:float32:n", "y:output:float32:n"], ["n=64"]
        )
        == 0
    )
    assert [it.mark for it in store.course()] == [Mark.OK]
