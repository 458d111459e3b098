"""Causal attention in float16, in Triton: one pass over the keys, scores never leave the chip (flash attention).

A program takes a block of queries and walks through the keys up to them, a block at a time. For each query it keeps
the highest score so far, the sum of exp(score - highest), and the weighted sum of values. When a higher score turns up,
both sums shrink by exp(old - new).
"""

import math

import triton
import triton.language as tl

# Exponentials are powers of 2 in hardware: exp(x) = 2^(x * log2(e)), and the factor joins scale for free.
LOG2_E = math.log2(math.e)


@triton.jit
def load_tile(start, row, column, seq, DIM: tl.constexpr, WIDTH: tl.constexpr, WHOLE: tl.constexpr):
    """Rows of [seq, DIM] from ``start`` on, WIDTH columns wide, 0 outside. WHOLE: all of the rows exist."""
    places = row[:, None] * DIM + column[None, :]
    # A load without a mask is faster; what holds is known when this is compiled.
    if WHOLE and DIM == WIDTH:
        tile = tl.load(start + places)
    elif WHOLE:
        tile = tl.load(start + places, mask=column[None, :] < DIM, other=0.0)
    else:
        tile = tl.load(start + places, mask=(row[:, None] < seq) & (column[None, :] < DIM), other=0.0)
    return tile


@triton.jit
def attend(
    q,
    k,
    v,
    out,
    factor,
    seq,
    DIM: tl.constexpr,
    WIDTH: tl.constexpr,
    QUERIES: tl.constexpr,
    KEYS: tl.constexpr,
):
    blocks = tl.cdiv(seq, QUERIES)
    # The last queries see most keys: they begin first, so that no long program is left over at the end.
    block = blocks - 1 - tl.program_id(0) % blocks
    head = (tl.program_id(0) // blocks).to(tl.int64) * seq * DIM  # 64 bits: heads * seq * dim may exceed 2^31
    first = block * QUERIES
    query_row, key_row = tl.arange(0, QUERIES), tl.arange(0, KEYS)
    column = tl.arange(0, WIDTH)
    left = seq - first  # queries from the first of this block on
    queries = load_tile(q + head + first.to(tl.int64) * DIM, query_row, column, left, DIM, WIDTH, False)

    highest = tl.full((QUERIES,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((QUERIES,), dtype=tl.float32)
    result = tl.zeros((QUERIES, WIDTH), dtype=tl.float32)
    # Pointers move with the loop: 64-bit arithmetic once a block, 32-bit offsets within it.
    key_start, value_start = k + head, v + head

    # Keys before the first query of the block: all of its queries see all of them, and no mask is needed.
    for _ in range(0, first, KEYS):
        keys = load_tile(key_start, key_row, column, seq, DIM, WIDTH, True)
        scores = tl.dot(queries, tl.trans(keys))
        # factor is positive: the highest score gives the highest product.
        higher = tl.maximum(highest, tl.max(scores, axis=1) * factor)
        powers = tl.exp2(scores * factor - higher[:, None])
        shrink = tl.exp2(highest - higher)
        total = total * shrink + tl.sum(powers, axis=1)
        values = load_tile(value_start, key_row, column, seq, DIM, WIDTH, True)
        # Weights between 0 and 1 are safe in float16; their sum, and that of the values, stay in float32.
        result = tl.dot(powers.to(tl.float16), values, result * shrink[:, None])
        highest = higher
        key_start += KEYS * DIM
        value_start += KEYS * DIM

    # The blocks on the diagonal: each query sees the keys up to itself.
    for start in range(0, tl.minimum(QUERIES, left), KEYS):
        keys = load_tile(key_start, key_row, column, left - start, DIM, WIDTH, False)
        scores = tl.dot(queries, tl.trans(keys)) * factor
        scores = tl.where(start + key_row[None, :] <= query_row[:, None], scores, float("-inf"))
        higher = tl.maximum(highest, tl.max(scores, axis=1))
        powers = tl.exp2(scores - higher[:, None])
        shrink = tl.exp2(highest - higher)
        total = total * shrink + tl.sum(powers, axis=1)
        values = load_tile(value_start, key_row, column, left - start, DIM, WIDTH, False)
        result = tl.dot(powers.to(tl.float16), values, result * shrink[:, None])
        highest = higher
        key_start += KEYS * DIM
        value_start += KEYS * DIM

    result = result / total[:, None]
    places = query_row[:, None] * DIM + column[None, :]
    tl.store(
        out + head + first.to(tl.int64) * DIM + places,
        result.to(tl.float16),
        mask=(query_row[:, None] < left) & (column[None, :] < DIM),
    )


def solve(q, k, v, out, scale, heads, seq, dim):
    if heads == 0 or seq == 0 or dim == 0:
        return  # out is empty
    # Tensor cores multiply tiles of 16 at least, and powers of 2: narrower heads are filled up with zeros.
    width = max(triton.next_power_of_2(dim), 16)
    # Queries and keys per step, warps, and steps whose keys and values are on their way at once. As large as registers
    # and shared memory allow, with two programs on an SM where possible: one multiplies while the other exponentiates.
    queries, keys, warps, stages = (128, 64, 8, 3) if width <= 128 else (64, 32, 8, 2)
    attend[(triton.cdiv(seq, queries) * heads,)](
        q,
        k,
        v,
        out,
        scale * LOG2_E,
        seq,
        DIM=dim,
        WIDTH=width,
        QUERIES=queries,
        KEYS=keys,
        num_warps=warps,
        num_stages=stages,
    )
