"""Radix sort in Triton with digits of 4 bits, the lowest first: eight passes of three launches each.

The array is cut into parts, one for each program. A pass counts the digits of each part, scans the counts, and moves: a
key's place is where its digit begins for its part, and then how many keys of the part ahead of it have the same digit.
A program has no shared memory to order its keys in. So digits are short: of 32 neighbouring keys several go to
neighbouring places.
"""

import torch
import triton
import triton.language as tl

BITS = 4
TILE = 1024
# Each part has as many tiles as it takes for this many parts.
MOST_PARTS = 2048
# Counts that the one program of the second launch takes at a time.
COUNTS = 4096


@triton.jit
def digit_of(keys, shift, flip, DIGITS: tl.constexpr):
    # The shift copies the sign, which the mask removes. In the last pass `flip` puts negative keys first.
    return ((keys >> shift) & (DIGITS - 1)) ^ flip


@triton.jit(do_not_specialize=["n", "each", "parts", "shift", "flip"])
def count(x, counts, n, each, parts, shift, flip, DIGITS: tl.constexpr, TILE: tl.constexpr):
    """counts[digit, part]."""
    part = tl.program_id(0).to(tl.int64)  # 64 bits: the last tile may end beyond 2^31
    own = tl.zeros((DIGITS,), dtype=tl.int32)
    for tile in range(0, each):
        i = (part * each + tile) * TILE + tl.arange(0, TILE)
        keys = tl.load(x + i, mask=i < n, other=0)
        own += tl.histogram(digit_of(keys, shift, flip, DIGITS), DIGITS, mask=i < n)
    tl.store(counts + tl.arange(0, DIGITS) * parts + part, own)


@triton.jit(do_not_specialize=["total"])
def scan(counts, total, COUNTS: tl.constexpr):
    """In place: the sum of all counts ahead. One program, which walks with a carry."""
    carry = tl.zeros((), dtype=tl.int32)
    for start in range(0, total, COUNTS):
        place = start + tl.arange(0, COUNTS)
        own = tl.load(counts + place, mask=place < total, other=0)
        tl.store(counts + place, carry + tl.cumsum(own, axis=0) - own, mask=place < total)
        carry += tl.sum(own, axis=0)


@triton.jit(do_not_specialize=["n", "each", "parts", "shift", "flip"])
def move(x, to, begins, n, each, parts, shift, flip, DIGITS: tl.constexpr, TILE: tl.constexpr):
    part = tl.program_id(0).to(tl.int64)
    digits = tl.arange(0, DIGITS)
    next_place = tl.load(begins + digits * parts + part)
    for tile in range(0, each):
        i = (part * each + tile) * TILE + tl.arange(0, TILE)
        keys = tl.load(x + i, mask=i < n, other=0)
        digit = digit_of(keys, shift, flip, DIGITS)
        # A row for each key, a column for each digit.
        has = ((digit[:, None] == digits[None, :]) & (i < n)[:, None]).to(tl.int32)
        ahead = tl.cumsum(has, axis=0) - has
        place = tl.sum(has * (next_place[None, :] + ahead), axis=1)
        tl.store(to + place, keys, mask=i < n)
        next_place += tl.sum(has, axis=0)


def solve(x, out, n):
    if n == 0:
        return  # there is nothing to launch
    digits = 1 << BITS
    tiles = triton.cdiv(n, TILE)
    each = triton.cdiv(tiles, MOST_PARTS)
    parts = triton.cdiv(tiles, each)
    counts = torch.empty(digits * parts, dtype=torch.int32, device=x.device)
    spare = torch.empty_like(out)
    keys = x
    for shift in range(0, 32, BITS):
        flip = digits // 2 if shift + BITS == 32 else 0
        # Eight passes: the last one ends in out.
        to = out if keys is spare else spare
        count[(parts,)](keys, counts, n, each, parts, shift, flip, DIGITS=digits, TILE=TILE, num_warps=8)
        scan[(1,)](counts, digits * parts, COUNTS=COUNTS, num_warps=8)
        move[(parts,)](keys, to, counts, n, each, parts, shift, flip, DIGITS=digits, TILE=TILE, num_warps=8)
        keys = to
