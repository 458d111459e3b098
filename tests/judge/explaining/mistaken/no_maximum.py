import triton
import triton.language as tl


@triton.jit
def sm(src, dst, cols, W: tl.constexpr):
    i = tl.program_id(0)
    j = tl.arange(0, W)
    e = tl.exp(tl.load(src + i * cols + j, mask=j < cols, other=-float("inf")))
    tl.store(dst + i * cols + j, e / tl.sum(e, axis=0), mask=j < cols)


def solve(x, out, rows, cols):
    if rows and cols:
        sm[(rows,)](x, out, cols, W=triton.next_power_of_2(cols))
