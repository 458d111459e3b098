"""Routing in Triton: a launch chooses for tiles of tokens and counts, a second adds up the counts, a third places.

A token's k largest logits are found one after the other, each by a maximum over keys of logit and expert. A pair's
place is where its expert begins for its tile, and then how many pairs of the tile ahead of it have the same expert.
"""

import torch
import triton
import triton.language as tl

# Pairs of a tile, and logits that a program holds at once.
PAIRS = 128
HELD = 4096
# Counts of one expert that a program adds up at a time.
COUNTS = 2048
LOWEST = tl.constexpr(-(2**63))


@triton.jit
def key_of(logit, expert):
    """Logit and expert in one number: of two the one that comes first has the larger key."""
    bits = (logit + 0.0).to(tl.int32, bitcast=True)  # -0.0 + 0.0 is 0.0: the two are a tie
    order = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
    order = tl.where(logit != logit, 0x7FFFFFFF, order)
    return (order.to(tl.int64) << 32) | (0x7FFFFFFF - expert).to(tl.int64)


@triton.jit
def choose_kernel(
    logits,
    chosen,
    weights,
    tile_counts,
    tokens,
    experts,
    k,
    each,
    tiles,
    TOKENS: tl.constexpr,
    EXPERTS: tl.constexpr,
    MOST: tl.constexpr,
):
    """A tile has `each` tokens, of which the program takes TOKENS at a time. tile_counts[expert, tile]."""
    tile = tl.program_id(0).to(tl.int64)  # 64 bits: tokens * experts may exceed 2^31
    column, slot = tl.arange(0, EXPERTS)[None, :], tl.arange(0, MOST)[None, :]
    counts = tl.zeros((EXPERTS,), dtype=tl.int32)
    end = tl.minimum(tile * each + each, tokens)
    for start in range(0, each, TOKENS):
        token = tile * each + start + tl.arange(0, TOKENS)
        inside = token < end
        held = inside[:, None] & (column < experts)
        logit = tl.load(logits + token[:, None] * experts + column, mask=held, other=0.0)
        key = tl.where(held, key_of(logit, column), LOWEST)
        best = tl.full((TOKENS, MOST), float("-inf"), dtype=tl.float32)
        for i in range(k):
            top = tl.max(key, axis=1)
            key = tl.where(key == top[:, None], LOWEST, key)
            order = (top >> 32).to(tl.int32)
            value = tl.where(order < 0, order ^ 0x7FFFFFFF, order).to(tl.float32, bitcast=True)
            best = tl.where(slot == i, value[:, None], best)
            expert = 0x7FFFFFFF - (top & 0x7FFFFFFF).to(tl.int32)
            tl.store(chosen + token * k + i, expert, mask=inside)
            counts += tl.histogram(tl.where(inside, expert, 0), EXPERTS, mask=inside)
        largest = tl.sum(tl.where(slot == 0, best, 0.0), axis=1)
        power = tl.where(slot < k, tl.exp(best - largest[:, None]), 0.0)
        weight = power / tl.sum(power, axis=1)[:, None]
        tl.store(weights + token[:, None] * k + slot, weight, mask=inside[:, None] & (slot < k))
    expert = tl.arange(0, EXPERTS)
    tl.store(tile_counts + expert.to(tl.int64) * tiles + tile, counts, mask=expert < experts)


@triton.jit
def add_up_kernel(tile_counts, totals, tiles, COUNTS: tl.constexpr):
    """Each count of an expert becomes the sum of those of the tiles ahead, and totals[expert] that of all."""
    expert = tl.program_id(0).to(tl.int64)
    before = tl.zeros((), dtype=tl.int32)
    for start in range(0, tiles, COUNTS):
        tile = start + tl.arange(0, COUNTS)
        own = tl.load(tile_counts + expert * tiles + tile, mask=tile < tiles, other=0)
        tl.store(
            tile_counts + expert * tiles + tile, before + tl.cumsum(own, axis=0) - own, mask=tile < tiles
        )
        before += tl.sum(own, axis=0)
    tl.store(totals + expert, before)


@triton.jit
def place_kernel(
    chosen,
    tile_counts,
    totals,
    counts,
    offsets,
    order,
    pairs,
    experts,
    counted,
    each,
    tiles,
    PAIRS: tl.constexpr,
    EXPERTS: tl.constexpr,
):
    """A tile has `each` pairs, up to PAIRS. counted: experts, or 0 if there is no tile."""
    tile = tl.program_id(0).to(tl.int64)
    expert = tl.arange(0, EXPERTS)
    total = tl.load(totals + expert, mask=expert < experts, other=0)
    offset = tl.cumsum(total, axis=0) - total
    if tile == 0:
        tl.store(counts + expert, total, mask=expert < experts)
        tl.store(offsets + expert, offset.to(tl.int64), mask=expert < experts)
        tl.store(offsets + experts, tl.sum(total, axis=0).to(tl.int64))
    ahead = tl.load(tile_counts + expert.to(tl.int64) * tiles + tile, mask=expert < counted, other=0)
    at = tl.arange(0, PAIRS)
    pair = tile * each + at
    inside = (at < each) & (pair < pairs)
    own = tl.load(chosen + pair, mask=inside, other=0)
    # A row for each pair, a column for each expert.
    has = ((own[:, None] == expert[None, :]) & inside[:, None]).to(tl.int32)
    place = tl.sum(has * ((offset + ahead)[None, :] + tl.cumsum(has, axis=0) - has), axis=1)
    tl.store(order + place, pair.to(tl.int32), mask=inside)


def solve(logits, chosen, weights, counts, offsets, order, tokens, experts, k):
    width, most = max(32, triton.next_power_of_2(experts)), triton.next_power_of_2(k)
    each = PAIRS // k
    tiles = triton.cdiv(tokens, each)
    tile_counts = torch.empty(experts * tiles, dtype=torch.int32, device=logits.device)
    totals = torch.empty(experts, dtype=torch.int32, device=logits.device)
    held = min(HELD // width, triton.next_power_of_2(each))
    if tokens:
        choose_kernel[(tiles,)](
            logits,
            chosen,
            weights,
            tile_counts,
            tokens,
            experts,
            k,
            each,
            tiles,
            TOKENS=held,
            EXPERTS=width,
            MOST=most,
            num_warps=8,
        )
    add_up_kernel[(experts,)](tile_counts, totals, tiles, COUNTS=COUNTS)
    # Without tokens there is no tile, but counts and offsets have to be written.
    place_kernel[(max(tiles, 1),)](
        chosen,
        tile_counts,
        totals,
        counts,
        offsets,
        order,
        tokens * k,
        experts,
        experts if tokens else 0,
        each * k,
        tiles,
        PAIRS=PAIRS,
        EXPERTS=width,
        num_warps=8,
    )
