"""Heat in Triton: a launch for each step. A program has a tile of a plane and goes through the planes, so that it loads
the planes before and after once; the neighbours within a plane are loads, shifted by a row or a column."""

import triton
import triton.language as tl

# Elements of a tile.
TILE = 1024
WIDEST = 128
# Programs that keep a GPU busy, and how many planes each goes through then.
ENOUGH = 4096
MOST_PLANES, FEWEST_PLANES = 64, 8


@triton.jit
def step_kernel(
    source,
    target,
    keep,
    alpha,
    depth,
    height,
    width,
    area,
    count,
    across,
    down,
    planes,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    tile = tl.program_id(0)
    # 64 bits: an offset outgrows 32 bits long before the number of a plane, a row or a column does.
    column = (tile % across).to(tl.int64) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    row = (tile // across % down).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    first = (tile // across // down).to(tl.int64) * planes
    last = tl.minimum(first + planes, depth)
    there = (row < height) & (column < width)
    inner = (row > 0) & (row < height - 1) & (column > 0) & (column < width - 1)
    at = first * area + row * width + column
    before = tl.load(source + at - area, mask=there & (at >= area), other=0.0)
    own = tl.load(source + at, mask=there, other=0.0)
    for _ in range(first, last):
        after = tl.load(source + at + area, mask=there & (at + area < count), other=0.0)
        # Memory is read once: the four tiles are nearly the one in `own`, and the L1 cache has it.
        above = tl.load(source + at - width, mask=inner, other=0.0)
        below = tl.load(source + at + width, mask=inner, other=0.0)
        left = tl.load(source + at - 1, mask=inner, other=0.0)
        right = tl.load(source + at + 1, mask=inner, other=0.0)
        total = (before + after) + (above + below) + (left + right)
        changes = inner & (at >= area) & (at + area < count)
        tl.store(target + at, tl.where(changes, keep * own + alpha * total, own), mask=there)
        before = own
        own = after
        at += area


def step(source, target, alpha, depth, height, width):
    columns = min(triton.next_power_of_2(width), WIDEST)
    rows = TILE // columns
    across, down = triton.cdiv(width, columns), triton.cdiv(height, rows)
    planes = MOST_PLANES
    while planes > FEWEST_PLANES and across * down * triton.cdiv(depth, planes) < ENOUGH:
        planes //= 2
    step_kernel[(across * down * triton.cdiv(depth, planes),)](
        source,
        target,
        1.0 - 6.0 * alpha,
        alpha,
        depth,
        height,
        width,
        height * width,
        depth * height * width,
        across,
        down,
        planes,
        ROWS=rows,
        COLUMNS=columns,
    )


def solve(grid, out, scratch, alpha, steps, depth, height, width):
    count = depth * height * width
    if count == 0:
        return  # there is nothing to write
    if steps <= 0:
        step(grid, out, alpha, 1, 1, count)  # a single row: all of it is border, and is copied
        return
    source = grid
    # Results go to scratch and out in turn, so that the last are in out.
    for left in range(steps, 0, -1):
        target = out if left % 2 else scratch
        step(source, target, alpha, depth, height, width)
        source = target
