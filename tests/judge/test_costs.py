"""The two sides of the roofline at a workload, as a report holds them."""

from __future__ import annotations

import pytest

from grader.challenge.catalogue import Catalogue
from grader.challenge.dtypes import DType
from grader.challenge.expression import parse
from grader.challenge.model import Manifest, Workload
from grader.judge.roofline import cost_of, light_seconds, roofline_seconds

CEILINGS = {"bandwidth": 4e12, "rate:float32": 50e12, "rate:float16": 800e12, "rate:int8": 1600e12}
SQUARE = Workload(name="square", sizes={"n": 4096})
FLOPS = 2 * 4096**3


def test_the_cost_uses_the_ceilings(catalogue: Catalogue) -> None:
    manifest = catalogue.load("twice").manifest
    workload = manifest.workloads[0]
    found = cost_of(manifest, workload, CEILINGS)
    assert found.bytes == parse(manifest.cost.bytes)(workload.sizes)
    assert found.flops == parse(manifest.cost.flops)(workload.sizes)
    assert (found.bandwidth, found.rate) == (4e12, 50e12)
    roofline = roofline_seconds(manifest, workload, CEILINGS)
    assert roofline == pytest.approx(max(found.bytes / 4e12, found.flops / 50e12))


def test_the_cost_is_known_without_ceilings(catalogue: Catalogue) -> None:
    manifest = catalogue.load("twice").manifest
    found = cost_of(manifest, manifest.workloads[0], {})
    assert found.bytes > 0
    assert (found.bandwidth, found.rate) == (None, None)
    assert roofline_seconds(manifest, manifest.workloads[0], {}) is None


def product(catalogue: Catalogue, read: str, written: str, multiplied: DType | None = None) -> Manifest:
    manifest = catalogue.load("twice").manifest
    types = {"x": DType(read), "out": DType(written)}
    args = [
        argument.model_copy(update={"dtype": types[argument.name]}) if argument.name in types else argument
        for argument in manifest.args
    ]
    cost = manifest.cost.model_copy(update={"bytes": "n", "flops": "2 * n * n * n", "multiplied": multiplied})
    return manifest.model_copy(update={"args": args, "cost": cost})


@pytest.mark.parametrize(
    ("read", "written", "rate"),
    [
        ("int8", "int32", 1600e12),
        ("uint8", "int32", 1600e12),
        ("float16", "float32", 800e12),
        ("float32", "float16", 50e12),
        ("int32", "int32", 50e12),
    ],
)
def test_the_multiplied_dtype_decides_the_rate(
    catalogue: Catalogue, read: str, written: str, rate: float
) -> None:
    assert roofline_seconds(product(catalogue, read, written), SQUARE, CEILINGS) == pytest.approx(
        FLOPS / rate
    )


def test_a_manifest_can_name_the_multiplied_dtype(catalogue: Catalogue) -> None:
    manifest = product(catalogue, "float32", "float32", DType.FLOAT16)
    assert roofline_seconds(manifest, SQUARE, CEILINGS) == pytest.approx(FLOPS / 800e12)


def test_a_float32_product_costs_three_bfloat16_products(catalogue: Catalogue) -> None:
    """They are within its tolerance, so a kernel that multiplies so is not faster than light; but ranked
    workloads stay those that are long enough for plain float32.
    """
    manifest, ceilings = product(catalogue, "float32", "float32"), {**CEILINGS, "rate:bfloat16": 900e12}
    assert light_seconds(manifest, SQUARE, ceilings) == pytest.approx(FLOPS / 300e12)
    assert roofline_seconds(manifest, SQUARE, ceilings) == pytest.approx(FLOPS / 50e12)
    assert light_seconds(product(catalogue, "float16", "float32"), SQUARE, ceilings) == pytest.approx(
        FLOPS / 800e12
    )
