"""Kernels whose two blocks race, and one whose last thread stores nothing, as an emulated GPU records them:
no compiler is needed.
"""

from __future__ import annotations

import base64
import struct
from functools import cache
from typing import Any

import numpy as np

from grader.sandbox.emulator.engine import Engine, pack_arguments
from grader.sandbox.emulator.stepping.not_stored import Wanted
from grader.sandbox.emulator.stepping.recorder import Recorder
from grader.schemas.step import StepBundle

SOURCE = """__global__ void claim(int* out) {
    __syncthreads();
    if (threadIdx.x < 8) {
        if (threadIdx.x == 0) out[1] = blockIdx.x + 3;
    }
}
"""
_HEAD = """.version 8.0
.target sm_80
.address_size 64
.file 1 "claim.cu"
.visible .entry claim(.param .u64 claim_out)
{{
.reg .b64 %p<3>; .reg .b32 %i<6>; .reg .pred %q<3>;
.loc 1 1 5
mov.u32 %i0, %tid.x;
mov.u32 %i1, %ctaid.x;
ld.param.u64 %p0, [claim_out];
{body}
ret;
}}
"""
RACE = _HEAD.format(
    body="""
.loc 1 2 5
bar.sync 0;
.loc 1 3 5
setp.ge.u32 %q0, %i0, 8;
@%q0 bra DONE;
.loc 1 4 5
add.u32 %i2, %i1, 3;
setp.ne.u32 %q1, %i0, 0;
@%q1 bra DONE;
st.global.u32 [%p0+4], %i2;
DONE:
.loc 1 6 1
"""
)
# Thread i has element i; the last one of block 1 turns back, and another condition is a predicate.
GUARDED = _HEAD.format(
    body="""
.loc 1 3 5
mad.lo.u32 %i2, %i1, 64, %i0;
setp.lt.u32 %q0, %i0, 4;
@%q0 bra NEAR;
add.u32 %i3, %i2, 1;
NEAR:
.loc 1 4 9
setp.ge.s32 %q1, %i2, 127;
setp.gt.s32 %q2, %i2, 1000;
or.pred %q1, %q1, %q2;
@%q1 bra DONE;
.loc 1 5 9
mad.wide.u32 %p1, %i2, 4, %p0;
setp.ne.s32 %q2, %i2, 70;
@%q2 st.global.u32 [%p1], %i2;
DONE:
.loc 1 7 1
"""
)


def launched(text: str, *, wanted: Wanted | None = None) -> tuple[Recorder, dict[str, Any] | None]:
    """Two blocks of 64 threads on 128 words; and the engine's finding about the first unwritten element."""
    engine = Engine(threads=1)
    try:
        recorder = engine.record(wanted=wanted)
        out = np.full(128, 7, dtype=np.int32)
        address = engine.adopt(out.ctypes.data, out.nbytes, "out", written=True, keep=out)
        loaded = engine.load(text)
        layout = engine.ready(loaded, "claim").param_layout
        engine.begin_call()
        engine.launch(
            loaded, "claim", (2, 1, 1), (64, 1, 1), pack_arguments(layout, [struct.pack("<Q", address)])
        )
        engine.findings()
        missing = [element for element in np.flatnonzero(out == 7).tolist() if element != 7]
        told = engine.would_write(address, 4, missing[0], [128], programs=False) if missing else None
        if told is None:
            return recorder, None
        work, would = told
        return recorder, {
            "work": work, "array": "out", "place": missing[0], "size": 4, "block": would.block, "thread": would.thread,
            "like": would.like, "like_block": would.wrote.block, "like_thread": would.wrote.thread,
        }  # fmt: skip
    finally:
        engine.close()


@cache
def bundle() -> StepBundle:
    """For the race. Needs the engine."""
    recorder, _ = launched(RACE)
    assert recorder.bundle, recorder.why
    return StepBundle.model_validate(
        {
            "data": base64.b64encode(recorder.bundle).decode(),
            "lanes": recorder.lanes,
            "orders": recorder.orders,
            "word": recorder.word,
        }
    )
