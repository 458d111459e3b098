"""Processor time that right but slow kernels need for a case in Triton's interpreter.

There each program of a grid costs about a millisecond. ``limits.CASE_SECONDS`` and the challenges' limits come from
this. The kernels are the staff's solutions with the smallest blocks and tiles that students use: 64 elements, tiles
of 16 x 16, one row a program. Each case and each workload of the board ``cpu`` goes through the judge, in a plain
process.

Usage: python benchmarks/slow_kernels.py [SLUG ...] [--json]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).parent))

from results import keep, merged

from grader import limits
from grader.challenge.catalogue import Catalogue, find_catalogue
from grader.judge.arena import Arena
from grader.judge.host_device import HostDevice
from grader.judge.oracle import workload_case
from grader.judge.request import CPU, Request
from grader.judge.runner_client import Answer, RunnerClient
from grader.judge.session import Session
from grader.languages import Language
from grader.sandbox.local_box import LocalBoxes

# As much as a challenge may give a case.
MOST_SECONDS = 300.0
# A limit is this multiple of what the slowest needs here: students' processors may be half as quick.
MARGIN = 2.0

_BLOCK_64 = {"BLOCK = 1024": "BLOCK = 64"}
_ONE_BLOCK = {"BLOCK = 4096": "BLOCK = 64", "BLOCKS_PER_PROGRAM = 8": "BLOCKS_PER_PROGRAM = 1"}
_ROWS = {"ONE_BLOCK = 8192": "ONE_BLOCK = 0"}
_TILES_16 = {"BLOCK_M, BLOCK_N, BLOCK_K = 64, 64, 32": "BLOCK_M, BLOCK_N, BLOCK_K = 16, 16, 16"}
_HALF_TILES_16 = {
    '"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 32': '"BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 16'
}
# By challenge and name: text of the solution, and its replacement.
VARIANTS: dict[str, dict[str, Mapping[str, str]]] = {
    "vector_add": {"blocks of 64": _BLOCK_64},
    "relu": {"blocks of 64": _BLOCK_64},
    "saxpy": {"blocks of 64": _BLOCK_64},
    "gelu": {"blocks of 64": {"BLOCK = 2048": "BLOCK = 64"}},
    "conv1d": {"blocks of 64": _BLOCK_64},
    "dot": {"blocks of 64": _ONE_BLOCK},
    "reduce_sum": {"blocks of 64": _ONE_BLOCK},
    "histogram": {
        "blocks of 64": {"BLOCK = 2048": "BLOCK = 64", "BLOCKS_PER_PROGRAM = 16": "BLOCKS_PER_PROGRAM = 1"}
    },
    "argmax_rows": {
        "a row a program": {"tile_rows = TILE // block": "tile_rows = 1"},
        "a row a program, blocks of 64": {
            "TILE = 4096": "TILE = 64",
            "tile_rows = TILE // block": "tile_rows = 1",
        },
    },
    "softmax": {"a row a program, blocks of 64": {**_ROWS, "LONG_BLOCK = 8192": "LONG_BLOCK = 64"}},
    "layernorm": {"a row a program, blocks of 64": {**_ROWS, "LONG_BLOCK = 4096": "LONG_BLOCK = 64"}},
    "rmsnorm": {"a row a program, blocks of 64": {**_ROWS, "LONG_BLOCK = 4096": "LONG_BLOCK = 64"}},
    "layernorm_backward": {
        "a row a program, blocks of 64": {
            **_ROWS,
            "LONG_BLOCK = 4096": "LONG_BLOCK = 64",
            "SUM_ROWS, SUM_COLS = 64, 64": "SUM_ROWS, SUM_COLS = 16, 16",
        }
    },
    "spmv_csr": {"a row a program": {"at_once = TILE // lanes": "at_once = 1"}},
    "transpose": {"tiles of 16 x 16": {"TILE = 64": "TILE = 16"}},
    "matmul": {
        "tiles of 16 x 16": _TILES_16,
        "tiles of 16 x 16, a column of a times a row of b at a time": {
            "BLOCK_M, BLOCK_N, BLOCK_K = 64, 64, 32": "BLOCK_M, BLOCK_N, BLOCK_K = 16, 16, 1",
            'tl.dot(left, right, total, input_precision="ieee")': "total + left * right",
        },
    },
    "masked_scaled_matmul": {"tiles of 16 x 16": _TILES_16},
    "matmul_fp16": {"tiles of 16 x 16": _HALF_TILES_16},
    "matmul_bf16": {"tiles of 16 x 16": _HALF_TILES_16},
    "attention": {
        "tiles of 16 x 16": {
            "{16: (128, 64), 32: (64, 64), 64: (64, 32), 128: (64, 32), 256: (32, 16)}[width]": "16, 16"
        }
    },
    "causal_attention_fp16": {
        "tiles of 16 x 16": {"(128, 64, 8, 3) if width <= 128 else (64, 32, 8, 2)": "16, 16, 4, 1"}
    },
    "conv2d": {
        "tiles of 16 x 16": {"TILE_ROWS, TILE_COLUMNS = 16, 128": "TILE_ROWS, TILE_COLUMNS = 16, 16"},
        "a row a program": {"TILE_ROWS, TILE_COLUMNS = 16, 128": "TILE_ROWS, TILE_COLUMNS = 1, 64"},
    },
    "inclusive_scan": {"tiles of 256": {"TILE = 8192": "TILE = 256"}},
    "stream_compact": {"tiles of 256": {"TILE = 4096": "TILE = 256"}},
}


@dataclass
class Counting:
    """Counts the processor time of each call, by the judge's own measure."""

    seconds: list[float]

    def install(self) -> None:
        call = RunnerClient.call

        def counted(
            client: RunnerClient, arena: Arena, inputs: Mapping[str, torch.Tensor], seconds: float
        ) -> Answer:
            before = client.box.cpu_seconds()
            try:
                return call(client, arena, inputs, seconds)
            finally:
                self.seconds.append(client.box.cpu_seconds() - before)

        RunnerClient.call = counted  # type: ignore[method-assign]


def variant(source: str, changes: Mapping[str, str]) -> str:
    for old, new in changes.items():
        if old not in source:
            raise SystemExit(f"the solution has no longer: {old}")
        source = source.replace(old, new)
    return source


def measure(catalogue: Catalogue, slug: str, name: str, counted: list[float]) -> dict[str, Any]:
    challenge = catalogue.load(slug)
    own = challenge.manifest.limits
    manifest = challenge.manifest.model_copy(
        update={"limits": own.model_copy(update={"cpu_seconds": MOST_SECONDS})}
    )
    source = variant(
        (catalogue.root / f"reference/{slug}/staff/solution.py").read_text(), VARIANTS[slug][name]
    )
    timed = [workload_case(challenge, workload) for workload in manifest.workloads if workload.on == CPU]
    cases = [*challenge.suite("cpu"), *timed]
    request = Request(
        replace(challenge, manifest=manifest), Language.TRITON, source, CPU, b"benchmark", cases, timing=False
    )
    counted.clear()
    report = Session(request, HostDevice(), LocalBoxes(), lambda _: None, lambda: None).run().report
    costs = sorted(zip(counted, (case.name for case in cases), strict=False), reverse=True)
    worst = costs[0][0] if costs else 0.0
    return {
        "kernel": f"{slug}: {name}",
        "verdict": report.verdict.value,
        "seconds_in_all": round(sum(counted), 1),
        "slowest": {case: round(seconds, 2) for seconds, case in costs[:3]},
        "limit": own.cpu_seconds,
        "enough": MARGIN * worst <= own.cpu_seconds,
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("slugs", nargs="*")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    limits.BOX_WALL_SECONDS = 7200.0  # of one box over all its cases; nothing is to end early here
    catalogue, counted, rows = find_catalogue(), list[float](), []
    Counting(counted).install()
    for slug in options.slugs or VARIANTS:
        for name in VARIANTS[slug]:
            rows.append(row := measure(catalogue, slug, name, counted))
            print(row, flush=True)
            if options.json:
                keep(
                    "slow_kernels",
                    {
                        "unit": "s of processor time",
                        "margin": MARGIN,
                        "rows": merged("slow_kernels", rows, "kernel"),
                    },
                )


if __name__ == "__main__":
    main()
