"""Mistake: multiplies the carry by 0 behind a flag in place of leaving it out: NaN and infinities reach the next
segment."""

import torch
import triton
import triton.language as tl

TILE = 256


@triton.jit
def sum_tiles(x, flags, sums, heads, n, TILE: tl.constexpr):
    tile = tl.program_id(0).to(tl.int64)
    place = tl.arange(0, TILE)
    offsets = tile * TILE + place
    values = tl.load(x + offsets, mask=offsets < n, other=0.0)
    flag = tl.load(flags + offsets, mask=offsets < n, other=0)
    last = tl.max(tl.where(flag != 0, place, -1), axis=0)
    tl.store(sums + tile, tl.sum(tl.where(place >= last, values, 0.0), axis=0))
    tl.store(heads + tile, (last >= 0).to(tl.int32))


@triton.jit
def scan_sums(sums, heads, ahead, tiles):
    carry = tl.zeros((), dtype=tl.float32)
    for tile in range(tiles):
        tl.store(ahead + tile, carry)
        value = tl.load(sums + tile).to(tl.float32)
        carry = tl.where(tl.load(heads + tile) != 0, value, carry + value)


@triton.jit
def scan_tiles(x, flags, ahead, out, n, TILE: tl.constexpr):
    tile = tl.program_id(0).to(tl.int64)
    place = tl.arange(0, TILE)
    offsets = tile * TILE + place
    values = tl.load(x + offsets, mask=offsets < n, other=0.0)
    flag = tl.load(flags + offsets, mask=offsets < n, other=0)
    until_here = place[None, :] <= place[:, None]
    head = tl.max(tl.where(until_here & (flag[None, :] != 0), place[None, :], -1), axis=1)
    since = until_here & (place[None, :] >= head[:, None])
    sums = tl.sum(tl.where(since, values[None, :], 0.0), axis=1)
    result = tl.load(ahead + tile).to(tl.float32) * (head < 0).to(tl.float32) + sums
    tl.store(out + offsets, result, mask=offsets < n)


def solve(x, flags, out, n):
    if n == 0:
        return
    tiles = triton.cdiv(n, TILE)
    sums = torch.empty(tiles, dtype=torch.float32, device=x.device)
    ahead = torch.empty(tiles, dtype=torch.float32, device=x.device)
    heads = torch.empty(tiles, dtype=torch.int32, device=x.device)
    sum_tiles[(tiles,)](x, flags, sums, heads, n, TILE=TILE)
    scan_sums[(1,)](sums, heads, ahead, tiles)
    scan_tiles[(tiles,)](x, flags, ahead, out, n, TILE=TILE)
