"""Layer normalisation in Triton: short rows in one block; long rows in two passes that merge means and variances."""

import triton
import triton.language as tl

# A row of up to this many elements fits into the registers of one program.
ONE_BLOCK = 8192
LONG_BLOCK = 4096


@triton.jit
def short_rows(x, gamma, beta, out, eps, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols  # 64 bits: rows * cols may exceed 2^31
    column = tl.arange(0, BLOCK)
    inside = column < cols
    values = tl.load(x + row + column, mask=inside, other=0.0)
    mean = tl.sum(values, axis=0) / cols
    # Beyond the row the deviation would be -mean: it must not be counted. The deviations come before their squares:
    # E[x^2] - E[x]^2 would lose every digit where the mean is large.
    deviations = tl.where(inside, values - mean, 0.0)
    rstd = tl.rsqrt(tl.sum(deviations * deviations, axis=0) / cols + eps)
    scale = tl.load(gamma + column, mask=inside)
    shift = tl.load(beta + column, mask=inside)
    tl.store(out + row + column, deviations * rstd * scale + shift, mask=inside)


@triton.jit
def long_rows(x, gamma, beta, out, eps, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    column = tl.arange(0, BLOCK)
    # The mean so far, and the sum of squared deviations from it. Each block has its own two, exact in themselves; two
    # sets of elements become one by adding the way between their means.
    mean = tl.zeros((), dtype=tl.float32)
    squares = tl.zeros((), dtype=tl.float32)
    for start in range(0, cols, BLOCK):
        inside = start + column < cols
        values = tl.load(x + row + start + column, mask=inside, other=0.0)
        count = tl.minimum(cols - start, BLOCK).to(tl.float32)
        its_mean = tl.sum(values, axis=0) / count
        deviations = tl.where(inside, values - its_mean, 0.0)
        share = count / (start + count)
        way = its_mean - mean
        squares += tl.sum(deviations * deviations, axis=0) + way * way * start * share
        mean += way * share
    rstd = tl.rsqrt(squares / cols + eps)
    for start in range(0, cols, BLOCK):
        inside = start + column < cols
        values = tl.load(x + row + start + column, mask=inside)
        scale = tl.load(gamma + start + column, mask=inside)
        shift = tl.load(beta + start + column, mask=inside)
        tl.store(out + row + start + column, (values - mean) * rstd * scale + shift, mask=inside)


def solve(x, gamma, beta, out, eps, rows, cols):
    if rows == 0 or cols == 0:
        return  # there is nothing to write
    if cols <= ONE_BLOCK:
        block = triton.next_power_of_2(cols)
        # Sixteen elements a thread: four 16-byte loads on their way at once.
        warps = min(max(block // 512, 1), 16)
        short_rows[(rows,)](x, gamma, beta, out, eps, cols, BLOCK=block, num_warps=warps)
    else:
        long_rows[(rows,)](x, gamma, beta, out, eps, cols, BLOCK=LONG_BLOCK, num_warps=8)
