import triton
import triton.language as tl


@triton.jit
def two_dim(x, out, n, R: tl.constexpr, C: tl.constexpr):
    # The data as a table of R rows per step; reduce the rows at the end, then the columns.
    acc = tl.zeros((R, C), dtype=tl.float32)
    r = tl.arange(0, R)[:, None]
    c = tl.arange(0, C)[None, :]
    base = tl.program_id(0).to(tl.int64) * R * C
    jump = tl.num_programs(0).to(tl.int64) * R * C
    for start in tl.range(base, n, jump):
        place = start + r * C + c
        acc += tl.load(x + place, mask=place < n, other=0.0)
    by_column = tl.sum(acc, axis=0)
    tl.atomic_add(out, tl.sum(by_column, axis=0), sem="relaxed")


@triton.jit
def zero(out):
    tl.store(out + tl.arange(0, 1), tl.zeros((1,), tl.float32))


def solve(x, out, n):
    zero[(1,)](out)
    grid = min(128, triton.cdiv(n, 16 * 256))
    if grid > 0:
        two_dim[(grid,)](x, out, n, R=16, C=256)
