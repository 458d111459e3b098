"""Imports and set-up that a runner does before it says hello, so that a box can wait ready for its submission."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from timings import timed

if TYPE_CHECKING:
    from triton_loader import EmptyLaunches

# Of an emulated GPU in a process of its own: what the runner beside it preloads, and whether kernels are Triton's.
RELAYED = {"emulated-triton": ("triton-client", True), "emulated-cute": ("cute-client", False)}
# Bytes that kernels can print in one call, the same as a box's limit. A ring: older output is lost.
_PRINTF_BYTES = 1 << 20


def preload(wanted: str, before_gpu: Callable[[], None] = lambda: None) -> EmptyLaunches | None:
    """Call ``before_gpu`` just before the first use of a GPU, after everything that needs none. ``wanted``:

    - ``triton``: torch and Triton's interpreter, for a machine without a GPU;
    - ``triton-gpu``: torch, Triton and the GPU's context;
    - ``torch-gpu``: torch and the context, for baselines;
    - ``torch``: torch alone;
    - ``cuda``: the context alone, for CUDA submissions and the control;
    - ``emulated``: the emulated GPU;
    - ``triton-client``: torch, and Triton for the emulated GPU in the neighbouring process;
    - ``cute-gpu`` and ``cute-client``: the same two with CuTe DSL in place of Triton;
    - empty: nothing.
    """
    # What these imports make stays. Looking for garbage meanwhile takes a sixth of their time.
    gc.disable()
    try:
        return _preload(wanted, before_gpu)
    finally:
        gc.enable()


def _preload(wanted: str, before_gpu: Callable[[], None]) -> EmptyLaunches | None:
    if wanted == "triton":
        from triton_loader import prepare_interpreter

        return prepare_interpreter()
    if wanted == "emulated":
        import emulated_loader  # noqa: F401
    if wanted == "triton-client":
        caches_in_box()
        from triton_loader import prepare_client

        return prepare_client()
    if wanted == "triton-gpu":
        caches_in_box()
        from triton_loader import import_compiler

        import_compiler()
    if wanted == "cute-client":
        caches_in_box()
        import cute_loader

        cute_loader.prepare_client()
    if wanted == "cute-gpu":
        caches_in_box()
        import cute_loader

        cute_loader.import_compiler()
    if wanted in ("torch", "torch-gpu"):
        caches_in_box()
        with timed("torch"):
            import torch
    if wanted in ("cuda", "triton-gpu", "cute-gpu", "torch-gpu"):
        before_gpu()
        with timed("context"):
            _make_context()
    if wanted == "triton-gpu":
        import gated
        from triton_loader import prepare_compiler

        empty = prepare_compiler()
        gated.watch_torch()
        return empty
    if wanted == "cute-gpu":
        import gated

        cute_loader.prepare_compiler()
        gated.watch_torch()
    if wanted == "torch-gpu":
        with timed("torch on the GPU"):
            torch.zeros(1, device="cuda")
    return None


def _make_context() -> None:
    # Before torch uses the GPU: the limit on kernels' output must be set before any module is loaded there.
    from cuda_driver import make_context

    make_context(_PRINTF_BYTES)


def caches_in_box() -> None:
    """Keep compiled kernels in the box, so the next submission finds none of them."""
    folder = os.environ.get("TMPDIR", "/tmp")  # noqa: S108 - the box's own
    os.environ.pop("TRITON_INTERPRET", None)
    os.environ.setdefault("TRITON_CACHE_DIR", os.path.join(folder, "triton"))
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", os.path.join(folder, "inductor"))
    # A pool of compiling processes would outlive the compilation and use up the box's processes.
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
