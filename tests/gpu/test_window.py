"""Between "done" and the last comparison the judge does a spot check and a full check, and nothing can delay it."""

from __future__ import annotations

import mmap
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
import torch

from grader.challenge.cases import Case, Category
from grader.challenge.catalogue import Catalogue
from grader.judge.arena import Arena
from grader.judge.cuda import output_checker as cuda_watch
from grader.judge.device import Device, Gate, OutputChecker
from grader.judge.gate import DONE_WORD, OPEN_WORD
from grader.judge.oracle import Question, ask, scalar_values

SIZES = {"n": 10_000_000}
# Of this many elements at the end, a spot check of 65,536 of all cannot miss one.
LATE = 1000

# Takes "done" back without pause, from another process.
TAKE_BACK = f"""
import mmap, sys
words = memoryview(mmap.mmap(int(sys.argv[1]), mmap.PAGESIZE)).cast("I")
print("begun", flush=True)
while True:
    words[{DONE_WORD}] = 0
"""


@dataclass(frozen=True)
class Seen:
    """A timed round's memory without a runner: outputs, right values, and their checker."""

    arena: Arena
    question: Question
    output_checker: OutputChecker

    @property
    def out(self) -> torch.Tensor:
        return self.arena.buffers["out"].values

    @property
    def right(self) -> torch.Tensor:
        return self.question.outputs["out"]


@pytest.fixture
def seen(device: Device, catalogue: Catalogue) -> Iterator[Seen]:
    challenge = catalogue.load("twice")
    case = Case("large", Category.LARGE, SIZES)
    arena = Arena(challenge.manifest, SIZES, scalar_values(challenge.manifest, case), device.memories)
    try:
        assert device.staging is not None
        question = device.staging.stage(
            ask(challenge, case, 1, device.torch_device, draw_on=device.torch_device)
        )
        arena.reveal(question.inputs)
        yield Seen(arena, question, device.watch(arena))
    finally:
        arena.close()


def test_what_is_written_after_the_spot_check_is_late(seen: Seen) -> None:
    output_checker = seen.output_checker
    for late in (LATE, 0, 1, LATE):
        seen.arena.reveal(seen.question.inputs)
        ready = SIZES["n"] - late
        seen.out[:ready].copy_(seen.right[:ready])
        output_checker.aim(seen.question)
        output_checker.spot_check()
        seen.out[ready:].copy_(seen.right[ready:])
        output_checker.full_check()
        if late < LATE:  # one element is glanced at now and then
            assert not output_checker.suspicious() or late
            continue
        assert output_checker.suspicious()
        mismatch = output_checker.explain(seen.question)
        assert mismatch is not None
        assert (mismatch.argument, mismatch.kind) == ("out", "late")
        assert mismatch.index is not None
        assert ready <= mismatch.index[0] < SIZES["n"]


def test_an_output_that_stays_wrong_is_not_called_late(seen: Seen) -> None:
    seen.out.copy_(seen.right)
    seen.out[-1] = 1e9
    seen.output_checker.aim(seen.question)
    seen.output_checker.spot_check()
    seen.output_checker.full_check()
    mismatch = seen.output_checker.explain(seen.question)
    assert mismatch is not None
    assert (mismatch.kind, mismatch.index) == ("value", [SIZES["n"] - 1])


def test_what_is_written_where_nothing_may_be_is_seen(seen: Seen, monkeypatch: pytest.MonkeyPatch) -> None:
    buffer = seen.arena.buffers["x"]
    was = buffer.values[7].clone()
    assert seen.output_checker.forbidden_write(seen.question) is None
    buffer.values[7] = was + 1
    mismatch = seen.output_checker.forbidden_write(seen.question)
    assert mismatch is not None
    assert (mismatch.argument, mismatch.kind, mismatch.index) == ("x", "input_changed", [7])
    # Putting it back between two checks still changes it.
    monkeypatch.setattr(cuda_watch, "forbidden_write", lambda *_: None)
    mismatch = seen.output_checker.forbidden_write(seen.question)
    assert mismatch is not None
    assert (mismatch.argument, mismatch.kind, mismatch.wrong) == ("x", "input_changed", 1)
    buffer.values[7] = was
    assert seen.output_checker.forbidden_write(seen.question) is None
    monkeypatch.undo()
    for name in ("x", "out"):
        for zone, untouched in seen.arena.buffers[name].guards():
            zone[-1] += 1
            mismatch = seen.output_checker.forbidden_write(seen.question)
            assert mismatch is not None
            assert (mismatch.argument, mismatch.kind) == (name, "out_of_bounds")
            zone.copy_(untouched)
    assert seen.output_checker.forbidden_write(seen.question) is None


@contextmanager
def round_of_nobody(device: Device) -> Iterator[Gate]:
    """A round whose call never reaches "done"."""
    gate = device.make_gate()
    try:
        gate.next_round()
        gate.open_behind(lambda: None, lambda: None, lambda: None)
        yield gate
    finally:
        gate.close()


def test_a_round_that_is_given_up_leaves_nothing_waiting(device: Device) -> None:
    with round_of_nobody(device) as gate:
        assert gate.give_up()
        torch.cuda.synchronize()
        assert gate.give_up(), "given up twice"


def test_done_that_is_taken_back_all_the_time_holds_nobody_up(device: Device) -> None:
    with round_of_nobody(device) as gate:
        others = [
            subprocess.Popen(
                [sys.executable, "-c", TAKE_BACK, str(gate.descriptor)],
                pass_fds=[gate.descriptor],
                stdout=subprocess.PIPE,
            )
            for _ in range(3)
        ]
        try:
            for other in others:
                assert other.stdout is not None
                assert other.stdout.readline() == b"begun\n"
            assert gate.give_up()
            torch.cuda.synchronize()
        finally:
            for other in others:
                other.kill()
                other.wait()
                assert other.stdout is not None
                other.stdout.close()


def test_a_gate_that_the_judge_sees_open_is_open_for_the_runner(device: Device) -> None:
    """It would take the call for one behind a closed gate, where waits return at once."""
    gate = device.make_gate()
    try:
        words = memoryview(mmap.mmap(gate.descriptor, mmap.PAGESIZE)).cast("I")
        late = 0
        for _ in range(5000):
            number = gate.next_round()
            gate.open()
            late += words[OPEN_WORD] != number
        assert late == 0
    finally:
        gate.close()


def test_a_window_is_timed_by_the_gpu(device: Device) -> None:
    """Its parts do not depend on the host's time of looking."""
    gate = device.make_gate()
    try:
        values = torch.zeros(1, device="cuda")
        for _ in range(2):
            gate.next_round()
            gate.open_behind(values.zero_, values.zero_, values.zero_)
            window = gate.check_now()  # which says "done" in the runner's place
            time.sleep(0.01)
        assert 0 < window.before < 5e-3
        assert 0 < window.gate < 5e-3
        assert 0 < window.after < 5e-3
    finally:
        gate.close()
