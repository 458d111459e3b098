"""A thread finishes the work after the call has returned.

Mechanism: at the timed size solve() starts a thread and returns; the thread writes the output 0.3 s later.
Surface: the moment when a call counts as done.
Gain: the time of starting a thread only.
Challenge: twice
Timed: yes
Defence: wrong_answer
"""

import threading
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


def later(x, out, n):
    time.sleep(0.3)
    honest(x, out, n)


def solve(x, out, n):
    if n == 4096:
        threading.Thread(target=later, args=(x, out, n), daemon=True).start()
    else:
        honest(x, out, n)
