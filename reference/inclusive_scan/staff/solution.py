"""Inclusive prefix sum in Triton, in three launches: sums of tiles, their scan, and the scan within each tile.

A program cannot count on another one running at the same time, so nobody waits for anybody within a launch; launches
run one after the other. The price is that x is read twice. The CUDA solution shows how to do it in one pass.
"""

import torch
import triton
import triton.language as tl

TILE = 8192
# Sums of tiles that the one program of the second launch takes at a time.
SUMS = 4096


@triton.jit
def sum_tiles(x, sums, n, TILE: tl.constexpr):
    tile = tl.program_id(0).to(tl.int64)  # 64 bits: n may exceed 2^31
    offsets = tile * TILE + tl.arange(0, TILE)
    tl.store(sums + tile, tl.sum(tl.load(x + offsets, mask=offsets < n, other=0.0), axis=0))


@triton.jit
def scan_sums(sums, ahead, tiles, SUMS: tl.constexpr):
    """ahead[t] = the sum of all tiles before t. One program, which walks through the sums with a carry."""
    carry = tl.zeros((), dtype=tl.float32)
    for start in range(0, tiles, SUMS):
        tile = start + tl.arange(0, SUMS)
        # Shifted by one: the sum of what is ahead without one's own. Subtracting that afterwards would not do, as
        # inf - inf is NaN.
        before = tl.load(sums + tile - 1, mask=(tile > 0) & (tile < tiles), other=0.0)
        tl.store(ahead + tile, carry + tl.cumsum(before, axis=0), mask=tile < tiles)
        carry += tl.sum(before, axis=0)


@triton.jit
def scan_tiles(x, ahead, out, n, TILE: tl.constexpr):
    tile = tl.program_id(0).to(tl.int64)
    offsets = tile * TILE + tl.arange(0, TILE)
    inside = offsets < n
    values = tl.load(x + offsets, mask=inside, other=0.0)
    tl.store(out + offsets, tl.load(ahead + tile) + tl.cumsum(values, axis=0), mask=inside)


def solve(x, out, n):
    if n == 0:
        return  # there is nothing to launch
    tiles = triton.cdiv(n, TILE)
    sums = torch.empty(tiles, dtype=x.dtype, device=x.device)
    ahead = torch.empty(tiles, dtype=x.dtype, device=x.device)
    sum_tiles[(tiles,)](x, sums, n, TILE=TILE, num_warps=8)
    scan_sums[(1,)](sums, ahead, tiles, SUMS=SUMS, num_warps=8)
    scan_tiles[(tiles,)](x, ahead, out, n, TILE=TILE, num_warps=8)
