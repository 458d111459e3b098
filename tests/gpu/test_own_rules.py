"""Tolerances of single results in timed windows, and rules for compiled code, on a GPU's board."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from grader.challenge.cases import Case, Category
from grader.challenge.catalogue import Catalogue
from grader.challenge.constructs import Constructs
from grader.challenge.loader import Challenge
from grader.judge.arena import Arena
from grader.judge.device import Device
from grader.judge.oracle import ask
from grader.judge.request import Request
from grader.judge.session import Session
from grader.languages import Language
from grader.schemas.report import Report, Verdict
from tests.components import need
from tests.gpu.conftest import Refilled
from tests.judge.test_constructs import CLEAN, TRITON
from tests.judge.test_tolerance import CASES, MANIFEST, REFERENCE

SIZES = {"rows": 1000, "cols": 3000}
Judge = Callable[..., Report]


@pytest.fixture
def quantise(tmp_path: Path) -> Challenge:
    public, reference = tmp_path / "challenges" / "quantise", tmp_path / "reference" / "quantise"
    for folder in (public, reference / "staff"):
        folder.mkdir(parents=True)
    (public / "challenge.toml").write_text(MANIFEST)
    (public / "spec.md").write_text("# Quantise\n")
    (public / "cases.py").write_text(CASES)
    (reference / "reference.py").write_text(REFERENCE)
    return Catalogue(tmp_path).load("quantise")


def test_a_window_allows_what_each_result_may_be_off_and_no_more(quantise: Challenge, device: Device) -> None:
    arena = Arena(quantise.manifest, SIZES, {}, device.memories)
    try:
        assert device.staging is not None
        on = device.torch_device
        case = Case("large", Category.LARGE, SIZES)
        question = device.staging.stage(ask(quantise, case, 1, on, draw_on=on))
        watch = device.watch(arena)

        def found(changed: str, off: Callable[[torch.Tensor], torch.Tensor]) -> str:
            arena.reveal(question.inputs)
            for name, right in question.outputs.items():
                values = off(right.reshape(-1)) if name == changed else right.reshape(-1)
                arena.buffers[name].values.copy_(values)
            watch.aim(question)
            watch.spot_check()
            watch.full_check()
            if not watch.suspicious():
                return ""
            mismatch = watch.explain(question)
            return mismatch.in_units if mismatch is not None else ""

        def moved(word: torch.dtype, by: int) -> Callable[[torch.Tensor], torch.Tensor]:
            return lambda right: (right.view(word) + by).view(right.dtype)

        def stepped(by: float) -> Callable[[torch.Tensor], torch.Tensor]:
            step = question.outputs["scales"].double().repeat_interleave(SIZES["cols"])
            return lambda right: (right.double() + by * step).to(right.dtype)

        assert found("", lambda right: right) == ""
        assert found("scales", moved(torch.int32, 3)) == ""
        assert found("scales", moved(torch.int32, -3)) == ""
        assert found("scales", moved(torch.int32, 4)) == "4 ulps off, 3 ulps are allowed"
        assert found("codes", lambda right: right + 1) == ""
        assert found("codes", lambda right: right - 2) == "2 steps off, 1 step is allowed"
        assert found("restored", stepped(1)) == ""
        assert found("restored", stepped(-2)) == "2 steps off, 1 step is allowed"
    finally:
        arena.close()


@pytest.fixture
def judge(catalogue: Catalogue, device: Device, boxes: Refilled) -> Judge:
    need("emulator")
    loaded = catalogue.load("twice")

    def run(source: str, language: Language, **rules: object) -> Report:
        manifest = loaded.manifest.model_copy(update={"constructs": Constructs.model_validate(rules)})
        asked = replace(loaded, manifest=manifest)
        request = Request(asked, language, source, device.name, bytes(32), loaded.cases, timing=False)
        return Session(request, device, boxes, lambda _: None, lambda: None, boxes.quiet).run().report

    return run


def test_a_source_on_a_gpus_board_is_held_to_the_rules_by_the_emulated_gpu(judge: Judge) -> None:
    need("nvcc")
    source = CLEAN.replace("LARGE", "0")
    assert (
        judge(source, Language.CUDA, forbid=["atomics"], require=["tensor_cores"]).verdict is Verdict.ACCEPTED
    )
    assert judge(source, Language.CUDA, launches={"most": 1}).verdict is Verdict.BROKEN_RULE


def test_a_triton_source_on_a_gpus_board_is_held_to_the_rules(judge: Judge) -> None:
    right = "tl.store(out + offsets, 2 * values, mask=offsets < n)"
    atomic = f"tl.atomic_add(out + offsets, 0.0, mask=offsets < n)\n    {right}"
    report = judge(TRITON.replace("BODY", atomic), Language.TRITON, forbid=["atomics"])
    assert report.verdict is Verdict.BROKEN_RULE, report
    assert report.broken_rules[0].kernel == "twice"
