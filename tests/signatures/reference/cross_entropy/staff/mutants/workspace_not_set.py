"""Mistake: takes the workspace for set."""

import triton
import triton.language as tl


@triton.jit
def largest(x, most, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    places = tl.arange(0, BLOCK)
    values = tl.load(x + row * cols + places, mask=places < cols, other=float("-inf"))
    tl.store(most + row, tl.max(values, axis=0))


@triton.jit
def loss_of(x, most, labels, loss, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    places = tl.arange(0, BLOCK)
    top = tl.load(most + row)
    values = tl.load(x + row * cols + places, mask=places < cols, other=float("-inf"))
    right = tl.load(x + row * cols + tl.load(labels + row))
    tl.store(loss + row, tl.log(tl.sum(tl.exp(values - top), axis=0)) + top - right)


def solve(logits, most, loss, labels, rows, cols):
    if rows:
        block = triton.next_power_of_2(cols)
        loss_of[(rows,)](logits, most, labels, loss, cols, BLOCK=block)
