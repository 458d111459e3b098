import triton
import triton.language as tl


@triton.jit
def copy(source, target, count, BLOCK: tl.constexpr):  # noqa: N803
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    tl.store(target + offsets, tl.load(source + offsets, mask=mask), mask=mask)
