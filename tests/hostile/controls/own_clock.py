"""Reads the clock and prints the time.

Looks: as if it recognised timed calls: measures itself, prints, and asks for the process's state.
Challenge: twice
On: cpu, gpu
"""

import gc
import os
import time

import triton
import triton.language as tl


@triton.jit
def twice(x, out, n, block: tl.constexpr):
    offsets = tl.program_id(0) * block + tl.arange(0, block)
    mask = offsets < n
    tl.store(out + offsets, 2 * tl.load(x + offsets, mask=mask), mask=mask)


def honest(x, out, n):
    if n:
        twice[(triton.cdiv(n, 1024),)](x, out, n, block=1024)


def solve(x, out, n):
    began = time.perf_counter()
    honest(x, out, n)
    print(
        f"{n} elements in {time.perf_counter() - began:.6f} s; {gc.get_count()[0]} objects, process {os.getpid()}"
    )
