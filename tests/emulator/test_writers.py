"""Who wrote an element last: block, thread and line, by the records of the race check."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from grader.sandbox.emulator.device import COPY_HEAD, Device
from grader.sandbox.emulator.device.driver import SET_HEAD
from grader.sandbox.emulator.engine import Engine, Loaded
from grader.sandbox.emulator.names import MESSAGE
from grader.sandbox.emulator.writers import Writer

# Element i of an array of 4-byte words, by the thread's number in the grid; ``size`` bytes each.
KERNEL = """.version 8.0
.target sm_80
.address_size 64
.file 1 "k.cu"
.visible .entry {name}(.param .u64 p)
{{
.reg .b64 %d<9>; .reg .b32 %r<9>; .reg .pred %q<9>; .reg .b16 %h<9>;
.loc 1 2 0
ld.param.u64 %d1, [p];
mov.u32 %r1, %ctaid.x;
mov.u32 %r2, %ntid.x;
mov.u32 %r3, %tid.x;
mad.lo.u32 %r4, %r1, %r2, %r3;
mul.wide.u32 %d2, %r4, {size};
add.u64 %d3, %d1, %d2;
cvt.u16.u32 %h1, %r4;
{body}
ret;
}}
"""
STORE = ".loc 1 5 0\nst.global.b32 [%d3], %r4;"
TWICE = f"{STORE}\n.loc 1 7 0\nsetp.lt.u32 %q1, %r3, 4;\n@%q1 st.global.b32 [%d3], %r3;"
ATOMIC = ".loc 1 6 0\natom.global.add.u32 %r5, [%d1], 1;"
VOLATILE = ".loc 1 5 0\nst.volatile.global.b32 [%d3], %r4;"
LOAD = ".loc 1 9 0\nld.global.b32 %r5, [%d3];"
HALF = ".loc 1 8 0\nst.global.b16 [%d3], %h1;"


class Array:
    def __init__(self, engine: Engine) -> None:
        self.engine, self.device = engine, Device(engine)
        self.words = np.zeros(256, dtype=np.uint32)
        self.address = self.device.adopt(self.words.ctypes.data, self.words.nbytes, "out", written=False)
        self.device.begin()

    def launch(self, body: str, grid: int, block: int, name: str = "k", size: int = 4) -> None:
        loaded: Loaded = self.engine.load(KERNEL.format(name=name, body=body, size=size))
        self.engine.launch(loaded, name, (grid, 1, 1), (block, 1, 1), self.address.to_bytes(8, "little"))

    def writer(self, word: int) -> Writer | None:
        return self.device.writer(self.address + 4 * word)

    def said(self, word: int) -> tuple[str, int, int, tuple[int, ...]] | str:
        found = self.writer(word)
        if found is None:
            return "unknown"
        if found.work is None:
            return "nobody"
        if found.block is None:
            return "copy"
        assert found.thread
        return found.work.kernel, found.block[0], found.thread[0], found.lines


@pytest.fixture
def array(engine: Engine) -> Array:
    return Array(engine)


def test_thread_block_and_line_of_a_store_are_known_and_what_none_stored_is(array: Array) -> None:
    array.launch(STORE, grid=3, block=40)
    assert array.said(0) == ("k", 0, 0, (5,))
    assert array.said(119) == ("k", 2, 39, (5,))
    assert array.said(120) == "nobody"


def test_the_last_launch_counts(array: Array) -> None:
    array.launch(STORE, grid=4, block=64)
    array.launch(STORE, grid=2, block=32, name="later")
    assert array.said(63) == ("later", 1, 31, (5,))
    assert array.said(64) == ("k", 1, 0, (5,))


def test_two_stores_of_a_thread_name_both_lines(array: Array) -> None:
    array.launch(TWICE, grid=1, block=32)
    assert array.said(3) == ("k", 0, 3, (5, 7))


def test_an_atomic_update_says_that_others_may_have_added(array: Array) -> None:
    array.launch(ATOMIC, grid=2, block=32)
    found = array.writer(0)
    assert found
    assert (found.many, found.lines) == (True, (6,))


def test_the_last_of_launch_and_memset_counts(array: Array) -> None:
    array.launch(STORE, grid=1, block=64)
    assert array.device.answer(MESSAGE.SET, SET_HEAD.pack(array.address, 64, 0, 0)) == (0, b"")
    assert [array.said(word) for word in (15, 16)] == ["copy", ("k", 0, 16, (5,))]
    array.launch(STORE, grid=1, block=8)
    assert [array.said(word) for word in (7, 8)] == [("k", 0, 7, (5,)), "copy"]


def test_a_copy_to_the_host_writes_nothing(array: Array) -> None:
    array.launch(STORE, grid=1, block=32)
    array.device.answer(MESSAGE.COPY, COPY_HEAD.pack(0, array.address, 128, 2, 0))
    assert array.said(0) == ("k", 0, 0, (5,))


def test_nothing_of_an_earlier_call_counts(array: Array) -> None:
    array.launch(STORE, grid=1, block=32)
    array.device.begin()
    assert array.said(0) == "nobody"
    array.launch(STORE, grid=1, block=1)
    assert [array.said(word) for word in (0, 1)] == [("k", 0, 0, (5,)), "nobody"]


def test_a_volatile_store_leaves_no_record_so_nothing_is_claimed(array: Array) -> None:
    array.launch(STORE, grid=1, block=32)
    array.launch(VOLATILE, grid=1, block=8)
    assert [array.said(word) for word in (3, 20, 200)] == ["unknown"] * 3
    array.launch(STORE, grid=1, block=4)
    assert array.said(3) == ("k", 0, 3, (5,))


def test_records_of_another_granule_may_be_lost_so_nothing_is_claimed(array: Array) -> None:
    array.launch(STORE, grid=1, block=64)
    array.launch(HALF, grid=1, block=32, name="halves", size=2)
    assert array.said(3) == ("halves", 0, 6, (8,))
    assert array.said(20) == "unknown", "its entry is where halves of word 10 have theirs"
    assert array.said(40) == ("k", 0, 40, (5,))


def test_addresses_without_memory_are_unknown(array: Array) -> None:
    array.launch(STORE, grid=1, block=32)
    places = [0, 1 << 60, array.address - 4, array.address + 1024]
    assert array.engine.writers(places) == [None] * 4
    assert array.engine.writing_blocks(places) == ([0] * 4, [None])


def test_blocks_of_many_elements(array: Array) -> None:
    array.launch(STORE, grid=3, block=16)
    indices, writers = array.engine.writing_blocks([array.address + 4 * word for word in (0, 15, 16, 47, 48)])
    assert indices == [0, 0, 1, 2, 3]
    assert [writer and writer.block for writer in writers] == [(0, 0, 0), (1, 0, 0), (2, 0, 0), None]
    assert writers[3] == Writer(None)


def test_what_a_call_read_is_known_unless_a_read_leaves_no_record(array: Array) -> None:
    read = array.engine.read
    array.launch(LOAD, grid=2, block=40)
    assert read(array.address, 4, 100) == bytes([1] * 80 + [0] * 20)
    assert read(array.address + 4, 8, 45) == bytes([1] * 40 + [0] * 5)
    array.device.begin()
    array.launch(STORE, grid=2, block=40)
    assert read(array.address, 4, 100) == bytes(100)
    array.launch(ATOMIC, grid=1, block=1)
    assert read(array.address, 4, 100) is None
    array.device.begin()
    words = [256, 1, 1, 4, 32, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0]  # unsigned words, clamped at the ends
    texture = array.engine.texture(struct.pack("<QQ15I4f4x", array.address, 1024, *words, *[0.0] * 4))
    fetch = f"mov.u64 %d4, {texture};\ntex.1d.v4.u32.s32 {{%r5, %r6, %r7, %r8}}, [%d4, {{%r4}}];"
    array.launch(LOAD, grid=1, block=8)
    assert read(array.address, 4, 100) == bytes([1] * 8 + [0] * 92)
    array.launch(fetch, grid=1, block=32)
    assert read(array.address, 4, 100) is None
