"""Mistake: fills what is behind the last expert with zeros, and does not leave it out."""

import triton
import triton.language as tl

LOWEST = tl.constexpr(-(2**63))


@triton.jit
def key_of(logit, expert):
    bits = (logit + 0.0).to(tl.int32, bitcast=True)
    order = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
    order = tl.where(logit != logit, 0x7FFFFFFF, order)
    return (order.to(tl.int64) << 32) | (0x7FFFFFFF - expert).to(tl.int64)


@triton.jit
def choose_kernel(
    logits,
    chosen,
    weights,
    tokens,
    experts,
    k,
    TOKENS: tl.constexpr,
    EXPERTS: tl.constexpr,
    MOST: tl.constexpr,
):
    token = tl.program_id(0).to(tl.int64) * TOKENS + tl.arange(0, TOKENS)
    column, slot = tl.arange(0, EXPERTS)[None, :], tl.arange(0, MOST)[None, :]
    inside = token < tokens
    held = inside[:, None] & (column < experts)
    logit = tl.load(logits + token[:, None] * experts + column, mask=held, other=0.0)
    key = key_of(logit, column)
    best = tl.full((TOKENS, MOST), float("-inf"), dtype=tl.float32)
    for i in range(k):
        top = tl.max(key, axis=1)
        key = tl.where(key == top[:, None], LOWEST, key)
        order = (top >> 32).to(tl.int32)
        value = tl.where(order < 0, order ^ 0x7FFFFFFF, order).to(tl.float32, bitcast=True)
        best = tl.where(slot == i, value[:, None], best)
        tl.store(chosen + token * k + i, 0x7FFFFFFF - (top & 0x7FFFFFFF).to(tl.int32), mask=inside)
    largest = tl.sum(tl.where(slot == 0, best, 0.0), axis=1)
    power = tl.where(slot < k, tl.exp(best - largest[:, None]), 0.0)
    weight = power / tl.sum(power, axis=1)[:, None]
    tl.store(weights + token[:, None] * k + slot, weight, mask=inside[:, None] & (slot < k))


@triton.jit
def place_kernel(chosen, counts, offsets, order, pairs, BLOCK: tl.constexpr):
    """A program has an expert, and looks at all pairs twice."""
    expert = tl.program_id(0)
    lower = tl.zeros((), dtype=tl.int32)
    count = tl.zeros((), dtype=tl.int32)
    for start in range(0, pairs, BLOCK):
        pair = start + tl.arange(0, BLOCK)
        own = tl.load(chosen + pair, mask=pair < pairs, other=0x7FFFFFFF)
        lower += tl.sum((own < expert).to(tl.int32), axis=0)
        count += tl.sum((own == expert).to(tl.int32), axis=0)
    tl.store(counts + expert, count)
    tl.store(offsets + expert, lower.to(tl.int64))
    # The next expert's, too: nobody else writes the last one.
    tl.store(offsets + expert + 1, (lower + count).to(tl.int64))
    for start in range(0, pairs, BLOCK):
        pair = start + tl.arange(0, BLOCK)
        own = tl.load(chosen + pair, mask=pair < pairs, other=0x7FFFFFFF)
        mine = (own == expert).to(tl.int32)
        tl.store(order + lower + tl.cumsum(mine, axis=0) - mine, pair, mask=mine > 0)
        lower += tl.sum(mine, axis=0)


def solve(logits, chosen, weights, counts, offsets, order, tokens, experts, k):
    if tokens:
        choose_kernel[(triton.cdiv(tokens, 64),)](
            logits,
            chosen,
            weights,
            tokens,
            experts,
            k,
            TOKENS=64,
            EXPERTS=triton.next_power_of_2(experts),
            MOST=8,
        )
    place_kernel[(experts,)](chosen, counts, offsets, order, tokens * k, BLOCK=1024)
