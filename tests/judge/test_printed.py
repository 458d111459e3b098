"""What a submission printed: bounded, and distinguished by the call that it comes from."""

from __future__ import annotations

import json
import socket
from types import SimpleNamespace
from typing import Any

import pytest

from grader import limits
from grader.challenge.catalogue import Catalogue
from grader.judge import runner_client
from grader.judge.correctness import COUNTS, WARM_UP, printed_text
from grader.judge.host_device import HostDevice
from grader.judge.request import CPU, Request
from grader.judge.runner_client import RunnerClient
from grader.judge.session import Session
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.schemas.report import CaseReport, CaseVerdict
from tests.judge.kernels import with_solve


def test_short_output_is_reported_unchanged() -> None:
    assert printed_text(b"n is 101\n") == "n is 101\n"
    assert printed_text(b"") == ""


def test_long_output_is_cut_and_marked() -> None:
    text = printed_text(b"x" * 100_000)
    assert text.startswith("x" * limits.OUTPUT_KEPT_BYTES + "\n[cut after 8,192 of 100,000 bytes;")
    assert "may print 1,048,576 in all]" in text
    assert len(printed_text(b"x" * 100_000, b"y" * 100_000)) < limits.OUTPUT_KEPT_BYTES + 500


def test_warm_up_output_is_shown_separately() -> None:
    assert printed_text(b"of mine\n", b"of the other\n") == f"{WARM_UP}of the other\n{COUNTS}of mine\n"


def test_any_bytes_become_text() -> None:
    text = printed_text(b"\xff\0\xf0\x9f", b"\xe2\x82")
    assert "\0" not in text
    assert json.loads(json.dumps(text)) == text


def test_a_late_output_marker_is_waited_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects a student's output on a host that was stopped: each case would show the one before."""
    monkeypatch.setattr(runner_client, "_MARK_SECONDS", 0.01)
    ours, theirs = socket.socketpair()
    parts: list[bytes] = []
    box: Any = SimpleNamespace(connection=ours, output=lambda: parts.pop(0) if parts else b"")
    client = RunnerClient(box, HostDevice())

    def mark() -> bytes:
        client._gate.next_round()
        return client._mark().encode()

    with ours, theirs:
        late = mark()
        assert client.printed() == b"", "nothing has come in time"
        parts[:] = [b"first" + late]
        assert client.printed() == b"first"
        parts[:] = [b"sec", b"ond", mark()]
        monkeypatch.setattr(runner_client, "_MARK_SECONDS", 10.0)
        assert client.printed() == b"second"
        monkeypatch.setattr(runner_client, "_MARK_SECONDS", 0.01)
        late = mark()
        assert client.printed() == b""
        parts[:] = [b"third" + late + b"fourth" + mark()]
        assert client.printed() == b"fourth", "what came late is not the next call's"
    client._gate.close()


class Warming(HostDevice):
    warm_up_cases = True


def case_of(catalogue: Catalogue, boxes: BoxMaker, body: str) -> CaseReport:
    challenge = catalogue.load("twice")
    cases = [case for case in challenge.cases if case.name == "basic"]
    request = Request(challenge, Language.TRITON, with_solve(body), CPU, b"key", cases, timing=False)
    return Session(request, Warming(), boxes, lambda _: None, lambda: None).run().report.cases[0]


def test_a_case_separates_output_of_its_two_calls(catalogue: Catalogue, boxes: BoxMaker) -> None:
    case = case_of(catalogue, boxes, "    print('sum', float(x.sum()))\n    out.copy_(2 * x)")
    assert case.verdict is CaseVerdict.ACCEPTED
    warm_up, counts = case.output.split(COUNTS)
    assert warm_up.startswith(WARM_UP + "sum ")
    assert counts.startswith("sum ")
    assert warm_up.removeprefix(WARM_UP).strip() != counts.strip(), "they had other data"


def test_a_failing_warm_up_is_reported_alone(catalogue: Catalogue, boxes: BoxMaker) -> None:
    case = case_of(catalogue, boxes, "    print('before')\n    raise ValueError('no')")
    assert case.verdict is CaseVerdict.RUNTIME_ERROR
    assert case.output == "before\n"
