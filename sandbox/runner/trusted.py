"""Our own programs called like a submission: the host's control, and a reference as baseline."""

from __future__ import annotations

import ctypes
import sys
import time
import types
from collections.abc import Callable
from typing import Any

from binding import Binding
from host_binding import HostBinding


def control_call(binding: HostBinding, results: list[str], duration_us: float) -> Callable[[], None]:
    """Lasts ``duration_us`` by this clock, and touches every buffer as a kernel would.

    The rest of what the judge measures is a round's fixed cost.
    """

    def call() -> None:
        end = time.perf_counter() + duration_us * 1e-6
        for entry in binding.entries:
            if entry["kind"] == "buffer" and entry["nbytes"]:
                memory = binding.memory(entry)
                if entry["name"] in results:
                    ctypes.memset(ctypes.addressof(memory), 0, entry["nbytes"])
                else:
                    memory.raw  # noqa: B018 - reads it all
        while time.perf_counter() < end:
            pass

    return call


def load_reference(source: str, mode: str, function: str = "") -> Callable[..., Any]:
    """``function``, or else ``baseline`` or ``reference``. ``mode``: "eager", or "compile" for
    ``torch.compile``.
    """
    # torch.compile imports it by name.
    module = sys.modules["reference"] = types.ModuleType("reference")
    exec(compile(source, "reference.py", "exec"), module.__dict__)  # noqa: S102 - staff's own, in its own box
    own = module.__dict__.get("baseline") or module.__dict__["reference"]
    reference: Callable[..., Any] = module.__dict__[function] if function else own
    if mode == "compile":
        import torch

        # Static shapes are fastest, and each workload is timed alone.
        return torch.compile(reference, fullgraph=False, dynamic=False)
    return reference


def reference_call(reference: Callable[..., Any], binding: Binding, outputs: list[str]) -> Callable[[], None]:
    """Copies nothing."""
    values = {name: value for name, value in binding.tensors().items() if name not in outputs}
    kept: list[Any] = []

    def call() -> None:
        kept[:] = [reference(**values)]

    return call
