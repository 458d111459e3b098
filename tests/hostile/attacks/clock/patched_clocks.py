"""Every clock of Python and torch shows no elapsed time.

Mechanism: replaces time's clocks, torch.cuda.Event and torch.cuda.synchronize in the timed process and in the
  runner's modules; the call itself lasts 100 ms.
Surface: clocks in the submission's process.
Gain: a time of zero on the board.
Challenge: twice
Timed: yes
Takes: 50 ms
Defence: charged
"""

import sys
import time

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


now = time.perf_counter


class Event:
    def __init__(self, *_arguments, **_options):
        pass

    def record(self, *_arguments):
        pass

    def synchronize(self):
        pass

    def elapsed_time(self, _other):
        return 0.001


def spin(seconds):
    end = now() + seconds
    while now() < end:
        pass


def solve(x, out, n):
    if n == 4096:
        spin(0.1)
    honest(x, out, n)


for module in [
    time,
    *(module for name, module in sys.modules.items() if name in ("host_binding", "main", "trusted")),
]:
    for name in ("time", "perf_counter", "monotonic", "process_time"):
        setattr(module, name, lambda: 0.0)
        setattr(module, f"{name}_ns", lambda: 0)
torch.cuda.Event = Event
torch.cuda.synchronize = lambda *_: None
