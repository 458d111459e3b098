"""PTX that no compiler writes, as inline assembly can bring it: refused, or run without harm, never a crash."""

from __future__ import annotations

import contextlib

import pytest

from grader.sandbox.emulator.engine import Engine, Fault
from grader.sandbox.emulator.lower import Unsupported
from grader.sandbox.emulator.ptx import BadPtx, split_operands

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
    "mov.b128 %d1, %d2;",
    "ld.global.b128 %r1, [%d1];",
    "lop3.and.b32 %r1, %r2, %r3, %r4, 0x96, %p1;",
    "vadd4.u32.u32.u32 %r1, %r2.b98, %r3, %r4;",
    "vadd.u32.u32.u32 %r1.x9, %r2, %r3;",
    "cvt.pack.sat.u1.s32.b32 %r1, %r2, %r3, %r4;",
    "wmma.load.a.sync.aligned.row.m8n8k4.global.b1 {%r1}, [%d1], 128;",
    "wmma.store.d.sync.aligned.row.m8n8k32.global.u4 [%d1], {%r1, %r2}, 8;",
    "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r1}, {%f1};",
    "mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r1,%r2}, {%r1,%r2}, {%r3,%r4}, {%r1,%r2}, %r5, 0;",
    "ld.global.b32 %r1, [unknown];",
)
HARMLESS = (
    ";",
    "vadd4.u32.u32.u32 %r1.b9, %r2, %r3, %r4;",
    "vset.u32.u32.lt %d8.b77, %r8.h55, %d8.b3, %p1;",
    "fns.b32 %r1, %r2, -7, 2147483647;",
    "movmatrix.sync.aligned.m8n8.trans.b16 %p2, %d8;",
    "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc {%r1,%r2,%r3,%r4}, {%r1}, {%r2,%r3,%r4,%r5,%r6}, {%p2};",
    "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 {%p1,%p2,%d8,%r1}, {%r1,%p1}, {%p2,%d8}, {%r1,%r2,%r3,%r4};",
    "add.u64 %r8, %d1, %d2;",
    "mov.u64 %r8, 7;",
    "add.u32 %d8, %r1, %r2;",
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4,%f5,%f6}, {%r1,%r2,%r3}, {%r4,%r5}, {%f1,%f2};",
)
FAULTY = (
    "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%d1, {%f5,%f6}];",
    "mov.u64 %d1, 0x0010000000000001; sust.b.1d.b32.zero [%d1, {%r1}], {%r2};",
    "mov.u32 %r1, 7; stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r2};",
    "mov.u64 %d1, 64; wmma.load.a.sync.aligned.row.m8n8k32.global.u4 {%r1}, [%d1], 4294967295;",
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


FORMS = (
    "tex.a2d.v4.u32.f32 {%r1,%r2,%r3,%r4}, [%d1, {%r5,%f1,%f2,%f2}];",
    "suld.b.3d.v2.b64.clamp {%d1,%d2}, [%d3, {%r1,%r2,%r3,%r3}];",
    "setp.lt.and.f16x2 %p1|%p2, %r1, %r2, %p1;",
    "set.lt.or.u32.f16x2 %r1, %r2, %r3, %p1;",
    "lop3.or.b32 %r1|%p1, %r2, %r3, %r4, 0x96, %p2;",
    "slct.ftz.u64.f32 %d1, %d2, %d3, %f1;",
    "bmsk.clamp.b32 %r1, %r2, %r3;",
    "cvt.pack.sat.s4.s32.b32 %r1, %r2, %r3, %r4;",
    "cvt.rz.relu.satfinite.bf16x2.f32 %r1, %f1, %f2;",
    "mov.b128 {%d1, %d2}, {%d3, %d4};",
    "vmad.s32.s32.s32.sat.shr7 %r1, %r2.h0, -%r3.h1, %r4;",
    "vavrg4.s32.s32.u32.sat %r1.b20, %r2.b7531, %r3.b4444, %r4;",
    "cp.async.ca.shared.global.L2::cache_hint [room], [%d1], 8, %r1, %d2;",
    "stmatrix.sync.aligned.m8n8.x2.shared.b16 [room], {%r1, %r2};",
    "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e5m2.f16 {%r1,%r2}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%r1,%r2};",
    "wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32 {%r1,%r2}, {%r3}, {%r4}, {%r5,%r6};",
)  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_operands_that_are_missing_odd_or_too_many_do_no_harm(engine: Engine, form: str) -> None:
    head, _, rest = form.rstrip(";").partition(" ")
    operands = split_operands(rest)
    for index in range(len(operands)):
        before, after = operands[:index], operands[index + 1 :]
        for put in ([], ["%p2"], ["%d8"], ["%r8", "%d8"], ["_"], ["-1"], ["{%r8, %d8}"], ["[%d8]"], [""]):
            with contextlib.suppress(Unsupported, BadPtx, Fault):
                run(engine, f"{head} {', '.join([*before, *put, *after])};")
