"""Halo exchange between two GPUs in Triton: for every step a launch on each, and events that order them. A program has
a tile; the neighbours' tiles are loads, shifted by a row or a column, and one row of them is the other GPU's."""

import torch
import triton
import triton.language as tl

# Elements of a tile.
TILE = 2048
WIDEST = 256
# One for each GPU, of its last launch.
ended = []


@triton.jit
def step_kernel(
    source, edge, target, first, height, width, across, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    tile = tl.program_id(0)
    # 64 bits: an offset, row * width + column, outgrows 32 bits long before a row number does.
    row = (tile // across).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    column = (tile % across).to(tl.int64) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    there = (row < height) & (column < width)
    # first: the number in the whole grid of this half's first row.
    whole = row + first
    inner = (whole > 0) & (whole < 2 * height - 1) & (column > 0) & (column < width - 1) & there
    at = row * width + column
    # Above GPU 1's first row and below GPU 0's last one is the other GPU's edge. Rows of the border do not ask.
    top, bottom = row == 0, row == height - 1
    above = tl.load(source + at - width, mask=inner & (row > 0), other=0.0)
    above += tl.load(edge + column + 0 * row, mask=inner & top, other=0.0)
    below = tl.load(source + at + width, mask=inner & (row < height - 1), other=0.0)
    below += tl.load(edge + column + 0 * row, mask=inner & bottom, other=0.0)
    left = tl.load(source + at - 1, mask=inner, other=0.0)
    right = tl.load(source + at + 1, mask=inner, other=0.0)
    # Only elements on the border need their own value.
    own = tl.load(source + at, mask=there & (inner == 0), other=0.0)
    mean = 0.25 * ((above + below) + (left + right))
    tl.store(target + at, tl.where(inner, mean, own), mask=there)


def step(source, target, gpu, height, width):
    columns = min(triton.next_power_of_2(width), WIDEST)
    rows = TILE // columns
    across = triton.cdiv(width, columns)
    # The row of the other GPU that is next to this half.
    edge = source[1][0] if gpu == 0 else source[0][height - 1]
    step_kernel[(across * triton.cdiv(height, rows),)](
        source[gpu], edge, target[gpu], gpu * height, height, width, across, ROWS=rows, COLUMNS=columns
    )


def solve(grid, out, scratch, steps, height, width, gpus):
    if height == 0 or width == 0:
        return  # there is nothing to write
    if not ended:
        ended.extend(torch.cuda.Event() for _ in range(gpus))
    for gpu in range(gpus if steps <= 0 else 0):
        with torch.cuda.device(gpu):
            step(grid, out, gpu, 1, height * width)  # a row each: all of it is border, and is copied
    source = grid
    # Results go to scratch and out in turn, so that the last are in out.
    for left in range(steps, 0, -1):
        target = out if left % 2 else scratch
        for gpu in range(gpus):
            with torch.cuda.device(gpu):
                if left < steps:
                    # A step reads what the other GPU's last one wrote, and replaces what that one read.
                    ended[1 - gpu].wait()
                step(source, target, gpu, height, width)
        for gpu in range(gpus):
            with torch.cuda.device(gpu):
                ended[gpu].record()
        source = target
