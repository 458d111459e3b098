import triton
import triton.language as tl


@triton.jit
def root_mean_square(x, gamma, out, eps, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    column = tl.arange(0, BLOCK)
    inside = column < cols
    values = tl.load(x + row + column, mask=inside, other=0.0)
    scale = tl.rsqrt(tl.sum(values * values, axis=0) / cols + eps)
    tl.store(out + row + column, values * scale * tl.load(gamma + column, mask=inside), mask=inside)


def solve(x, gamma, out, eps, rows, cols):
    if rows > 0 and cols > 0:
        root_mean_square[(rows,)](x, gamma, out, eps, cols, BLOCK=triton.next_power_of_2(cols))
