"""A kernel that reads memory before another warp writes it, as an emulated GPU records it: no compiler is needed."""

from __future__ import annotations

import base64
import struct
from functools import cache

import numpy as np

from grader.sandbox.emulator.engine import Engine, pack_arguments
from grader.schemas.report import CaseReport, CaseVerdict, Report, Verdict
from grader.schemas.step import StepBundle, StepLane

SOURCE = """__global__ void mirror(const float* in, float* out) {
    __shared__ float tile[64];
    int i = threadIdx.x;
    tile[i] = in[i];
    out[i] = tile[63 - i];  // without a barrier
}
"""
FAULT_LINE = 5
PTX = """.version 8.0
.target sm_80
.address_size 64
.file 1 "mirror.cu"
.visible .entry mirror(.param .u64 mirror_in, .param .u64 mirror_out)
{
.reg .b64 %p<4>; .reg .b32 %i<4>; .reg .f32 %f<3>; .shared .align 4 .b8 tile[256];
.loc 1 3 5
mov.u32 %i0, %tid.x;
mov.u32 %i1, tile;
.loc 1 4 5
ld.param.u64 %p0, [mirror_in];
mad.wide.u32 %p0, %i0, 4, %p0;
ld.global.f32 %f0, [%p0];
mad.lo.u32 %i2, %i0, 4, %i1;
st.shared.f32 [%i2], %f0;
.loc 1 5 5
sub.u32 %i3, 63, %i0;
mad.lo.u32 %i3, %i3, 4, %i1;
ld.shared.f32 %f1, [%i3];
ld.param.u64 %p1, [mirror_out];
mad.wide.u32 %p1, %i0, 4, %p1;
st.global.f32 [%p1], %f1;
ret;
}
"""
DETAIL = "line 5: Thread 0 of block 0 reads byte 252 of the shared array tile, which nobody has written."


@cache
def bundle() -> StepBundle:
    """Needs the engine."""
    engine = Engine(threads=1)
    try:
        recorder = engine.record()
        arrays = {"in": np.arange(64, dtype=np.float32), "out": np.zeros(64, dtype=np.float32)}
        addresses = [
            engine.adopt(it.ctypes.data, it.nbytes, name, written=True, keep=it)
            for name, it in arrays.items()
        ]
        loaded = engine.load(PTX)
        layout = engine.ready(loaded, "mirror").param_layout
        params = pack_arguments(layout, [struct.pack("<Q", address) for address in addresses])
        engine.launch(loaded, "mirror", (1, 1, 1), (64, 1, 1), params)
        engine.findings()
    finally:
        engine.close()
    assert recorder.bundle, recorder.why
    lanes = [StepLane(**lane) for lane in recorder.lanes]
    return StepBundle(data=base64.b64encode(recorder.bundle).decode(), lanes=lanes)


def report(base: Report, step: StepBundle) -> Report:
    case = CaseReport(
        name="square", category="basic", verdict=CaseVerdict.RUNTIME_ERROR, seed=1, sizes={"n": 64}, detail=DETAIL,
        step=step,
    )  # fmt: skip
    return base.model_copy(update={"cases": [case], "verdict": Verdict.RUNTIME_ERROR})
