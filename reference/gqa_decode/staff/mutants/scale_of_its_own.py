"""Mistake: takes 1 / sqrt(dim) for scale."""

import triton
import triton.language as tl


@triton.jit
def attend(
    q, k, v, lengths, out, scale, q_heads, kv_heads, seq, dim, WIDTH: tl.constexpr, KEYS: tl.constexpr
):
    sequence = (tl.program_id(0) // q_heads).to(tl.int64)
    head = tl.program_id(0) % q_heads
    cache = (sequence * kv_heads + head // (q_heads // kv_heads)) * seq * dim
    length = tl.load(lengths + sequence)
    column = tl.arange(0, WIDTH)
    own = (sequence * q_heads + head) * dim + column
    query = tl.load(q + own, mask=column < dim, other=0.0).to(tl.float32)
    highest = tl.full((), float("-inf"), dtype=tl.float32)
    total = tl.zeros((), dtype=tl.float32)
    result = tl.zeros((WIDTH,), dtype=tl.float32)
    for start in range(0, length, KEYS):
        key = start + tl.arange(0, KEYS)
        places = cache + key[:, None] * dim + column[None, :]
        there = (key[:, None] < length) & (column[None, :] < dim)
        keys = tl.load(k + places, mask=there, other=0.0).to(tl.float32)
        scores = tl.sum(keys * query[None, :], axis=1) / tl.sqrt(dim.to(tl.float32))
        scores = tl.where(key < length, scores, float("-inf"))
        higher = tl.maximum(highest, tl.max(scores, axis=0))
        powers = tl.exp(scores - higher)
        shrink = tl.exp(highest - higher)
        values = tl.load(v + places, mask=there, other=0.0).to(tl.float32)
        total = total * shrink + tl.sum(powers, axis=0)
        result = result * shrink + tl.sum(powers[:, None] * values, axis=0)
        highest = higher
    tl.store(out + own, (result / total).to(tl.float16), mask=column < dim)


def solve(q, k, v, lengths, out, scale, batch, q_heads, kv_heads, seq, dim):
    if batch == 0 or q_heads == 0 or dim == 0:
        return
    width = triton.next_power_of_2(dim)
    attend[(batch * q_heads,)](
        q, k, v, lengths, out, scale, q_heads, kv_heads, seq, dim, WIDTH=width, KEYS=64
    )
