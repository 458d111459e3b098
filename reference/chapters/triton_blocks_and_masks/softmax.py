import triton
import triton.language as tl


@triton.jit
def softmax(x, out, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    column = tl.arange(0, BLOCK)
    inside = column < cols
    values = tl.load(x + row + column, mask=inside, other=float("-inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row + column, powers / tl.sum(powers, axis=0), mask=inside)


def solve(x, out, rows, cols):
    if rows == 0 or cols == 0:
        return
    softmax[(rows,)](x, out, cols, BLOCK=triton.next_power_of_2(cols))
