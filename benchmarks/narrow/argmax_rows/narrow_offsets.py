"""Products of 32 bits."""

import triton
import triton.language as tl


@triton.jit
def each(x, out, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    places = tl.arange(0, BLOCK)
    value = tl.load(x + row * cols + places, mask=places < cols, other=float("-inf"))
    tl.store(out + row, tl.argmax(value, axis=0).to(tl.int64))


def solve(x, out, rows, cols):
    if rows > 0:
        each[(rows,)](x, out, cols, BLOCK=triton.next_power_of_2(cols))
