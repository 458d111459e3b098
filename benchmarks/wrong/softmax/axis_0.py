# Mistake: the sum of a tile of rows is taken along axis 0, over the rows.
# Says: (axis|column|along) ; (row|sum|axis)
import triton
import triton.language as tl


@triton.jit
def softmax(x, out, rows, cols, R: tl.constexpr, C: tl.constexpr):
    r = tl.program_id(0) * R + tl.arange(0, R)
    c = tl.arange(0, C)
    mask = (r[:, None] < rows) & (c[None, :] < cols)
    at = r[:, None].to(tl.int64) * cols + c[None, :]
    v = tl.load(x + at, mask=mask, other=float("-inf"))
    top = tl.max(v, axis=1)
    e = tl.where(mask, tl.exp(v - top[:, None]), 0.0)
    tl.store(out + at, e / tl.sum(e, axis=0)[None, :], mask=mask)  # HERE


def solve(x, out, rows, cols):
    if rows and cols:
        softmax[(triton.cdiv(rows, 4),)](x, out, rows, cols, R=4, C=triton.next_power_of_2(cols))
