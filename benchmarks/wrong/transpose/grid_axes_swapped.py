# Mistake: the grid counts columns on the axis that the kernel uses for rows.
# Says: program_id ; (axis|grid)
import triton
import triton.language as tl


@triton.jit
def transpose(x, y, rows, cols, B: tl.constexpr):
    pr = tl.program_id(0)
    pc = tl.program_id(1)
    r = pr * B + tl.arange(0, B)
    c = pc * B + tl.arange(0, B)
    m = (r[:, None] < rows) & (c[None, :] < cols)
    v = tl.load(x + r[:, None] * cols + c[None, :], mask=m)
    tl.store(y + c[:, None] * rows + r[None, :], tl.trans(v), mask=tl.trans(m))


def solve(x, out, rows, cols):
    if rows and cols:
        grid = (triton.cdiv(cols, 64), triton.cdiv(rows, 64))  # HERE
        transpose[grid](x, out, rows, cols, B=64)  # HERE
