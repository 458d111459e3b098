# Mistake: only inner elements are stored.
# Says: never written ; (mask|border|row|column|inner)
import triton
import triton.language as tl


@triton.jit
def sweep_kernel(grid, out, height, width, across, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    tile = tl.program_id(0)
    row = (tile // across).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    column = (tile % across).to(tl.int64) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    there = (row < height) & (column < width)
    inner = (row > 0) & (row < height - 1) & (column > 0) & (column < width - 1)
    at = row * width + column
    above = tl.load(grid + at - width, mask=inner, other=0.0)
    below = tl.load(grid + at + width, mask=inner, other=0.0)
    left = tl.load(grid + at - 1, mask=inner, other=0.0)
    right = tl.load(grid + at + 1, mask=inner, other=0.0)
    mean = 0.25 * ((above + below) + (left + right))
    tl.store(out + at, mean, mask=inner)


def solve(grid, out, height, width):
    if height == 0 or width == 0:
        return
    across = triton.cdiv(width, 128)
    sweep_kernel[(across * triton.cdiv(height, 16),)](grid, out, height, width, across, ROWS=16, COLUMNS=128)
