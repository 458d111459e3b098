"""Triton's compiling in a call has its own time limit, which a submission's false messages cannot stretch."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from grader import limits
from grader.judge.channel import BoxLied, BoxSilent, StillCompiling
from grader.judge.faults import of_broken_channel
from grader.judge.gate import HostGate
from grader.judge.runner_client import CompilingTime, RunnerClient
from grader.sandbox.allowance import Allowance
from grader.schemas.report import CaseVerdict
from tests.judge.line import message

KERNEL = "softmax for BLOCK=524288, num_warps=4"
# Seconds: a call's limit without compiling, and the pause before a script's next message.
CALL, LATER = 0.3, 0.6
Script = list[tuple[float, bytes]]


def compiling(number: int = 1, kernel: str = KERNEL) -> bytes:
    return message(op="compiling", round=number, kernel=kernel)


COMPILED, QUEUED = message(op="compiled", round=1), message(op="queued", round=1)


@contextmanager
def client_of(
    script: Script, compiling: CompilingTime, *, on_processor: bool = False
) -> Iterator[RunnerClient]:
    """A client in round 1, whose box sends the script's messages, each after its number of seconds."""
    ours, theirs = socket.socketpair()
    box: Any = SimpleNamespace(connection=ours, cpu_seconds=lambda: 0.0, end=lambda: None)
    gate = HostGate()
    device: Any = SimpleNamespace(
        make_gate=lambda: gate, on_processor=on_processor, modelled=False, stream=None
    )
    client = RunnerClient(box, device, compiling=compiling)
    gate.next_round()
    over = threading.Event()

    def speak() -> None:
        for seconds, body in script:
            if over.wait(seconds):
                return
            try:
                theirs.sendall(body)
            except OSError:
                return

    speaker = threading.Thread(target=speak)
    speaker.start()
    try:
        yield client
    finally:
        over.set()
        ours.close()
        theirs.close()
        speaker.join()
        gate.close()


def test_compiling_does_not_count_as_call_time() -> None:
    """Protects a right kernel with a large block: two kernels, each compiled for longer than the call may take."""
    script = [(0.0, compiling()), (LATER, COMPILED), (0.0, compiling()), (LATER, COMPILED), (0.0, QUEUED)]
    time_left = CompilingTime(10.0)
    with client_of(script, time_left) as client:
        client._expect_queued(Allowance(CALL), compiles=True)
    assert 10.0 - time_left.left == pytest.approx(2 * LATER, abs=0.5)


@pytest.mark.parametrize(
    ("of_call", "left", "said"),
    [
        (0.5, 10.0, f"Compiling {KERNEL} took longer than the 0 s for compiling."),
        (10.0, 0.5, f"Compiling {KERNEL} took longer than the 0 s that were left of 900 for compiling."),
    ],
)
def test_a_too_long_compilation_is_reported(
    monkeypatch: pytest.MonkeyPatch, of_call: float, left: float, said: str
) -> None:
    monkeypatch.setattr(limits, "KERNELS_OF_CALL_SECONDS", of_call)
    time_left = CompilingTime(left)
    with client_of([(0.0, compiling())], time_left) as client:
        with pytest.raises(StillCompiling) as raised:
            client._expect_queued(Allowance(CALL), compiles=True)
        fault = of_broken_channel(client, raised.value, "solve ran", 10.0)
    assert (fault.verdict, fault.detail) == (CaseVerdict.TIME_LIMIT, said)
    assert "num_warps" in fault.hint
    assert time_left.left <= left - 0.5


def test_claiming_to_compile_gains_no_more_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A submission claims to compile, over and over: once the time for that is used up, its call is over."""
    monkeypatch.setattr(limits, "KERNELS_OF_CALL_SECONDS", 0.4)
    lie = [(0.001, compiling() + COMPILED), (0.05, compiling())]
    for script in (lie * 10_000, [(0.001, compiling())] * 10_000):
        began, time_left = time.perf_counter(), CompilingTime(10.0)
        with client_of(script, time_left) as client, pytest.raises(BoxSilent):
            client._expect_queued(Allowance(CALL), compiles=True)
        assert time.perf_counter() - began < 0.4 + CALL + 2.0
        assert time_left.left > 10.0 - 0.4 - 0.5


def test_a_call_keeps_its_time_when_compiling_time_is_used_up() -> None:
    began = time.perf_counter()
    script = [(0.0, compiling()), (0.05, COMPILED), (0.0, QUEUED)]
    with client_of(script, CompilingTime(0.0)) as client:
        client._expect_queued(Allowance(CALL), compiles=True)
    with client_of([(0.0, compiling())], CompilingTime(0.0)) as client, pytest.raises(BoxSilent) as raised:
        client._expect_queued(Allowance(CALL), compiles=True)
    assert not isinstance(raised.value, StillCompiling)
    assert time.perf_counter() - began < CALL + 2.0


@pytest.mark.parametrize(("compiles", "on_processor"), [(False, False), (True, True)])
def test_timed_and_processor_calls_get_no_compiling_time(compiles: bool, on_processor: bool) -> None:
    """These calls are limited by processor time, which includes compiling."""
    time_left = CompilingTime(10.0)
    with (
        client_of([(0.0, compiling())], time_left, on_processor=on_processor) as client,
        pytest.raises(BoxSilent) as raised,
    ):
        client._expect_queued(Allowance(CALL), compiles=compiles)
    assert not isinstance(raised.value, StillCompiling)
    assert time_left.left == 10.0


@pytest.mark.parametrize("body", [compiling(2), compiling(1, "<b>\n"), compiling(1, "k" * 201)])
def test_an_impossible_message_is_refused(body: bytes) -> None:
    with client_of([(0.0, body)], CompilingTime()) as client, pytest.raises(BoxLied):
        client._expect_queued(Allowance(5.0), compiles=True)
