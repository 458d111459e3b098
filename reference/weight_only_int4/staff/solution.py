"""int4 weights times float16 activations in Triton: a program has 64 rows of weights and a part of the groups."""

import torch
import triton
import triton.language as tl

ROWS = 64
# tl.dot wants 16 of them at least, which is also the most that there are.
TOKENS = 16
# Fewer programs than that share the groups of their rows, each with at least this many groups.
ENOUGH_PROGRAMS = 1024
LEAST_GROUPS = 8


@triton.jit
def multiply(
    x, weights, scales, zeros, out, m, n, groups, part_groups, ROWS: tl.constexpr, TOKENS: tl.constexpr
):
    """out[part, m, n] = the sums over the groups of each part."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)  # 64 bits: weights may exceed 2^31 bytes
    part = tl.program_id(1)
    token = tl.arange(0, TOKENS)
    pair = tl.arange(0, 64)
    there, asked = row < n, token < m
    total = tl.zeros((ROWS, TOKENS), dtype=tl.float32)
    for group in range(part * part_groups, tl.minimum((part + 1) * part_groups, groups)):
        number = row * groups + group
        packed = tl.load(weights + number[:, None] * 64 + pair[None, :], mask=there[:, None], other=0).to(
            tl.int32
        )
        zero = tl.load(zeros + number, mask=there, other=0).to(tl.int32)[:, None]
        scale = tl.load(scales + number, mask=there, other=0.0).to(tl.float32)[:, None]
        # From -15 to 15, so float16 holds them. The scale comes after the sum: float16 would round the product.
        even = (((packed & 15) ^ 8) - 8 - zero).to(tl.float16)
        odd = (((packed >> 4) ^ 8) - 8 - zero).to(tl.float16)
        place = (token[None, :] * groups + group) * 128 + 2 * pair[:, None]
        at_even = tl.load(x + place, mask=asked[None, :], other=0.0)
        at_odd = tl.load(x + place + 1, mask=asked[None, :], other=0.0)
        total += scale * tl.dot(odd, at_odd, tl.dot(even, at_even))
    place = (part.to(tl.int64) * m + token[None, :]) * n + row[:, None]
    tl.store(out + place, total, mask=there[:, None] & asked[None, :])


@triton.jit
def add_parts(parts, out, count, elements, BLOCK: tl.constexpr):
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for part in range(count):
        total += tl.load(parts + part * elements + place, mask=place < elements, other=0.0)
    tl.store(out + place, total, mask=place < elements)


def solve(x, weights, scales, zeros, out, m, n, groups):
    if m == 0 or n == 0:
        return  # there is nothing to write
    programs = triton.cdiv(n, ROWS)
    parts = max(1, min(ENOUGH_PROGRAMS // programs, groups // LEAST_GROUPS))
    part_groups = triton.cdiv(groups, parts)
    # Without a second part its sums are the answer; without groups they are zeros.
    sums = out if parts == 1 else torch.empty((parts, m, n), dtype=out.dtype, device=out.device)
    multiply[(programs, parts)](
        x, weights, scales, zeros, sums, m, n, groups, part_groups, ROWS=ROWS, TOKENS=TOKENS
    )
    if parts > 1:
        add_parts[(triton.cdiv(m * n, 1024),)](sums, out, parts, m * n, BLOCK=1024)
