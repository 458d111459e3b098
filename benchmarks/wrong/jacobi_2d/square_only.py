# Mistake: rows are taken to be height elements long, which fits square grids only.
# Says: (height|width|row of|stride)
import triton
import triton.language as tl


@triton.jit
def sweep_kernel(grid, out, height, width, across, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    tile = tl.program_id(0)
    row = (tile // across).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    column = (tile % across).to(tl.int64) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    there = (row < height) & (column < width)
    inner = (row > 0) & (row < height - 1) & (column > 0) & (column < width - 1)
    at = row * height + column
    above = tl.load(grid + at - height, mask=inner, other=0.0)
    below = tl.load(grid + at + height, mask=inner, other=0.0)
    left = tl.load(grid + at - 1, mask=inner, other=0.0)
    right = tl.load(grid + at + 1, mask=inner, other=0.0)
    own = tl.load(grid + at, mask=there, other=0.0)
    mean = 0.25 * ((above + below) + (left + right))
    tl.store(out + at, tl.where(inner, mean, own), mask=there)


def solve(grid, out, height, width):
    if height == 0 or width == 0:
        return
    across = triton.cdiv(width, 128)
    sweep_kernel[(across * triton.cdiv(height, 16),)](grid, out, height, width, across, ROWS=16, COLUMNS=128)
