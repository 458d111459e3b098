"""A thread begins as soon as the inputs change, before the gate opens.

Mechanism: after each timed call a thread watches the input's memory, and begins its 100 ms of work at the next
  values; solve() waits for the thread.
Surface: shared memory that is readable before the call's time begins.
Gain: the time between the new values and the gate.
Challenge: twice
Timed: yes
Takes: 50 ms
Defence: charged, runtime_error, wrong_answer
"""

import os
import threading
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


now = time.perf_counter
watcher = None
memory = os.open("/proc/self/mem", os.O_RDONLY)


def spin(seconds):
    end = now() + seconds
    while now() < end:
        pass


def watch(x, out, n, seen):
    end = now() + 0.5
    while peek(x) == seen and now() < end:
        pass
    if peek(x) not in (seen, b""):
        spin(0.1)
        honest(x, out, n)


def peek(x):
    """The input's last bytes, or b"": by way of /proc, because reading unmapped memory through x would kill
    the process.
    """
    try:
        return os.pread(memory, 64, x.data_ptr() + 4 * x.numel() - 64)
    except OSError:
        return b""


def solve(x, out, n):
    global watcher
    if n != 4096:
        honest(x, out, n)
        return
    if watcher is None:
        spin(0.1)
        honest(x, out, n)
    else:
        watcher.join()
        honest(x, out, n)
    watcher = threading.Thread(target=watch, args=(x, out, n, peek(x)), daemon=True)
    watcher.start()
