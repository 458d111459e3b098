"""A runner's imports and set-up before its hello, so a box can wait ready."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from timings import timed

if TYPE_CHECKING:
    from triton_loader import EmptyLaunches

# What the runner of an emulated GPU preloads, and whether it runs Triton.
RELAYED = {"emulated-triton": ("triton-client", True), "emulated-cute": ("cute-client", False)}
# Preloaded without a folder and a GPU: a fork inherits all of it.
FORKABLE = ("triton", "emulated")
# As a box's limit. A ring loses older output.
_PRINTF_BYTES = 1 << 20


def preload(wanted: str, before_gpu: Callable[[], None] = lambda: None) -> EmptyLaunches | None:
    """Call ``before_gpu`` before the first use of a GPU. ``wanted``:

    - ``triton``: torch and Triton's interpreter;
    - ``triton-gpu``: torch, Triton and the GPU's context;
    - ``torch-gpu``: torch and the context, for baselines;
    - ``torch``;
    - ``cuda``: only the context, for CUDA and the control;
    - ``emulated``: the emulated GPU;
    - ``triton-client``: torch, and Triton for the emulated GPU;
    - ``cute-gpu``, ``cute-client``: the same with CuTe DSL;
    - empty: nothing.
    """
    # Garbage collection takes a sixth of the imports' time.
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
    # The limit on kernels' output must precede any module on the GPU.
    from cuda_driver import make_context

    make_context(_PRINTF_BYTES)


def caches_in_box() -> None:
    """The next submission must not find compiled kernels."""
    folder = os.environ.get("TMPDIR", "/tmp")  # noqa: S108 - the box's own
    os.environ.pop("TRITON_INTERPRET", None)
    os.environ.setdefault("TRITON_CACHE_DIR", os.path.join(folder, "triton"))
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", os.path.join(folder, "inductor"))
    # Compiling processes would outlive the compilation and use up the box's processes.
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
