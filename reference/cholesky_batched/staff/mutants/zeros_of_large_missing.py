"""Mistake: the numbers above the diagonal are replaced by 0 in the first 64 columns alone."""

import triton
import triton.language as tl

TILE = 2048
LARGEST = 64
PIECE = 128


@triton.jit
def factor(a, out, batch, n, MATRICES: tl.constexpr, SIDE: tl.constexpr):
    matrix = tl.program_id(0).to(tl.int64) * MATRICES + tl.arange(0, MATRICES)
    row, column = tl.arange(0, SIDE)[None, :, None], tl.arange(0, SIDE)[None, None, :]
    index = tl.arange(0, SIDE)[None, :]
    place = matrix[:, None, None] * n * n + row * n + column
    inside = (matrix[:, None, None] < batch) & (row < n) & (column < n)
    left = tl.load(a + place, mask=inside & (row <= column), other=0.0)
    upper = tl.zeros_like(left)
    for j in range(n):
        is_row = row == j
        own = tl.sum(tl.where(is_row, left, 0.0), axis=1)
        on_diagonal = index == j
        pivot = tl.sum(tl.where(on_diagonal, own, 0.0), axis=1)[:, None]
        inverse = tl.rsqrt(pivot)
        divided = own * inverse
        upper = tl.where(is_row, tl.where(on_diagonal, tl.sqrt(pivot), divided)[:, None, :], upper)
        left -= (divided * inverse)[:, :, None] * own[:, None, :]
    place = matrix[:, None, None] * n * n + column * n + row
    tl.store(out + place, tl.where(row <= column, upper, 0.0), mask=inside)


@triton.jit
def factor_large(a, out, n, PIECE: tl.constexpr):
    begin = tl.program_id(0).to(tl.int64) * n * n
    lane = tl.arange(0, PIECE)
    for first in range(0, n, PIECE):
        for before in range(first, n, PIECE):
            row, column = first + lane[:, None], before + lane[None, :]
            above = (row < column) & (column < 64)
            tl.store(out + begin + row * n + column, tl.zeros((PIECE, PIECE), dtype=tl.float32), mask=above)
    for j in range(n):
        root = 0.0
        for first in range(j, n, PIECE):
            row = first + lane
            inside = row < n
            rest = tl.load(a + begin + row * n + j, mask=inside, other=0.0)
            for before in range(0, j, PIECE):
                column = before + lane
                known = column < j
                ours = tl.load(
                    out + begin + row[:, None] * n + column[None, :],
                    mask=inside[:, None] & known[None, :],
                    other=0.0,
                )
                pivots = tl.load(out + begin + j * n + column, mask=known, other=0.0)
                rest -= tl.sum(ours * pivots[None, :], axis=1)
            if first == j:
                root = tl.sqrt(tl.sum(tl.where(row == j, rest, 0.0), axis=0))
            tl.store(out + begin + row * n + j, tl.where(row == j, root, rest / root), mask=inside)
        tl.debug_barrier()


def solve(a, out, batch, n):
    if batch == 0 or n == 0:
        return
    if n > LARGEST:
        factor_large[(batch,)](a, out, n, PIECE=PIECE, num_warps=8)
        return
    side = triton.next_power_of_2(n)
    matrices = max(1, TILE // (side * side))
    factor[(triton.cdiv(batch, matrices),)](
        a, out, batch, n, MATRICES=matrices, SIDE=side, num_warps=max(1, side * side // TILE)
    )
