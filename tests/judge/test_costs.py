"""The two sides of the roofline at a workload, as a report holds them."""

from __future__ import annotations

import pytest

from grader.challenge.course import Course
from grader.challenge.expression import parse
from grader.judge.roofline import cost_of, roofline_seconds

CEILINGS = {"bandwidth": 4e12, "rate:float32": 50e12, "rate:float16": 800e12}


def test_cost_and_ceilings(course: Course) -> None:
    manifest = course.load("twice").manifest
    workload = manifest.workloads[0]
    found = cost_of(manifest, workload, CEILINGS)
    assert found.bytes == parse(manifest.cost.bytes)(workload.sizes)
    assert found.flops == parse(manifest.cost.flops)(workload.sizes)
    assert (found.bandwidth, found.rate) == (4e12, 50e12)
    roofline = roofline_seconds(manifest, workload, CEILINGS)
    assert roofline == pytest.approx(max(found.bytes / 4e12, found.flops / 50e12))


def test_without_ceilings_the_cost_is_known_all_the_same(course: Course) -> None:
    manifest = course.load("twice").manifest
    found = cost_of(manifest, manifest.workloads[0], {})
    assert found.bytes > 0
    assert (found.bandwidth, found.rate) == (None, None)
    assert roofline_seconds(manifest, manifest.workloads[0], {}) is None
