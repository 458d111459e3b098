"""Challenges on two GPUs, judged on the emulated one: what is right there, and what each mistake is called."""

from __future__ import annotations

import pytest

from grader.device_kinds import EMULATED as BOARD
from grader.sandbox.box import BoxMaker
from grader.sandbox.forked_box import ForkedBoxes
from grader.schemas.report import Report, Verdict
from tests.components import need
from tests.gpus.judged import judged

pytestmark = [pytest.mark.usefixtures("_parts")]
# For mistakes.cu: a part of a case's sentence.
MISTAKES = {
    "basic": "out[1, 0] was never written",
    "one": "Thread 0 of block 0 on GPU 1 reads 4 bytes of x[0], which is memory of GPU 0, without peer access",
    "odd": "are on different GPUs and nothing orders them",
    "edge": "A launch is into a stream of GPU 0, and GPU 1 is set",
    "aligned": "out[1, 0] was never written",
    "large": "Thread 136 of block 19 on GPU 1 reads 4 bytes just past the end of x[0]",
    "nan": "launches of several GPUs run one after the other here",
}


@pytest.fixture(scope="module")
def _parts() -> None:
    need("nvcc")
    need("emulator")


@pytest.fixture(scope="module")
def boxes(forked_boxes: ForkedBoxes) -> BoxMaker:
    return forked_boxes


def said(report: Report) -> str:
    details = (case.detail for case in report.cases if case.detail)
    return next(details, "") or report.compiler_log


def test_each_mistake_is_called_by_its_name_and_names_the_gpu(boxes: BoxMaker) -> None:
    report = judged("all_reduce/mistakes.cu", boxes, BOARD, timing=False)
    found = {case.name: case.detail for case in report.cases if case.name != "empty"}
    assert {name: MISTAKES[name] in detail for name, detail in found.items()} == dict.fromkeys(MISTAKES, True)


def test_copies_and_events_of_two_gpus_are_in_order(boxes: BoxMaker) -> None:
    report = judged("halo_exchange/events.cu", boxes, BOARD, timing=False)
    assert report.verdict is Verdict.ACCEPTED, said(report)


def test_nccl_is_refused_with_a_sentence(boxes: BoxMaker) -> None:
    report = judged("all_reduce/nccl.cu", boxes, BOARD, timing=False)
    assert report.verdict is Verdict.COMPILE_ERROR
    assert "solution.cu(2): error: NCCL runs on GPU boards only" in report.compiler_log


def test_the_time_is_the_longest_gpus_and_peer_reads_take_the_links_time(boxes: BoxMaker) -> None:
    report = judged("all_reduce/peer.cu", boxes, BOARD)
    assert report.verdict is Verdict.ACCEPTED
    (workload,) = report.workloads
    assert workload.time_us is not None
    # A launch, and 4 MiB at 390 GB/s; both GPUs at once.
    assert 13.7 < workload.time_us < 14.5
    assert workload.profile is not None
    assert [kernel.name for kernel in workload.profile.kernels] == ["add on GPU 0", "add on GPU 1"]
    assert all(kernel.bound == "link between GPUs" for kernel in workload.profile.kernels)


def test_triton_gets_lists_and_chooses_the_gpu_by_torch(boxes: BoxMaker) -> None:
    report = judged("all_reduce/beyond.py", boxes, BOARD, timing=False)
    assert report.verdict is Verdict.RUNTIME_ERROR
    assert "Program 0 on GPU 1 reads 4 bytes just past the end of x[1]" in said(report)
