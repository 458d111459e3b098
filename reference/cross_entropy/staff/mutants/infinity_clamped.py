"""Mistake: clamps the maximum to the largest float32, so that a row with +inf gives a number or inf, not NaN."""

import triton
import triton.language as tl


@triton.jit
def loss_kernel(logits, labels, out, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    inside = column < cols
    label = tl.load(labels + row)
    values = tl.load(logits + row * cols + column, mask=inside, other=float("-inf"))
    top = tl.max(values, axis=0)
    top = tl.minimum(top, 3.4e38)
    values = tl.minimum(values, 3.4e38)
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
