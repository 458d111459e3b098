"""Has its launches counted elsewhere.

Mechanism: patches Triton's launcher for the emulated GPU: around each launch it asks for a separate count, as
  autotuning does, so that the launch may be missing from the judge's.
Surface: requests that begin and end a count, which any submission can send.
Gain: the time of no work.
Challenge: twice
Timed: yes
On: emulated
Takes: 0.002 ms
Defence: charged
"""

import struct

import emulated_triton
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


launch = emulated_triton.Launcher.__call__


def launch_apart(self, *values):
    ask, time = emulated_triton.gpu().ask, emulated_triton.device.TIME
    ask(time, struct.pack("<I", 1), "counting")
    launch(self, *values)
    ask(time, struct.pack("<I", 0), "counting")
    ask(time, struct.pack("<I", 1), "counting")


emulated_triton.Launcher.__call__ = launch_apart


def solve(x, out, n):
    honest(x, out, n)
