"""Baselines by name: which a device times, by what source, and what becomes of one that fails."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from grader.challenge.catalogue import Catalogue
from grader.challenge.loader import Challenge
from grader.challenge.model import Manifest, NamedBaseline
from grader.device_kinds import CPU, EMULATED
from grader.judge import named_baselines
from grader.judge.at_home import judge_at_home
from grader.judge.failed_baselines import FAILED
from grader.languages import ON_EMULATED, ON_GPU, ON_HOST, Language
from grader.sandbox.box import BoxMaker
from grader.schemas.report import Report, Verdict
from tests.components import need
from tests.judge.conftest import CATALOGUE
from tests.judge.kernels import RIGHT
from tests.judge.test_emulated import CUDA

FUNCTION = "\n\ndef baseline_added(x: torch.Tensor, n: int) -> torch.Tensor:\n    return x + x\n"
SLOWER = CUDA.replace(
    "out[i] = 2 * x[i];", "for (int j = 0; j < 200; ++j) out[i] = 2 * ((volatile const float*)x)[i];"
)


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    FAILED._failures.clear()
    yield
    FAILED._failures.clear()


@pytest.fixture
def challenge(tmp_path: Path) -> Challenge:
    root = tmp_path / "catalogue"
    shutil.copytree(CATALOGUE, root)
    kept = root / "reference" / "twice"
    (kept / "reference.py").write_text((kept / "reference.py").read_text() + FUNCTION)
    (kept / "staff" / "baselines").mkdir()
    (kept / "staff" / "solution.cu").write_text(CUDA)
    (kept / "staff" / "baselines" / "slow.cu").write_text(SLOWER)
    (kept / "staff" / "baselines" / "wrong.cu").write_text(CUDA.replace("2 * x", "3 * x"))
    loaded = Catalogue(root).load("twice")
    named = [
        NamedBaseline(name="added", function="baseline_added"),
        NamedBaseline(name="staff", source="solution.cu"),
        NamedBaseline(name="Slow one", source="baselines/slow.cu"),
        NamedBaseline(name="wrong", source="baselines/wrong.cu"),
        NamedBaseline(name="gone", source="baselines/gone.cu"),
    ]
    return replace(loaded, manifest=loaded.manifest.model_copy(update={"baselines": named}))


def test_a_device_times_those_that_it_can_run(challenge: Challenge) -> None:
    def names(on: str) -> list[str]:
        return [each.name for each in named_baselines.applicable(challenge, on)]

    assert names(ON_HOST) == []
    assert names(ON_EMULATED) == ["staff", "Slow one", "wrong"], "a student's copy may lack files"
    assert names(ON_GPU) == ["added", "staff", "Slow one", "wrong"]
    assert [*challenge.reference.named] == ["baseline_added"]


def test_the_emulated_gpu_compares_with_the_staffs_solution(challenge: Challenge, boxes: BoxMaker) -> None:
    need("emulator")
    need("nvcc")
    report = judge_at_home(challenge, CUDA, Language.CUDA, boxes, device=EMULATED)
    assert report.verdict is Verdict.ACCEPTED, report
    (workload,) = report.workloads
    assert [*workload.baselines_us] == ["eager", "staff", "Slow one"], "a wrong one is no baseline"
    assert workload.baselines_us["staff"] == pytest.approx(workload.time_us, rel=1e-3)
    assert report.speedups["staff"] == pytest.approx(1, rel=1e-3)
    assert report.speedups["Slow one"] > 1
    assert report.speedups["eager"] == report.score.speedup
    assert workload.untimed_baselines.keys() == {"wrong"}
    (failed,) = FAILED._failures
    assert failed[-1] == "wrong", "it is not tried again at once"
    again = Report.model_validate_json(report.model_dump_json())
    assert again.speedups == report.speedups


def test_the_processor_has_none(challenge: Challenge, boxes: BoxMaker) -> None:
    report = judge_at_home(challenge, RIGHT, Language.TRITON, boxes, device=CPU)
    assert {name for workload in report.workloads for name in workload.baselines_us} <= {"eager"}


@pytest.mark.parametrize(
    ("baseline", "why"),
    [
        ({"name": "eager", "source": "solution.cu"}, "choose another name"),
        (
            {"name": "both", "source": "solution.cu", "function": "baseline_x"},
            "either a function or a source",
        ),
        ({"name": "neither"}, "either a function or a source"),
        ({"name": "text", "source": "solution.txt"}, "is of no language"),
        ({"name": "out", "source": "../reference.py"}, "pattern"),
    ],
)
def test_bad_tables_are_refused(challenge: Challenge, baseline: dict[str, str], why: str) -> None:
    fields = challenge.manifest.model_dump(mode="json", exclude_defaults=True)
    with pytest.raises(ValueError, match=why):
        Manifest.model_validate({**fields, "baselines": [baseline]})
