import triton
import triton.language as tl

# three passes over the row, 1024 elements at a time


@triton.jit
def three_passes(x, y, n, B: tl.constexpr):
    base = tl.program_id(0).to(tl.int64) * n
    i = tl.arange(0, B)

    best = tl.full((B,), float("-inf"), tl.float32)
    for k in range(0, n, B):
        best = tl.maximum(best, tl.load(x + base + k + i, mask=k + i < n, other=float("-inf")))
    m = tl.max(best, 0)

    sums = tl.zeros((B,), tl.float32)
    for k in range(0, n, B):
        ok = k + i < n
        sums += tl.where(ok, tl.exp(tl.load(x + base + k + i, mask=ok, other=0.0) - m), 0.0)
    s = tl.sum(sums, 0)

    for k in range(0, n, B):
        ok = k + i < n
        tl.store(y + base + k + i, tl.exp(tl.load(x + base + k + i, mask=ok) - m) / s, mask=ok)


def solve(x, out, rows, cols):
    if rows > 0 and cols > 0:
        three_passes[(rows,)](x, out, cols, B=1024)
