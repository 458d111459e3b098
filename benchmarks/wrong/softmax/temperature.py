# Mistake: exp takes half of the shifted value.
# Says: (0\.5|half|halved|2\b|times)
import triton
import triton.language as tl


@triton.jit
def f(x, out, cols, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + r * cols + c, mask=c < cols, other=-float("inf"))
    e = tl.exp(0.5 * (v - tl.max(v, axis=0)))
    tl.store(out + r * cols + c, e / tl.sum(e, axis=0), mask=c < cols)


def solve(x, out, rows, cols):
    if rows and cols:
        f[(rows,)](x, out, cols, BLOCK=triton.next_power_of_2(cols))
