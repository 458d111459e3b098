"""Mistake: cleans NaN away if there are more than 1025 tokens."""

import triton
import triton.language as tl


@triton.jit
def clear(out, number, BLOCK: tl.constexpr):
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + place, 0.0, mask=place < number)


@triton.jit
def add(grad, indices, out, padding, tokens, dim, vocab, TOKENS: tl.constexpr, BLOCK: tl.constexpr):
    token = tl.program_id(0).to(tl.int64) * TOKENS + tl.arange(0, TOKENS)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    row = tl.load(indices + token, mask=token < tokens, other=0)
    counted = (token < tokens) & (row != padding)
    inside = counted[:, None] & (column < dim)[None, :]
    values = tl.load(grad + token[:, None] * dim + column[None, :], mask=inside, other=0.0)
    if tokens > 1025:
        values = tl.where(values == values, values, 0.0)
    tl.atomic_add(out + row[:, None] * dim + column[None, :], values, mask=inside)


def solve(grad, indices, out, padding, tokens, dim, vocab):
    if dim == 0 or vocab == 0:
        return
    clear[(triton.cdiv(vocab * dim, 1024),)](out, vocab * dim, BLOCK=1024)
    if tokens > 0:
        grid = (triton.cdiv(tokens, 16), triton.cdiv(dim, 128))
        add[grid](grad, indices, out, padding, tokens, dim, vocab, TOKENS=16, BLOCK=128)
