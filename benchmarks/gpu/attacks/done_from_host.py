""" "Done" written by a host thread while the work still runs.

Mechanism: a thread finds the gate's page among the mappings of its process, waits until the judge opens it, and writes
the done word some time later, whatever the GPU has done by then. No object of the runner's is needed.
Surface: the done word, which is only a hint; host threads.
Expected defence: the judge glances once our context lets it: the rest is in the time, or is not there yet and wrong.
"""

import ctypes
import re
import threading
import time
from pathlib import Path

import triton
import triton.language as tl

RANKED = 2**28
BLOCK = 1024
AFTER_S = 500e-6


@triton.jit
def add_kernel(a, b, out, n, block: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    inside = offsets < n
    total = tl.load(a + offsets, mask=inside) + tl.load(b + offsets, mask=inside)
    tl.store(out + offsets, total, mask=inside)


def page():
    maps = Path("/proc/self/maps").read_text()
    found = re.findall(r"^([0-9a-f]+)-\S+ .*memfd:gate", maps, re.MULTILINE)
    return (ctypes.c_uint32 * 32).from_address(int(found[-1], 16))


def forge(words, number):
    give_up = time.perf_counter() + 3
    while words[0] != number:
        if time.perf_counter() > give_up:
            return
    end = time.perf_counter() + AFTER_S
    while time.perf_counter() < end:
        pass
    words[16] = number


def solve(a, b, out, n):
    if n == 0:
        return
    add_kernel[(triton.cdiv(n, BLOCK),)](a, b, out, n, block=BLOCK)
    if n == RANKED:
        words = page()
        if words[0] == words[16]:  # the gate is closed: this is no warm-up
            threading.Thread(target=forge, args=(words, words[16] + 1), daemon=True).start()
