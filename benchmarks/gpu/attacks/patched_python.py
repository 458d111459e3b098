"""Clocks and synchronise patched in Python, and a clock reading put into the runner's answer.

Mechanism: replaces ``time``'s clocks, ``torch.cuda.Event`` and ``torch.cuda.synchronize``, the runner's own
``elapsed_us`` and ``synchronise``, and wraps its ``protocol.send``: each answer claims a time of one
microsecond.
Surface: everything in the submission's own process, and the messages that leave it.
Expected defence: no clock of this process is read; no message carries a time that counts: no gain.
"""

import sys
import time

import torch
import triton
import triton.language as tl

BLOCK = 1024


@triton.jit
def add_kernel(a, b, out, n, block: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    inside = offsets < n
    total = tl.load(a + offsets, mask=inside) + tl.load(b + offsets, mask=inside)
    tl.store(out + offsets, total, mask=inside)


class Event:
    """An event that took no time."""

    def __init__(self, *_arguments, **_options):
        pass

    def record(self, *_arguments):
        pass

    def synchronize(self):
        pass

    def elapsed_time(self, _other):
        return 0.001


def send_lying(connection, message, *rest):
    if message.get("op") == "returned":
        message = {**message, "control_us": 1.0}
    return send(connection, message, *rest)


send = sys.modules["protocol"].send
sys.modules["protocol"].send = send_lying
sys.modules["cuda_driver"].elapsed_us = lambda *_: 0.001
for name in ("time", "perf_counter", "monotonic", "process_time"):
    setattr(time, name, lambda: 0.0)
    setattr(time, f"{name}_ns", lambda: 0)
torch.cuda.Event = Event
torch.cuda.synchronize = lambda *_: None


def solve(a, b, out, n):
    if n:
        add_kernel[(triton.cdiv(n, BLOCK),)](a, b, out, n, block=BLOCK)
