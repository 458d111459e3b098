"""Mistake: takes a page to be [kv_heads, page_size, dim]: all slots of a head follow each other."""

import triton
import triton.language as tl


@triton.jit
def attend(
    q,
    k_pages,
    v_pages,
    table,
    lengths,
    out,
    scale,
    q_heads,
    kv_heads,
    page_size,
    max_pages,
    dim,
    WIDTH: tl.constexpr,
    KEYS: tl.constexpr,
):
    sequence = (tl.program_id(0) // q_heads).to(tl.int64)
    head = tl.program_id(0) % q_heads
    kv_head = head // (q_heads // kv_heads)
    length = tl.load(lengths + sequence)
    column = tl.arange(0, WIDTH)
    own = (sequence * q_heads + head) * dim + column
    query = tl.load(q + own, mask=column < dim, other=0.0).to(tl.float32)
    highest = tl.full((), float("-inf"), dtype=tl.float32)
    total = tl.zeros((), dtype=tl.float32)
    result = tl.zeros((WIDTH,), dtype=tl.float32)
    for start in range(0, length, KEYS):
        key = start + tl.arange(0, KEYS)
        page = tl.load(table + sequence * max_pages + key // page_size, mask=key < length, other=0)
        within = kv_head * page_size + key % page_size
        places = (page.to(tl.int64) * page_size * kv_heads + within)[:, None] * dim + column[None, :]
        there = (key[:, None] < length) & (column[None, :] < dim)
        keys = tl.load(k_pages + places, mask=there, other=0.0).to(tl.float32)
        scores = tl.sum(keys * query[None, :], axis=1) * scale
        scores = tl.where(key < length, scores, float("-inf"))
        higher = tl.maximum(highest, tl.max(scores, axis=0))
        powers = tl.exp(scores - higher)
        shrink = tl.exp(highest - higher)
        values = tl.load(v_pages + places, mask=there, other=0.0).to(tl.float32)
        total = total * shrink + tl.sum(powers, axis=0)
        result = result * shrink + tl.sum(powers[:, None] * values, axis=0)
        highest = higher
    total = tl.where(length == 0, 1.0, total)
    tl.store(out + own, (result / total).to(tl.float16), mask=column < dim)


def solve(
    q,
    k_pages,
    v_pages,
    table,
    lengths,
    out,
    scale,
    sequences,
    q_heads,
    kv_heads,
    pages,
    page_size,
    max_pages,
    dim,
):
    if sequences == 0 or q_heads == 0 or dim == 0:
        return
    attend[(sequences * q_heads,)](
        q,
        k_pages,
        v_pages,
        table,
        lengths,
        out,
        scale,
        q_heads,
        kv_heads,
        page_size,
        max_pages,
        dim,
        WIDTH=triton.next_power_of_2(dim),
        KEYS=64,
    )
