"""``torch.autograd.Function`` as a form of submission, on a card: autograd's own threads, streams and the gate."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.challenge.catalogue import Catalogue
from grader.judge.device import Device
from grader.judge.request import Request
from grader.judge.session import Session
from grader.languages import Language
from grader.schemas.report import Flag, Verdict
from tests.gpu.conftest import Refilled
from tests.judge.test_function_form import CASES, FORWARD, FUNCTION, MANIFEST


@pytest.mark.parametrize("right", [True, False], ids=["right", "wrong"])
def test_a_function_is_judged_and_timed(device: Device, boxes: Refilled, tmp_path: Path, right: bool) -> None:
    files = {
        "challenges/tracks.toml": '[[tracks]]\ntitle = "tests"\n',
        "challenges/square/challenge.toml": MANIFEST.replace("n = 1000000", "n = 100000000"),
        "challenges/square/cases.py": CASES,
        "reference/square/reference.py": FORWARD,
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    challenge = Catalogue(tmp_path).load("square")
    source = FUNCTION if right else FUNCTION.replace("2 * scale", "scale")
    request = Request(challenge, Language.TRITON, source, device.name, b"gpu tests" * 4, challenge.cases)
    report = Session(request, device, boxes, lambda _: None, lambda: None, boxes.quiet).run().report
    if not right:
        assert report.verdict is Verdict.WRONG_ANSWER, report
        return
    assert report.verdict is Verdict.ACCEPTED, report
    (workload,) = report.workloads
    assert workload.gated, "autograd must not wait for the device"
    assert Flag.LIBRARY_KERNEL not in report.flags, report.library_ops
    print(workload.time_us, workload.baselines_us, report.speedups)
    assert report.speedups["eager"] > 0.3
