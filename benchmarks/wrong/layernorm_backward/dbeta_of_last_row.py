# Mistake: dbeta is assigned for each row, not added.
# Says: dbeta ; (last|row|assign|only|added)
import triton
import triton.language as tl


@triton.jit
def by_rows(dy, x, gamma, mean, rstd, dx, cols, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    mask = c < cols
    m = tl.load(mean + r)
    s = tl.load(rstd + r)
    w = tl.load(dy + r * cols + c, mask=mask, other=0.0) * tl.load(gamma + c, mask=mask, other=0.0)
    h = tl.where(mask, (tl.load(x + r * cols + c, mask=mask, other=0.0) - m) * s, 0.0)
    tl.store(dx + r * cols + c, s * (w - tl.sum(w) / cols - h * (tl.sum(w * h) / cols)), mask=mask)


@triton.jit
def by_columns(dy, x, mean, rstd, dgamma, dbeta, rows, cols, BLOCK: tl.constexpr):
    c = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = c < cols
    g = tl.zeros((BLOCK,), tl.float32)
    b = tl.zeros((BLOCK,), tl.float32)
    for r in range(rows):
        d = tl.load(dy + r * cols + c, mask=mask, other=0.0)
        v = tl.load(x + r * cols + c, mask=mask, other=0.0)
        g += d * ((v - tl.load(mean + r)) * tl.load(rstd + r))
        b = d
    tl.store(dgamma + c, g, mask=mask)
    tl.store(dbeta + c, b, mask=mask)


def solve(dy, x, gamma, mean, rstd, dx, dgamma, dbeta, rows, cols):
    if not cols:
        return
    if rows:
        by_rows[(rows,)](dy, x, gamma, mean, rstd, dx, cols, BLOCK=triton.next_power_of_2(cols))
    by_columns[(triton.cdiv(cols, 128),)](dy, x, mean, rstd, dgamma, dbeta, rows, cols, BLOCK=128)
