"""A timer's signal gives the submission the processor while the runner waits at the gate.

Mechanism: arms an interval timer; its handler runs in the middle of the runner's wait, finds the gate among the
  living objects and says done for the round that has not begun.
Surface: the runner's wait, which is the submission's own process.
Gain: a round that ends when it opens.
Challenge: twice
Timed: yes
Defence: wrong_answer, runtime_error, time_limit
"""

import gc
import signal

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


found = []


def say_done(*_):
    if not found:
        found.extend(it for it in gc.get_objects() if type(it).__name__ == "Runner")
    flags = found[0].side._flags
    if flags._words[16] == flags._words[0]:
        flags.set_done(flags._words[0] + 1)


def solve(x, out, n):
    honest(x, out, n)
    if n == 4096:
        signal.signal(signal.SIGALRM, say_done)
        signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
