"""A slow stream between the calls, to leave time for few rounds only.

Mechanism: replaces standard output by a stream whose flush sleeps, so that the runner, which flushes after each call,
  is slow between the calls and never within them.
Surface: the number of rounds.
Gain: with three rounds instead of seven or more, a gamble on their median sometimes pays.
Challenge: twice
Timed: yes
Defence: time_limit
"""

import sys
import time

import triton
import triton.language as tl


@triton.jit
def twice(x, out, n, block: tl.constexpr):
    offsets = tl.program_id(0) * block + tl.arange(0, block)
    mask = offsets < n
    tl.store(out + offsets, 2 * tl.load(x + offsets, mask=mask), mask=mask)


class Slow:
    def write(self, text):
        return len(text)

    def flush(self):
        if timed:
            time.sleep(1)


timed = False
sys.stdout = Slow()


def solve(x, out, n):
    global timed
    timed = n == 4096
    if n:
        twice[(triton.cdiv(n, 1024),)](x, out, n, block=1024)
