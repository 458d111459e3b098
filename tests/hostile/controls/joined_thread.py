"""Launches from a thread, and waits for it.

Looks: like work after the call: a thread per call, joined before it returns.
Challenge: twice
On: cpu, gpu
"""

import threading

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
    thread = threading.Thread(target=honest, args=(x, out, n))
    thread.start()
    thread.join()
