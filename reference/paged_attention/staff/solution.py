"""Decoding with paged caches in Triton: a program has the queries of a group and a part of the keys, which it reads
once for all of them, each from the slot that the table names. A second kernel puts the parts together.
"""

import math

import torch
import triton
import triton.language as tl

# exp(x) = 2^(x * log2(e)): powers of 2 are what hardware has, and the factor joins scale.
LOG2_E = math.log2(math.e)
# Rows of a tensor core's tile. A smaller group is filled up with zeros.
QUERIES = 16
KEYS = 64
# A part has at least this many keys. Parts are made until there are about PROGRAMS programs: some for each place that
# a large GPU has, because sequences differ in length.
SHORTEST = 512
PROGRAMS = 1536
# The second kernel holds the results of all parts of a query at once.
MOST_PARTS = 256


@triton.jit
def reference_of(highest):
    # -inf - -inf would be NaN; while there is nothing but -inf, 0 gives the right powers.
    return tl.where(highest == float("-inf"), 0.0, highest)


@triton.jit
def attend(
    q,
    k_pages,
    v_pages,
    table,
    lengths,
    out,
    partial,
    highs,
    totals,
    factor,
    kv_heads,
    group,
    page_size,
    max_pages,
    tiles,
    parts,
    each,
    DIM: tl.constexpr,
    WIDTH: tl.constexpr,
    WHOLE: tl.constexpr,
    ROWS: tl.constexpr,
    KEYS: tl.constexpr,
):
    part = tl.program_id(0) % parts
    tile = tl.program_id(0) // parts % tiles
    head = (tl.program_id(0) // parts // tiles).to(tl.int64)
    length = tl.load(lengths + head // kv_heads)
    begin = part * each
    row, column, key_row = tl.arange(0, ROWS), tl.arange(0, WIDTH), tl.arange(0, KEYS)
    in_group = tile * ROWS + row
    query = head * group + in_group
    places = query[:, None] * DIM + column[None, :]
    inside = (in_group[:, None] < group) & (column[None, :] < DIM)
    if begin < length:  # the second kernel does not ask for other parts
        end = tl.minimum(begin + each, length)
        queries = tl.load(q + places, mask=inside, other=0.0)
        own_pages = table + head // kv_heads * max_pages

        highest = tl.full((ROWS,), float("-inf"), dtype=tl.float32)
        total = tl.zeros((ROWS,), dtype=tl.float32)
        result = tl.zeros((ROWS, WIDTH), dtype=tl.float32)
        for start in range(begin, end, KEYS):
            key = start + key_row
            page = tl.load(own_pages + key // page_size, mask=key < end, other=0)
            # 64 bits: the caches may have more than 2^31 elements.
            slot = page.to(tl.int64) * page_size + key % page_size
            theirs = (slot * kv_heads + head % kv_heads)[:, None] * DIM + column[None, :]
            # A key that does not count is not read: 0 times whatever is there may be NaN.
            there = (key[:, None] < end) & (column[None, :] < DIM)
            keys = tl.load(k_pages + theirs, mask=there, other=0.0)
            values = tl.load(v_pages + theirs, mask=there, other=0.0)
            scores = tl.dot(queries, tl.trans(keys)) * factor
            scores = tl.where(key[None, :] < end, scores, float("-inf"))
            higher = tl.maximum(highest, tl.max(scores, axis=1))
            reference = reference_of(higher)
            # Weights are up to 2^8: below 6e-5 float16 has fewer digits.
            powers = tl.exp2(scores - reference[:, None] + 8.0)
            shrink = tl.exp2(highest - reference)
            total = total * shrink + tl.sum(powers, axis=1)
            result = tl.dot(powers.to(tl.float16), values, result * shrink[:, None])
            highest = higher

        if WHOLE:
            tl.store(out + places, (result / total[:, None]).to(tl.float16), mask=inside)
        else:
            of_part = query * parts + part
            tl.store(highs + of_part, highest, mask=in_group < group)
            tl.store(totals + of_part, total, mask=in_group < group)
            tl.store(partial + of_part[:, None] * DIM + column[None, :], result, mask=inside)
    elif WHOLE:  # no key counts
        tl.store(out + places, tl.zeros((ROWS, WIDTH), dtype=tl.float16), mask=inside)


@triton.jit
def merge(
    partial,
    highs,
    totals,
    lengths,
    out,
    q_heads,
    parts,
    each,
    DIM: tl.constexpr,
    WIDTH: tl.constexpr,
    PARTS: tl.constexpr,
):
    query = tl.program_id(0).to(tl.int64)
    part, column = tl.arange(0, PARTS), tl.arange(0, WIDTH)
    length = tl.load(lengths + query // q_heads)
    there = part < tl.cdiv(length, each)
    highest = tl.load(highs + query * parts + part, mask=there, other=float("-inf"))
    total = tl.load(totals + query * parts + part, mask=there, other=0.0)
    shrink = tl.exp2(highest - reference_of(tl.max(highest, axis=0)))
    places = (query * parts + part[:, None]) * DIM + column[None, :]
    results = tl.load(partial + places, mask=there[:, None] & (column[None, :] < DIM), other=0.0)
    # Without a key both sums are 0, and 0 / 0 would be NaN.
    sum_of_weights = tl.where(length == 0, 1.0, tl.sum(total * shrink, axis=0))
    result = tl.sum(results * shrink[:, None], axis=0) / sum_of_weights
    tl.store(out + query * DIM + column, result.to(tl.float16), mask=column < DIM)


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
        return  # out is empty
    group, most = q_heads // kv_heads, max_pages * page_size
    tiles = triton.cdiv(group, QUERIES)
    wanted = min(triton.cdiv(PROGRAMS, sequences * kv_heads * tiles), MOST_PARTS)
    each = triton.cdiv(max(triton.cdiv(most, wanted), SHORTEST), KEYS) * KEYS
    parts = max(triton.cdiv(most, each), 1)
    width = max(triton.next_power_of_2(dim), 16)
    partial = highs = totals = out
    if parts > 1:
        partial = torch.empty((sequences, q_heads, parts, dim), dtype=torch.float32, device=out.device)
        highs = torch.empty((sequences, q_heads, parts), dtype=torch.float32, device=out.device)
        totals = torch.empty_like(highs)
    attend[(sequences * kv_heads * tiles * parts,)](
        q,
        k_pages,
        v_pages,
        table,
        lengths,
        out,
        partial,
        highs,
        totals,
        scale * LOG2_E,
        kv_heads,
        group,
        page_size,
        max_pages,
        tiles,
        parts,
        each,
        DIM=dim,
        WIDTH=width,
        WHOLE=parts == 1,
        ROWS=QUERIES,
        KEYS=KEYS,
        num_warps=4,
        num_stages=3,
    )
    if parts > 1:
        merge[(sequences * q_heads,)](
            partial,
            highs,
            totals,
            lengths,
            out,
            q_heads,
            parts,
            each,
            DIM=dim,
            WIDTH=width,
            PARTS=triton.next_power_of_2(parts),
            num_warps=8,
        )
