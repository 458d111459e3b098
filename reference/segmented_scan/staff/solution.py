"""Segmented prefix sum in Triton, in three launches: what each chunk ends with, the scan of that, and the results.

tl.associative_scan with a pair of sum and flag would do, too, but Triton's interpreter takes 0.3 ms for each element.
Here neighbours are joined in registers until few sums are left; then each of those selects what it needs of all others,
and the way back fills the places in between.
"""

import torch
import triton
import triton.language as tl

TILE = 2048
# Tiles of a chunk: fewer sums for the one program of the second launch.
TILES = 4


@triton.jit
def halves(values, heads):
    """What stands at even and at odd places."""
    half: tl.constexpr = values.shape[0] // 2
    left, right = tl.split(tl.reshape(values, (half, 2)))
    left_heads, right_heads = tl.split(tl.reshape(heads, (half, 2)))
    return left, right, left_heads, right_heads


@triton.jit
def join_pairs(values, heads):
    """Of each two neighbours: the sum since the last head, and whether there is one."""
    left, right, left_heads, right_heads = halves(values, heads)
    return tl.where(right_heads != 0, right, left + right), left_heads | right_heads


@triton.jit
def part_pairs(values, heads, ahead):
    """From what is ahead of each pair: what is ahead of each of the two."""
    left, _, left_heads, _ = halves(values, heads)
    behind_left = tl.where(left_heads != 0, left, ahead + left)
    return tl.reshape(tl.join(ahead, behind_left), (values.shape[0],))


@triton.jit
def ahead_of_all(values, heads, carry):
    """Of each place: the sum from the last head before it on; with the carry if there is none."""
    place = tl.arange(0, values.shape[0])
    before = place[None, :] < place[:, None]
    head = tl.max(tl.where(before & (heads[None, :] != 0), place[None, :], -1), axis=1)
    # Selected, not multiplied by 0: 0 * inf is NaN.
    since = before & (place[None, :] >= head[:, None])
    ahead = tl.sum(tl.where(since, values[None, :], 0.0), axis=1)
    return tl.where(head < 0, carry + ahead, ahead)


@triton.jit
def scan_tile(v0, h0, carry):
    """Of each element, what its segment sums up to ahead of it; and what the tile ends with."""
    v1, h1 = join_pairs(v0, h0)
    v2, h2 = join_pairs(v1, h1)
    v3, h3 = join_pairs(v2, h2)
    v4, h4 = join_pairs(v3, h3)
    v5, h5 = join_pairs(v4, h4)
    a5 = ahead_of_all(v5, h5, carry)
    last = tl.arange(0, v5.shape[0]) == v5.shape[0] - 1
    end = tl.sum(tl.where(last, tl.where(h5 != 0, v5, a5 + v5), 0.0), axis=0)
    a4 = part_pairs(v4, h4, a5)
    a3 = part_pairs(v3, h3, a4)
    a2 = part_pairs(v2, h2, a3)
    a1 = part_pairs(v1, h1, a2)
    return part_pairs(v0, h0, a1), end


@triton.jit
def sum_chunks(x, flags, sums, heads, n, CHUNK: tl.constexpr):
    chunk = tl.program_id(0).to(tl.int64)
    place = tl.arange(0, CHUNK)
    offsets = chunk * CHUNK + place
    values = tl.load(x + offsets, mask=offsets < n, other=0.0)
    flag = tl.load(flags + offsets, mask=offsets < n, other=0)
    last = tl.max(tl.where(flag != 0, place, -1), axis=0)
    tl.store(sums + chunk, tl.sum(tl.where(place >= last, values, 0.0), axis=0))
    tl.store(heads + chunk, (last >= 0).to(tl.int32))


@triton.jit
def scan_sums(sums, heads, ahead, chunks, TILE: tl.constexpr):
    """What each chunk begins with. One program, which walks through the sums with a carry."""
    carry = tl.zeros((), dtype=tl.float32)
    for start in range(0, chunks, TILE):
        chunk = start + tl.arange(0, TILE)
        values = tl.load(sums + chunk, mask=chunk < chunks, other=0.0)
        flag = tl.load(heads + chunk, mask=chunk < chunks, other=0)
        begins, carry = scan_tile(values, flag, carry)
        tl.store(ahead + chunk, begins, mask=chunk < chunks)


@triton.jit
def scan_chunks(x, flags, ahead, out, n, TILE: tl.constexpr, TILES: tl.constexpr):
    chunk = tl.program_id(0).to(tl.int64)
    carry = tl.load(ahead + chunk)
    for tile in range(TILES):
        offsets = (chunk * TILES + tile) * TILE + tl.arange(0, TILE)
        values = tl.load(x + offsets, mask=offsets < n, other=0.0)
        flag = tl.load(flags + offsets, mask=offsets < n, other=0).to(tl.int32)
        begins, carry = scan_tile(values, flag, carry)
        tl.store(out + offsets, tl.where(flag != 0, values, begins + values), mask=offsets < n)


def solve(x, flags, out, n):
    if n == 0:
        return  # there is nothing to launch
    chunks = triton.cdiv(n, TILE * TILES)
    sums = torch.empty(chunks, dtype=torch.float32, device=x.device)
    ahead = torch.empty(chunks, dtype=torch.float32, device=x.device)
    heads = torch.empty(chunks, dtype=torch.int32, device=x.device)
    sum_chunks[(chunks,)](x, flags, sums, heads, n, CHUNK=TILE * TILES, num_warps=8)
    scan_sums[(1,)](sums, heads, ahead, chunks, TILE=TILE, num_warps=4)
    scan_chunks[(chunks,)](x, flags, ahead, out, n, TILE=TILE, TILES=TILES, num_warps=4)
