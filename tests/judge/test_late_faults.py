"""After a call's time limit, a fault on the GPU is reported as that fault, and any other answer as too late."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from grader.judge import runner_client
from grader.judge.channel import BoxSilent
from grader.judge.gate import DONE_WORD, HostGate
from grader.judge.runner_client import RunnerClient
from grader.sandbox.allowance import Allowance
from tests.judge.line import message

TRAP = {"kind": "cuda", "type": "CUDA_ERROR_ILLEGAL_INSTRUCTION", "message": "an illegal instruction"}
RAISED = {"kind": "exception", "type": "ValueError", "message": "no"}


@contextmanager
def called(error: dict[str, str] | None, *, on_processor: bool) -> Iterator[RunnerClient]:
    ours, theirs = socket.socketpair()
    box: Any = SimpleNamespace(connection=ours, cpu_seconds=lambda: 0.0)
    gate = HostGate()
    device: Any = SimpleNamespace(
        make_gate=lambda: gate, on_processor=on_processor, modelled=False, stream=None
    )
    client = RunnerClient(box, device)
    number = gate.next_round()
    gate._words[DONE_WORD] = number
    answer = {"op": "returned", "round": number, "error": error, "empty_launches": []}
    body = json.dumps(answer).encode()
    timer = threading.Timer(0.2, theirs.sendall, [struct.pack("<I", len(body)) + body])
    timer.start()
    try:
        yield client
    finally:
        timer.cancel()
        timer.join()
        ours.close()
        theirs.close()
        gate.close()


@pytest.mark.parametrize("gated", [True, False])
@pytest.mark.parametrize("returns", [True, False])
def test_a_late_timed_call_counts_as_silent(
    monkeypatch: pytest.MonkeyPatch, gated: bool, returns: bool
) -> None:
    """Protects a student whose call ends just after the judge's last look, and one whose call, with the gate
    open, was queued and then ran for too long.
    """
    ours, theirs = socket.socketpair()
    box: Any = SimpleNamespace(connection=ours, cpu_seconds=lambda: 0.0)
    gate = HostGate()
    device: Any = SimpleNamespace(
        make_gate=lambda: gate, on_processor=False, modelled=False, stream=None, reveal=lambda *_: None
    )
    client, number = RunnerClient(box, device), gate.next_round()
    monkeypatch.setattr(runner_client, "_FAULT_SECONDS", 0.02)

    def over(_deadline: float, _gone: object) -> bool:
        if not gated:
            theirs.sendall(message(op="queued", round=number))
        if returns:
            gate._words[DONE_WORD] = number
            theirs.sendall(message(op="returned", round=number))
        time.sleep(0.03)
        return False

    monkeypatch.setattr(gate, "spin_until_done", over)
    watch: Any = SimpleNamespace(spot_check=None, full_check=None)
    arena: Any = None
    try:
        with pytest.raises(BoxSilent) as caught:
            client._window(arena, {}, 0.01, watch, Allowance(0.01), 0.0, gated=gated)
        assert caught.value.allowance is not None
    finally:
        ours.close()
        theirs.close()
        gate.close()


def test_a_trap_reported_late_is_a_trap() -> None:
    with called(TRAP, on_processor=False) as client:
        answer = client._returned(time.perf_counter(), Allowance(0.05))
        assert answer.failure is not None
        assert answer.failure.type == TRAP["type"]


@pytest.mark.parametrize(
    ("error", "on_processor"), [(None, False), (RAISED, False), (TRAP, True)], ids=["right", "raised", "host"]
)
def test_any_other_late_answer_is_too_late(error: dict[str, str] | None, on_processor: bool) -> None:
    with called(error, on_processor=on_processor) as client, pytest.raises(BoxSilent):
        client._returned(time.perf_counter(), Allowance(0.05))


@pytest.mark.parametrize("returns", [True, False])
def test_a_box_with_a_stuck_call_gets_no_further_request(returns: bool) -> None:
    """Protects those who wait behind an endless call: a GPU was held for half a minute until its box was ended."""
    ours, theirs = socket.socketpair()
    ended: list[bool] = []

    def kill() -> None:
        ended.append(True)
        ours.close()

    box: Any = SimpleNamespace(connection=ours, cpu_seconds=lambda: 0.0, kill=kill)
    gate = HostGate()
    device: Any = SimpleNamespace(make_gate=lambda: gate, on_processor=False, modelled=False, stream=None)
    client = RunnerClient(box, device)
    arena: Any = SimpleNamespace(reveal=lambda _: None)
    number = gate.round + 1
    gate._words[DONE_WORD] = number
    theirs.sendall(message(op="queued", round=number))
    if returns:
        theirs.sendall(message(op="returned", round=number) + message(op="bound"))
        client.open_call(arena, {}, 5.0)
    else:
        with pytest.raises(BoxSilent):
            client.open_call(arena, {}, 0.05)
    began = time.perf_counter()
    client.unbind()
    assert bool(ended) is not returns
    assert time.perf_counter() - began < 5.0
    for end in (ours, theirs, gate):
        end.close()
