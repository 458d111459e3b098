"""Runs the runner under Nsight Compute, which counts, or compute-sanitizer, which checks.

Their findings come from the submission's box, so they decide nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import cuda_driver as driver
from binding import Call, Entry, Failure
from cuda_binding import CudaBinding

_UNDER_TOOL = "GRADER_UNDER_TOOL"


def under_tool() -> bool:
    return _UNDER_TOOL in os.environ


def become(tool: str, address: str) -> NoReturn:
    """Replace this process by ``tool``, a JSON list with its options, which starts the runner."""
    words = json.loads(tool)
    kind, _, number = address.partition(":")
    if kind == "fd":
        os.set_inheritable(int(number), True)
    os.environ[_UNDER_TOOL] = "1"
    runner = str(Path(__file__).resolve().with_name("main.py"))
    os.execv(words[0], [*words, sys.executable, "-I", runner, address])  # noqa: S606


class OwnMemoryBinding(CudaBinding):
    """Calls with private copies of the arrays, whose bounds tools know to the byte. Results stay in the
    copies. Raises ValueError for several GPUs.
    """

    def __init__(self, entries: list[Entry], descriptors: list[int]) -> None:
        if any("gpu" in entry for entry in entries):
            raise ValueError(
                "a tool of the CUDA toolkit runs calls on one GPU only; this challenge has several"
            )
        super().__init__(entries, descriptors)
        self._copies = {
            entry["name"]: driver.allocate(entry["nbytes"])
            for entry in entries
            if entry["kind"] == "buffer" and entry["nbytes"]
        }

    def close(self) -> None:
        while self._copies:
            with contextlib.suppress(driver.CudaError):  # a fault has ended the context
                driver.free(self._copies.popitem()[1])
        super().close()

    def address(self, entry: Entry) -> int:
        return self._copies.get(entry["name"]) or super().address(entry)

    def run(self, number: int, call: Call, queued: Callable[[], None]) -> Failure | None:
        for entry in self.entries:
            if (copy := self._copies.get(entry["name"])) is not None:
                driver.copy(copy, super().address(entry), entry["nbytes"])
        return super().run(number, call, queued)
