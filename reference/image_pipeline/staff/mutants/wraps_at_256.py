"""Mistake: keeps the last eight bits of a strength above 255."""

import torch
import triton
import triton.language as tl


@triton.jit
def place_of(height, width, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    return i, i // width, i % width, i < height * width


@triton.jit
def clamped(i, count):
    return tl.minimum(tl.maximum(i, 0), count - 1)


@triton.jit
def grey_kernel(image, grey, height, width, BLOCK: tl.constexpr):
    i, _, _, there = place_of(height, width, BLOCK)
    red = tl.load(image + 3 * i, mask=there, other=0).to(tl.int32)
    green = tl.load(image + 3 * i + 1, mask=there, other=0).to(tl.int32)
    blue = tl.load(image + 3 * i + 2, mask=there, other=0).to(tl.int32)
    value = (77 * red + 150 * green + 29 * blue + 128) >> 8
    tl.store(grey + i, value, mask=there)


@triton.jit
def blur_kernel(grey, blurred, height, width, BLOCK: tl.constexpr):
    i, row, column, there = place_of(height, width, BLOCK)
    total = tl.zeros((BLOCK,), tl.int32) + 8
    for y in tl.static_range(-1, 2):
        for x in tl.static_range(-1, 2):
            at = clamped(row + y, height) * width + clamped(column + x, width)
            total += (2 - y * y) * (2 - x * x) * tl.load(grey + at, mask=there, other=0)
    tl.store(blurred + i, total >> 4, mask=there)


@triton.jit
def edge_kernel(blurred, edges, height, width, BLOCK: tl.constexpr):
    i, row, column, there = place_of(height, width, BLOCK)
    across = tl.zeros((BLOCK,), tl.int32)
    down = across
    for y in tl.static_range(-1, 2):
        for x in tl.static_range(-1, 2):
            at = clamped(row + y, height) * width + clamped(column + x, width)
            value = tl.load(blurred + at, mask=there, other=0)
            across += x * (2 - y * y) * value
            down += y * (2 - x * x) * value
    strength = (tl.abs(across) + tl.abs(down)) & 255
    tl.store(edges + i, strength.to(tl.uint8), mask=there)


def solve(image, edges, height, width):
    count = height * width
    if count == 0:
        return
    grey = torch.empty((height, width), dtype=torch.int32, device=edges.device)
    blurred = torch.empty((height, width), dtype=torch.int32, device=edges.device)
    programs = (triton.cdiv(count, 1024),)
    grey_kernel[programs](image, grey, height, width, BLOCK=1024)
    blur_kernel[programs](grey, blurred, height, width, BLOCK=1024)
    edge_kernel[programs](blurred, edges, height, width, BLOCK=1024)
