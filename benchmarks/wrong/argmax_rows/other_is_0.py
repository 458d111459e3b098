# Mistake: lanes beyond the row are loaded as 0, which beats rows of negative numbers.
# Says: (other|padding|mask|lanes|beyond|cols) ; (\b0\b|-inf|negative|padding)
import triton
import triton.language as tl


@triton.jit
def argmax(x, out, cols, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + r * cols + c, mask=c < cols, other=0.0)
    nan = tl.where(v != v, c, BLOCK)
    first_nan = tl.min(nan)
    top = tl.max(v, axis=0)
    first = tl.min(tl.where(v == top, c, BLOCK))
    tl.store(out + r, tl.where(first_nan < BLOCK, first_nan, first).to(tl.int64))


def solve(x, out, rows, cols):
    if rows:
        argmax[(rows,)](x, out, cols, BLOCK=triton.next_power_of_2(cols))
