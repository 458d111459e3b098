# Mistake: the elements above the diagonal are never written.
# Says: (never|not) (been )?written|unwritten|wrote
import triton
import triton.language as tl


@triton.jit
def factor(a, out, n, SIDE: tl.constexpr):
    begin = tl.program_id(0).to(tl.int64) * n * n
    row, column = tl.arange(0, SIDE)[:, None], tl.arange(0, SIDE)[None, :]
    index = tl.arange(0, SIDE)
    place = begin + row * n + column
    inside = (row < n) & (column < n)
    left = tl.load(a + place, mask=inside, other=0.0)
    for j in range(n):
        down = tl.sum(tl.where(column == j, left, 0.0), axis=1)
        across = tl.sum(tl.where(row == j, left, 0.0), axis=0)
        root = tl.sqrt(tl.sum(tl.where(index == j, down, 0.0), axis=0))
        down /= root
        tl.store(out + begin + index * n + j, tl.where(index == j, root, down), mask=(index >= j) & (index < n))
        left -= down[:, None] * (across / root)[None, :]


def solve(a, out, batch, n):
    if batch and n:
        factor[(batch,)](a, out, n, SIDE=triton.next_power_of_2(n))
