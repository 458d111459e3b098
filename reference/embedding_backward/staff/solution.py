"""Embedding, backward, in Triton: tokens are sorted by index with integer atomics, then each row is added up once."""

import torch
import triton
import triton.language as tl

BLOCK = 1024
# Tokens whose gradients a program has under way at once.
FLIGHT = 4
# Rows with more tokens are shared by programs, which add to them.
MOST = 256
# Tokens and columns that are added to such rows at once.
SHARE = 256
TOKENS = 16
COLUMNS = 128


@triton.jit
def clear(counts, words, BLOCK: tl.constexpr):
    word = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(counts + word, 0, mask=word < words)


@triton.jit
def count_tokens(indices, counts, padding, tokens, BLOCK: tl.constexpr):
    token = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = token < tokens
    row = tl.load(indices + token, mask=inside, other=0)
    tl.atomic_add(counts + row, 1, mask=inside & (row != padding), sem="relaxed")


@triton.jit
def place_rows(counts, placed, ends, vocab, BLOCK: tl.constexpr):
    """Gives each row its places. The rows need no order: a program takes as many places as its rows need."""
    row = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    count = tl.load(counts + row, mask=row < vocab, other=0)
    first = tl.atomic_add(placed, tl.sum(count, axis=0), sem="relaxed")
    tl.store(ends + row, first + tl.cumsum(count, axis=0) - count, mask=row < vocab)


@triton.jit
def place_tokens(indices, ends, order, padding, tokens, BLOCK: tl.constexpr):
    token = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = token < tokens
    row = tl.load(indices + token, mask=inside, other=0)
    counted = inside & (row != padding)
    # Afterwards ends has the place behind each row's last token.
    place = tl.atomic_add(ends + row, 1, mask=counted, sem="relaxed")
    tl.store(order + place, token, mask=counted)


@triton.jit
def sum_rows(
    grad, counts, ends, order, out, dim, MOST: tl.constexpr, FLIGHT: tl.constexpr, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    end = tl.load(ends + row)
    count = tl.load(counts + row)
    # A row that programs share begins at 0; the next launch adds to it.
    count = tl.where(count > MOST, 0, count)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, count, FLIGHT):
        place = start + tl.arange(0, FLIGHT)
        token = tl.load(order + end - count + place, mask=place < count, other=0)
        inside = (place < count)[:, None] & (column < dim)[None, :]
        values = tl.load(grad + token[:, None] * dim + column[None, :], mask=inside, other=0.0)
        total += tl.sum(values, axis=0)
    tl.store(out + row * dim + column, total, mask=column < dim)


@triton.jit
def add_to_long_rows(
    grad,
    indices,
    counts,
    placed,
    order,
    out,
    dim,
    MOST: tl.constexpr,
    SHARE: tl.constexpr,
    TOKENS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    number = tl.load(placed)
    begin = tl.program_id(0).to(tl.int64) * SHARE
    its_places = begin + tl.arange(0, SHARE)
    its_tokens = tl.load(order + its_places, mask=its_places < number, other=0)
    its_rows = tl.load(indices + its_tokens, mask=its_places < number, other=0)
    its_counts = tl.load(counts + its_rows, mask=its_places < number, other=0)
    if tl.max(its_counts, axis=0) > MOST:
        for start in range(0, SHARE, TOKENS):
            place = begin + start + tl.arange(0, TOKENS)
            token = tl.load(order + place, mask=place < number, other=0)
            row = tl.load(indices + token, mask=place < number, other=0)
            count = tl.load(counts + row, mask=place < number, other=0)
            for first in range(0, dim, COLUMNS):
                column = first + tl.arange(0, COLUMNS)
                inside = (count > MOST)[:, None] & (column < dim)[None, :]
                values = tl.load(grad + token[:, None] * dim + column[None, :], mask=inside, other=0.0)
                tl.atomic_add(out + row[:, None] * dim + column[None, :], values, mask=inside, sem="relaxed")


def solve(grad, indices, out, padding, tokens, dim, vocab):
    if dim == 0 or vocab == 0:
        return  # out has no element
    counts = torch.empty(vocab + 1, dtype=indices.dtype, device=indices.device)
    ends = torch.empty(vocab, dtype=indices.dtype, device=indices.device)
    order = torch.empty(tokens, dtype=indices.dtype, device=indices.device)
    placed = counts[vocab:]
    clear[(triton.cdiv(vocab + 1, BLOCK),)](counts, vocab + 1, BLOCK=BLOCK)
    if tokens > 0:
        count_tokens[(triton.cdiv(tokens, BLOCK),)](indices, counts, padding, tokens, BLOCK=BLOCK)
    place_rows[(triton.cdiv(vocab, BLOCK),)](counts, placed, ends, vocab, BLOCK=BLOCK)
    if tokens > 0:
        place_tokens[(triton.cdiv(tokens, BLOCK),)](indices, ends, order, padding, tokens, BLOCK=BLOCK)
    block = min(triton.next_power_of_2(dim), BLOCK)
    sum_rows[(vocab, triton.cdiv(dim, block))](
        grad,
        counts,
        ends,
        order,
        out,
        dim,
        MOST=MOST,
        FLIGHT=FLIGHT,
        BLOCK=block,
        num_warps=max(min(block // 256, 4), 1),
    )
    if tokens > MOST:
        add_to_long_rows[(triton.cdiv(tokens, SHARE),)](
            grad,
            indices,
            counts,
            placed,
            order,
            out,
            dim,
            MOST=MOST,
            SHARE=SHARE,
            TOKENS=TOKENS,
            COLUMNS=COLUMNS,
        )
