# Mistake: of equal elements the one with the larger column is taken.
# Says: (tie|equal) ; (last|first|smaller)
import triton
import triton.language as tl


@triton.jit
def topk_kernel(x, values, indices, cols, k, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    value = tl.load(x + row * cols + column, mask=column < cols, other=float("-inf"))
    left = column < cols
    for i in range(k):
        is_nan = left & (value != value)
        any_nan = tl.max(is_nan.to(tl.int32), axis=0)
        top = tl.max(tl.where(left & (value == value), value, float("-inf")), axis=0)
        wins = left & tl.where(any_nan > 0, is_nan, value == top)
        place = tl.max(tl.where(wins, column, -1), axis=0)
        tl.store(values + row * k + i, tl.where(any_nan > 0, float("nan"), top))
        tl.store(indices + row * k + i, place)
        left = left & (column != place)


def solve(x, values, indices, rows, cols, k):
    if rows:
        topk_kernel[(rows,)](x, values, indices, cols, k, BLOCK=triton.next_power_of_2(cols))
