"""Takes the processor away from the judge that reads the clock.

Mechanism: asks for the highest priority, for real-time scheduling and for every core, then keeps a thread
  spinning on each, so that the judge gets the processor late; the call itself lasts 100 ms.
Surface: a judge that shares its processor with the submission.
Gain: a clock that is read late at the start of a round.
Challenge: twice
Like: busy_children
Timed: yes
Takes: 50 ms
Defence: charged
Box: docker
"""

import contextlib
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


def spin(seconds):
    end = now() + seconds
    while now() < end:
        pass


with contextlib.suppress(OSError):
    os.setpriority(os.PRIO_PROCESS, 0, -20)
with contextlib.suppress(OSError):
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(99))
with contextlib.suppress(OSError):
    os.sched_setaffinity(0, range(os.cpu_count()))


def solve(x, out, n):
    if n == 4096:
        spin(0.1)
    honest(x, out, n)
