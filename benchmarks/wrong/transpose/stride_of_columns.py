# Mistake: the output's rows are multiplied by cols instead of rows.
# Says: \bout\b ; (cols|stride) ; row
import triton
import triton.language as tl


@triton.jit
def tr(x, y, rows, cols, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    c = tl.program_id(1) * B + tl.arange(0, B)
    m = (r[:, None] < rows) & (c[None, :] < cols)
    v = tl.load(x + r[:, None] * cols + c[None, :], mask=m)
    tl.store(y + c[None, :] * cols + r[:, None], v, mask=m)  # HERE


def solve(x, out, rows, cols):
    if rows and cols:
        tr[(triton.cdiv(rows, 32), triton.cdiv(cols, 32))](x, out, rows, cols, B=32)
