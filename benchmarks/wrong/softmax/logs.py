# Mistake: the logarithm of the softmax is computed.
# Says: log
import triton
import triton.language as tl


@triton.jit
def softmax(x, out, cols, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + r * cols + c, mask=c < cols, other=-float("inf"))
    m = tl.max(v)
    s = tl.sum(tl.exp(v - m))
    tl.store(out + r * cols + c, v - m - tl.log(s), mask=c < cols)


def solve(x, out, rows, cols):
    if rows and cols:
        softmax[(rows,)](x, out, cols, BLOCK=triton.next_power_of_2(cols))
