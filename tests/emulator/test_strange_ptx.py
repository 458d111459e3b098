"""PTX that no compiler writes, as inline assembly can bring it: refused, or run without harm, never a crash."""

from __future__ import annotations

import pytest

from grader.sandbox.emulator.engine import Engine, Fault
from grader.sandbox.emulator.lower import Unsupported
from grader.sandbox.emulator.ptx import BadPtx

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
REGISTERS = ".reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<3>; .reg .f32 %f<9>; .shared .b32 room[4];"
REFUSED = (
    "frobnicate.b32 %r1, %r2;",
    "add.u32 _, %r1, %r2;",
    "add.u32 %r1, %r2;",
    "add.u32 %nothing, %r1, %r2;",
    "bra nowhere;",
    "vote.sync.ballot.b32 _, %p1, -1;",
    "cp.async.ca.shared.global [room], [%d1], 200;",
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4, %r5}, [room];",
    "mma.sync.aligned.m99n99k99.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r1}, {%f1};",
    "{ .param .b32 small; st.param.b32 [small+4000], %r1; }",
    "mov.b64 %d1, {%r1, %r2, %r3};",
    "ld.global.b32 %r1, [unknown];",
)
HARMLESS = (
    "add.u64 %r8, %d1, %d2;",
    "mov.u64 %r8, 7;",
    "add.u32 %d8, %r1, %r2;",
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4,%f5,%f6}, {%r1,%r2,%r3}, {%r4,%r5}, {%f1,%f2};",
)
FAULTY = (
    "mov.u64 %d1, -4; st.local.b32 [%d1], 7;",
    "mov.u32 %r1, -4; st.shared.b32 [%r1], 7;",
    "mov.u64 %d1, 0x7fffffffffffffff; ld.b8 %r1, [%d1];",
    "mov.u64 %d1, 0x0008000000000000; ld.b32 %r1, [%d1];",
)


def run(engine: Engine, body: str) -> None:
    loaded = engine.load(f"{HEAD}.visible .entry k()\n{{\n{REGISTERS}\n{body}\nret;\n}}\n")
    engine.launch(loaded, "k", (1, 1, 1), (32, 1, 1), b"")


@pytest.mark.parametrize("body", REFUSED)
def test_what_makes_no_sense_is_refused(engine: Engine, body: str) -> None:
    with pytest.raises((Unsupported, BadPtx)):
        run(engine, body)


@pytest.mark.parametrize("body", HARMLESS)
def test_registers_of_other_widths_stay_in_the_file(engine: Engine, body: str) -> None:
    run(engine, body)


@pytest.mark.parametrize("body", FAULTY)
def test_addresses_that_wrap_around_are_faults(engine: Engine, body: str) -> None:
    with pytest.raises(Fault):
        run(engine, body)
