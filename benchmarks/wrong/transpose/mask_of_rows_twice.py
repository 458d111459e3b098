# Mistake: the mask of the store compares both indices with rows.
# Says: (mask|rows|cols|never written|past the end)
import triton
import triton.language as tl


@triton.jit
def turn(x, out, rows, cols, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    c = tl.program_id(1) * B + tl.arange(0, B)
    tile = tl.load(x + r[:, None] * cols + c[None, :], mask=(r[:, None] < rows) & (c[None, :] < cols), other=0.0)
    tl.store(out + c[:, None] * rows + r[None, :], tl.trans(tile), mask=(c[:, None] < rows) & (r[None, :] < rows))


def solve(x, out, rows, cols):
    if rows and cols:
        turn[(triton.cdiv(rows, 32), triton.cdiv(cols, 32))](x, out, rows, cols, B=32)
