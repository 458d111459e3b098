"""A profile's sums, and how it is kept."""

from __future__ import annotations

import json
from typing import Any

import pytest

from grader import limits
from grader.sandbox.emulator import profile as makes
from grader.sandbox.emulator.explain import kernel_name
from grader.sandbox.emulator.model import Launch, Row, seconds_of
from grader.sandbox.emulator.work import Work
from grader.schemas.call_profile import MOST_KERNELS, MOST_LINES, CallProfile
from tests.schemas.profiles import launch, row


def made(launches: list[Launch], copies: int = 0, copied: int = 0) -> CallProfile:
    return CallProfile.model_validate(makes.profile_of(launches, copies, copied))


def test_launches_of_one_shape_are_one_kernel() -> None:
    launches = [launch(rows=[row(3), row(3), row(5)])] * 3 + [launch(grid=7)]
    profile = made(launches, copies=2, copied=1000)
    assert [(kernel.launches, kernel.grid) for kernel in profile.kernels] == [
        (3, (100, 1, 1)),
        (1, (7, 1, 1)),
    ]
    assert profile.time_us == pytest.approx(1e6 * seconds_of(launches, 2, 1000))
    assert sum(profile.parts_us.values()) == pytest.approx(profile.time_us)
    first = profile.kernels[0]
    assert {line.line: line.instructions for line in first.lines} == {3: 600, 5: 300}
    assert first.total.instructions == 900
    assert profile.total.instructions == 1000


def test_a_common_step_of_loads_is_kept() -> None:
    same, other, none = (row(1, requests=10, sectors=80, steps=step) for step in (8, 4, None))
    assert made([launch(rows=[same, same])]).by_line[1].load_step == 8
    for rows in ([same, other], [same, none], [none]):
        assert made([launch(rows=rows)]).by_line[1].load_step is None


def test_a_profile_is_bounded() -> None:
    rows = [row(line, issued=line) for line in range(1, 1001)]
    launches = [launch(f"k{number}", rows=rows) for number in range(MOST_KERNELS + 8)]
    profile = made(launches)
    assert (len(profile.kernels), profile.left_out) == (MOST_KERNELS, 8)
    assert [line.line for line in profile.kernels[0].lines] == list(range(1001 - MOST_LINES, 1001))
    assert all(kernel.total.instructions == 500_500 for kernel in profile.kernels), (
        "the others are counted together"
    )
    assert profile.time_us == pytest.approx(1e6 * seconds_of(launches))
    assert "other kernels" in profile.parts_us


def test_a_profile_of_any_counts_fits_into_a_message() -> None:
    many: dict[str, Any] = dict.fromkeys(
        set(Row.__dataclass_fields__) - {"work", "line", "steps", "remote"}, 10**10
    )
    many |= {"array": "a" * 100, "ptx": "ld.global.f32 " + "\u00e9" * 200}
    many["lines"] = 0  # it is not sent, and a call must not last for hours
    rows = [
        Row(work=Work("memory", access=access), line=10**6 + line, steps=-(10**6), **many)
        for access in ("load", "store", "atomic")
        for line in range(300)
    ]
    updates = {"updates": 10**10, "updates_most": 10**10}
    profile = made([launch("k" * 100 + str(number), 1320, rows, **updates) for number in range(MOST_KERNELS)])
    assert MOST_LINES // 2 < len(profile.kernels[0].lines) <= MOST_LINES
    assert len(profile.kernels[0].accesses) > 20
    assert sum(len(line.ptx) for line in profile.kernels[0].lines) > 50
    assert len(json.dumps(profile.model_dump(mode="json"))) < limits.MESSAGE_BYTES - limits.KIB


def test_zeros_are_not_stored() -> None:
    broadcast = row(0, requests=1, sectors=1, steps=0)
    profile = made([launch(rows=[row(1), broadcast])])
    kept = profile.model_dump(mode="json")
    assert kept["kernels"][0]["lines"][0]["load_step"] == 0
    assert kept["kernels"][0]["lines"][1:] == [
        {"line": 1, "instructions": 100, "threads": 3200, "threads_on": 3200, "issue_slots": 100}
    ]
    assert CallProfile.model_validate(kept) == profile


def test_the_kind_of_an_access_is_its_instructions() -> None:
    line = made(
        [
            launch(
                rows=[
                    row(1, "store", requests=1, sectors=32, ideal_sectors=4),
                    row(1, "copy", requests=2, sectors=8, ideal_sectors=8),
                    row(1, "atomic", requests=3, sectors=3, same=96),
                ]
            )
        ]
    ).by_line[1]
    assert (line.store_requests, line.store_sectors, line.store_ideal_sectors) == (1, 32, 4)
    assert (line.load_requests, line.atomic_requests, line.atomic_turns) == (2, 3, 96)


@pytest.mark.parametrize(
    ("mangled", "name"),
    [
        ("_Z5twicePKfPfl", "twice"),
        ("_ZN3sum6reduceILi256EfEEvPKf", "sum::reduce<256, float>"),
        ("_Z4scanILin1ELb1EEvPf", "scan<-1, 1>"),
        ("_Z4scanI6float4EvPT_", "scan<...>"),
        ("_ZN12_GLOBAL__N_14plusEPf", "plus"),
        ("__nv_static_38__c7_a_cu_1__Z4plusPf", "plus"),
        ("matmul_kernel", "matmul_kernel"),
        ("_Z", "_Z"),
    ],
)
def test_kernel_names_are_kept_as_written(mangled: str, name: str) -> None:
    assert kernel_name(mangled) == name


def test_kernel_names_are_printable() -> None:
    profile = made([launch("<b>\x1b[31m" + "x" * 300, rows=[Row(Work("integer"), 0, None, *([1] * 19))])])
    assert profile.kernels[0].name.startswith("<b>__31mxxx")
