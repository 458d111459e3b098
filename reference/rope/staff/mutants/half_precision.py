"""Mistake: keeps the tables in float16."""

import triton
import triton.language as tl

BLOCK = 512


@triton.jit
def rope_kernel(x, cosines, sines, out, seq, half, BLOCK: tl.constexpr):
    pair = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    head = tl.program_id(1).to(tl.int64)
    inside = pair < seq * half
    row, column = pair // half, pair % half
    cosine = tl.load(cosines + pair, mask=inside)
    sine = tl.load(sines + pair, mask=inside).to(tl.float16).to(tl.float32)
    first = (head * seq + row) * 2 * half + column
    second = first + half
    a = tl.load(x + first, mask=inside)
    b = tl.load(x + second, mask=inside)
    tl.store(out + first, a * cosine - b * sine, mask=inside)
    tl.store(out + second, b * cosine + a * sine, mask=inside)


def solve(x, cos, sin, out, heads, seq, dim):
    if heads == 0 or seq == 0 or dim == 0:
        return
    half = dim // 2
    grid = (triton.cdiv(seq * half, BLOCK), heads)
    rope_kernel[grid](x, cos, sin, out, seq, half, BLOCK=BLOCK)
