"""The survey sees torch's library kernels in a Triton submission, and disturbs nothing that counts."""

from __future__ import annotations

from typing import Any, cast

import pytest
from pydantic import ValidationError

from grader.challenge.catalogue import Catalogue
from grader.judge.channel import BoxLied
from grader.judge.host_device import HostDevice
from grader.judge.messages import Returned, Seen
from grader.judge.request import CPU, Request
from grader.judge.runner_client import RunnerClient
from grader.judge.survey import Survey, survey
from grader.languages import Language
from grader.schemas.report import Flag, Verdict
from tests.judge.conftest import Judge
from tests.judge.kernels import HEAD, RIGHT, with_solve

AUTOTUNED = HEAD.replace(
    "@triton.jit",
    '@triton.autotune(configs=[triton.Config({"BLOCK": b}) for b in (64, 128)], key=["n"])\n@triton.jit',
) + (
    "\ndef solve(x, out, n):\n    if n:\n"
    "        half = torch.empty_like(x)\n"
    "        twice[lambda meta: (triton.cdiv(n, meta['BLOCK']),)](x.view(-1)[:n], half, n)\n"
    "        twice[lambda meta: (triton.cdiv(n, meta['BLOCK']),)](x, out.reshape(-1), n)\n"
)
# Fails under a dispatch mode, and uses torch only if torch is there.
LOOKING = HEAD + (
    "\nfrom torch.utils._python_dispatch import _get_current_dispatch_mode\n"
    "def solve(x, out, n):\n"
    "    if n:\n        twice[(triton.cdiv(n, 64),)](x, out, n, BLOCK=64)\n"
    "    if _get_current_dispatch_mode() is not None:\n"
    "        torch.relu(x)\n"
    "        raise RuntimeError('a mode is active')\n"
)


@pytest.mark.parametrize("source", [RIGHT, AUTOTUNED], ids=["plain", "autotuned"])
def test_triton_kernels_alone_raise_no_flag(judge: Judge, source: str) -> None:
    report = judge(source, timing=True)
    assert report.verdict is Verdict.ACCEPTED, report
    assert Flag.LIBRARY_KERNEL not in report.flags
    assert report.library_ops == []


@pytest.mark.parametrize(
    ("body", "operations"),
    [
        ("    out.copy_(2 * x)", ["aten.mul", "aten.copy_"]),
        ("    torch.add(x, x, out=out)", ["aten.add"]),
        ("    out.fill_(0.0)\n    out += 2 * x", ["aten.fill_", "aten.mul", "aten.add_"]),
    ],
    ids=["copy", "out", "fill"],
)
def test_torchs_own_kernels_are_flagged_and_named(judge: Judge, body: str, operations: list[str]) -> None:
    report = judge(with_solve(body), timing=True)
    assert report.verdict is Verdict.ACCEPTED, report
    assert (
        Flag.LIBRARY_KERNEL in report.flags
    )  # the other flags depend on times, which a busy machine changes
    assert report.library_ops == operations


# In the interpreter a kernel is Python: one that launches a kernel and computes nothing in it but by torch.
WITHIN_A_KERNEL = """
import torch
import triton
import triton.language as tl

given = {}


@triton.jit
def twice(x, out, n):
    torch.add(given["x"], given["x"], out=given["out"])


def solve(x, out, n):
    given.update(x=x, out=out)
    twice[(1,)](x, out, n)
"""
AUTOTUNED_TOO = WITHIN_A_KERNEL.replace(
    "@triton.jit", "@triton.autotune(configs=[triton.Config({})], key=['n'])\n@triton.jit"
)


@pytest.mark.parametrize("source", [WITHIN_A_KERNEL, AUTOTUNED_TOO], ids=["plain", "autotuned"])
def test_torch_within_an_interpreted_kernel_is_reported(judge: Judge, source: str) -> None:
    report = judge(source, timing=True)
    assert report.verdict is Verdict.ACCEPTED, report
    assert report.library_ops == ["aten.add"]


def test_torch_compile_is_reported(judge: Judge) -> None:
    # While it is loaded: importing torch.compile's machinery is no work of a case.
    source = HEAD + (
        "\nadded = torch.compile(lambda x: x + x, backend='eager', dynamic=True)\nadded(torch.ones(4))\n"
        "def solve(x, out, n):\n    out.copy_(added(x))\n"
    )
    report = judge(source, timing=True)
    assert report.verdict is Verdict.ACCEPTED, report
    assert report.library_ops[0] == "torch.compile"


def test_the_survey_is_inactive_in_counting_calls(judge: Judge) -> None:
    report = judge(LOOKING, timing=True)
    assert report.verdict is Verdict.ACCEPTED, report
    assert report.library_ops == ["aten.relu"]


def test_nothing_is_surveyed_without_timing(judge: Judge) -> None:
    report = judge(with_solve("    out.copy_(2 * x)"))
    assert (report.flags, report.library_ops) == ([], [])
    assert "survey" not in report.breakdown_s


@pytest.mark.parametrize(
    "seen",
    [
        {"library_ops": ["aten.mm"] * 9},
        {"library_ops": ["<script>alert(1)</script>"]},
        {"library_ops": ["a" * 65]},
        {"library_ops": "aten.mm"},
        {"kernels": [{"name": "k", "registers": -1, "shared_bytes": 0, "local_bytes": 0}]},
        {"kernels": [{"name": "k", "registers": 1}]},
        {"verdict": "accepted"},
    ],
)
def test_a_malformed_survey_is_refused(seen: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Returned.model_validate({"op": "returned", "round": 1, "seen": seen})


class Answering:
    def __init__(self, *seen: Seen | None) -> None:
        self._seen = list(seen)
        self.bound = 0

    def bind(self, arena: Any) -> None:
        self.bound += 1

    def unbind(self) -> None:
        self.bound -= 1

    def warm_up(self, *_: Any, survey: bool) -> Any:
        assert survey
        seen = self._seen.pop(0)
        if seen is None:
            raise BoxLied("not a message")
        return type("Answer", (), {"seen": seen})


def ask(catalogue: Catalogue, *seen: Seen | None) -> tuple[Survey, Answering]:
    challenge = catalogue.load("twice")
    request = Request(challenge, Language.TRITON, "", CPU, b"key", challenge.cases)
    box = Answering(*seen)
    workloads = [challenge.manifest.workloads[0]] * len(seen)
    return survey(cast(RunnerClient, box), request, workloads, HostDevice()), box


def test_a_box_that_fails_during_the_survey_changes_nothing(catalogue: Catalogue) -> None:
    kernel = {"name": "twice", "registers": 32, "shared_bytes": 0, "local_bytes": 8}
    found, box = ask(catalogue, Seen.model_validate({"kernels": [kernel]}), None)
    assert found.library_ops == ()
    assert [kernel.name for kernel in found.kernels] == ["twice"]
    assert (found.kernels[0].said_by, found.kernels[0].stack_bytes) == ("runner", 8)
    assert box.bound == 0


def test_the_survey_ends_at_the_first_operations(catalogue: Catalogue) -> None:
    found, _ = ask(catalogue, Seen(), Seen(library_ops=["aten.mm", "aten.mm"]), None)
    assert found.library_ops == ["aten.mm"]
