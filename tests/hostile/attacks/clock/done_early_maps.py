"""Says done first, through the gate's page, and works then.

Mechanism: finds the gate's page in /proc/self/maps, writes the round's number into the done word, then works
  for 0.3 s.
Surface: the word that ends the timed part of a round.
Gain: the time of writing one word.
Challenge: twice
Like: done_early_patched
Timed: yes
Defence: wrong_answer
"""

import ctypes
import pathlib
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


def gate():
    for line in pathlib.Path("/proc/self/maps").read_text().splitlines():
        if "memfd:gate" in line:
            return (ctypes.c_uint32 * 32).from_address(int(line.split("-")[0], 16))
    raise RuntimeError("no gate")


def solve(x, out, n):
    if n == 4096:
        words = gate()
        words[16] = words[0]
        time.sleep(0.3)
    honest(x, out, n)
