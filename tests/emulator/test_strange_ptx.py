"""PTX that no compiler writes, as inline assembly can bring it: refused, or run without harm, never a crash."""

from __future__ import annotations

import contextlib
import ctypes

import pytest

from grader.sandbox.emulator.engine import Engine
from grader.sandbox.emulator.findings import Fault
from grader.sandbox.emulator.lower import Unsupported
from grader.sandbox.emulator.ptx import BadPtx, split_operands

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
REGISTERS = (
    ".reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<3>; .reg .f32 %f<9>; "
    ".shared .align 16 .b32 room[4]; .shared .align 8 .b64 barrier;"
)
BYTES = "mbarrier::complete_tx::bytes"
LOAD = f"mbarrier.init.shared.b64 [barrier], 1; cp.async.bulk.shared::cluster.global.{BYTES} {{}}, [barrier];"
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
    "wmma.load.e.sync.aligned.row.m16n16k16.global.f16 {%r1,%r2,%r3,%r4,%r1,%r2,%r3,%r4}, [%d1], %r5;",
    "wmma.store.d.sync.aligned.row.m8n8k32.global.u4 [%d1], {%r1, %r2}, 8;",
    "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r1}, {%f1};",
    "mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r1,%r2}, {%r1,%r2}, {%r3,%r4}, {%r1,%r2}, %r5, 4;",
    "mma.sp.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16 {%r1,%r2}, {%r1,%r2}, {%r3,%r4}, {%r1,%r2}, %r5, 0;",
    "mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r1,%r2}, {%r1,%r2}, {%r3,%r4}, {%r1,%r2}, %r5;",
    "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc {%r1,%r2,%r3,%r4}, {%r1}, {%r2,%r3,%r4,%r5,%r6}, {%p2};",
    "red.global.add.v8.f32 [%d1], {%f1,%f1,%f1,%f1,%f1,%f1,%f1,%f1};",
    "red.shared.add.v2.f32 [room], {%f1, %f2};",
    "atom.global.exch.v2.f32 {%f1, %f2}, [%d1], {%f1, %f2};",
    "atom.global.add.v4.f32 {%f1, %f2}, [%d1], {%f1, %f2, %f3, %f4};",
    "ld.global.b32 %r1, [unknown];",
    "mbarrier.init.global.b64 [%d1], 1;",
    "mbarrier.arrive.expect_tx.shared.b64 _, [room];",
    "mbarrier.try_wait.shared.b64 %p1, [room], %r1;",
    "mapa.u32 %r1, %r2, 0;",
    "cp.async.bulk.shared::cluster.global.bulk_group [room], [%d1], 16;",
    f"cp.async.bulk.tensor.3d.shared::cluster.global.tile.{BYTES} [room], [%d1, {{%r1, %r2}}], [room];",
    f"cp.async.bulk.tensor.2d.shared::cluster.global.im2col.{BYTES} [room], [%d1, {{%r1, %r2}}], [room];",
    "cp.async.bulk.wait_group -1;",
    "wgmma.wait_group.sync.aligned -1;",
    "wgmma.mma_async.sync.aligned.m64n264k16.f32.f16.f16 {%f1}, %d1, %d2, 1, 1, 1, 0, 0;",
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3}, %d1, %d2, 1, 1, 1, 0, 0;",
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d1, %d2, %d3, %d4}, %d1, %d2, 1, 1, 1, 0, 0;",
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %r1, %d2, 1, 1, 1, 0, 0;",
)
HARMLESS = (
    ";",
    "vadd4.u32.u32.u32 %r1.b9, %r2, %r3, %r4;",
    "vset.u32.u32.lt %d8.b77, %r8.h55, %d8.b3, %p1;",
    "fns.b32 %r1, %r2, -7, 2147483647;",
    "movmatrix.sync.aligned.m8n8.trans.b16 %p2, %d8;",
    "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc {%r1,%r2,%r3,%r4}, {%r1}, {%r2,%p2,%d8}, {%p2};",
    "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 {%p1,%p2,%d8,%r1}, {%r1,%p1}, {%p2,%d8}, {%r1,%r2,%r3,%r4};",
    "mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%p1,%d8}, {%r1,%p2}, {%d8,%r4}, {%p1,%r2}, %p2, 3;",
    "add.u64 %r8, %d1, %d2;",
    "mov.u64 %r8, 7;",
    "add.u32 %d8, %r1, %r2;",
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4,%f5,%f6}, {%r1,%r2,%r3}, {%r4,%r5}, {%f1,%f2};",
)
FAULTY = (
    "cvta.shared.u64 %d1, %d1; red.add.v2.f32 [%d1], {%f1, %f2};",
    "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%d1, {%f5,%f6}];",
    "mov.u64 %d1, 0x0010000000000001; sust.b.1d.b32.zero [%d1, {%r1}], {%r2};",
    "mov.u32 %r1, 7; stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r2};",
    "mov.u64 %d1, 64; wmma.load.a.sync.aligned.row.m8n8k32.global.u4 {%r1}, [%d1], 4294967295;",
    "mov.u64 %d1, -4; st.local.b32 [%d1], 7;",
    "mov.u32 %r1, -4; st.shared.b32 [%r1], 7;",
    "mov.u64 %d1, 0x7fffffffffffffff; ld.b8 %r1, [%d1];",
    "mov.u64 %d1, 0x0008000000000000; ld.b32 %r1, [%d1];",
    "mov.u32 %r1, 0xfffffff8; mbarrier.init.shared.b64 [%r1], 1;",
    "mbarrier.init.shared.b64 [room], 0;",
    "mov.u64 %d1, 0x0001000000000003; st.shared.b64 [room], %d1; mbarrier.arrive.shared.b64 %d2, [room];",
    "mov.u64 %d1, 0xb0a7000000000007; st.shared.b64 [room], %d1; mbarrier.arrive.shared.b64 %d2, [room];",
    "mov.u32 %r1, 0x02000000; ld.shared::cluster.b32 %r2, [%r1];",
    "mov.u32 %r1, room; mapa.shared::cluster.u32 %r2, %r1, 4000000000; st.shared::cluster.b32 [%r2], 1;",
    "mov.u32 %r1, 0xff000000; barrier.cluster.arrive; barrier.cluster.wait; ld.shared::cluster.b32 %r2, [%r1];",
    f"mov.u64 %d1, 0x700000000000; mov.u32 %r1, -16; {LOAD.format('[room], [%d1], %r1')}",
    f"mov.u64 %d1, 0x700000000000; mov.u32 %r1, 16; {LOAD.format('[room+8], [%d1], %r1')}",
    f"mov.u64 %d1, -16; mov.u32 %r1, 16; {LOAD.format('[room], [%d1], %r1')}",
    "mov.u64 %d1, -16; cp.async.bulk.global.shared::cta.bulk_group [%d1], [room], 16; cp.async.bulk.commit_group;",
    "mov.u64 %d1, 0; cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%d1, {%r1}], [room];",
    "mov.u64 %d1, 0xffffffffffffffff; "
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %d1, %d1, 1, 1, 1, 1, 1;",
)


def run(engine: Engine, body: str) -> None:
    loaded = engine.load(f"{HEAD}.visible .entry k()\n{{\n{REGISTERS}\n{body}\nret;\n}}\n")
    engine.launch(loaded, "k", (1, 1, 1), (32, 1, 1), b"")


@pytest.mark.parametrize("body", REFUSED)
def test_nonsense_instructions_are_refused(engine: Engine, body: str) -> None:
    with pytest.raises((Unsupported, BadPtx)):
        run(engine, body)


@pytest.mark.parametrize("body", HARMLESS)
def test_registers_of_other_widths_stay_in_bounds(engine: Engine, body: str) -> None:
    run(engine, body)


@pytest.mark.parametrize("body", FAULTY)
def test_addresses_that_wrap_around_are_faults(engine: Engine, body: str) -> None:
    with pytest.raises(Fault):
        run(engine, body)


@pytest.mark.parametrize(
    "body",
    [
        "again: bra again;",
        "places: .branchtargets again, again; mov.u32 %r1, 1; again: brx.idx %r1, places;",
    ],
    ids=["branch", "table"],
)
@pytest.mark.parametrize("counted", [False, True], ids=["", "counted"])
def test_endless_loops_of_any_kind_are_reported(engine: Engine, body: str, counted: bool) -> None:
    engine.launches = [] if counted else None
    with pytest.raises(Fault) as told:
        run(engine, body)
    assert told.value.finding.kind == "endless"


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
    "mbarrier.init.shared.b64 [barrier], %r1;",
    "mbarrier.arrive.expect_tx.shared.b64 %d1, [barrier], %r1;",
    "mbarrier.test_wait.parity.shared.b64 %p1, [barrier], %r1;",
    "mbarrier.pending_count.b64 %r1, %d1;",
    "mapa.shared::cluster.u32 %r1, %r2, %r3;",
    "getctarank.u64 %r1, %d1;",
    f"cp.async.bulk.shared::cluster.global.{BYTES}.multicast::cluster [room], [%d1], %r1, [barrier], %r2;",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%d1], [room], %r1;",
    f"cp.async.bulk.tensor.2d.shared::cluster.global.tile.{BYTES} [room], [%d1, {{%r1, %r2}}], [barrier];",
    "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [room], 4, %r1;",
    "tensormap.replace.tile.global_address.global.b1024.b64 [%d1], %d2;",
    "tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [room], 7;",
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d1], [room], 128;",
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, %d1, %p1, 1, -1, 1;",
)  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_bad_operands_do_no_harm(engine: Engine, form: str) -> None:
    head, _, rest = form.rstrip(";").partition(" ")
    operands = split_operands(rest)
    for index in range(len(operands)):
        before, after = operands[:index], operands[index + 1 :]
        for put in ([], ["%p2"], ["%d8"], ["%r8", "%d8"], ["_"], ["-1"], ["{%r8, %d8}"], ["[%d8]"], [""]):
            with contextlib.suppress(Unsupported, BadPtx, Fault):
                run(engine, f"{head} {', '.join([*before, *put, *after])};")


def a_map(engine: Engine, **fields: int) -> tuple[int, object]:
    """The address of a tensor map, of one dimension of 64 bytes unless ``fields`` say otherwise."""
    data, keep = engine.allocate(64, "data", written=True)
    packed = bytearray(128)
    values = {
        "signature": (0, 8, 0x70616D726F736E74), "address": (8, 8, data), "stride": (16, 8, 16), "size": (48, 4, 63),
        "size_1": (52, 4, 0), "box": (68, 2, 16), "box_1": (70, 2, 1), "step": (78, 1, 1), "step_1": (79, 1, 1),
        "type": (83, 1, 0), "rank": (84, 1, 0), "swizzle": (85, 1, 0), "fill": (86, 1, 0),
    }  # fmt: skip
    for name, (at, size, value) in values.items():
        packed[at : at + size] = (fields.get(name, value) & ((1 << 8 * size) - 1)).to_bytes(size, "little")
    address, bytes_of = engine.allocate(128, "map", written=True)
    ctypes.memmove(bytes_of, bytes(packed), 128)
    return address, (keep, bytes_of)


TENSOR = (
    "ld.param.b64 %d1, [map]; mov.u32 %r1, {at}; mbarrier.init.shared.b64 [barrier], 1; "
    "cp.async.bulk.tensor.{rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
    "[tile], [%d1, {{{places}}}], [barrier]; mbarrier.try_wait.parity.shared.b64 %p1, [barrier], 0;"
)


def load_tensor(engine: Engine, map_address: int, at: int = 0, rank: int = 1) -> None:
    places = ", ".join(["%r1"] * rank)
    body = TENSOR.format(at=at, rank=rank, places=places)
    loaded = engine.load(
        f"{HEAD}.visible .entry k(.param .b64 map)\n{{\n{REGISTERS} .shared .align 128 .b8 tile[256];\n"
        f"{body}\nret;\n}}\n"
    )
    engine.launch(loaded, "k", (1, 1, 1), (1, 1, 1), map_address.to_bytes(8, "little"))


def test_a_valid_tensor_map_is_accepted(engine: Engine) -> None:
    address, _keep = a_map(engine)
    load_tensor(engine, address)
    load_tensor(engine, address, at=-16)
    load_tensor(engine, address, at=2**31 - 16)


@pytest.mark.parametrize(
    "fields",
    [
        {"signature": 1}, {"rank": 5}, {"rank": 255}, {"type": 13}, {"type": 200}, {"swizzle": 9}, {"box": 0},
        {"box": 257}, {"step": 0}, {"step": 9}, {"box": 255}, {"size": 0xFFFFFFFF, "box": 256},
        {"address": -16}, {"address": 0},
    ],
    ids=str,
)  # fmt: skip
def test_an_invalid_tensor_map_is_a_fault(engine: Engine, fields: dict[str, int]) -> None:
    address, _keep = a_map(engine, **fields)
    with pytest.raises(Fault):
        load_tensor(engine, address)


def test_a_tensor_map_of_far_strides_is_a_fault(engine: Engine) -> None:
    address, _keep = a_map(engine, rank=1, stride=2**63, size_1=1, box_1=2)
    with pytest.raises(Fault):
        load_tensor(engine, address, rank=2)
