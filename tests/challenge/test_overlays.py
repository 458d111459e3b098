"""Timed rounds add inputs that reveal skipped work."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from grader.challenge.cases import Category
from grader.challenge.catalogue import Catalogue, find_catalogue
from grader.challenge.loader import Challenge
from grader.challenge.model import Workload
from grader.challenge.overlays import Overlay, drawn_specials, overlays
from grader.judge.oracle import ask, find_case, workload_case

CATALOGUE = find_catalogue()
TESTS = Path(__file__).parent.parent / "catalogue"
LARGE = Workload(name="large", sizes={"n": 1 << 22})
# Their inputs are drawn at their own sizes: none of another size fits a workload.
SORTED_ALONE = ("bfs_levels", "coo_to_csr")
# Probability in a round with outliers in one input; a grading makes at least three.
DETECTED = 0.9


def on_cpu(challenge: Challenge) -> Workload:
    return next(workload for workload in challenge.manifest.workloads if workload.on == "cpu")


@pytest.mark.parametrize("slug", CATALOGUE.slugs())
def test_every_overlay_fits_the_workloads(slug: str) -> None:
    """Protects right submissions: an overlay that does not fit would become our failure, or their wrong answer."""
    challenge = CATALOGUE.load(slug)
    found = overlays(challenge, on_cpu(challenge))
    assert bool(found) == (slug not in SORTED_ALONE)
    for overlay in found:
        case = workload_case(challenge, on_cpu(challenge), overlay)
        ask(challenge, case, 1)
        assert find_case(challenge, case.name) == case


def test_only_outliers_count() -> None:
    challenge = CATALOGUE.load("softmax")
    found = overlays(challenge, on_cpu(challenge))
    assert [overlay.name for overlay in found if overlay.counts] == ["outliers in x"]
    assert {"nan", "pos_inf", "zeros", "plus_1000"} <= {
        overlay.name for overlay in found if not overlay.counts
    }
    assert not {"basic", "large", "near_float_max"} & {overlay.name for overlay in found}
    sparse = CATALOGUE.load("spmv_csr")
    assert "one_row_has_all" not in {overlay.name for overlay in overlays(sparse, on_cpu(sparse))}


def test_ties_are_drawn_if_results_are_exact() -> None:
    histogram, summed = CATALOGUE.load("histogram"), CATALOGUE.load("reduce_sum")
    assert "one_hot" in {overlay.name for overlay in overlays(histogram, on_cpu(histogram))}
    assert "alike" not in {overlay.name for overlay in overlays(summed, on_cpu(summed))}


def passed(challenge: Challenge, name: str, seed: int, approximate: Callable[..., torch.Tensor]) -> bool:
    question = ask(challenge, workload_case(challenge, LARGE, by_name(challenge, name)), seed)
    wanted = question.outputs["out"].double()
    got = approximate(**{name: values.double() for name, values in question.inputs.items()})
    return bool(
        ((got - wanted).abs() <= challenge.manifest.tolerance.rtol * question.magnitudes["out"]).all()
    )


def by_name(challenge: Challenge, name: str) -> Overlay:
    return next(overlay for overlay in overlays(challenge, LARGE) if overlay.name == name)


def without_tail(values: torch.Tensor) -> torch.Tensor:
    kept = values.clone()
    kept[-len(values) // 100 :] = 0.25
    return kept


APPROXIMATIONS = [
    ("reduce_sum", "x", lambda x: (x * 0 + 0.25).sum()[None]),
    ("reduce_sum", "x", lambda x: without_tail(x).sum()[None]),
    ("dot", "b", lambda a, b: (0.5 * a).sum()[None]),
    ("dot", "a", lambda a, b: (without_tail(a) * b).sum()[None]),
    ("inclusive_scan", "x", lambda x: x.cumsum(0)[torch.arange(len(x)) // 1024 * 1024]),
]


@pytest.mark.parametrize(("slug", "argument", "approximate"), APPROXIMATIONS)
def test_outliers_reveal_unread_elements(
    slug: str, argument: str, approximate: Callable[..., torch.Tensor]
) -> None:
    challenge = CATALOGUE.load(slug)
    name = f"outliers in {argument}"
    rounds = [passed(challenge, name, seed, approximate) for seed in range(10)]
    assert sum(rounds) <= (1 - DETECTED) * len(rounds)


def test_a_special_value_is_drawn_at_the_size_of_the_workload() -> None:
    challenge = Catalogue(TESTS).load("twice")
    workload = on_cpu(challenge)
    (special,) = [overlay for overlay in overlays(challenge, workload) if not overlay.counts]
    assert special.name == "nan"
    drawn = ask(challenge, workload_case(challenge, workload, special), 1).inputs["x"]
    assert drawn.shape == (4096,)
    assert drawn.isnan().any()


@pytest.mark.parametrize("slug", ["softmax", "layernorm", "rmsnorm", "matmul"])
def test_a_special_value_leaves_results_that_it_does_not_reach(slug: str) -> None:
    """Otherwise a kernel that spreads one over everything would be right."""
    challenge = CATALOGUE.load(slug)
    sizes = dict.fromkeys(challenge.manifest.sizes, 256) | ({} if slug == "matmul" else {"cols": 2048})
    workload = Workload(name="long rows", sizes=sizes)
    found = [overlay for overlay in overlays(challenge, workload) if overlay.name in ("nan", "pos_inf")]
    assert len(found) == 2
    for special in found:
        out = ask(challenge, workload_case(challenge, workload, special), 1).outputs["out"]
        reached = (~out.isfinite()).float().mean().item()
        assert 0.0 < reached < 0.7


def test_every_grading_includes_the_required_special_rounds() -> None:
    """Cases with ``timed``, and one of NaN and each infinity, whatever the dice; the rest by chance."""
    made = [
        *[Overlay(f"nan {number}", {}, False, Category.NAN) for number in range(3)],
        Overlay("inf", {}, False, Category.POS_INF),
        Overlay("wanted", {}, False, Category.HUGE, always=True),
        *[Overlay(f"zeros {number}", {}, False, Category.ZEROS) for number in range(9)],
    ]
    samples = [[overlay.name for overlay in drawn_specials(made, random.Random(seed))] for seed in range(40)]
    for names in samples:
        assert {"inf", "wanted"} <= set(names)
        assert any(name.startswith("nan") for name in names)
    assert {len(names) for names in samples} == {6, 7}
    assert len({name for names in samples for name in names}) == len(made)


def test_a_required_special_round_may_come_twice() -> None:
    """Otherwise later rounds could skip handling it."""
    only = [Overlay("nan", {}, False, Category.NAN)]
    samples = [len(drawn_specials(only, random.Random(seed))) for seed in range(40)]
    assert set(samples) == {1, 2}
    assert drawn_specials([], random.Random(0)) == []
