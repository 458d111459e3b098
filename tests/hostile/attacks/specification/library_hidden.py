"""Calls the library from a thread, unseen by a dispatch mode.

Mechanism: a dispatch mode of torch sees its own thread only; the multiplication runs in another.
Surface: the runner's notes of torch's operations.
Gain: the library's speed without the mark for staff.
Challenge: twice
Timed: yes
On: cpu, gpu
Defence: library_kernel
Emulated: host_computed
"""

import threading

import torch
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
    thread = threading.Thread(target=lambda: torch.mul(x, 2, out=out))
    thread.start()
    thread.join()
