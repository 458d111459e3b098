"""Advice from profiles: a sentence for each planted mistake, none for correct code."""

from __future__ import annotations

from typing import Any

import pytest

from grader.sandbox.emulator.model import H200, Launch, Row
from grader.sandbox.emulator.profile import profile_of
from grader.schemas.call_profile import MULTIPROCESSORS, CallProfile
from grader.schemas.profile_advice import bound_sentence, hints_of
from tests.schemas.profiles import launch, row


def profile(*launches: Launch) -> CallProfile:
    return CallProfile.model_validate(profile_of(launches))


def sentences(*launches: Launch) -> list[str]:
    return [hint.sentence for hint in hints_of(profile(*launches))]


N = 100_000


def test_a_good_profile_gets_no_hint() -> None:
    right = [
        row(1, "load", N, requests=N, sectors=4 * N, ideal_sectors=4 * N, l2=4 * N, dram=4 * N, steps=4),
        row(2, "store", N, shared_requests=N, passes=N, ideal_passes=N, steps=4),
        row(3, "", N),
    ]
    assert sentences(launch(grid=2000, rows=right)) == []


@pytest.mark.parametrize(
    ("planted", "sentence"),
    [
        (
            row(7, "load", N, requests=N, sectors=32 * N, ideal_sectors=4 * N, l2=32 * N, steps=128),
            "Line 7: 32 sectors per request, ideally 4: neighbouring threads read 128 bytes apart",
        ),
        (
            row(7, "store", N, requests=N, sectors=20 * N, ideal_sectors=4 * N, l2=20 * N),
            "Line 7: 20 sectors per request, ideally 4: the elements that a warp writes are scattered",
        ),
        (
            row(7, "load", N, shared_requests=N, passes=32 * N, ideal_passes=N, steps=-128),
            "Line 7: 32 passes per access to shared memory, ideally 1: neighbouring threads are 128 bytes apart, "
            "so several use the same bank; padding a row by one element shifts them",
        ),
        (
            row(7, "atomic", N, requests=N, sectors=N, same=32 * N, l2=N),
            "Line 7: 32 threads of a warp change one address, one after the other: add up within a warp or block "
            "first, and let one thread change it",
        ),
        (
            row(7, "load", N, constant_requests=N, constant_passes=32 * N),
            "Line 7: a warp reads 32 addresses of constant memory at a time, one after the other: use it for values "
            "that all threads of a warp read",
        ),
        (
            row(7, "", 50 * N, lanes=8 * 50 * N),
            "Line 7: 8.0 of a warp's 32 threads are active here on average, the others wait: let the threads of "
            "a warp take the same path",
        ),
    ],
)
def test_each_planted_mistake_gets_its_hint(planted: Row, sentence: str) -> None:
    assert sentences(launch(grid=2000, rows=[planted])) == [sentence]


def test_hints_cover_a_kernels_shape() -> None:
    slow: dict[str, Any] = {"chain": 60_000}
    few = launch("few", grid=5, **slow)
    odd = launch("odd", grid=2000, block=(40, 1, 1), rows=[row(1, issued=50 * N)])
    assert "Kernel few: 5 blocks for 132 multiprocessors: the others are idle" in sentences(few)
    assert any("a warp with only 8: use a multiple of 32" in sentence for sentence in sentences(odd))
    fat = launch("fat", grid=2000, registers=255, **slow)
    assert (
        "Kernel fat: a multiprocessor holds only 8 of 64 warps at a time, limited by registers, 255 a thread"
        in sentences(fat)
    )
    assert any(
        "30 launches cost 90.0 µs by themselves" in sentence for sentence in sentences(*[launch()] * 30)
    )


def test_the_limiting_factor_is_named() -> None:
    bytes_bound = launch(grid=2000, rows=[row(1, "load", N, requests=N, sectors=4 * N, l2=4 * N, dram=4 * N)])
    assert bound_sentence(profile(bytes_bound)).endswith("% of the time is bytes from and to memory (DRAM).")
    assert "the cost of launching kernels" in bound_sentence(profile(launch()))
    assert bound_sentence(profile()) == "It launches nothing and copies nothing."


def test_the_models_card_has_the_documented_multiprocessors() -> None:
    assert H200.multiprocessors == MULTIPROCESSORS


def test_profiles_of_earlier_versions_have_advice() -> None:
    """They have counts by line only."""
    planted = row(
        7, "load", N, requests=N, sectors=32 * N, ideal_sectors=4 * N, l2=32 * N, steps=128, waited=10**6
    )
    made = profile_of([launch(grid=2000, rows=[planted])])
    old = {name: value for name, value in made.items() if name != "timeline"}
    new = {"accesses", "arrays", "stalls", "spill_terms_us", "spilled_bytes", "balance"}
    counts = {"l1_lines", "delay_cycles", "issue_slots"}
    old["kernels"] = [
        {
            **{name: value for name, value in kernel.items() if name not in new},
            "lines": [
                {name: value for name, value in line.items() if name not in counts}
                for line in kernel["lines"]
            ],
        }
        for kernel in made["kernels"]
    ]
    (hint,) = hints_of(CallProfile.model_validate(old))
    assert (hint.line, hint.kind) == (7, "coalescing")
    assert hint.us == pytest.approx(hints_of(CallProfile.model_validate(made))[0].us, rel=0.2)


def test_a_second_hint_is_without_the_first_cost() -> None:
    scattered = row(
        7, "load", 20 * N, requests=20 * N, sectors=640 * N, ideal_sectors=80 * N, l2=640 * N, lines=640 * N
    )
    conflicting = row(
        9, "load", 20 * N, shared_requests=20 * N, passes=640 * N, ideal_passes=20 * N, steps=128
    )
    profiled = profile(launch(grid=2000, rows=[scattered, conflicting]))
    first, second = hints_of(profiled)
    assert [first.kind, second.kind] == ["coalescing", "banks"]
    assert 0 < first.us + second.us < profiled.time_us - 3
