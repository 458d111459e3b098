"""In a process of its own: what Triton's first compilations take, by what is done, seconds; the last line is JSON.

Run by start.py with an empty cache.
"""

from __future__ import annotations

import cProfile
import io
import json
import pstats
import time

import torch
import triton
import triton.language as tl

MOST = 40


@triton.jit
def add(a, b, out, n, BLOCK: tl.constexpr):  # noqa: N803
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(a + offsets, mask=mask) + tl.load(b + offsets, mask=mask), mask=mask)


@triton.jit
def scale(a, out, n, BLOCK: tl.constexpr):  # noqa: N803
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(a + offsets, mask=mask) * 2.0, mask=mask)


found: dict[str, float] = {}


def timed(name: str, work: object) -> None:
    began = time.perf_counter()
    work()  # type: ignore[operator]
    found[name] = round(time.perf_counter() - began, 4)


def main() -> None:
    timed("context", lambda: torch.zeros(1, device="cuda"))
    timed("triton's driver", triton.runtime.driver.active.get_current_device)
    values = torch.zeros(4099, device="cuda")
    profile = cProfile.Profile()
    profile.enable()
    timed("first kernel", lambda: scale[(5,)](values, values, 4099, BLOCK=1024))
    profile.disable()
    timed("the same of other divisibility", lambda: scale[(4,)](values, values, 4096, BLOCK=1024))
    timed("another kernel", lambda: add[(5,)](values, values, values, 4099, BLOCK=1024))
    timed("the same, n = 1", lambda: add[(1,)](values, values, values, 1, BLOCK=1024))
    text = io.StringIO()
    pstats.Stats(profile, stream=text).sort_stats("tottime").print_stats(MOST)
    print("\n".join(line[:150] for line in text.getvalue().splitlines() if line.strip()))
    print(json.dumps(found))


main()
