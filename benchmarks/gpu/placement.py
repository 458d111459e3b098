"""How a kernel's time depends on where its arrays are and when it is called.

The staff's Triton solutions run in this process with the L2 cache flushed and the launch hidden, on several sets of
buffers that are all held at once, in shuffled order. The figure is how far the sets' medians differ, compared with
the medians of arbitrary shares of the calls on one set, which differ by chance.

Usage: python benchmarks/gpu/placement.py [--json] [--gpu N] [--sets N] [--calls N] [--seconds S]
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch
from honest import HIDING_CYCLES
from results import keep
from subjects import Subject, subjects, workloads

from grader.challenge.model import Kind, Workload
from grader.judge.arena import Arena
from grader.judge.cuda import nvml
from grader.judge.cuda.device import CudaDevice
from grader.judge.cuda.kernels import Burn
from grader.judge.device import make_device
from grader.languages import Language
from grader.sandbox.gpu import nvidia_gpus

# Shuffled into the order of calls; the same in every run.
SEED = 7


class Bench:
    """Calls one solution on several arenas, and notes each call's microseconds by events."""

    def __init__(self, device: CudaDevice, gpu: int) -> None:
        self.device = device
        self.monitor = nvml.Monitor(nvidia_gpus()[gpu].uuid)
        properties = torch.cuda.get_device_properties(gpu)
        self.flush = torch.empty(2 * properties.L2_cache_size, dtype=torch.uint8, device="cuda")
        self.burn = Burn(torch.device("cuda", gpu), programs=properties.multi_processor_count)
        self.start, self.end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]

    def us(self, call: Callable[[], Any]) -> float:
        self.burn.run()
        torch.cuda._sleep(HIDING_CYCLES)  # type: ignore[no-untyped-call]
        self.flush.zero_()
        self.start.record()
        call()
        self.end.record()
        torch.cuda.synchronize()
        return float(self.start.elapsed_time(self.end)) * 1e3

    def row(
        self, subject: Subject, workload: Workload, sets: int, calls: int, until: float
    ) -> dict[str, Any]:
        solve = load_solve(subject)
        arenas = [
            Arena(subject.challenge.manifest, workload.sizes, {}, self.device.memories) for _ in range(sets)
        ]
        makers = [bound(solve, subject, workload, arena) for arena in arenas]
        for call in makers * 2:
            self.us(call)
        dice = random.Random(SEED)
        series: list[list[float]] = [[] for _ in makers]
        clocks: list[int] = []
        for _ in range(calls):
            if time.perf_counter() > until:
                break
            for place in dice.sample(range(sets), sets):
                series[place].append(self.us(makers[place]))
            sample = self.monitor.sample()
            clocks += [sample.sm_mhz] if sample and sample.sm_mhz else []
        del makers
        for arena in arenas:
            arena.close()
        self.device.memories.give_back()
        return summary(subject, workload, series, clocks)


def load_solve(subject: Subject) -> Callable[..., None]:
    spec = importlib.util.spec_from_file_location(f"placed_{subject.slug}", subject.path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Callable[..., None] = module.solve
    return found


def bound(
    solve: Callable[..., None], subject: Subject, workload: Workload, arena: Arena
) -> Callable[[], None]:
    values: list[Any] = []
    for arg in subject.challenge.manifest.args:
        if arg.kind is Kind.SIZE:
            values.append(workload.sizes[arg.name])
        else:
            buffer = arena.buffers[arg.name]
            values.append(buffer.values.view(buffer.shape))
            if arg.kind is Kind.INPUT:
                values[-1].normal_()
    return lambda: solve(*values)


def summary(
    subject: Subject, workload: Workload, series: Sequence[Sequence[float]], clocks: Sequence[int]
) -> dict[str, Any]:
    medians = [statistics.median(times) for times in series]
    middle = statistics.median(medians)
    # The calls dealt to as many hands, whatever set they were made on: what chance alone makes of medians.
    dice = random.Random(SEED)
    every = [time - statistics.median(one) + middle for one in series for time in one]
    dice.shuffle(every)
    hands = [statistics.median(every[place :: len(series)]) for place in range(len(series))]
    apart, chance = (max(values) / min(values) - 1 for values in (medians, hands))
    # First and last half of all calls.
    drift = statistics.median(
        statistics.median(times[len(times) // 2 :]) / statistics.median(times[: len(times) // 2]) - 1
        for times in series
    )
    print(
        f"{subject.name:<20}{workload.name:<20}{middle:>10.2f} us  sets {apart:.3%}, chance {chance:.3%}, "
        f"drift {drift:+.3%}, calls {len(series[0])}: " + " ".join(f"{median:.2f}" for median in medians),
        flush=True,
    )
    return {
        "subject": subject.name,
        "workload": workload.name,
        "sets_apart": round(apart, 5),
        "chance": round(chance, 5),
        "drift": round(drift, 5),
        "sm_mhz": " ".join(map(str, clocks)),
        "us": [" ".join(f"{time:.2f}" for time in one) for one in series],
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--gpu", type=int, default=0, help="its number on this machine")
    parser.add_argument("--sets", type=int, default=6)
    parser.add_argument("--calls", type=int, default=60, help="on each set")
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    device = make_device("h200", options.gpu)
    assert isinstance(device, CudaDevice)
    device.use_ceilings(dict(device.ceilings()))
    bench = Bench(device, options.gpu)
    chosen = [
        (subject, workload)
        for subject in subjects(device)
        if subject.language is Language.TRITON
        for workload in workloads(subject.challenge, device, ranked_only=True)
    ]
    began = time.perf_counter()
    rows = []
    for number, (subject, workload) in enumerate(chosen, 1):
        until = began + options.seconds * number / len(chosen)
        rows.append(bench.row(subject, workload, options.sets, options.calls, until))
    if options.json:
        keep("placement", {"sets": options.sets, "rows": rows})


if __name__ == "__main__":
    main()
