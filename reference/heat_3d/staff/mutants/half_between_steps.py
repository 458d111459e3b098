"""Mistake: rounds what a step hands on to bfloat16."""

import triton
import triton.language as tl


@triton.jit
def step_kernel(source, target, alpha, depth, height, width, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    column, row, plane = i % width, i // width % height, i // width // height
    there = plane < depth
    inner = (
        (plane > 0)
        & (plane < depth - 1)
        & (row > 0)
        & (row < height - 1)
        & (column > 0)
        & (column < width - 1)
    )
    area = height * width
    own = tl.load(source + i, mask=there, other=0.0)
    before = tl.load(source + i - area, mask=inner, other=0.0)
    after = tl.load(source + i + area, mask=inner, other=0.0)
    above = tl.load(source + i - width, mask=inner, other=0.0)
    below = tl.load(source + i + width, mask=inner, other=0.0)
    left = tl.load(source + i - 1, mask=inner, other=0.0)
    right = tl.load(source + i + 1, mask=inner, other=0.0)
    total = before + after + above + below + left + right
    value = (1 - 6 * alpha) * own + alpha * total
    tl.store(target + i, tl.where(inner, value.to(tl.bfloat16).to(tl.float32), own), mask=there)


def solve(grid, out, scratch, alpha, steps, depth, height, width):
    count = depth * height * width
    if count == 0:
        return
    programs = (triton.cdiv(count, 1024),)
    if steps == 0:
        step_kernel[programs](grid, out, alpha, 1, 1, count, BLOCK=1024)
    source = grid
    for left in range(steps, 0, -1):
        target = out if left % 2 else scratch
        step_kernel[programs](source, target, alpha, depth, height, width, BLOCK=1024)
        source = target
