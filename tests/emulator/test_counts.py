"""Counts of a kernel whose accesses each have a separate line and known needs."""

from __future__ import annotations

import ctypes
import struct

import pytest

from grader.sandbox.emulator.engine import Engine, pack_arguments
from grader.sandbox.emulator.model import H200, Launch, Row, occupancy_of, parts_of

BLOCKS, WARPS = 2, 4
# Each thread: loads a float 4 bytes apart (line 1), 128 bytes apart (2), one for all (3); stores 8 bytes apart (4); a
# float in shared memory 128 bytes apart, so all in one bank (5), and one of adjacent 8 bytes (6); adds 1 to one
# place (7); half of each warp takes a branch (8) to a division (9); a quarter is guarded (10); half skips an
# addition (13), which the assembler guards.
KERNEL = """.version 8.0
.target sm_80
.address_size 64
.file 1 "k.cu"
.visible .entry k(.param .u64 p)
{
.reg .b64 %p<9>; .reg .b32 %t, %i, %s<4>, %x<9>; .reg .f32 %f<9>; .reg .f64 %d<3>; .reg .pred %q<3>;
.shared .align 16 .b8 room[8192];
ld.param.u64 %p0, [p];
mov.u32 %t, %tid.x; mov.u32 %i, %ctaid.x; mad.lo.u32 %i, %i, 128, %t;
mad.wide.u32 %p1, %i, 4, %p0; mad.wide.u32 %p2, %i, 128, %p0; mad.wide.u32 %p3, %i, 8, %p0;
.loc 1 1 0
ld.global.f32 %f1, [%p1];
.loc 1 2 0
ld.global.f32 %f2, [%p2+131072];
.loc 1 3 0
ld.global.f32 %f3, [%p0+200000];
.loc 1 4 0
st.global.f32 [%p3+65536], %f1;
.loc 1 11 0
mov.u32 %s0, room; and.b32 %x1, %t, 31;
mad.lo.u32 %s1, %x1, 128, %s0; mad.lo.u32 %s2, %t, 8, %s0;
mov.f64 %d1, 0d0000000000000000;
bar.sync 0;
.loc 1 6 0
st.shared.f64 [%s2], %d1;
.loc 1 11 0
bar.sync 0;
setp.ge.u32 %q1, %t, 32;
@%q1 bra LATER;
.loc 1 5 0
st.shared.f32 [%s1], %f2;
LATER:
.loc 1 7 0
red.global.add.f32 [%p0+262144], %f3;
.loc 1 8 0
and.b32 %x2, %t, 16; setp.ne.u32 %q2, %x2, 0;
@%q2 bra AWAY;
.loc 1 9 0
rem.u32 %x3, %x2, %t;
AWAY:
.loc 1 13 0
@%q2 bra NEAR;
add.u32 %x5, %x2, 7;
NEAR:
.loc 1 10 0
and.b32 %x4, %t, 3; setp.eq.u32 %q2, %x4, 0;
.loc 1 12 0
@%q2 add.u32 %x5, %x2, 9;
ret;
}
"""


# One warp loads four floats from separate cache lines and adds them up (lines 1 to 4), then four adjacent ones in
# shared memory, 512 bytes from one thread to the next (5). A second such sum waits in between.
LOADS = """.version 8.0
.target sm_80
.address_size 64
.file 1 "k.cu"
.visible .entry k(.param .u64 p)
{
.reg .b64 %p<3>; .reg .b32 %t, %s<3>; .reg .f32 %f<9>; .reg .pred %q<2>;
.shared .align 16 .b8 room[16384];
ld.param.u64 %p0, [p];
mov.u32 %t, %tid.x; mad.wide.u32 %p1, %t, 4, %p0;
mov.u32 %s0, room; mad.lo.u32 %s1, %t, 512, %s0;
mov.f32 %f0, 0f00000000;
.loc 1 1 0
ld.global.f32 %f1, [%p1]; add.f32 %f0, %f0, %f1;
.loc 1 2 0
ld.global.f32 %f2, [%p1+4096]; add.f32 %f0, %f0, %f2;
.loc 1 3 0
WAITS
ld.global.f32 %f3, [%p1+8192]; add.f32 %f0, %f0, %f3;
.loc 1 4 0
ld.global.f32 %f4, [%p1+12288]; add.f32 %f0, %f0, %f4;
.loc 1 5 0
ld.shared.f32 %f5, [%s1]; ld.shared.f32 %f6, [%s1+4]; ld.shared.f32 %f7, [%s1+8]; ld.shared.f32 %f8, [%s1+12];
bar.sync 0;
.loc 1 6 0
ld.shared.f32 %f5, [%s0+4]; ld.shared.f32 %f6, [%s0+8]; ld.shared.f32 %f7, [%s0+12];
bar.sync 0;
.loc 1 7 0
mad.lo.u32 %s2, %t, 8, %s0;
st.shared.f32 [%s2], %f1; st.shared.f32 [%s2+4], %f1;
bar.sync 0;
.loc 1 8 0
st.shared.f32 [%s1+4], %f1; st.shared.f32 [%s1+8], %f1; st.shared.f32 [%s1+12], %f1;
bar.sync 0;
.loc 1 9 0
setp.lt.u32 %q1, %t, 16; mov.f32 %f5, %f0; mov.f32 %f6, %f0;
@%q1 bra NEAR; ld.global.f32 %f5, [%p1+256]; NEAR:
@%q1 bra FAR; ld.global.f32 %f6, [%p1+512]; FAR:
add.f32 %f5, %f5, %f6; st.shared.f32 [%s1], %f5;
ret;
}
"""


# One warp: 8 lanes of each of four words in one bank count up (1), add values (2), add floats (3) and match four
# values (4). Loads on both sides of a branch that stays (5), under two predicates (6); stores
# under one predicate (7).
MEETINGS = f""".version 8.0
.target sm_80
.address_size 64
.file 1 "k.cu"
.visible .entry k(.param .u64 p)
{{
.reg .b64 %p<3>; .reg .b32 %t, %s<3>, %x<4>; .reg .f32 %f<9>; .reg .pred %q<3>;
.shared .align 16 .b8 room[16384];
ld.param.u64 %p0, [p];
mov.u32 %t, %tid.x; and.b32 %x1, %t, 3; mov.u32 %s0, room; mad.lo.u32 %s1, %x1, 128, %s0; mad.lo.u32 %s2, %t, 16, %s0;
setp.lt.u32 %q1, %t, 9; setp.lt.u32 %q2, %t, 20; mov.f32 %f0, 0f3F800000;
.loc 1 1 0
atom.shared.add.u32 %x2, [%s1], 1;
.loc 1 2 0
red.shared.add.u32 [%s1], %t;
.loc 1 3 0
red.shared.add.f32 [%s1], %f0;
.loc 1 4 0
match.any.sync.b32 %x3, %x1, -1;
bar.sync 0;
.loc 1 5 0
ld.shared.f32 %f1, [%s2];
@%q1 bra STAYS;
{"fma.rn.f32 %f1, %f1, %f0, %f0; " * 20}
ld.shared.f32 %f2, [%s2+4]; ld.shared.f32 %f3, [%s2+8];
STAYS:
bar.sync 0;
.loc 1 6 0
@%q1 bra ONE; ld.shared.f32 %f4, [%s2]; ONE:
@%q2 bra TWO; ld.shared.f32 %f5, [%s2+4]; TWO:
bar.sync 0;
.loc 1 7 0
@%q2 bra THREE; st.shared.f32 [%s2], %f0; st.shared.f32 [%s2+4], %f0; THREE:
ret;
}}
"""


def of_loads(waits: str) -> Launch:
    return of_a_warp(LOADS.replace("WAITS", waits))


def of_a_warp(text: str) -> Launch:
    engine = Engine(threads=1)
    engine.check = 0
    memory = (ctypes.c_char * 16384)()
    address = engine.adopt(ctypes.addressof(memory), len(memory), keep=memory)
    loaded = engine.load(text)
    engine.launches = []
    params = pack_arguments(engine.ready(loaded, "k").param_layout, [struct.pack("<Q", address)])
    engine.launch(loaded, "k", (1, 1, 1), (32, 1, 1), params)
    counted = engine.launches[0]
    engine.close()
    return counted


def test_loads_of_a_basic_block_wait_for_memory_together() -> None:
    together, apart = of_loads(""), of_loads("bar.sync 0;")
    # The loads of line 9 wait for memory once, together: their branches become predicates.
    assert 2 * 800 < together.chain < 3 * 800 < apart.chain < 4 * 800


@pytest.mark.parametrize(("line", "requests", "passes"), [(5, 1, 32), (6, 1, 2), (7, 1, 2), (8, 2, 64)])
def test_adjacent_shared_accesses_are_merged(line: int, requests: int, passes: int) -> None:
    # Line 6: lanes that read the same return together, so 16 are served at a time. Line 8: stores merge only in pairs.
    rows = [row for row in of_loads("").rows if row.line == line]
    assert (sum(row.shared_requests for row in rows), sum(row.passes for row in rows)) == (requests, passes)


@pytest.mark.parametrize(("line", "requests", "passes"), [(5, 1, 4), (6, 2, 5), (7, 1, 2)])
def test_loads_are_widened_across_branches_only_if_certain(line: int, requests: int, passes: int) -> None:
    """Line 5: loads of three words become one of four, ahead of the branch. Line 6: neither load is certainly first."""
    rows = [row for row in of_a_warp(MEETINGS).rows if row.line == line]
    assert (sum(row.shared_requests for row in rows), sum(row.passes for row in rows)) == (requests, passes)


def test_colliding_shared_atomics_count_as_passes() -> None:
    launch = of_a_warp(MEETINGS)
    counted, added, retried = (at(launch, line, "atomic") for line in (1, 2, 3))
    assert (counted.passes, added.passes) == (4, 32), "those of one word are counted ahead, where all add 1"
    assert (retried.passes, retried.same, retried.shared_requests) == (32, 32, 1)
    assert sum(row.same for row in launch.rows if row.line == 4) == 4
    parts = parts_of(launch)
    assert parts["shared memory"] * H200.clock == pytest.approx(
        sum(row.passes for row in launch.rows) + 12 + 10 * 32
    )
    assert parts["shuffle units"] * H200.clock == pytest.approx(2 * 4)
    assert launch.chain > 95 * 32, "the loop goes round for each of them"


@pytest.fixture(scope="module")
def launch() -> Launch:
    counted = []
    for threads in (1, 3):
        engine = Engine(threads=threads)
        engine.check = 0
        memory = (ctypes.c_char * 300_000)()
        address = engine.adopt(ctypes.addressof(memory), len(memory), keep=memory)
        loaded = engine.load(KERNEL)
        loaded.registers = {"k": 40}
        params = pack_arguments(engine.ready(loaded, "k").param_layout, [struct.pack("<Q", address)])
        for _ in range(2):
            engine.launches = []
            engine.launch(loaded, "k", (BLOCKS, 1, 1), (32 * WARPS, 1, 1), params)
            counted += engine.launches
        engine.close()
    assert counted[1:] == counted[:1] * 3, "all runs agree exactly, on any number of threads"
    return counted[0]


def at(launch: Launch, line: int, access: str = "") -> Row:
    found = [row for row in launch.rows if row.line == line and (not access or row.work.access == access)]
    assert len(found) == 1 or not access
    return found[0]


@pytest.mark.parametrize(
    ("line", "access", "sectors", "ideal", "steps"),
    [(1, "load", 4, 4, 4), (2, "load", 32, 4, 128), (3, "load", 1, 1, 0), (4, "store", 8, 4, 8)],
)
def test_sectors_are_counted(
    launch: Launch, line: int, access: str, sectors: int, ideal: int, steps: int
) -> None:
    row, warps = at(launch, line, access), BLOCKS * WARPS
    assert (row.issued, row.lanes, row.requests) == (warps, 32 * warps, warps)
    assert (row.sectors, row.ideal_sectors, row.steps) == (sectors * warps, ideal * warps, steps)


def test_cached_sectors_come_from_the_cache(launch: Launch) -> None:
    every, one = at(launch, 1), at(launch, 3)
    assert (every.l2, every.dram) == (32, 32), "each sector is new"
    assert (one.requests, one.l2) == (8, 1 * BLOCKS), "the first request of a block brings it for the others"
    assert one.dram == 2, "memory sends 64 bytes"


def test_cache_lines_are_counted(launch: Launch) -> None:
    warps = BLOCKS * WARPS
    assert (at(launch, 1).lines, at(launch, 2).lines) == (warps, 32 * warps)
    assert at(launch, 4).lines == 2 * warps


def test_passes_through_shared_banks_are_counted(launch: Launch) -> None:
    conflicts, wide = at(launch, 5, "store"), at(launch, 6, "store")
    assert (conflicts.shared_requests, conflicts.passes, conflicts.ideal_passes) == (2, 64, 2)
    assert (wide.shared_requests, wide.passes, wide.ideal_passes) == (8, 16, 16)


def test_atomic_updates_of_one_address_are_counted(launch: Launch) -> None:
    row = at(launch, 7, "atomic")
    assert (row.requests, row.sectors, row.same) == (8, 8, 8 * 32)
    assert launch.updates == launch.updates_most == 8 * 32
    assert parts_of(launch)["atomics on one address"] == pytest.approx(256 * H200.update)


def test_divergent_branches_are_counted(launch: Launch) -> None:
    branch = next(row for row in launch.rows if row.line == 8 and row.work.kind == "branch")
    assert (branch.issued, branch.divergent, branch.lanes) == (8, 8, 256)
    assert (at(launch, 9).issued, at(launch, 9).lanes) == (8, 128)
    guarded = at(launch, 12)
    assert (guarded.issued, guarded.lanes, guarded.guarded) == (8, 256, 64)
    (short,) = (row for row in launch.rows if row.line == 13)
    assert (short.work.kind, short.divergent, short.lanes, short.guarded) == ("integer", 0, 256, 128)


def test_time_spent_waiting_is_attributed_to_its_line(launch: Launch) -> None:
    assert at(launch, 1).waited < 100
    assert at(launch, 4).waited >= 8 * 500, "the first load comes from memory"


@pytest.mark.parametrize(
    ("threads", "registers", "shared", "blocks", "limiter"),
    [
        (256, 32, 0, 8, "threads"),
        (256, 33, 0, 6, "registers"),
        (256, 128, 0, 2, "registers"),
        (1024, 64, 0, 1, "registers"),
        (32, None, 0, 32, "blocks"),
        (64, 16, 49152, 4, "shared memory"),
    ],
)
def test_occupancy_names_its_limiter(
    threads: int, registers: int | None, shared: int, blocks: int, limiter: str
) -> None:
    found = occupancy_of(Launch("k", (1000, 1, 1), (threads, 1, 1), shared, registers))
    assert (found.blocks, found.limiter) == (blocks, limiter)
