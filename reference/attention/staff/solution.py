"""Attention in Triton: one pass over the keys, scores never leave the chip (flash attention), all of it in float32.

A program takes a block of queries and walks through all keys of the head, a block at a time. For each query it keeps
the highest score so far, the sum of exp(score - highest), and the weighted sum of values. When a higher score turns up,
both sums shrink by exp(old - new).
"""

import math

import triton
import triton.language as tl

# Exponentials are powers of 2 in hardware: exp(x) = 2^(x * log2(e)), and the factor joins scale for free.
LOG2_E = math.log2(math.e)


@triton.jit
def attend(
    q,
    k,
    v,
    out,
    factor,
    seq,
    dim,
    WIDTH: tl.constexpr,
    QUERIES: tl.constexpr,
    KEYS: tl.constexpr,
):
    blocks = tl.cdiv(seq, QUERIES)
    head = (tl.program_id(0) // blocks).to(tl.int64) * seq * dim  # 64 bits: heads * seq * dim may exceed 2^31
    query = (tl.program_id(0) % blocks).to(tl.int64) * QUERIES + tl.arange(0, QUERIES)
    column = tl.arange(0, WIDTH)
    in_head = column[None, :] < dim
    query_places = head + query[:, None] * dim + column[None, :]
    in_queries = (query[:, None] < seq) & in_head
    # Columns beyond dim are 0 in queries and keys: they add nothing to a score.
    queries = tl.load(q + query_places, mask=in_queries, other=0.0)

    highest = tl.full((QUERIES,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((QUERIES,), dtype=tl.float32)
    result = tl.zeros((QUERIES, WIDTH), dtype=tl.float32)
    for start in range(0, seq, KEYS):
        key = start + tl.arange(0, KEYS).to(tl.int64)
        places = head + key[:, None] * dim + column[None, :]
        there = (key[:, None] < seq) & in_head
        keys = tl.load(k + places, mask=there, other=0.0)
        # "ieee" keeps float32; the default on tensor cores is TF32, which rounds the inputs to 10 bits.
        scores = tl.dot(queries, tl.trans(keys), input_precision="ieee") * factor
        # A key beyond the last has no score, and not a score of 0: that could be the highest.
        scores = tl.where(key[None, :] < seq, scores, float("-inf"))
        higher = tl.maximum(highest, tl.max(scores, axis=1))
        # Nothing but -inf so far: take 0 as reference, as -inf - -inf would be NaN for good.
        reference = tl.where(higher == float("-inf"), 0.0, higher)
        powers = tl.exp2(scores - reference[:, None])
        shrink = tl.exp2(highest - reference)
        total = total * shrink + tl.sum(powers, axis=1)
        values = tl.load(v + places, mask=there, other=0.0)
        result = tl.dot(powers, values, result * shrink[:, None], input_precision="ieee")
        highest = higher
    tl.store(out + query_places, result / total[:, None], mask=in_queries)


def solve(q, k, v, out, scale, heads, seq, dim):
    if heads == 0 or seq == 0 or dim == 0:
        return  # out is empty
    # Tiles are powers of 2, and 16 at least: narrower heads are filled up with zeros.
    width = max(triton.next_power_of_2(dim), 16)
    # Queries and keys per step: wide heads leave fewer registers for them.
    queries, keys = {16: (128, 64), 32: (64, 64), 64: (64, 32), 128: (64, 32), 256: (32, 16)}[width]
    attend[(triton.cdiv(seq, queries) * heads,)](
        q,
        k,
        v,
        out,
        scale * LOG2_E,
        seq,
        dim,
        WIDTH=width,
        QUERIES=queries,
        KEYS=keys,
        num_warps=8,
        num_stages=2,
    )
