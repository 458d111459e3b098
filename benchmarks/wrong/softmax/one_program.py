# Mistake: the grid has one program, so only the first row is computed.
# Says: row ; (1|never written)
import triton
import triton.language as tl


@triton.jit
def softmax(x, out, cols, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    m = c < cols
    v = tl.load(x + r * cols + c, mask=m, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + r * cols + c, e / tl.sum(e, axis=0), mask=m)


def solve(x, out, rows, cols):
    if rows and cols:
        softmax[(1,)](x, out, cols, BLOCK=triton.next_power_of_2(cols))
