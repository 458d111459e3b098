"""What an argument may be: scalars, optional inputs, layouts, bounds, counts, and constraints between sizes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from grader.authoring.scaffold.draft import Draft
from grader.authoring.scaffold.suite import is_possible, public_cases
from grader.authoring.scaffold.texts import manifest_text
from grader.challenge.cases import Ascending, Case, Category, Constant, Offsets
from grader.challenge.catalogue import Catalogue
from grader.challenge.draw import draw_inputs
from grader.challenge.examined import Examined, dump, load
from grader.challenge.loader import parse_manifest
from grader.challenge.model import Manifest
from grader.challenge.own_case import own_case
from grader.challenge.signature import declaration, starter
from grader.challenge.views import LEFT_OUT, detail
from grader.device_kinds import CPU, kind_of
from grader.errors import BadRequest, ChallengeInvalid
from grader.judge.oracle import plain_values, workload_case
from grader.languages import Language
from grader.schemas.own_case import OwnCase

SIGNATURES = Catalogue(Path(__file__).parent.parent / "signatures")


def own(slug: str, **asked: Any) -> Case:
    return own_case(SIGNATURES.load(slug), OwnCase(name="basic", **asked), kind_of(CPU))


def labels(dtype: str, dist: str = "integers", high: str = "cols") -> Manifest:
    label = {"name": "label", "kind": "input", "dtype": dtype, "shape": ["rows"]}
    return Manifest.model_validate(
        {
            "title": "Labels",
            "track": "tests",
            "difficulty": "easy",
            "version": 1,
            "languages": ["triton"],
            "args": [
                {**label, "values": {"dist": dist, "low": 0, "high": high, "strict": True}},
                {"name": "out", "kind": "output", "dtype": "float32", "shape": ["rows"]},
                {"name": "rows", "kind": "size"},
                {"name": "cols", "kind": "size"},
            ],
            "workloads": [{"name": "small", "sizes": {"rows": 4, "cols": 9}}],
            "cost": {"bytes": "rows", "flops": "rows"},
        }
    )


def test_arguments_keep_their_authors_order() -> None:
    manifest = SIGNATURES.load("adam").manifest
    assert declaration(manifest, Language.TRITON) == (
        "def solve(n, p, g, m, lr, beta1, v, beta2, eps, weight_decay, step, scale)"
    )
    assert "__half weight_decay, int32_t step, const float* scale" in declaration(manifest, Language.CUDA)
    assert "or nothing" in starter(manifest, Language.TRITON)
    assert [arg.name for arg in manifest.results] == ["p", "m", "v"]


def test_a_workload_overrides_scalars_and_leaves_inputs_out() -> None:
    challenge = SIGNATURES.load("adam")
    plain, scaled, _ = (workload_case(challenge, each) for each in challenge.manifest.workloads)
    values = plain_values(challenge.manifest, plain)
    assert (values["step"], values["scale"]) == (7, None)
    assert values["lr"] == pytest.approx(0.01)
    assert "scale" not in plain_values(challenge.manifest, scaled)
    assert "scale" in draw_inputs(challenge.manifest, scaled, 1)
    assert "scale" not in draw_inputs(challenge.manifest, plain, 1)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "int64"])
def test_labels_stay_below_a_size_in_every_integer_type(dtype: str) -> None:
    """Also if the size is beyond the type's range."""
    manifest = labels(dtype)
    most = min(1000, manifest.args[0].dtype.as_integer.high + 1)
    drawn = draw_inputs(manifest, Case("", Category.BASIC, {"rows": 5000, "cols": 1000}), 1)["label"].long()
    assert int(drawn.min()) >= 0
    assert most - 10 < int(drawn.max()) < most
    one = draw_inputs(manifest, Case("", Category.BASIC, {"rows": 5, "cols": 1}), 1)["label"]
    assert one.tolist() == [0] * 5
    outside = Case("odd", Category.BASIC, {"rows": 5, "cols": 3}, {"label": Constant(3)})
    with pytest.raises(ChallengeInvalid, match="the value 3 is not from 0 to 2"):
        draw_inputs(manifest, outside, 1)


def test_sorted_values_and_offsets() -> None:
    draw = torch.Generator().manual_seed(1)
    rows = Ascending(3, 40).draw((50, 20), torch.int32, draw)
    assert bool((rows.diff(dim=-1) > 0).all())
    assert (int(rows.min()), int(rows.max())) == (3, 39)
    assert Ascending(0, 4).draw((4,), torch.uint8, draw).tolist() == [0, 1, 2, 3]
    offsets = Offsets(0, 100).draw((31,), torch.int64, draw)
    assert (int(offsets[0]), int(offsets[-1])) == (0, 100)
    assert bool((offsets.diff() >= 0).all())
    given = Case("odd", Category.BASIC, {"rows": 3, "cols": 9}, {"label": Constant(2)})
    with pytest.raises(ChallengeInvalid, match="do not increase"):
        draw_inputs(labels("int32", "sorted"), given, 1)
    with pytest.raises(ChallengeInvalid, match="6 different numbers"):
        draw_inputs(labels("int32", "sorted"), Case("", Category.BASIC, {"rows": 6, "cols": 5}), 1)


def test_own_sizes_and_inputs_keep_to_the_contract() -> None:
    with pytest.raises(BadRequest, match=r"must fulfil 'k <= cols', and here cols = 30, k = 31"):
        own("topk", sizes={"k": 31})
    with pytest.raises(BadRequest, match=r"must fulfil 'ldo >= rows'"):
        own("pitched_transpose", sizes={"rows": 500})
    with pytest.raises(BadRequest, match=r"cannot be left out"):
        own("adam", inputs={"g": "none"})
    with pytest.raises(BadRequest, match=r"is no such number"):
        own("adam", inputs={"step": 1.5})
    case = own("adam", inputs={"scale": "none", "step": -(2**31), "lr": -0.5})
    assert (case.without, case.scalars) == (("scale",), {"step": -(2**31), "lr": -0.5})
    unscaled = OwnCase(name="unscaled", inputs={"scale": "ones"})
    assert own_case(SIGNATURES.load("adam"), unscaled, kind_of(CPU)).without == ()
    assert own("kept_rows", inputs={"seed": 2**63 - 1}).scalars == {"seed": 2**63 - 1}


def test_cases_and_workloads_keep_to_the_contract(tmp_path: Path) -> None:
    text = (SIGNATURES.root / "challenges" / "topk" / "challenge.toml").read_text()
    with pytest.raises(ChallengeInvalid, match=r"workloads 'small': the sizes must fulfil 'k <= cols'"):
        parse_manifest(tmp_path, text.replace("k = 5", "k = 65"))
    with pytest.raises(ChallengeInvalid, match=r"constraints: 'k <= m' names \['m'\]"):
        parse_manifest(tmp_path, text.replace("k <= cols", "k <= m"))
    with pytest.raises(ChallengeInvalid, match="is not a condition"):
        parse_manifest(tmp_path, text.replace("k <= cols", "k + cols"))
    text = (SIGNATURES.root / "challenges" / "pitched_transpose" / "challenge.toml").read_text()
    bare = text.replace('constraints = ["ldx >= cols", "ldo >= rows"]', "")
    with pytest.raises(ChallengeInvalid, match=r"layout of 'x': a stride of 32 is too short"):
        parse_manifest(tmp_path, bare.replace("ldx = 64", "ldx = 32"))
    text = (SIGNATURES.root / "challenges" / "adam" / "challenge.toml").read_text()
    with pytest.raises(ChallengeInvalid, match=r"scalar 'step': 7.5 is no int32"):
        parse_manifest(tmp_path, text.replace("step = 7", "step = 7.5"))
    with pytest.raises(
        ChallengeInvalid, match=r"\['g'\] cannot be left out; the optional inputs are \['scale'\]"
    ):
        parse_manifest(tmp_path, text.replace('without = ["scale"]', 'without = ["g"]'))


def test_a_case_keeps_what_it_leaves_out_through_an_examination() -> None:
    cases = tuple(SIGNATURES.load("adam").cases) + tuple(SIGNATURES.load("kept_rows").cases)
    found = load(dump(Examined(cases, (), {}, ("reference",))))
    assert [(case.without, case.scalars) for case in found.cases] == [
        (case.without, case.scalars) for case in cases
    ]


def test_pages_show_what_is_left_out_and_the_layout() -> None:
    shown = detail(SIGNATURES.load("adam"))
    assert next(case for case in shown.cases if case.name == "unscaled").inputs["scale"] == LEFT_OUT
    assert [arg.name for arg in shown.arguments if arg.optional] == ["scale"]
    pitched = detail(SIGNATURES.load("pitched_transpose"))
    assert pitched.constraints == ["ldx >= cols", "ldo >= rows"]
    assert pitched.arguments[0].strides == ["ldx", "1"]


@pytest.mark.parametrize("slug", SIGNATURES.slugs())
def test_a_new_suite_has_only_possible_sizes_and_both_of_an_option(slug: str, tmp_path: Path) -> None:
    manifest = SIGNATURES.load(slug).manifest
    again = parse_manifest(tmp_path, manifest_text(manifest))
    assert (again.args, again.workloads) == (manifest.args, manifest.workloads)
    cases = public_cases(manifest)
    assert all(is_possible(manifest, case.sizes) for case in cases)
    assert {"basic", "block_edge", "aligned"} <= {case.category for case in cases}
    assert manifest.optional == sorted({name for case in cases for name in case.without})
    for size in manifest.sizes:
        assert f"{size}_33" in {case.name for case in cases}


def test_a_draft_with_constraints_has_a_ladder_that_fulfils_them() -> None:
    draft = Draft(
        "top",
        "Top",
        "tests",
        args=("x:input:float32:rows,cols", "out:output:float32:rows,k"),
        constraints=("k <= cols", "cols % 2 == 0"),
    )
    manifest = draft.manifest()
    assert manifest.constraints == ["k <= cols", "cols % 2 == 0"]
    assert all(is_possible(manifest, workload.sizes) for workload in manifest.workloads)
