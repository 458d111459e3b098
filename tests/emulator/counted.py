"""Counts of each class of instruction: one warp runs a sample of each.

python -m tests.emulator.counted      the table of docs/emulated-model.md
"""

from __future__ import annotations

import ctypes
import functools
import struct

from grader.sandbox.emulator.engine import Engine, pack_arguments
from grader.sandbox.emulator.model import Launch
from grader.sandbox.emulator.names import ASYNC, OP

# The line of the instruction; the rest of a sample is on others.
_LINE = 7
_BYTES = "mbarrier::complete_tx::bytes"
HEAD = """.version 8.0
.target sm_90a
.address_size 64
.file 1 "k.cu"
.const .align 16 .b8 fixed[1024];
.global .align 8 .b8 text[8] = {120, 10, 0};
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.extern .func (.param .b64 r) malloc (.param .b64 n);
.global .align 8 .u64 pointer = f;
.func (.param .b32 r) f (.param .b32 x)
{
.reg .b32 %n<2>;
ld.param.b32 %n0, [x];
st.param.b32 [r], %n0;
.loc 1 8 0
ret;
}
.visible .entry k(.param .u64 p, .param .u64 t)
{
.reg .b64 %d<9>; .reg .b32 %t, %r<9>; .reg .f32 %f<9>; .reg .pred %q<3>;
.shared .align 128 .b8 room[4096]; .shared .align 8 .b64 barrier;
.local .align 16 .b8 own[256];
ld.param.u64 %d0, [p]; ld.param.u64 %d7, [t];
mov.u32 %t, %tid.x; mad.wide.u32 %d1, %t, 16, %d0;
mov.u32 %r7, room; mad.lo.u32 %r1, %t, 16, %r7; mov.u32 %r2, 0; mov.f32 %f0, 0f3F800000; mov.u64 %d4, 0;
setp.eq.u32 %q1, %t, 0;
@%q1 mbarrier.init.shared.b64 [barrier], 1;
bar.sync 0;
"""
_CALL = "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; AT call (b), f, (a); }"
_INDIRECT = (
    "ld.global.u64 %d5, [pointer]; { .param .b32 a; .param .b32 b; st.param.b32 [a], %r2;\n"
    "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\nAT call (b), %d5, (a), proto; }"
)
_PRINT = (
    "mov.u64 %d5, text; { .param .b64 a; .param .b64 b; .param .b32 c; st.param.b64 [a], %d5; st.param.b64 [b], %d0; "
    "AT call (c), vprintf, (a, b); }"
)
_MALLOC = "{ .param .b64 a; .param .b64 b; st.param.b64 [a], 16; AT call (b), malloc, (a); }"
_ARRIVE = "AT @%q1 mbarrier.arrive{}.shared.b64 %d5, [barrier]{};"
_STAGE = f"@%q1 cp.async.bulk.shared::cluster.global.{_BYTES} [room], [%d0], 512, [barrier];"
_PRODUCT = (
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %d4, %d4, 1, 1, 1, 0, 0; "
    "wgmma.commit_group.sync.aligned;"
)
# These end a launch.
ENDS = {"TRAP", "ASSERT"}
# By class, and a word if a class has several samples. ``AT`` precedes the instruction.
SAMPLES: dict[str, str] = {
    "NOP sleep": "AT nanosleep.u32 20;",
    "NOP prefetch": "AT prefetch.global.L2 [%d1];",
    "NOP bulk prefetch": "@!%q1 bra E; AT cp.async.bulk.prefetch.L2.global [%d0], 512; E:",
    "BRANCH": "AT bra E; E: bar.sync 0;",
    "BRANCH_INDEX": "ts: .branchtargets A, B;\nAT brx.idx %r2, ts; A: add.u32 %r3, %r2, 1; B: bar.sync 0;",
    "EXIT": "AT exit;",
    "CALL": _CALL,
    "CALL_INDIRECT": _INDIRECT,
    "RETURN": _CALL.replace("AT ", ""),
    "BARRIER": "AT bar.sync 0;",
    "WARP_BARRIER": "AT bar.warp.sync -1;",
    "FENCE": "AT membar.gl;",
    "LOAD global": "AT ld.global.b32 %r3, [%d1];",
    "LOAD volatile": "AT ld.volatile.global.b32 %r3, [%d1];",
    "LOAD shared": "AT ld.shared.b32 %r3, [%r1];",
    "LOAD local": "AT ld.local.b32 %r3, [own];",
    "LOAD constant": "AT ld.const.b32 %r3, [fixed];",
    "STORE global": "AT st.global.b32 [%d1], %r2;",
    "STORE shared": "AT st.shared.b32 [%r1], %r2;",
    "STORE local": "AT st.local.b32 [own], %r2;",
    "ATOMIC global": "AT atom.global.add.u32 %r3, [%d0], 1;",
    "ATOMIC red": "AT red.global.add.f32 [%d0], %f0;",
    "ATOMIC shared": "AT atom.shared.add.u32 %r3, [room], 1;",
    "SHUFFLE": "AT shfl.sync.idx.b32 %r3, %r2, 0, 31, -1;",
    "VOTE": "AT vote.sync.ballot.b32 %r3, %q1, -1;",
    "MATCH": "AT match.any.sync.b32 %r3, %t, -1;",
    "REDUX": "AT redux.sync.add.s32 %r3, %t, -1;",
    "ACTIVE_MASK": "AT activemask.b32 %r3;",
    "ELECT": "AT elect.sync _|%q2, -1;",
    "COPY_LATE": "AT cp.async.ca.shared.global [%r1], [%d1], 16;",
    "COMMIT": "AT cp.async.commit_group;",
    "WAIT_GROUP": "AT cp.async.wait_all;",
    "LOCAL_ADDRESS": "AT mov.u64 %d5, own;",
    "CLOCK": "AT mov.u32 %r3, %clock;",
    "PRINT": _PRINT,
    "MATRIX mma": "AT mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r2,%r2}, {%r2}, "
    "{%f0,%f0,%f0,%f0};",
    "MATRIX ldmatrix": "AT ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r3,%r4,%r5,%r6}, [%r1];",
    "MATRIX wmma.load": "AT wmma.load.a.sync.aligned.row.m16n16k16.global.f16 "
    "{%r3,%r4,%r5,%r6,%r3,%r4,%r5,%r6}, [%d0], 16;",
    "HEAP": _MALLOC,
    "TEXTURE tex": "AT tex.1d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%d7, {%t}];",
    "TEXTURE suld": "shl.b32 %r3, %t, 4; AT suld.b.1d.v4.b32.trap {%r3,%r4,%r5,%r6}, [%d7, {%r3}];",
    "TEXTURE sust": "shl.b32 %r3, %t, 4; AT sust.b.1d.v4.b32.trap [%d7, {%r3}], {%r2,%r2,%r2,%r2};",
    "ASYNC MBARRIER_INIT": "AT @%q1 mbarrier.init.shared.b64 [barrier], 1;",
    "ASYNC MBARRIER_INVAL": "AT @%q1 mbarrier.inval.shared.b64 [barrier];",
    "ASYNC MBARRIER_ARRIVE": _ARRIVE.format("", ""),
    "ASYNC MBARRIER_DROP": _ARRIVE.format("_drop", ""),
    "ASYNC MBARRIER_EXPECT": "AT @%q1 mbarrier.expect_tx.relaxed.cta.shared.b64 [barrier], 0;",
    "ASYNC MBARRIER_COMPLETE": "AT @%q1 mbarrier.complete_tx.relaxed.cta.shared.b64 [barrier], 0;",
    "ASYNC MBARRIER_TEST": "AT mbarrier.test_wait.parity.shared.b64 %q2, [barrier], 1;",
    "ASYNC MBARRIER_TRY": "AT mbarrier.try_wait.parity.shared.b64 %q2, [barrier], 1;",
    "ASYNC COPIES_ARRIVE": "AT @%q1 cp.async.mbarrier.arrive.noinc.shared.b64 [barrier];",
    "ASYNC CLUSTER_ARRIVE": "AT barrier.cluster.arrive; barrier.cluster.wait;",
    "ASYNC CLUSTER_WAIT": "barrier.cluster.arrive; AT barrier.cluster.wait;",
    "ASYNC MAP_RANK": "AT mapa.shared::cluster.u32 %r3, %r1, 0;",
    "ASYNC RANK_OF": "cvt.u64.u32 %d5, %r1; AT getctarank.shared::cluster.u32 %r3, %r1;",
    "ASYNC PROXY_FENCE": "AT fence.proxy.async;",
    "ASYNC BULK_COPY in": f"@%q1 mbarrier.expect_tx.relaxed.cta.shared.b64 [barrier], 512; AT {_STAGE}",
    "ASYNC BULK_COPY out": "AT @%q1 cp.async.bulk.global.shared::cta.bulk_group [%d0], [room], 512; "
    "cp.async.bulk.wait_group 0;",
    "ASYNC BULK_COPY reduce": "AT @%q1 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%d0], [room], 512; "
    "cp.async.bulk.wait_group 0;",
    "ASYNC BULK_COMMIT": "AT cp.async.bulk.commit_group;",
    "ASYNC BULK_WAIT": "AT cp.async.bulk.wait_group 0;",
    "ASYNC BULK_WAIT_READ": "AT cp.async.bulk.wait_group.read 0;",
    "ASYNC PRODUCT_FENCE": "AT wgmma.fence.sync.aligned;",
    "ASYNC PRODUCT": f"AT {_PRODUCT}",
    "ASYNC PRODUCT_COMMIT": "AT wgmma.commit_group.sync.aligned;",
    "ASYNC PRODUCT_WAIT": f"{_PRODUCT} AT wgmma.wait_group.sync.aligned 0;",
}  # fmt: skip
# Counts of a profile's row that show an access.
COLUMNS = {
    "sectors from L2": "l2",
    "sectors from memory": "dram",
    "lines of L1": "lines",
    "passes through shared memory": "passes",
    "passes through the constant cache": "constant_passes",
    "sectors of local memory": "local_sectors",
    "turns": "same",
}


def classes() -> set[str]:
    """The engine's instructions except those of alu.ops."""
    return {name for name in OP if name != "ASYNC"} | {f"ASYNC {name}" for name in ASYNC}


def texture_of(address: int) -> bytes:
    """1,024 times four floats, as struct texture."""
    return struct.pack(
        "<QQ15I4f4x", address, 0, 1024, 1, 1, 16, 32, 32, 32, 32, 2, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0
    )


@functools.cache
def ran(sample: str) -> tuple[Launch, set[str]]:
    """The counts, and the classes of the sample's instructions."""
    engine = Engine(threads=1)
    engine.check = 0
    data = (ctypes.c_char * 65536)()
    address = engine.adopt(ctypes.addressof(data), len(data), keep=data)
    texture = engine.texture(texture_of(address))
    body = sample.replace("AT ", f"\n.loc 1 {_LINE} 0\n")
    # Everything after the instruction is on another line.
    head, at, rest = body.partition(f".loc 1 {_LINE} 0\n")
    first, semicolon, after = rest.partition(";")
    text = f"{HEAD}.loc 1 1 0\n{head}{at}{first}{semicolon}\n.loc 1 9 0\n{after}\nret;\n}}\n"
    loaded = engine.load(text)
    lowered = engine.ready(loaded, "k")
    found = set()
    for row in lowered.code_rows():
        if row.op < len(OP):
            name = OP.name_of(row.op)
            found.add(f"ASYNC {ASYNC.name_of(row.size)}" if name == "ASYNC" else name)
    engine.launches = []
    params = pack_arguments(lowered.param_layout, [struct.pack("<Q", address), struct.pack("<Q", texture)])
    engine.launch(loaded, "k", (1, 1, 1), (32, 1, 1), params)
    launch = engine.launches[0]
    engine.close()
    return launch, found


def counted(name: str, launch: Launch) -> tuple[str, dict[str, int]]:
    """The units that one instruction of a warp occupies, and its other counts."""
    line = 8 if name == "RETURN" else _LINE
    own = [row for row in launch.rows if row.line == line]
    units = sorted({row.work.kind for row in own}) or ["nothing"]
    counts = {title: sum(getattr(row, field) for row in own) for title, field in COLUMNS.items()}
    counts |= {"updates of one place": launch.updates_most}
    return ", ".join(units), {title: count for title, count in counts.items() if count}


def table() -> str:
    """Instructions with equal counts share a line."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, sample in SAMPLES.items():
        units, counts = counted(name, ran(sample)[0])
        rest = ", ".join(f"{count} {title}" for title, count in counts.items())
        found.setdefault((units, rest), []).append(f"`{name}`")
    lines = [f"| {', '.join(names)} | {units} | {rest} |" for (units, rest), names in found.items()]
    return "\n".join(["| instructions | occupy | and take |", "| --- | --- | --- |", *lines])


if __name__ == "__main__":
    print(table())
