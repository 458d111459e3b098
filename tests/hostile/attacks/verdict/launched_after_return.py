"""Runs its kernel after it has said done.

Mechanism: prepares the launch, and sends its request right after the message that ends the call. If the GPU
  reads it first, it belongs to the call and is counted.
Surface: the emulated GPU goes on answering between the end of a counted call and the judge's comparison.
Gain: a right output whose work is not counted.
Challenge: twice
Timed: yes
On: emulated
Takes: 0.002 ms
Defence: wrong_answer, runtime_error, charged
"""

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


send = protocol.send
given = []


def send_and_launch(connection, message):
    if message["op"] != "returned" or not given:
        send(connection, message)
        return
    import emulated_triton

    gpu = emulated_triton.gpu()
    ask = gpu.ask

    def ask_behind(kind, body, doing):
        send(connection, message)
        return ask(kind, body, doing)

    gpu.ask = ask_behind
    try:
        honest(*given.pop())
    finally:
        gpu.ask = ask


protocol.send = send_and_launch


def solve(x, out, n):
    if n == 4096:
        given.append((x, out, n))
    else:
        honest(x, out, n)
