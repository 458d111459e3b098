"""Tiles of 16 queries and 16 keys, one warp."""

import triton
import triton.language as tl


@triton.jit
def attend(q, k, v, out, scale, seq, dim, WIDTH: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr):
    blocks = tl.cdiv(seq, QUERIES)
    head = (tl.program_id(0) // blocks).to(tl.int64) * seq * dim
    query = (tl.program_id(0) % blocks).to(tl.int64) * QUERIES + tl.arange(0, QUERIES)
    column = tl.arange(0, WIDTH)
    places = head + query[:, None] * dim + column[None, :]
    inside = (query[:, None] < seq) & (column[None, :] < dim)
    queries = tl.load(q + places, mask=inside, other=0.0) * scale
    highest = tl.full((QUERIES,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((QUERIES,), dtype=tl.float32)
    result = tl.zeros((QUERIES, WIDTH), dtype=tl.float32)
    for start in range(0, seq, KEYS):
        key = start + tl.arange(0, KEYS).to(tl.int64)
        theirs = head + key[:, None] * dim + column[None, :]
        there = (key[:, None] < seq) & (column[None, :] < dim)
        keys = tl.load(k + theirs, mask=there, other=0.0)
        scores = tl.dot(queries, tl.trans(keys), input_precision="ieee")
        scores = tl.where(key[None, :] < seq, scores, float("-inf"))
        higher = tl.maximum(highest, tl.max(scores, axis=1))
        reference = tl.where(higher == float("-inf"), 0.0, higher)
        weights = tl.exp(scores - reference[:, None])
        shrink = tl.exp(highest - reference)
        total = total * shrink + tl.sum(weights, axis=1)
        values = tl.load(v + theirs, mask=there, other=0.0)
        result = tl.dot(weights, values, result * shrink[:, None], input_precision="ieee")
        highest = higher
    tl.store(out + places, result / total[:, None], mask=inside)


def solve(q, k, v, out, scale, heads, seq, dim):
    if heads and seq and dim:
        width = max(triton.next_power_of_2(dim), 16)
        attend[(triton.cdiv(seq, 16) * heads,)](
            q, k, v, out, scale, seq, dim, WIDTH=width, QUERIES=16, KEYS=16, num_warps=1
        )
