"""A timer's signal gives the submission the processor while the runner waits at the gate.

Mechanism: finds the gate among the living objects and arms an interval timer, whose handler runs in the middle of
  the runner's wait and says done for the round that has not begun. (The search must not be in the handler: it takes
  longer than the interval, so that handlers nest, each with its own list of all objects, until the memory is used up.)
Surface: the runner's wait, in the submission's process.
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


runner = next(candidate for candidate in gc.get_objects() if type(candidate).__name__ == "Runner")
flags = None


def say_done(*_):
    if flags._words[16] == flags._words[0]:
        flags.set_done(flags._words[0] + 1)


def solve(x, out, n):
    global flags
    honest(x, out, n)
    if n == 4096:
        flags = runner.binding._flags
        signal.signal(signal.SIGALRM, say_done)
        signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
