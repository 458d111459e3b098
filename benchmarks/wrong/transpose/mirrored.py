# Mistake: each row of the result is stored from its end.
# Says: (reverse|mirror|end|flip|backward)
import triton
import triton.language as tl


@triton.jit
def transpose(x, out, rows, cols, BLOCK: tl.constexpr):
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = (r[:, None] < rows) & (c[None, :] < cols)
    v = tl.load(x + r[:, None] * cols + c[None, :], mask=inside)
    tl.store(out + c[None, :] * rows + (rows - 1 - r[:, None]), v, mask=inside)


def solve(x, out, rows, cols):
    if rows and cols:
        transpose[(triton.cdiv(rows, 32), triton.cdiv(cols, 32))](x, out, rows, cols, BLOCK=32)
