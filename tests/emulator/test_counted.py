"""Every instruction that reaches memory has counts, and no launch takes less time than its work."""

from __future__ import annotations

import ctypes
import struct
from dataclasses import replace
from pathlib import Path

import pytest

from grader.sandbox.emulator.engine import Engine, pack_arguments
from grader.sandbox.emulator.model import H200, Launch, after, least_seconds, parts_of, seconds_of
from grader.sandbox.emulator.work import KINDS, work_of_name
from tests.emulator import counted

DOCS = Path(__file__).parents[2] / "docs" / "emulated-model.md"
# Occupies the memory units, but moves no data: it signals the arrival of copies.
MOVES_NOTHING = {"ASYNC COPIES_ARRIVE"}


def test_every_class_of_instruction_is_in_the_table() -> None:
    found: set[str] = set()
    for sample in counted.SAMPLES.values():
        found |= counted.ran(sample)[1]
    assert found | counted.ENDS == counted.classes()


def test_every_memory_instruction_is_counted() -> None:
    for name, sample in counted.SAMPLES.items():
        units, counts = counted.counted(name, counted.ran(sample)[0])
        assert bool(counts) or "memory" not in units or name in MOVES_NOTHING, name


def test_the_documented_table_matches_the_engine() -> None:
    assert counted.table() in DOCS.read_text()


def test_every_operation_has_a_class(engine: Engine) -> None:
    for name in engine._operations:
        work = work_of_name(name)
        assert work.kind in KINDS
        assert work.slots >= 1, name


HEAD = """.version 8.0
.target sm_80
.address_size 64
.file 1 "k.cu"
.visible .entry k(.param .u64 p)
{
.reg .b64 %p<9>; .reg .b32 %t, %i, %x<9>; .reg .f32 %f<9>; .reg .pred %q<3>;
.local .align 16 .b8 own[4096];
ld.param.u64 %p0, [p]; mov.u32 %t, %tid.x; mov.u32 %i, %ctaid.x; mad.wide.u32 %p1, %t, 4, %p0;
mov.u32 %x0, 0; mov.f32 %f0, 0f00000000;
"""


def launched(body: str, grid: int = 1, threads: int = 32, registers: int | None = None) -> Launch:
    engine = Engine(threads=1)
    engine.check = 0
    memory = (ctypes.c_char * (1 << 20))()
    address = engine.adopt(ctypes.addressof(memory), len(memory), keep=memory)
    loaded = engine.load(f"{HEAD}{body}\nret;\n}}\n")
    if registers:
        loaded.registers = {"k": registers}
    engine.launches = []
    params = pack_arguments(engine.ready(loaded, "k").param_layout, [struct.pack("<Q", address)])
    engine.launch(loaded, "k", (grid, 1, 1), (threads, 1, 1), params)
    (found,) = engine.launches
    engine.close()
    return found


LOOP = "LOOP: ld.global.f32 %f1, [%p1]; {}; add.u32 %x0, %x0, 1; setp.lt.u32 %q1, %x0, 50; @%q1 bra LOOP;"


def test_idle_blocks_do_not_make_a_busy_one_faster() -> None:
    body = f"setp.ne.u32 %q2, %i, 0; @%q2 bra END; {LOOP.format('add.f32 %f0, %f0, %f1')} END:"
    alone, beside = (parts_of(launched(body, grid)) for grid in (1, 132))
    for name in alone.keys() - {"blocks"}:
        assert beside[name] >= alone[name], name


@pytest.mark.parametrize(("grid", "rounds"), [(132, 1), (2 * 132, 1), (2 * 132 + 1, 2), (5 * 132, 3)])
def test_a_multiprocessor_has_the_sum_of_its_blocks(grid: int, rounds: int) -> None:
    """255 registers a thread leave room for two blocks of 128 threads."""
    body = LOOP.format("add.f32 %f0, %f0, %f1")
    one, many = (launched(body, size, 128, 255) for size in (1, grid))
    each = -(-grid // 132)
    assert many.busiest[KINDS.index("float")] == each * one.busiest[KINDS.index("float")]
    assert rounds * one.chain * 0.4 < many.chain <= rounds * one.chain


def test_later_blocks_go_to_the_multiprocessor_that_is_free_first() -> None:
    """Only the first of 132 x 32 + 132 blocks works, so its multiprocessor has only its share."""
    body = f"setp.ne.u32 %q2, %i, 0; @%q2 bra END; {LOOP.format('add.f32 %f0, %f0, %f1')} END:"
    alone, beside = launched(body), launched(body, 33 * 132)
    floats = KINDS.index("float")
    assert beside.busiest[floats] == alone.busiest[floats]
    assert beside.chain < 2 * alone.chain


def test_only_a_loop_whose_rounds_ptxas_can_count_is_unrolled() -> None:
    """Four rounds of an unrolled loop load before the first waits."""
    loop = (
        "mov.u32 %x1, %ntid.x; LOOP: {} ld.global.f32 %f1, [%p1]; add.f32 %f0, %f0, %f1; add.u64 %p1, %p1, 128; "
        "add.u32 %x0, %x0, {}; setp.{}.u32 %q1, %x0, 2048; @%q1 bra LOOP;"
    )
    chains = [
        launched(loop.format(pragma, step, compare)).chain
        for pragma, step, compare in (
            ("", 32, "ne"),
            ("", 32, "lt"),
            ('.pragma "nounroll";', 32, "ne"),
            ("", "%x1", "lt"),
        )
    ]
    assert chains[0] == chains[1] < chains[2] / 3
    assert chains[2] == chains[3]


def test_a_barrier_takes_warps_one_by_one() -> None:
    for warps, cycles_on_a_card in ((4, 20.3), (8, 28.3), (16, 44.4), (32, 76.5)):
        few, many = (launched("bar.sync 0;" * count, threads=32 * warps).chain for count in (10, 60))
        assert (many - few) / 50 == pytest.approx(cycles_on_a_card, abs=2)


def test_what_all_blocks_read_stays_in_the_first_level_cache() -> None:
    """Each block reads 4 KB alone, and 4 KB that all others read, too."""
    own = "mad.wide.u32 %p2, %i, 128, %p1; ld.global.f32 %f1, [%p2+4096];"
    (same, mine) = (
        next(row.l2 for row in launched(body, 8 * 132).rows if row.requests)
        for body in ("ld.global.f32 %f2, [%p1];", own)
    )
    assert same == 4 * 132
    assert mine == 4 * 8 * 132


def test_an_overwritten_store_reaches_memory_once() -> None:
    again = "st.global.f32 [%p1], %f0;"
    rows = [row for row in launched(f"ld.global.f32 %f1, [%p1]; {again} {again}").rows if row.requests]
    assert [(row.work.access, row.dram) for row in rows] == [("load", 4), ("store", 4), ("store", 0)]


def test_work_between_two_polls_is_counted() -> None:
    """Each round of a loop waits for its load; one also polls a flag."""
    loop = (
        "LOOP: {} setp.gt.f32 %q2, {}, %f0; @%q2 bra END; add.u32 %x0, %x0, 1; setp.lt.u32 %q1, %x0, 50; "
        "@%q1 bra LOOP; END:"
    )
    look, load = "ld.volatile.global.f32 %f2, [%p0];", "ld.global.f32 %f1, [%p1];"
    assert launched(loop.format(f"{look} {load}", "%f1")).chain > launched(loop.format(load, "%f1")).chain
    assert launched(loop.format(look, "%f2")).chain < 50 * 100, "how often it looks says nothing"


def test_local_memory_beyond_the_cache_comes_from_memory() -> None:
    """Each block keeps 4 KB a thread, 256 KB in all. Four blocks on a multiprocessor have 64 KB of cache each."""
    sweep = (
        "mov.u64 %p2, own; mov.u32 %x0, 0; {0}: cvt.u64.u32 %p3, %x0; add.u64 %p3, %p2, %p3; {1}; add.u32 %x0, %x0, 4; "
        "setp.lt.u32 %q1, %x0, 4096; @%q1 bra {0};"
    )
    body = sweep.format("A", "st.local.u32 [%p3], %x0") + sweep.format("B", "ld.local.u32 %x1, [%p3]")
    few, many = (launched(body, grid, threads=64) for grid in (1, 32 * 132 // 8))
    read = [
        sum(row.l2 for row in launch.rows if row.local_requests and row.work.access == "load")
        for launch in (few, many)
    ]
    assert read[0] < 2 * 1024 * 4 * 0.5
    assert read[1] > 500 * 2 * 1024 * 4 * 0.9


def test_reads_push_out_what_the_call_before_wrote() -> None:
    reads, writes = (
        replace(launch, rows=tuple(replace(row, dram=row.dram << 20) for row in launch.rows))
        for launch in map(launched, ("ld.global.f32 %f1, [%p1];", "st.global.f32 [%p1], %f0;"))
    )
    first = after(reads, ())
    assert first.pushed == H200.left
    assert after(reads, (first,)).pushed == 0, "nothing is left"
    assert after(writes, ()).pushed == 0, "they leave as much"


ADDS = " ".join(["add.f32 %f0, %f0, %f1;"] * 100)


def test_cycles_after_the_last_data_are_counted() -> None:
    load = "ld.global.f32 %f1, [%p1];"
    none, last, first = (
        launched(body) for body in (ADDS, f"{ADDS} {load} add.f32 %f0, %f0, %f1;", load + ADDS)
    )
    again = launched(f"{load} {ADDS} bar.sync 0; ld.volatile.global.f32 %f2, [%p1]; add.f32 %f0, %f0, %f2;")
    assert none.after_memory == none.after_l2 == 0
    assert 0 <= last.after_memory == last.after_l2 < 20
    assert 390 <= first.after_memory == first.after_l2 < 450
    assert again.after_l2 < 20 < 390 < again.after_memory, "its last data are from the second-level cache"
    assert launched(load + ADDS, 2).after_l2 == pytest.approx(first.after_l2), "the mean of blocks"
    one, eight = (
        launched(f"{load} bar.sync 0; {'sin.approx.f32 %f0, %f1; ' * 50}", 1, threads)
        for threads in (32, 256)
    )
    assert 50 * 8 <= one.after_memory < 50 * 8 + 100, "a part's special units take a warp's in eight turns"
    assert 2 * 50 * 8 <= eight.after_memory < 2 * 50 * 8 + 100, "two warps share a part"


def test_nothing_hides_what_the_last_block_does_after_its_last_data() -> None:
    """If memory decides when those come. If not, the chain has it already."""
    launch = launched(f"ld.global.f32 %f1, [%p1]; {ADDS}")
    rows = tuple(replace(row, dram=row.dram << 20) for row in launch.rows)
    before, after = (replace(launch, rows=rows, after_memory=cycles) for cycles in (0, 17_550))
    assert seconds_of([after]) - seconds_of([before]) == pytest.approx(1e-5, rel=0.01)
    stored = replace(rows[0], work=replace(rows[0].work, access="store"), dram=sum(row.dram for row in rows))
    before, after = (replace(launch, rows=(*rows, stored), after_memory=cycles) for cycles in (0, 17_550))
    assert seconds_of([after]) - seconds_of([before]) == pytest.approx(0.5e-5, rel=0.01), "stores go on"
    before, after = (replace(launch, after_memory=cycles) for cycles in (0, launch.chain))
    assert seconds_of([after]) == pytest.approx(seconds_of([before]), rel=0.001)


def test_few_blocks_keep_a_unit_busy_less() -> None:
    """Of blocks with barriers, one at a time waits and works in turn; many fill each other's waits."""
    body = "bar.sync 0; " + LOOP.format("; ".join(["fma.rn.f32 %f0, %f0, %f1, %f1"] * 40)) + " bar.sync 0;"
    few, many = (launched(body, 8 * 132, 128, registers) for registers in (255, 32))
    few_parts, many_parts = parts_of(few), parts_of(many)
    busy = max(many_parts["float units"], many_parts["instruction issue"])
    assert few_parts["float units"] == many_parts["float units"]
    assert few_parts["latency"] > 1.5 * many_parts["latency"] > 0
    assert seconds_of([few]) > seconds_of([many]) > busy


def test_no_call_is_faster_than_its_data_transfer() -> None:
    assert least_seconds(4.55e9, 0, 1e12) == pytest.approx(H200.launch + 1e-3)
    assert least_seconds(0, 1e9, 1e12) == pytest.approx(H200.launch + 1e-3)
    assert H200.launch + 1e-3 < least_seconds(4.3e9, 1e9, 1e12) < H200.launch + 2e-3
    counts = launched("ld.global.f32 %f1, [%p1]; st.global.f32 [%p1+4096], %f1;")
    assert seconds_of([counts]) > least_seconds(2 * 128, 0, 1e12)
