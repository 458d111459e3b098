"""The work of a launch, estimated from a sample of its blocks, against all of them."""

from __future__ import annotations

import ctypes
import struct
from collections import Counter

import pytest

from grader.sandbox.emulator.engine import Engine, pack_arguments
from grader.sandbox.emulator.model import Launch, seconds_of
from grader.sandbox.emulator.sample import CountedSample, Target

HEAD = """.version 8.0
.target sm_90
.address_size 64
.file 1 "k.cu"
.visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n)
{
.reg .b64 %p<9>; .reg .b32 %x<9>; .reg .f32 %f<9>; .reg .pred %q<3>;
ld.param.u64 %p0, [a]; ld.param.u64 %p1, [b]; ld.param.u32 %x7, [n];
mov.u32 %x0, %tid.x; mov.u32 %x1, %ctaid.x; mad.lo.u32 %x2, %x1, 128, %x0;
mad.wide.u32 %p2, %x2, 4, %p0; mad.wide.u32 %p3, %x2, 4, %p1;
"""
# Each thread adds n up, rereading one element: blocks work alike.
ALIKE = """
mov.u32 %x3, 0; mov.f32 %f1, 0f00000000;
AGAIN:
ld.global.f32 %f2, [%p2]; add.f32 %f1, %f1, %f2;
add.u32 %x3, %x3, 1; setp.lt.u32 %q1, %x3, %x7;
@%q1 bra AGAIN;
st.global.f32 [%p3], %f1;
ret;
}"""
# The number of rounds grows with the number of the block.
GROWING = ALIKE.replace("%x3, %x7;", "%x3, %x1;")
# Each block waits for 32 lines of a, one after the other. Many blocks read each, and none of them is next to
# it.
SCATTERED = """
mov.u32 %x3, 0; mov.f32 %f1, 0f00000000;
AGAIN:
mad.lo.u32 %x4, %x1, 32, %x3; cvt.rzi.u32.f32 %x6, %f1; add.u32 %x4, %x4, %x6;
mul.lo.u32 %x4, %x4, 2654435761; shr.u32 %x4, %x4, 16; shl.b32 %x4, %x4, 7;
shl.b32 %x5, %x0, 2; add.u32 %x5, %x5, %x4; cvt.u64.u32 %p4, %x5; add.s64 %p4, %p0, %p4;
ld.global.f32 %f2, [%p4]; add.f32 %f1, %f1, %f2;
add.u32 %x3, %x3, 1; setp.lt.u32 %q1, %x3, 32;
@%q1 bra AGAIN;
st.global.f32 [%p3], %f1;
ret;
}"""
# Blocks take the next of n tiles from a counter.
SHARED_OUT = """
TAKE:
mov.u32 %x3, 0; setp.ne.u32 %q1, %x0, 0;
@%q1 bra TAKEN;
atom.global.add.u32 %x3, [%p1], 1;
TAKEN:
shfl.sync.idx.b32 %x4, %x3, 0, 31, -1;
setp.ge.u32 %q2, %x4, %x7;
@%q2 bra DONE;
mad.wide.u32 %p4, %x4, 4, %p0;
ld.global.f32 %f1, [%p4];
bra TAKE;
DONE:
ret;
}"""


def launched(
    engine: Engine, body: str, blocks: int, n: int, *, sample: CountedSample | None = None, threads: int = 128
) -> Launch:
    size = max(4 * 128 * blocks, 4 * n)
    arrays = [(ctypes.c_char * size)() for _ in range(2)]
    addresses = [
        engine.adopt(ctypes.addressof(array), size, name, keep=array)
        for array, name in zip(arrays, "ab", strict=True)
    ]
    loaded = engine.load(HEAD + body)
    params = pack_arguments(
        engine.ready(loaded, "k").param_layout,
        [*(struct.pack("<Q", address) for address in addresses), struct.pack("<I", n)],
    )
    engine.begin_call()
    engine.launches, engine.sample = [], sample
    engine.begin_sample()
    loaded.registers["k"] = 32
    engine.launch(loaded, "k", (blocks, 1, 1), (threads, 1, 1), params)
    for address in addresses:
        engine.release(address, forget=True)
    engine.sample = None
    return engine.launches[0]


@pytest.mark.parametrize(("body", "off"), [(ALIKE, 0.001), (GROWING, 0.08)])
def test_a_sample_takes_the_time_of_all_blocks(engine: Engine, body: str, off: float) -> None:
    whole = launched(engine, body, 2000, 100)
    sample = CountedSample([], 1)
    part = launched(engine, body, 2000, 100, sample=sample)
    assert whole.counted == 2000
    assert part.counted < 1500, "groups beside the counted ones only fill the caches"
    assert seconds_of([part]) == pytest.approx(seconds_of([whole]), rel=off)
    for one, other in zip(whole.rows, part.rows, strict=True):
        assert other.issued == pytest.approx(one.issued, rel=off)
        assert other.sectors == pytest.approx(one.sectors, rel=off)
    (ran,) = sample.launches
    assert ran.blocks == 2000
    assert ran.instructions == pytest.approx(sum(row.issued for row in whole.rows), rel=0.3)


def test_all_blocks_run_and_only_the_sample_is_counted(engine: Engine) -> None:
    """Protects ranks: a kernel must not find out that it is counted, and no counted call goes without a comparison."""
    alone = CountedSample([], 1)
    part = launched(engine, ALIKE, 2000, 1000, sample=alone)
    filled = CountedSample([], 1, fill=True)
    whole = launched(engine, ALIKE, 2000, 1000, sample=filled)
    assert part.counted == whole.counted < 1000
    assert seconds_of([whole]) == seconds_of([part])
    assert [row.issued for row in whole.rows] == [row.issued for row in part.rows]
    assert alone.partial
    assert not filled.partial
    assert filled.launches[0].instructions == pytest.approx(sum(row.issued for row in whole.rows), rel=0.3)


def test_counted_blocks_find_what_left_out_blocks_brought(engine: Engine) -> None:
    """Protects ranks of kernels whose blocks share data across the grid: few alone read nearly all from memory."""
    whole = launched(engine, SCATTERED, 20_000, 0, threads=32)
    part = launched(engine, SCATTERED, 20_000, 0, sample=CountedSample([], 1), threads=32)
    assert part.counted < 5_000
    # Otherwise 31 % too long, with 2.2 times as many sectors from memory.
    assert seconds_of([part]) == pytest.approx(seconds_of([whole]), rel=0.2)
    assert sum(row.dram for row in part.rows) == pytest.approx(sum(row.dram for row in whole.rows), rel=0.15)


def test_matrix_products_weigh_by_the_time_that_they_take(engine: Engine) -> None:
    """Protects the seconds of a submission: a call of few instructions could run whole for a minute."""
    product = (
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%x1,%x2,%x3,%x4}, {%x5,%x6}, "
    )
    sample = CountedSample([], 1)
    launched(
        engine, "mov.u32 %x5, 0;" + product + "{%f1,%f2,%f3,%f4};\nret;\n}", 2, 0, sample=sample, threads=32
    )
    assert sample.launches[0].instructions == pytest.approx(2 * (16 * 8 * 16 // 96 + 14), abs=8)


def test_the_same_seed_counts_the_same(engine: Engine) -> None:
    times = [
        seconds_of([launched(engine, GROWING, 2000, 0, sample=CountedSample([], seed))]) for seed in (1, 1, 2)
    ]
    assert times[0] == times[1]
    assert times[0] != times[2]


def test_a_budget_ends_a_sample_once_a_group_has_counted(engine: Engine) -> None:
    part = launched(engine, ALIKE, 2000, 30_000, sample=CountedSample([], 1))
    assert part.counted == 4
    assert part.rows[0].issued == 2000 * 4


def test_work_that_blocks_share_out_is_counted_whole_and_shared_evenly(engine: Engine) -> None:
    """Protects kernels whose blocks take tiles from a counter: with few blocks at a time, those would take all."""
    tiles = 20_000
    whole = launched(engine, SHARED_OUT, 264, tiles, threads=32)
    busiest, rounds = max(whole.busiest), sum(row.issued for row in whole.rows)
    assert busiest < 3 * rounds / 132
    sample = CountedSample([], 1)
    assert launched(engine, SHARED_OUT, 264, tiles, sample=sample, threads=32).counted == 264
    assert not sample.partial


@pytest.mark.parametrize("grid", [(2000, 1, 1), (50, 40, 1), (20, 20, 9), (72, 1, 1), (513, 3, 1)])
@pytest.mark.parametrize("of_cluster", [1, 2, 8])
def test_no_block_runs_twice_and_groups_are_whole(grid: tuple[int, int, int], of_cluster: int) -> None:
    targets = [Target(index, (1000, 100)) for index in range(0, 100_000, 7001)]
    sample = CountedSample(targets, 3)
    chosen = sample.choose(grid, of_cluster, cooperative=False, coordinates=False)
    assert chosen.numbers is not None
    assert len(set(chosen.numbers)) == len(chosen.numbers)
    total = grid[0] * grid[1] * grid[2]
    assert all(0 <= number < total for number in chosen.numbers)
    assert chosen.numbers[0] == 0, "the first blocks find empty caches"
    counted = Counter(group for group, part in zip(chosen.groups, chosen.parts, strict=True) if part == 0)
    assert counted
    assert set(counted.values()) == {max(1, 4 // of_cluster)}


def test_grids_that_need_all_their_blocks_run_whole() -> None:
    sample = CountedSample([], 1)
    for options in ({"cooperative": True, "coordinates": False}, {"cooperative": False, "coordinates": True}):
        assert sample.choose((2000, 1, 1), 1, **options).numbers is None
    assert sample.choose((64, 1, 1), 1, cooperative=False, coordinates=False).numbers is None
