import triton
import triton.language as tl


@triton.jit
def touch(values, BLOCK: tl.constexpr):  # noqa: N803
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < BLOCK
    tl.store(values + offsets, tl.load(values + offsets, mask=mask, other=0.0) + 1.0, mask=mask)
