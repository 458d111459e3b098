"""Grid-stride reduction: each of at most 256 programs walks over the input, a last program adds what they found."""

import torch
import triton
import triton.language as tl

PROGRAMS = 256


@triton.jit
def walk(src, dst, length, step, TILE: tl.constexpr):
    p = tl.program_id(axis=0)
    lanes = tl.arange(0, TILE)
    total = tl.zeros([TILE], dtype=tl.float32)
    position = p.to(tl.int64) * TILE
    while position < length:
        offs = position + lanes
        total += tl.load(src + offs, mask=offs < length, other=0)
        position += step
    tl.store(dst + p, tl.sum(total, 0))


@triton.jit
def collect(src, dst, COUNT: tl.constexpr):
    tl.store(dst, tl.sum(tl.load(src + tl.arange(0, COUNT)), 0))


def solve(x, out, n):
    found = torch.empty((PROGRAMS,), dtype=torch.float32, device=out.device)
    walk[(PROGRAMS,)](x, found, n, PROGRAMS * 1024, TILE=1024)
    collect[(1,)](found, out, COUNT=PROGRAMS)
