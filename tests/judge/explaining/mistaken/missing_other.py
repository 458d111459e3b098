import triton
import triton.language as tl


@triton.jit
def softmax(x, out, cols, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + r * cols + i, mask=i < cols)
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + r * cols + i, e / tl.sum(e, axis=0), mask=i < cols)


def solve(x, out, rows, cols):
    if rows == 0 or cols == 0:
        return
    softmax[(rows,)](x, out, cols, BLOCK=triton.next_power_of_2(cols))
