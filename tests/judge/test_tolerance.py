"""Tolerances of single results, in ulps and in steps of a quantiser: the rule, its words, and calibration."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from grader.authoring.calibrate import calibrate, calibration_checks
from grader.challenge.catalogue import Catalogue
from grader.challenge.dtypes import DType
from grader.challenge.loader import Challenge, parse_manifest
from grader.challenge.tolerance import Allowance, Unit
from grader.challenge.views import detail
from grader.errors import ChallengeInvalid
from grader.judge.arena import Arena
from grader.judge.at_home import judge_at_home
from grader.judge.compare import compare_in_pieces
from grader.judge.oracle import ask
from grader.judge.request import CPU
from grader.judge.worst import wrong_elements
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.schemas.proof import Status
from grader.schemas.report import Report, Verdict

# Rows are quantised to 4 bits with a scale for each, and restored.
MANIFEST = """
title = "Quantise"
track = "tests"
difficulty = "easy"
version = 1
languages = ["triton"]
args = [
    { name = "x", kind = "input", dtype = "float32", shape = ["rows", "cols"] },
    { name = "codes", kind = "output", dtype = "int8", shape = ["rows", "cols"] },
    { name = "restored", kind = "output", dtype = "float16", shape = ["rows", "cols"] },
    { name = "scales", kind = "output", dtype = "float32", shape = ["rows"] },
    { name = "rows", kind = "size" },
    { name = "cols", kind = "size" },
]
workloads = [{ name = "small", sizes = { rows = 20, cols = 30 }, on = "cpu" }]
cost = { bytes = "7 * rows * cols", flops = "rows * cols" }

[tolerance.codes]
steps = 1

[tolerance.restored]
steps = 1
step = "scales"

[tolerance.scales]
ulps = 3
"""
CASES = """
from grader.challenge.cases import case


def cases():
    return [case("basic", "basic", rows=5, cols=40)]
"""
REFERENCE = """
def reference(x, rows, cols):
    scales = x.abs().amax(dim=1).clamp(min=1e-30) / 7
    codes = (x / scales[:, None]).round()
    return codes.to(dtype=__import__("torch").int8), codes * scales[:, None], scales
"""
SOLVE = """
import torch


def solve(x, codes, restored, scales, rows, cols):
    found = x.abs().amax(dim=1).clamp(min=1e-30) / 7
    whole = (x / found[:, None]).round()
    whole[:, :2] += {off}
    codes.copy_(whole)
    restored.copy_((whole + {more}) * found[:, None])
    scales.copy_((found.view(torch.int32) + {ulps}).view(torch.float32))
"""

Write = Callable[..., Challenge]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(manifest: str = MANIFEST) -> Challenge:
        public, reference = tmp_path / "challenges" / "quantise", tmp_path / "reference" / "quantise"
        for folder in (public, reference / "staff"):
            folder.mkdir(parents=True, exist_ok=True)
        (public / "challenge.toml").write_text(manifest)
        (public / "spec.md").write_text("# Quantise\n")
        (public / "cases.py").write_text(CASES)
        (reference / "reference.py").write_text(REFERENCE)
        return Catalogue(tmp_path).load("quantise")

    return write


@pytest.mark.parametrize(
    ("off", "more", "ulps", "said"),
    [
        (1, 0, 3, ""),
        (2, 0, 0, "the worst is 2 steps off, 1 step is allowed"),
        (0, 2, 0, "the worst is 2 steps off, 1 step is allowed"),
        (0, 0, 17, "the worst is 17 ulps off, 3 ulps are allowed"),
    ],
)
def test_each_result_has_its_own_rule_and_its_error_is_counted_in_its_unit(
    write: Write, boxes: BoxMaker, off: int, more: int, ulps: int, said: str
) -> None:
    source = SOLVE.format(off=off, more=more, ulps=ulps)
    report: Report = judge_at_home(write(), source, Language.TRITON, boxes, device=CPU, timing=not said)
    assert report.verdict is (Verdict.WRONG_ANSWER if said else Verdict.ACCEPTED), report.cases
    assert said in report.cases[0].detail
    if said:
        mismatch = report.cases[0].mismatch
        assert mismatch is not None
        assert mismatch.map is not None
        assert mismatch.unit == mismatch.map.unit == ("ulps" if ulps else "steps")


def test_a_workload_is_compared_by_the_same_rule(write: Write, boxes: BoxMaker) -> None:
    wrong = SOLVE.format(off="(2 if rows == 20 else 0)", more=0, ulps=0)
    report = judge_at_home(write(), wrong, Language.TRITON, boxes, device=CPU)
    assert report.verdict is Verdict.WRONG_ANSWER
    assert "2 steps off" in report.cases[-1].detail
    assert report.cases[-1].name.startswith("workload small")


def test_a_page_says_the_rule_of_each_result(write: Write) -> None:
    said = {argument.name: argument.allowed for argument in detail(write()).arguments}
    assert (said["x"], said["codes"], said["restored"], said["scales"]) == (
        "",
        "1 step",
        "1 step of scales",
        "3 ulps",
    )


def test_calibration_proposes_each_in_its_unit(write: Write) -> None:
    challenge = write()
    found = calibrate(challenge, challenge.cases, "cpu")
    check = calibration_checks(challenge, found, loose=True)[1]
    assert check.status is Status.OK
    assert "scales: set: 3 ulps; proposed: " in check.summary
    assert "codes: set: 1 step; proposed: 0 steps" in check.summary
    loose = write(MANIFEST.replace("steps = 1\n\n", "steps = 9\n\n").replace("ulps = 3", "ulps = 1e4"))
    summary = calibration_checks(loose, found, loose=True)[1].summary
    assert "codes: 9 steps are over 4 times what native needs" in summary
    tight = write(MANIFEST.replace("[tolerance.restored]\nsteps = 1", "[tolerance.restored]\nsteps = 0"))
    (tight.reference_folder / "reference.py").write_text(
        REFERENCE.replace("/ 7", "/ (7 if x.dtype.itemsize == 8 else 6)")
    )
    tight = Catalogue(tight.folder.parents[1]).load("quantise")
    again = calibration_checks(tight, calibrate(tight, tight.cases, "cpu"), loose=True)[1]
    assert again.status is Status.ERROR
    assert any("restored: native PyTorch is off by" in finding for finding in again.details), again


def test_steps_shared_by_blocks_are_spread_over_their_elements(write: Write) -> None:
    manifest = MANIFEST.replace('shape = ["rows"] }', 'shape = ["rows", "cdiv(cols, 32)"] }')
    blocks = write(manifest.replace('step = "scales"', 'step = "scales"\nblock = 32'))
    (blocks.reference_folder / "reference.py").write_text(
        "import torch\n\n\ndef reference(x, rows, cols):\n"
        "    scales = torch.stack([x.new_tensor([0.5, 2.0])] * rows)\n"
        "    return x.to(torch.int8), x, scales\n"
    )
    blocks = Catalogue(blocks.folder.parents[1]).load("quantise")
    question = ask(blocks, blocks.cases[0], 1)
    spread = question.magnitudes["restored"]
    assert spread.shape == (5, 40)
    assert (spread[0, 31], spread[0, 32], spread[4, 39]) == (0.5, 2.0, 2.0)
    assert bool(question.magnitudes["codes"].isnan().all())
    arena = Arena(blocks.manifest, blocks.cases[0].sizes, {})
    try:
        arena.reveal(question.inputs)
        for name, values in question.outputs.items():
            arena.buffers[name].write(values)
        arena.buffers["restored"].write(question.outputs["restored"] + 0.7)
        found = compare_in_pieces(arena, question)
        assert found is None
        arena.buffers["restored"].write(question.outputs["restored"] + 1.0)
        found = compare_in_pieces(arena, question)
        assert found is not None
        assert (found.wrong, found.in_units) == (160, "2 steps off, 1 step is allowed")
    finally:
        arena.close()


def test_an_ulp_is_that_of_the_type_and_of_the_right_value() -> None:
    facts = DType.FLOAT16.as_float
    rule = Allowance(ulps=2, unit=Unit.ULPS, digits=facts.digits, least_exponent=facts.least_exponent)
    want = torch.tensor([1.0, 1.0, 2.0, 0.0, 0.0, 6e-8], dtype=torch.float16)
    off = torch.tensor([2.0**-9, 3 * 2.0**-10, 2.0**-8, 2.0**-23, 3 * 2.0**-24, 2.0**-23])
    got = (want.double() + off).half()
    assert wrong_elements(got, want, rule).tolist() == [False, True, False, False, True, False]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("[tolerance.x]\nulps = 1", "'x' is not an output"),
        ("[tolerance.codes]\nulps = 1", "give steps"),
        ("[tolerance.codes]\nsteps = 1\nstep = 2", "leave step out"),
        ("[tolerance.scales]\nsteps = 1", "give step"),
        ("[tolerance.scales]\nulps = 1\nrtol = 0.1", "without rtol"),
        ("[tolerance.scales]\nsteps = 1\nstep = 'nobody'", "not an argument"),
        ("[tolerance.scales]\nsteps = 1\nstep = 'rows + k'", "step names ['k']"),
        ("[tolerance.scales]\nsteps = 1\nstep = 'restored'", "more dimensions"),
        ("[tolerance.scales]\nsteps = 1\nstep = '1 / (rows - 20)'", "divides by zero"),
        ("[tolerance.scales]\nstep = 2", "give steps, too"),
        ("[tolerance.kept]\nsteps = 1", "'kept' is bool, which has no steps here"),
    ],
)
def test_a_tolerance_that_does_not_fit_its_result_is_refused(given: str, words: str) -> None:
    kept = '{ name = "kept", kind = "output", dtype = "bool", shape = ["rows"] },'
    text = MANIFEST[: MANIFEST.index("[tolerance.codes]")].replace("args = [", f"args = [{kept}") + given
    with pytest.raises(ChallengeInvalid) as refused:
        parse_manifest(Path("challenge.toml"), text)
    assert words in str(refused.value)


def test_old_manifests_dump_as_they_did_and_new_ones_can_be_read_again() -> None:
    manifest = parse_manifest(Path("challenge.toml"), MANIFEST)
    again = type(manifest).model_validate(manifest.model_dump(mode="json", exclude_defaults=True))
    assert again.tolerance == manifest.tolerance
    old = parse_manifest(
        Path("challenge.toml"), MANIFEST[: MANIFEST.index("[tolerance.codes]")] + "[tolerance]\nrtol = 1e-3"
    )
    assert old.tolerance.model_dump(exclude_defaults=True) == {"rtol": 1e-3}
