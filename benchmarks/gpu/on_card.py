"""Runs sources on a CUDA GPU in this process, one after the other, and writes a line for each as soon as it is known.
Started by ``model.py`` and ``counters.py``.

Usage: python on_card.py ASKED.json ANSWERS.jsonl. ``asked``: "subjects" (name, slug and path of a library or a Triton
source), "sizes" (a key of ``sized.SETS``) and "method": ``times`` (microseconds behind a flushed L2 cache, as the judge
does), ``once`` (one call), or ``profile`` (one call between the profiler's start and stop, after one that is not).
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

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch
from sized import SEED, sized_case

from grader.challenge.catalogue import find_catalogue
from grader.challenge.draw import draw_inputs
from grader.challenge.loader import Challenge
from grader.challenge.model import Kind
from grader.judge.oracle import scalar_values

ROUNDS, WARM_UP = 15, 2
# A third of a millisecond: by then the host has enqueued what comes next. Longer for what enqueues slowly.
HIDING_CYCLES = 600_000
# A word of the name of the kernel that a profiled call is marked by: torch.cuda._sleep's.
MARK = "spin_kernel"
C_TYPES = {
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
    "int32": ctypes.c_int32,
    "int64": ctypes.c_int64,
}

Call = Callable[[], Any]


class Arguments:
    """Of a challenge at its size, on the GPU: inputs drawn on the processor, the same as the emulated GPU gets."""

    def __init__(self, challenge: Challenge, sizes: str) -> None:
        case = sized_case(challenge, sizes)
        self._manifest = challenge.manifest
        self._drawn = {
            name: values.cuda() for name, values in draw_inputs(self._manifest, case, SEED).items()
        }
        scalars = scalar_values(self._manifest, case)
        self._values: dict[str, Any] = {}
        for arg in self._manifest.args:
            if arg.kind.buffer:
                dtype = getattr(torch, arg.dtype.value)
                shape = self._manifest.shape(arg, case.sizes)
                self._values[arg.name] = torch.zeros(shape, dtype=dtype, device="cuda")
            else:
                self._values[arg.name] = case.sizes[arg.name] if arg.kind is Kind.SIZE else scalars[arg.name]
        self.reset()

    def reset(self) -> None:
        """Inputs as they were drawn, outputs all ones of no use to anybody."""
        for arg in self._manifest.buffers:
            if arg.name in self._drawn:
                self._values[arg.name].copy_(self._drawn[arg.name])
            else:
                self._values[arg.name].fill_(77)

    def results(self) -> dict[str, torch.Tensor]:
        return {result.name: self._values[result.name].double() for result in self._manifest.results}

    def call(self, path: Path) -> tuple[Call, object]:
        """A call of the source, and what must live as long as it."""
        if path.suffix == ".so":
            library = ctypes.CDLL(str(path))
            words = [self._word(arg.name) for arg in self._manifest.args]
            pointers = (ctypes.c_void_p * len(words))(*(ctypes.addressof(word) for word in words))

            def run() -> None:
                if code := library.grader_entry(pointers):
                    raise RuntimeError(f"CUDA error {code}")

            return run, (library, words, pointers)
        spec = importlib.util.spec_from_file_location("solution", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["solution"] = module
        spec.loader.exec_module(module)
        values = list(self._values.values())
        return lambda: module.solve(*values), module

    def _word(self, name: str) -> Any:
        value = self._values[name]
        if isinstance(value, torch.Tensor):
            return ctypes.c_uint64(value.data_ptr())
        dtype = next(arg.dtype.value for arg in self._manifest.args if arg.name == name)
        return C_TYPES[dtype](value)


class Clock:
    """Times calls one at a time by events, the L2 cache flushed ahead of each and the launch hidden behind that."""

    def __init__(self) -> None:
        l2 = torch.cuda.get_device_properties(0).L2_cache_size
        self._flush = torch.empty(4 * l2, dtype=torch.uint8, device="cuda")
        self.empty_us = self.median_us(lambda: None)

    def median_us(self, call: Call) -> float:
        pairs = [tuple(torch.cuda.Event(enable_timing=True) for _ in range(2)) for _ in range(ROUNDS)]  # type: ignore[no-untyped-call]
        for start, end in pairs:
            torch.cuda._sleep(HIDING_CYCLES)  # type: ignore[no-untyped-call]
            self._flush.zero_()
            start.record()
            call()
            end.record()
            torch.cuda.synchronize()
        return float(statistics.median(start.elapsed_time(end) for start, end in pairs)) * 1e3


def differs(found: dict[str, torch.Tensor], right: dict[str, torch.Tensor]) -> float:
    """The largest difference of a result, as a share of the largest right value."""
    worst = 0.0
    for name, values in found.items():
        if values.numel():
            scale = float(right[name].abs().nan_to_num().max()) or 1.0
            worst = max(worst, float((values - right[name]).abs().nan_to_num(nan=0.0).max()) / scale)
    return worst


def main() -> None:
    asked = json.loads(Path(sys.argv[1]).read_text())
    catalogue, answers = find_catalogue(), Path(sys.argv[2])
    torch.zeros(1, device="cuda")
    clock = Clock() if asked["method"] == "times" else None
    known: dict[str, Arguments] = {}
    first: dict[str, dict[str, torch.Tensor]] = {}
    with answers.open("a") as out:

        def tell(**said: Any) -> None:
            out.write(json.dumps(said) + "\n")
            out.flush()

        for subject in asked["subjects"]:
            name, slug = subject["name"], subject["slug"]
            tell(begins=name)
            said: dict[str, Any] = {"name": name}
            try:
                if slug not in known:
                    known.clear()
                    torch.cuda.empty_cache()
                    known[slug] = Arguments(catalogue.load(slug), asked.get("sizes", "sized"))
                arguments = known[slug]
                arguments.reset()
                call, kept = arguments.call(Path(subject["path"]))
                call()
                torch.cuda.synchronize()
                found = arguments.results() if clock else {}
                right = first.setdefault(slug, found)
                if clock is not None:
                    for _ in range(WARM_UP):
                        call()
                    torch.cuda.synchronize()
                    said |= {
                        "us": round(clock.median_us(call) - clock.empty_us, 3),
                        "empty_us": round(clock.empty_us, 3),
                        "differs": differs(found, right),
                    }
                elif asked["method"] == "profile":
                    runtime = torch.cuda.cudart()  # type: ignore[no-untyped-call]
                    arguments.reset()
                    torch.cuda.synchronize()
                    runtime.cudaProfilerStart()
                    torch.cuda._sleep(1)  # type: ignore[no-untyped-call]
                    said["marked"] = True
                    call()
                    torch.cuda.synchronize()
                    runtime.cudaProfilerStop()
                tell(**said)
                del call, kept
            except Exception as error:  # whatever goes wrong with one must not lose the others
                tell(**said, error=f"{type(error).__name__}: {error}"[:300])
                if "CUDA error" in str(error):  # the context is lost: the caller starts another process
                    break


if __name__ == "__main__":
    main()
