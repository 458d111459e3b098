"""Mistake: fills the lanes beyond the row with 0, so that each of them counts as one more class."""

import triton
import triton.language as tl


@triton.jit
def loss_kernel(logits, labels, out, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    inside = column < cols
    label = tl.load(labels + row)
    values = tl.load(logits + row * cols + column, mask=inside, other=0.0)
    top = tl.max(values, axis=0)
    reference = tl.where(top == float("-inf"), 0.0, top)
    total = tl.sum(tl.exp(values - reference), axis=0)
    at_label = tl.load(logits + row * cols + label, mask=label != -100, other=0.0)
    loss = (top - at_label) + tl.log(total)
    tl.store(out + row, tl.where(label == -100, 0.0, loss))


def solve(logits, labels, out, rows, cols):
    if rows == 0:
        return
    block = triton.next_power_of_2(max(cols, 1))
    loss_kernel[(rows,)](logits, labels, out, cols, BLOCK=block)
