# Mistake: the largest absolute value is looked for.
# Says: \bx\b ; (absolute|abs)
import triton
import triton.language as tl


@triton.jit
def argmax(x, out, cols, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + r * cols + c, mask=c < cols, other=0.0)
    v = tl.where(c < cols, tl.abs(v), float("-inf"))
    nan = tl.min(tl.where(v != v, c, BLOCK))
    first = tl.min(tl.where(v == tl.max(v, axis=0), c, BLOCK))
    tl.store(out + r, tl.where(nan < BLOCK, nan, first).to(tl.int64))


def solve(x, out, rows, cols):
    if rows:
        argmax[(rows,)](x, out, cols, BLOCK=triton.next_power_of_2(cols))
