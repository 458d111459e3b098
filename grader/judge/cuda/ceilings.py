"""Measures a GPU's ceilings: the roofline's two sides."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from contextlib import suppress

import torch

from grader.judge.cuda import kernels

_BYTES = 1 << 30
_SIDE = 8192
_TRIES = 8
# Elements and warps of a program: the best depends on the GPU.
_STREAM_SHAPES = ((1024, 4), (2048, 4), (4096, 8), (8192, 8))


@functools.cache
def measure_ceilings(index: int) -> Mapping[str, float]:
    """``bandwidth`` in bytes/s, ``rate:DTYPE`` in operations/s."""
    found = {"bandwidth": max(_bandwidths().values())}
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        found[f"rate:{str(dtype).removeprefix('torch.')}"] = _matmul_rate(dtype)
    with suppress(RuntimeError, AttributeError):  # not on every GPU, nor in every torch
        found["rate:int8"] = _int8_rate()
    torch.cuda.empty_cache()
    return found


def copy_bandwidth() -> float:
    return _bandwidths()["copy"]


def _bandwidths() -> dict[str, float]:
    """Reads alone are faster than a mixture, and no honest kernel may appear faster than light."""
    first = torch.zeros(_BYTES // 4, dtype=torch.float32, device="cuda")
    second, third = torch.zeros_like(first), torch.empty_like(first)
    streams: dict[str, tuple[Callable[[kernels.Shape], None], int]] = {
        "copy": (lambda shape: kernels.stream_copy(first, third, shape), 2),
        "add": (lambda shape: kernels.stream_add(first, second, third, shape), 3),
        "read": (lambda shape: kernels.stream_read(first, third, shape), 1),
    }
    return {
        name: max(arrays * _BYTES / _best_seconds(functools.partial(run, shape)) for shape in _STREAM_SHAPES)
        for name, (run, arrays) in streams.items()
    }


def _matmul_rate(dtype: torch.dtype) -> float:
    a = torch.randn(_SIDE, _SIDE, device="cuda").to(dtype)
    out = torch.empty_like(a)
    return 2 * _SIDE**3 / _best_seconds(lambda: torch.mm(a, a, out=out))


def _int8_rate() -> float:
    a = torch.randint(-128, 128, (_SIDE, _SIDE), dtype=torch.int8, device="cuda")
    # For tensor cores, int8 factors run along the sum.
    b, out = a.t(), torch.empty(_SIDE, _SIDE, dtype=torch.int32, device="cuda")
    return 2 * _SIDE**3 / _best_seconds(lambda: torch._int_mm(a, b, out=out))


def _best_seconds(call: Callable[[], object]) -> float:
    call()
    times: list[float] = []
    for _ in range(_TRIES):
        start = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        end = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        start.record()
        call()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) * 1e-3)
    return min(times)
