"""Mistake: begins with out, so that the last results of an even number of steps are in scratch."""

import torch
import triton
import triton.language as tl


@triton.jit
def step_kernel(source, edge, target, first, height, width, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    row, column = i // width, i % width
    there = row < height
    whole = row + first
    inner = there & (whole > 0) & (whole < 2 * height - 1) & (column > 0) & (column < width - 1)
    above = tl.load(source + i - width, mask=inner & (row > 0), other=0.0)
    above += tl.load(edge + column, mask=inner & (row == 0), other=0.0)
    below = tl.load(source + i + width, mask=inner & (row < height - 1), other=0.0)
    below += tl.load(edge + column, mask=inner & (row == height - 1), other=0.0)
    left = tl.load(source + i - 1, mask=inner, other=0.0)
    right = tl.load(source + i + 1, mask=inner, other=0.0)
    own = tl.load(source + i, mask=there, other=0.0)
    mean = (above + below + left + right) / 4
    tl.store(target + i, tl.where(inner, mean, own), mask=there)


def solve(grid, out, scratch, steps, height, width, gpus):
    count = height * width
    if count == 0:
        return
    if steps == 0:
        for gpu in range(gpus):
            out[gpu].copy_(grid[gpu])
    ended = [torch.cuda.Event() for _ in range(gpus)]
    source = grid
    for left in range(steps, 0, -1):
        target = out if (steps - left) % 2 == 0 else scratch
        for gpu in range(gpus):
            with torch.cuda.device(gpu):
                if left < steps:
                    ended[1 - gpu].wait()
                edge = source[1][0] if gpu == 0 else source[0][height - 1]
                step_kernel[(triton.cdiv(count, 1024),)](
                    source[gpu], edge, target[gpu], gpu * height, height, width, BLOCK=1024
                )
        for gpu in range(gpus):
            with torch.cuda.device(gpu):
                ended[gpu].record()
        source = target
