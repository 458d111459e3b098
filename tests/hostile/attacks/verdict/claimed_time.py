"""Claims a time for its calls.

Mechanism: adds a field to every answer that only the control's answers have: a call time of one microsecond.
Surface: message fields that a submission can fill in.
Gain: the claimed time.
Challenge: twice
Timed: yes
Takes: 50 ms
Defence: charged
"""

import time

import protocol
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
send = protocol.send


def send_claiming(connection, message):
    if message["op"] == "returned":
        message = {**message, "control_us": 1.0}
    send(connection, message)


protocol.send = send_claiming


def solve(x, out, n):
    end = now() + 0.1 * (n == 4096)
    while now() < end:
        pass
    honest(x, out, n)
