"""The plan of what is run on a GPU (``benchmarks/gpu/plan.py``): what a call does, and what it leaves to the next."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUDGET = 580.0
NOW, BEFORE = "these", "those"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ModuleType]:
    before = set(sys.modules)
    monkeypatch.setattr(sys, "path", [str(ROOT / "benchmarks" / "gpu"), str(ROOT / "benchmarks"), *sys.path])
    made = import_module("run")
    monkeypatch.setattr(import_module("results"), "FOLDER", tmp_path)
    yield made
    for name in {"run", "plan", "results", "test_gpu"} - before:
        sys.modules.pop(name, None)


@pytest.fixture
def plan(run: ModuleType) -> ModuleType:
    made: ModuleType = run.plan
    return made


def test_a_plan_is_printed_without_a_gpu() -> None:
    command = [
        sys.executable,
        "benchmarks/gpu/run.py",
        "--plan",
        "everything",
        "--dry-run",
        "--budget",
        "580",
    ]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    assert said[0].endswith("in this call, of 580 s")
    assert len(said) > 10


def test_every_step_can_run_within_one_call(plan: ModuleType, run: ModuleType) -> None:
    names = [step.name for step in plan.EVERYTHING]
    assert len(names) == len(set(names))
    for step in plan.EVERYTHING:
        name, _, words = plan.told(step, step.most).partition("=")
        command = [*run.KNOWN[name].command.split(), *shlex.split(words)]
        assert step.least < step.most < BUDGET
        assert "{" not in " ".join(command)
        script = next((word for word in command if word.endswith(".py")), "")
        if not script:
            continue
        # The script knows the words that it is given.
        text = (ROOT / script).read_text()
        for option in (word for word in command if word.startswith("--")):
            assert f'"{option}"' in text, f"{step.name}: {option}"
        assert f'"{run.KNOWN[name].gpu_option}"' in text
        assert not step.keeps or f'"{step.keeps.partition("_")[0]}' in text
        # A step must end within one call, unless it can continue in the next.
        assert bool(step.keeps) != ("--missing" in command or "--folder" in command), step.name


def test_a_call_continues_with_the_steps_left(plan: ModuleType) -> None:
    one, two, three, four = (
        plan.Planned("one", "tests", 10, 50),
        plan.Planned("two", "tests", 10, 50),
        plan.Planned("three", "solutions", 10, 50, keeps="solutions"),
        plan.Planned("four", "solutions", 10, 50, keeps="solutions"),
    )
    steps = (one, two, three, four)

    def left(**past: Any) -> list[str]:
        return [step.name for step in plan.Ledger(past, NOW).to_do(steps)]

    assert left() == ["one", "two", "three", "four"]
    assert left(one=plan.Past(0, 9, False, NOW), two=plan.Past(1, 9, False, NOW)) == ["two", "three", "four"]
    assert left(one=plan.Past(0, 9, False, BEFORE)) == ["one", "two", "three", "four"]
    # One missed its target, the other failed ahead of its end.
    assert left(three=plan.Past(1, 9, True, NOW), four=plan.Past(1, 9, False, NOW)) == ["one", "two", "four"]
    for code in (plan.GO_ON, plan.ENDED):
        assert "one" in left(one=plan.Past(code, 9, False, NOW))
        assert "three" in left(three=plan.Past(code, 9, True, NOW))
    ledger = plan.Ledger({"one": plan.Past(0, 9, False, NOW), "two": plan.Past(1, 30, False, BEFORE)}, NOW)
    told = plan.table(steps, ledger, 85).splitlines()[1:]
    assert [line.split("  ")[-1] for line in told] == [
        "kept",
        "runs, at most 50 s",
        "runs, at most 50 s",
        "no time left (at least 10 s)",
    ]


TOLD = """\
tests/gpu/test_boxes.py::test_a_fault[local-past the end] PASSED         [ 10%]
tests/gpu/test_boxes.py::test_a_fault[local-null] FAILED                 [ 20%]
tests/gpu/test_window.py::test_a_round PASSED                            [ 30%]
tests/gpu/test_window.py::test_a_round ERROR                             [ 30%]
tests/gpu/test_workers.py::test_two SKIPPED (one GPU only)               [ 40%]
"""


def test_passed_tests_are_not_run_again(
    run: ModuleType, plan: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run.note_tests(TOLD)
    assert run.passed() == {"tests/gpu/test_boxes.py::test_a_fault[local-past the end]"}
    run.note_tests("tests/gpu/test_boxes.py::test_a_fault[local-null] PASSED [100%]\n")
    assert len(run.passed()) == 2
    step = plan.Planned("some tests", "tests=tests/gpu", 1, 60)
    asked: list[list[str]] = []

    def popen(command: list[str], **_: object) -> Any:
        asked.append(command)
        return SimpleNamespace(wait=lambda seconds: run.NOTHING_COLLECTED)

    monkeypatch.setattr(run.subprocess, "Popen", popen)
    monkeypatch.setattr(run, "WORK", tmp_path / "work")
    assert run.run(run.Task(1, "tests", "tests/gpu", step), 0, {}, 60.0, tmp_path) == 0
    assert [word for word in asked[0] if word.startswith("--deselect=")] == [
        "--deselect=tests/gpu/test_boxes.py::test_a_fault[local-null]",
        "--deselect=tests/gpu/test_boxes.py::test_a_fault[local-past the end]",
    ]
    monkeypatch.setattr(import_module("results"), "sources", lambda: "others")
    assert run.passed() == set()


def test_no_gpu_test_name_is_a_prefix_of_another() -> None:
    """pytest deselects by the beginning of a name."""
    text = "\n".join(file.read_text() for file in (ROOT / "tests" / "gpu").glob("test_*.py"))
    names = [
        line.partition("(")[0].removeprefix("def ")
        for line in text.splitlines()
        if line.startswith("def test")
    ]
    assert not [(one, other) for one in names for other in names if one != other and other.startswith(one)]


def test_the_steps_that_a_caller_names_run_in_that_order(run: ModuleType) -> None:
    named = SimpleNamespace(plan="everything", only=["throughput", "judging in", "in plain"])
    assert [step.name for step in run._chosen(named)] == [
        "throughput", "judging in plain boxes", "judging in Docker boxes", "tests in plain boxes",
    ]  # fmt: skip


def test_exclusive_steps_run_first_and_alone(
    run: ModuleType, plan: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    steps = [
        plan.Planned("tests", "proofs", 1, 60),
        plan.Planned("times", "turnaround", 1, 60, alone=True),
        plan.Planned("band", "band", 1, 60),
        plan.Planned("rate", "throughput", 1, 60, alone=True),
    ]
    monkeypatch.setitem(plan.PLANS, "some", steps)
    both, running, seen = threading.Barrier(2), list[str](), list[tuple[str, ...]]()

    def ran(task: Any, *_: object) -> int:
        running.append(task.planned.name)
        if not task.planned.alone:
            both.wait(60)
        seen.append(tuple(running))
        if not task.planned.alone:
            both.wait(60)
        running.remove(task.planned.name)
        return 0

    monkeypatch.setattr(run, "run", ran)
    options = SimpleNamespace(
        plan="some",
        only=[],
        again=False,
        budget=BUDGET,
        most=BUDGET,
        gpus=2,
        steps=[],
        out=None,
        logs=tmp_path,
    )
    assert set(run.Lanes(options, {}).run().values()) == {0}
    assert seen[:2] == [("times",), ("rate",)]
    assert {frozenset(pair) for pair in seen[2:]} == {frozenset(("tests", "band"))}


def test_a_step_is_recorded_with_its_sources(run: ModuleType, plan: ModuleType, tmp_path: Path) -> None:
    step = plan.Planned("figures", "solutions", 1, 60, keeps="solutions")
    (tmp_path / "solutions-gpu.json").write_text("{}")
    run.note(step, 1, 0.0)
    assert run.ledger().state(step) is plan.State.DONE
    (kept,) = tmp_path.glob("gpu_plan-*.json")
    said = json.loads(kept.read_text())
    said["figures"]["rows"][0]["sources"] = BEFORE
    kept.write_text(json.dumps(said))
    assert run.ledger().state(step) is plan.State.OLD
