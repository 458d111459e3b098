"""The race check looks at an array's records only if they were noted as used: another thread's access must be
found to race with each kind of first access.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from grader.sandbox.emulator.engine import Engine
from grader.sandbox.emulator.names import STREAMS

WORDS = 256
# 64 threads: the first warp does ``first``, then the second one, which does not wait for it, ``second``.
KERNEL = """.version 8.0
.target sm_90
.address_size 64
.file 1 "k.cu"
.visible .entry k(.param .u64 p)
{{
.reg .b64 %d<9>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b32 %t; .reg .pred %q<9>;
.shared .align 128 .b8 room[1024]; .shared .align 8 .b8 barrier[8];
ld.param.u64 %d1, [p];
mov.u32 %t, %tid.x;
and.b32 %r1, %t, 31;
mad.wide.u32 %d2, %r1, 4, %d1;
setp.lt.u32 %q1, %t, 32;
setp.eq.u32 %q2, %r1, 0;
@!%q1 bra SECOND;
.loc 1 1 0
{first}
ret;
SECOND:
.loc 1 2 0
{second}
ret;
}}
"""
LOAD, STORE = "ld.global.b32 %r2, [%d2];", "st.global.b32 [%d2], %r1;"
_FRAGMENT = "{%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}"
LOAD_MATRIX = f"wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {_FRAGMENT}, [%d1], 16;"
STORE_MATRIX = f"wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%d1], {_FRAGMENT}, 16;"
BULK_LOAD = (
    "@%q2 mbarrier.init.shared.b64 [barrier], 1;\n"
    "@%q2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [room], [%d1], 128, [barrier];"
)
BULK_STORE = "@%q2 cp.async.bulk.global.shared::cta.bulk_group [%d1], [room], 128;"


FIRST_WRITES = {"store": STORE, "fragment": STORE_MATRIX, "bulk copy": BULK_STORE}
FIRST_READS = {"load": LOAD, "fragment": LOAD_MATRIX, "bulk copy": BULK_LOAD}


class Array:
    """Words that nothing accessed, of a GPU that runs the warps of a block in turn."""

    def __init__(self) -> None:
        self.engine = Engine(threads=1)
        self.address, _ = self.engine.allocate(4 * WORDS, "array", written=True)
        self.engine.begin_call()

    def launch(self, first: str, second: str) -> list[tuple[str, int, int]]:
        loaded = self.engine.load(KERNEL.format(first=first, second=second))
        self.engine.launch(loaded, "k", (1, 1, 1), (64, 1, 1), self.address.to_bytes(8, "little"))
        return [
            (finding.kind, finding.place.line, finding.other_place.line)
            for finding in self.engine.findings()
            if finding.kind.endswith("race")
        ]


@pytest.fixture
def array() -> Iterator[Array]:
    made = Array()
    yield made
    made.engine.close()


@pytest.mark.parametrize("name", FIRST_WRITES)
def test_a_first_write_races_with_a_later_read(array: Array, name: str) -> None:
    kind = "async_race" if name == "bulk copy" else "global_race"
    assert array.launch(FIRST_WRITES[name], LOAD) == [(kind, 2, 1)]


@pytest.mark.parametrize("name", FIRST_READS)
def test_a_first_read_races_with_a_later_write(array: Array, name: str) -> None:
    kind = "async_race" if name == "bulk copy" else "global_race"
    assert array.launch(FIRST_READS[name], STORE) == [(kind, 2, 1)]


@pytest.mark.parametrize(("writes", "second"), [(True, LOAD), (False, STORE)])
def test_a_copy_that_comes_first_races_with_a_launch_of_another_stream(
    array: Array, writes: bool, second: str
) -> None:
    ends = (array.address, 0) if writes else (0, array.address)
    before, alone = ([int(stream == own) for stream in range(STREAMS)] for own in (1, 2))
    assert array.engine.order(1, before)
    assert array.engine.copied(*ends, 4 * WORDS, 0) == []
    assert array.engine.order(2, alone)
    assert array.launch("", second) == [("stream_race", 2, 0)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (STORE, LOAD_MATRIX),
        (STORE_MATRIX, LOAD_MATRIX),
        (LOAD, STORE_MATRIX),
        (LOAD_MATRIX, STORE_MATRIX),
        (STORE_MATRIX, STORE_MATRIX),
    ],
)
def test_a_fragment_that_comes_second_races(array: Array, first: str, second: str) -> None:
    """Fragments are moved at once only if none of their elements can race."""
    values = "".join(f"mov.f32 %f{number}, 0f40490FDB; " for number in range(8))
    assert array.launch(first, f"{values}{second}") == [("global_race", 2, 1)]


def test_fragments_of_one_warp_do_not_race(array: Array) -> None:
    assert array.launch(f"{STORE_MATRIX}\n{LOAD_MATRIX}\n{STORE_MATRIX}", "") == []
