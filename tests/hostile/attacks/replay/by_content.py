"""A cache by content.

Mechanism: looks the input's bytes up among all earlier ones; a hit is copied, a miss takes 100 ms of work.
Surface: inputs that are used again, in a later round or for the control.
Gain: the time of a look-up and a copy.
Challenge: twice
Timed: yes
Takes: 50 ms
Defence: charged
"""

import hashlib
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


kept = {}


def solve(x, out, n):
    if n != 4096:
        honest(x, out, n)
        return
    key = hashlib.sha256(x.numpy().tobytes()).digest()
    if key in kept:
        out.copy_(kept[key])
        return
    end = time.perf_counter() + 0.1
    while time.perf_counter() < end:
        pass
    honest(x, out, n)
    kept[key] = out.clone()
