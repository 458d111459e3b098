"""Two cards of one host: what a copy between them reaches, and what becomes of ``tests/gpus`` there: sources with peer
access, copies, events, NCCL and Triton, right and wrong ones, judged and timed.

    python3 benchmarks/gpu/run.py "python=benchmarks/gpu/several.py --json" --out DIR     # on the cards' machine

Exits with 1 if a verdict is another than ``CARDS`` of ``tests/gpus/judged.py`` says. NVLink multicast stays off.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# Of this process and the boxes; before torch and NCCL are loaded.
os.environ["NCCL_NVLS_ENABLE"] = "0"
os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch
from results import keep

from grader.device_kinds import board_of
from grader.errors import GraderError
from grader.judge.device import Device, make_device
from grader.judge.timekeeper import Baselines
from grader.sandbox.box import BoxMaker
from grader.sandbox.choose import make_boxes
from grader.sandbox.gpu import find_gpus, together
from tests.gpus.judged import CARDS, judged_on, told

NAME = "several_gpus"
BYTES = 1 << 30
TRIES = 5
# Judged in each kind of box that is there; the other sources in the first kind alone.
IN_EVERY_BOX = ("all_reduce/peer.cu", "all_reduce/peer.py", "all_reduce/nccl.cu")
KINDS = ("local", "bubblewrap", "docker")


def rates() -> dict[str, float]:
    """GB/s of copies between the first two cards, and of additions on one that read the other's memory."""
    here, there = (torch.ones(BYTES // 4, device=f"cuda:{gpu}") for gpu in (0, 1))
    back, forth = torch.empty_like(here), torch.empty_like(there)

    def both() -> None:
        forth.copy_(here, non_blocking=True)
        with torch.cuda.device(1):
            back.copy_(there, non_blocking=True)

    return {
        "0 to 1": _rate(lambda: forth.copy_(here), BYTES),
        "1 to 0": _rate(lambda: back.copy_(there), BYTES),
        "both ways": _rate(both, 2 * BYTES),
        "within 0": _rate(lambda: back.copy_(here), BYTES),
    }


def _rate(call: Callable[[], object], size: int) -> float:
    best = float("inf")
    for _ in range(TRIES):
        for gpu in (0, 1):
            torch.cuda.synchronize(gpu)
        began = time.perf_counter()
        call()
        for gpu in (0, 1):
            torch.cuda.synchronize(gpu)
        best = min(best, time.perf_counter() - began)
    return round(size / best / 1e9, 1)


@contextlib.contextmanager
def _boxes(kind: str) -> Iterator[BoxMaker | None]:
    """None if this host makes no such boxes."""
    try:
        boxes = make_boxes(kind)
    except GraderError as error:
        print(f"no {kind} boxes here: {error.message}", flush=True)
        yield None
        return
    yield boxes
    boxes.reap()


def rows(board: str, deadline: float) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    device = make_device(board, *(gpu.index for gpu in find_gpus()[:2]))
    device.baselines = ("eager",)  # type: ignore[misc]
    # By challenge: measured with the first source.
    known: dict[str, Baselines] = {}
    for number, kind in enumerate(KINDS):
        with _boxes(kind) as boxes:
            for name, wanted in CARDS.items() if boxes is not None else ():
                if number and name not in IN_EVERY_BOX:
                    continue
                if time.monotonic() > deadline:
                    print(f"{kind} {name}: no time left", flush=True)
                    continue
                row = _row(name, wanted.value, kind, boxes, device, known)
                found.append(row)
    return found


def _row(
    name: str, wanted: str, kind: str, boxes: BoxMaker, device: Device, known: dict[str, Baselines]
) -> dict[str, Any]:
    began, slug = time.monotonic(), name.partition("/")[0]
    row: dict[str, Any] = {"source": name, "box": kind, "wanted": wanted}
    try:
        report = judged_on(device, name, boxes, baselines=known.get(slug))
    except GraderError as error:
        row |= {"verdict": "none", "why": f"{error.message} {error.hint}"}
        said = [row["why"]]
    else:
        said = told(report)
        if report.workloads:
            known.setdefault(slug, {each.name: {**each.baselines_us} for each in report.workloads})
        row |= {
            "verdict": report.verdict.value,
            "us": {workload.name: workload.time_us for workload in report.workloads},
            "ci_us": {workload.name: workload.ci_us for workload in report.workloads},
            "baselines_us": {workload.name: workload.baselines_us for workload in report.workloads},
            "host_us": {workload.name: workload.host_us for workload in report.workloads},
            "remarks": list(report.remarks),
        }
    row["seconds"] = round(time.monotonic() - began, 1)
    mark = "as expected" if row["verdict"] == wanted else f"NOT {wanted}"
    print(f"{kind} {name}: {mark}, {row['seconds']} s", *said, sep="\n    ", flush=True)
    return row


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="keep the figures")
    parser.add_argument("--seconds", type=float, default=200.0, help="begin nothing after these")
    parser.add_argument("--gpu", help="ignored: it takes the first two")
    options = parser.parse_args()
    deadline = time.monotonic() + options.seconds
    gpus = find_gpus()
    if len(gpus) < 2:
        print("this host has fewer than two GPUs", file=sys.stderr)
        return 2
    board = board_of(together(gpus[:2]))
    print(f"board {board}; peer access {torch.cuda.can_device_access_peer(0, 1)}", flush=True)
    reached = rates()
    print(f"GB/s: {reached}", flush=True)
    made = rows(board, deadline)
    wrong = [row for row in made if row["verdict"] != row["wanted"]]
    if options.json:
        keep(NAME, {"gb_per_second": reached, "rows": made})
    print(f"{len(made)} judged, {len(wrong)} with another verdict than expected")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
