"""Times solutions in their own process, as everyone else does. Started by ``subjects.honest``.

Usage: python honest.py ASKED.json ANSWERED.json. Methods, all in microseconds per call:

- ``do_bench``: ``triton.testing.do_bench``, median;
- ``events``: CUDA events around each call, calls back to back, median;
- ``cold``: the same, one call at a time with the L2 cache flushed before it and the launch hidden behind other work;
- ``profile``: calls between the profiler's start and stop; it measures, we return nothing.
"""

from __future__ import annotations

import ctypes
import importlib.util
import json
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

ROUNDS = 60
WARM_UP = 5
PROFILED = 5
# A third of a millisecond on an H200: by then the host has enqueued what comes next.
HIDING_CYCLES = 600_000
C_TYPES = {"float32": ctypes.c_float, "float64": ctypes.c_double}

Call = Callable[[], Any]


def arguments(entries: list[dict[str, Any]]) -> list[Any]:
    """Tensors with normal values, as the judge draws them; outputs of zeros; plain numbers."""
    return [_argument(entry) for entry in entries]


def _argument(entry: dict[str, Any]) -> Any:
    if "value" in entry:
        return entry["value"]
    dtype = getattr(torch, entry["dtype"])
    if entry["kind"] == "output":
        return torch.zeros(entry["shape"], dtype=dtype, device="cuda")
    return torch.randn(entry["shape"], device="cuda").to(dtype)


def load(path: str) -> Callable[[list[dict[str, Any]]], tuple[Call, list[Any]]]:
    """Makes a call, and what must live as long as it, from the entries of a workload."""
    if path.endswith(".so"):
        return _of_library(ctypes.CDLL(path))
    spec = importlib.util.spec_from_file_location("solution", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def make(entries: list[dict[str, Any]]) -> tuple[Call, list[Any]]:
        values = arguments(entries)
        return lambda: module.solve(*values), values

    return make


def _of_library(library: ctypes.CDLL) -> Callable[[list[dict[str, Any]]], tuple[Call, list[Any]]]:
    def make(entries: list[dict[str, Any]]) -> tuple[Call, list[Any]]:
        values = arguments(entries)
        words = [_word(entry, value) for entry, value in zip(entries, values, strict=True)]
        pointers = (ctypes.c_void_p * len(words))(*(ctypes.addressof(word) for word in words))

        def call() -> None:
            if code := library.grader_entry(pointers):
                raise RuntimeError(f"CUDA error {code}")

        return call, [values, words, pointers]

    return make


def _word(entry: dict[str, Any], value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return ctypes.c_uint64(value.data_ptr())
    return ctypes.c_int64(value) if entry["kind"] == "size" else C_TYPES[entry["dtype"]](value)


def do_bench(call: Call) -> float:
    from triton.testing import do_bench as bench

    return float(bench(call, return_mode="median")) * 1e3


def events(call: Call) -> float:
    pairs = [(_event(), _event()) for _ in range(ROUNDS)]
    for start, end in pairs:
        start.record()
        call()
        end.record()
    torch.cuda.synchronize()
    return _median_us(pairs)


def cold(call: Call) -> float:
    flush = torch.empty(
        4 * torch.cuda.get_device_properties(0).L2_cache_size, dtype=torch.uint8, device="cuda"
    )
    pairs = [(_event(), _event()) for _ in range(ROUNDS)]
    for start, end in pairs:
        torch.cuda._sleep(HIDING_CYCLES)  # type: ignore[no-untyped-call]
        flush.zero_()
        start.record()
        call()
        end.record()
        torch.cuda.synchronize()
    return _median_us(pairs)


def profile(call: Call) -> float:
    runtime = torch.cuda.cudart()  # type: ignore[no-untyped-call]
    torch.cuda.synchronize()
    runtime.cudaProfilerStart()
    for _ in range(PROFILED):
        call()
        torch.cuda.synchronize()
    runtime.cudaProfilerStop()
    return 0.0


def _event() -> Any:
    return torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]


def _median_us(pairs: list[tuple[Any, Any]]) -> float:
    return float(statistics.median(start.elapsed_time(end) for start, end in pairs)) * 1e3


METHODS = {"do_bench": do_bench, "events": events, "cold": cold, "profile": profile}


def main() -> None:
    asked = json.loads(Path(sys.argv[1]).read_text())
    torch.zeros(1, device="cuda")
    found: dict[str, dict[str, dict[str, float]]] = {}
    for task in asked["tasks"]:
        make = load(task["path"])
        found[task["name"]] = {}
        for name, entries in task["workloads"].items():
            call, kept = make(entries)
            for _ in range(WARM_UP):
                call()
            torch.cuda.synchronize()
            found[task["name"]][name] = {method: METHODS[method](call) for method in asked["methods"]}
            del call, kept
            torch.cuda.empty_cache()
    Path(sys.argv[2]).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
