"""Loads a submission in CuTe DSL, on a GPU or the emulated one: a Python module with ``solve``."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from typing import Any

import compiling
import empty_memory
from binding import Binding, Call, MakeCall
from timings import timed
from triton_loader import load


def import_compiler() -> None:
    """Does not use a GPU."""
    # The cache outlives a process, and hints name files that no student sees.
    os.environ.setdefault("CUTE_DSL_DISABLE_FILE_CACHING", "1")
    os.environ.setdefault("CUTE_DSL_CACHE_DIR", os.path.join(os.environ.get("TMPDIR", "/tmp"), "cute"))  # noqa: S108
    with timed("torch"):
        import torch  # noqa: F401 - loaded now, like the rest
    with timed("cute"):
        import cutlass.cute
        import cutlass.cute.runtime  # noqa: F401


def prepare_compiler() -> None:
    """Needs the GPU's context."""
    import torch

    with timed("torch on the GPU"):
        torch.zeros(1, device="cuda")
    compiling.watch_cute()


def prepare_client() -> None:
    import emulated_cute

    emulated_cute.say_architecture()
    import_compiler()
    import torch

    emulated_cute.use()
    empty_memory.use()
    cuda: Any = torch.cuda
    cuda.synchronize = lambda device=None: None
    cuda.current_stream = lambda device=None: emulated_cute.DefaultStream()
    compiling.watch_cute()


def load_submission(message: dict[str, Any], descriptors: list[int]) -> MakeCall:
    solve = load(message["source"], message["parameters"], message["declaration"])
    around = _relayed() if "GRADER_GPU" in os.environ else contextlib.nullcontext

    def make(binding: Binding) -> Call:
        values = list(binding.tensors().values())

        def call() -> Any:
            with around():
                return solve(*values)

        return call

    return make


def _relayed() -> Callable[[], contextlib.AbstractContextManager[None]]:
    import emulated_cute

    return emulated_cute.call
