"""Sources for the challenge ``twice`` of tests/catalogue."""

HEAD = """
import os, sys, time
import torch
import triton
import triton.language as tl

@triton.jit
def twice(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, 2 * tl.load(x + offsets, mask=mask), mask=mask)
"""

RIGHT = (
    HEAD
    + """
def solve(x, out, n):
    if n:
        twice[(triton.cdiv(n, 64),)](x, out, n, BLOCK=64)
"""
)


def with_solve(body: str) -> str:
    """A source whose ``solve`` does ``body`` (lines indented by four spaces)."""
    return f"{HEAD}\ndef solve(x, out, n):\n{body}\n"
