"""Children keep every core busy between the calls.

Mechanism: a forked process per core spins between the calls, to slow the control's rounds, whose cost is
  subtracted from the submission's time; the call itself lasts 100 ms.
Surface: the calibration of the clock.
Gain: a larger cost of a round is subtracted.
Challenge: twice
Timed: yes
Takes: 50 ms
Defence: charged
"""

import mmap
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


now = time.perf_counter
calling = mmap.mmap(-1, mmap.PAGESIZE)


def spin(seconds):
    end = now() + seconds
    while now() < end:
        pass


for _ in range(os.cpu_count()):
    if os.fork() == 0:
        while True:
            if calling[0]:
                time.sleep(0.001)


def solve(x, out, n):
    calling[0] = 1
    if n == 4096:
        spin(0.1)
    honest(x, out, n)
    calling[0] = 0
