"""The same attacks in the servers' kind of box. Closed by the container's limits, not by the runner."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from grader.challenge.catalogue import Catalogue
from grader.device_kinds import CPU
from grader.judge.at_home import judge_at_home
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.schemas.report import CaseVerdict, Verdict
from tests.components import need
from tests.hostile.test_memory_bomb import BOMBS
from tests.judge.kernels import RIGHT, with_solve

pytestmark = pytest.mark.docker

# A fork bomb is attacks/box/fork_bomb.py: each one keeps the host busy for half a minute.
ATTACKS = {
    "memory": (BOMBS["piece-by-piece"], CaseVerdict.MEMORY_LIMIT),
    "output": ("    for _ in range(1024):\n        os.write(1, b'x' * (1 << 20))", CaseVerdict.OUTPUT_LIMIT),
    "exit": ("    os._exit(0)", CaseVerdict.RUNTIME_ERROR),
    "endless": ("    while True:\n        pass", CaseVerdict.TIME_LIMIT),
}


@pytest.fixture(scope="module")
def docker_boxes() -> Iterator[BoxMaker]:
    need("docker")
    from grader.sandbox.choose import make_boxes

    maker = make_boxes("docker")
    yield maker
    maker.reap()


def test_a_right_kernel_is_accepted_and_timed(catalogue: Catalogue, docker_boxes: BoxMaker) -> None:
    """Protects against limits of the box that stop honest kernels."""
    report = judge_at_home(catalogue.load("twice"), RIGHT, Language.TRITON, docker_boxes, device=CPU)
    assert report.verdict is Verdict.ACCEPTED, report
    assert report.workloads[0].ci_us[1] > 0
    assert report.environment["box"].startswith("docker: runc, control groups ")


@pytest.mark.matrix  # tests/hostile/attacks/box has one of each in these boxes, too
@pytest.mark.parametrize(("body", "verdict"), ATTACKS.values(), ids=ATTACKS.keys())
def test_an_attack_ends_with_its_verdict(
    catalogue: Catalogue, docker_boxes: BoxMaker, body: str, verdict: CaseVerdict
) -> None:
    report = judge_at_home(
        catalogue.load("twice"),
        with_solve(body),
        Language.TRITON,
        docker_boxes,
        device=CPU,
        case="basic",
        timing=False,
    )
    assert report.cases[0].verdict is verdict, report.cases[0].detail
