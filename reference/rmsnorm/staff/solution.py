"""RMS normalisation in Triton: short rows in one block, long rows in two passes."""

import triton
import triton.language as tl

# A row of up to this many elements fits into the registers of one program.
ONE_BLOCK = 8192
LONG_BLOCK = 4096


@triton.jit
def short_rows(x, gamma, out, eps, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols  # 64 bits: rows * cols may exceed 2^31
    column = tl.arange(0, BLOCK)
    inside = column < cols
    # 0 beyond the row adds nothing to the sum; the mean is over cols elements, not over BLOCK.
    values = tl.load(x + row + column, mask=inside, other=0.0)
    factor = tl.rsqrt(tl.sum(values * values, axis=0) / cols + eps)
    scale = tl.load(gamma + column, mask=inside)
    tl.store(out + row + column, values * factor * scale, mask=inside)


@triton.jit
def long_rows(x, gamma, out, eps, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    column = tl.arange(0, BLOCK)
    # Each lane keeps its own sum; the lanes are added up once, after the loop.
    squares = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, cols, BLOCK):
        values = tl.load(x + row + start + column, mask=start + column < cols, other=0.0)
        squares += values * values
    factor = tl.rsqrt(tl.sum(squares, axis=0) / cols + eps)
    for start in range(0, cols, BLOCK):
        inside = start + column < cols
        values = tl.load(x + row + start + column, mask=inside)
        scale = tl.load(gamma + start + column, mask=inside)
        tl.store(out + row + start + column, values * factor * scale, mask=inside)


def solve(x, gamma, out, eps, rows, cols):
    if rows == 0 or cols == 0:
        return  # there is nothing to write
    if cols <= ONE_BLOCK:
        block = triton.next_power_of_2(cols)
        # Sixteen elements a thread: four 16-byte loads on their way at once.
        warps = min(max(block // 512, 1), 16)
        short_rows[(rows,)](x, gamma, out, eps, cols, BLOCK=block, num_warps=warps)
    else:
        long_rows[(rows,)](x, gamma, out, eps, cols, BLOCK=LONG_BLOCK, num_warps=8)
