import triton
import triton.language as tl

# Atomics: simplest thing that works. One program clears the answer first.


@triton.jit
def clear(out):
    tl.store(out, 0.0)


@triton.jit
def add(x, out, n, SIZE: tl.constexpr):
    where = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    mine = tl.load(x + where, where < n, 0.0)
    tl.atomic_add(out, tl.sum(mine))


def solve(x, out, n):
    clear[(1,)](out)
    if n > 0:
        add[((n + 8191) // 8192,)](x, out, n, SIZE=8192, num_warps=8)
