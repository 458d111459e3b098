"""Our own programs called like a submission: the host's control, and a reference as baseline."""

from __future__ import annotations

import ctypes
import sys
import time
import types
from collections.abc import Callable, Mapping
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


def reference_call(
    reference: Callable[..., Any], binding: Binding, outputs: list[str], encoded: Mapping[str, str]
) -> Callable[[], None]:
    """Copies nothing but inputs in ``encoded`` (their dtypes), whose decoding is part of each call."""
    values = {name: value for name, value in binding.tensors().items() if name not in outputs}
    kept: list[Any] = []

    def call() -> None:
        inputs = {name: _each(values[name], dtype) for name, dtype in encoded.items()}
        kept[:] = [reference(**{**values, **inputs})]

    return call


def _each(value: Any, dtype: str) -> Any:
    """None if an input is left out; a list if each GPU has one."""
    if isinstance(value, list):
        return [_each(one, dtype) for one in value]
    return None if value is None else decoded(value, dtype)


# By their four bits.
_FLOAT4 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0)


def decoded(stored: Any, dtype: str) -> Any:
    """As a reference gets it: float32, int8, int32 or int64."""
    import torch

    if dtype in ("int4", "float4_e2m1fn"):
        codes = torch.stack((stored & 15, stored >> 4), dim=-1).flatten(-2)
        if dtype == "int4":
            return (codes.to(torch.int8) ^ 8) - 8
        return torch.tensor(_FLOAT4, device=stored.device)[codes.int()]
    if dtype == "uint64":
        return stored.view(torch.int64)
    if dtype == "uint32":
        return stored.to(torch.int64) & 0xFFFFFFFF
    if dtype == "uint16":
        return stored.to(torch.int32) & 0xFFFF
    return stored.view(getattr(torch, dtype)).to(torch.float32)
