""" "Done" written by the submission, through the runner's own objects.

Mechanism: Python lets anyone find any object of the process. This finds the runner's ``CudaFlags`` by the garbage
collector and has its driver write the done word behind most of the work; the rest follows on the same stream.
Surface: the runner's objects; the done word, which is only a hint.
Expected defence: as for ``done_early.cu``: the gate's time ends when the judge glances, not at "done".
"""

import gc
import sys

import triton
import triton.language as tl

RANKED = 2**28
PART = 0.2
BLOCK = 1024


@triton.jit
def add_kernel(a, b, out, start, n, block: tl.constexpr):
    offsets = start + tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    inside = offsets < n
    total = tl.load(a + offsets, mask=inside) + tl.load(b + offsets, mask=inside)
    tl.store(out + offsets, total, mask=inside)


def add(a, b, out, start, end):
    if end > start:
        add_kernel[(triton.cdiv(end - start, BLOCK),)](a, b, out, start, end, block=BLOCK)


def say_done():
    driver = sys.modules["cuda_driver"]
    for found in gc.get_objects():
        if type(found).__name__ != "CudaFlags":
            continue
        try:
            number = found._words[16] + 1
        except ValueError:  # of an earlier binding: closed
            continue
        driver.write_value(driver.LEGACY_STREAM, found._device + 64, number)


def solve(a, b, out, n):
    if n != RANKED:
        add(a, b, out, 0, n)
        return
    late = int(n * PART) // BLOCK * BLOCK
    add(a, b, out, 0, n - late)
    say_done()
    add(a, b, out, n - late, n)
