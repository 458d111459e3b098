"""Mistake: subtracts the maximum up to 512 keys only; beyond, exp overflows, or is 0 for all."""

import triton
import triton.language as tl


@triton.jit
def attend(q, k, v, out, scale, seq, dim, LONG: tl.constexpr, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    head = tl.program_id(1).to(tl.int64) * seq * dim
    query = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column = tl.arange(0, WIDTH)
    inside = (query[:, None] < seq) & (column[None, :] < dim)
    queries = tl.load(q + head + query[:, None] * dim + column[None, :], mask=inside, other=0.0)
    highest = tl.full((BLOCK,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    result = tl.zeros((BLOCK, WIDTH), dtype=tl.float32)
    for start in range(0, seq, BLOCK):
        key = start + tl.arange(0, BLOCK)
        places = head + key[:, None] * dim + column[None, :]
        there = (key[:, None] < seq) & (column[None, :] < dim)
        keys = tl.load(k + places, mask=there, other=0.0)
        scores = tl.dot(queries, tl.trans(keys), input_precision="ieee") * scale
        scores = tl.where(key[None, :] < seq, scores, float("-inf"))
        higher = tl.maximum(highest, tl.max(scores, axis=1))
        if LONG:
            powers = tl.exp(scores)
            shrink = tl.full((BLOCK,), 1.0, dtype=tl.float32)
        else:
            powers = tl.exp(scores - higher[:, None])
            shrink = tl.exp(highest - higher)
        total = total * shrink + tl.sum(powers, axis=1)
        values = tl.load(v + places, mask=there, other=0.0)
        result *= shrink[:, None]
        result = tl.dot(powers, values, result, input_precision="ieee")
        highest = higher
    result = result / total[:, None]
    tl.store(out + head + query[:, None] * dim + column[None, :], result, mask=inside)


def solve(q, k, v, out, scale, heads, seq, dim):
    if heads == 0 or seq == 0 or dim == 0:
        return
    width = max(triton.next_power_of_2(dim), 16)
    block = 16 if width > 128 else 32
    attend[(triton.cdiv(seq, block), heads)](
        q, k, v, out, scale, seq, dim, LONG=seq > 512, WIDTH=width, BLOCK=block
    )
