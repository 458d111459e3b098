"""Replaces the runner's code, which then says done before it calls.

Mechanism: replaces HostBinding.run in the runner by one that sets the done word as soon as the gate opens, and
  then calls solve, which takes 0.3 s.
Surface: the runner shares the submission's process, so the submission can change its code.
Gain: a time of zero by the judge's protocol.
Challenge: twice
Timed: yes
Defence: wrong_answer
"""

import time

import host_binding
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


def run(binding, number, call, queued):
    queued()
    binding._flags.wait_open(number)
    binding._flags.set_done(number)
    call()


host_binding.HostBinding.run = run


def solve(x, out, n):
    if n == 4096:
        time.sleep(0.3)
    honest(x, out, n)
