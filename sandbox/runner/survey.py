"""Notes torch's kernels and the resources of Triton's in an extra call, not timed.

Only a hint: a submission can hide anything. It misses threads that already ran, replayed CUDA graphs, and
libraries called without torch.
"""

from __future__ import annotations

import contextlib
import re
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

MOST_OPERATIONS = 8
MOST_KERNELS = 16
NAME_CHARS = 64
# Besides views and "empty".
NO_KERNEL = {
    "new_empty", "new_empty_strided", "set_", "resize_", "resize_as_", "detach_", "record_stream", "_unsafe_view",
    "_local_scalar_dense", "_reshape_alias", "lift", "is_pinned", "_pin_memory",
}  # fmt: skip
LOCAL_WORD_BYTES = 4
# See grader.judge.messages.
OTHER_CHARACTERS = re.compile(r"[^A-Za-z0-9_.<>, ]")


class TorchSurvey(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """``watching`` wraps a call; ``seen`` returns the notes."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        on_gpu = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
        self._device = "cuda" if on_gpu else "cpu"
        self._operations: dict[str, None] = {}
        self._kernels: dict[str, dict[str, Any]] = {}
        self._in_triton = 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Skipping would import torch.compile: 0.7 s."""
        return False

    def watching(self, call: Callable[[], Any]) -> Callable[[], Any]:

        def watched() -> Any:
            with self._around_triton(), self._in_threads(), self:
                return call()

        return watched

    def seen(self) -> dict[str, Any]:
        """In order of first use."""
        names = [*(["torch.compile"] if _compiled() else []), *self._operations]
        return {"library_ops": names[:MOST_OPERATIONS], "kernels": [*self._kernels.values()][:MOST_KERNELS]}

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        if not self._in_triton and _starts_kernel(function) and self._touches((args, result)):
            self._operations.setdefault(str(function.overloadpacket)[:NAME_CHARS])
        return result

    def _touches(self, values: Any) -> bool:
        if isinstance(values, torch.Tensor):
            return values.device.type == self._device
        return isinstance(values, (list, tuple)) and any(self._touches(value) for value in values)

    @contextlib.contextmanager
    def _around_triton(self) -> Iterator[None]:
        """Excludes Triton's own use of torch (copies, flushes), not an interpreted kernel's."""
        from triton.runtime import autotuner, interpreter, jit

        executor = interpreter.GridExecutor
        # If the copying functions are renamed, a whole launch is Triton's.
        copies = [name for name in ("_init_args_hst", "_restore_args_dev") if hasattr(executor, name)]
        launches = [(autotuner.Autotuner, "run"), (jit.JITFunction, "run")]
        launches += [(executor, name) for name in copies or ["__call__"]]
        wrapped = [(owner, name, self._launching) for owner, name in launches]
        if copies:
            wrapped.append((executor, "__call__", self._interpreting))
        before = [(owner, name, getattr(owner, name)) for owner, name, _ in wrapped]
        for owner, name, wrap in wrapped:
            setattr(owner, name, wrap(getattr(owner, name)))
        try:
            yield
        finally:
            for owner, name, launch in before:
                setattr(owner, name, launch)

    @contextlib.contextmanager
    def _in_threads(self) -> Iterator[None]:
        """A mode covers only its own thread."""
        run = threading.Thread.run

        def watched(thread: threading.Thread) -> None:
            with self:
                run(thread)

        threading.Thread.run = watched  # type: ignore[method-assign,assignment]
        try:
            yield
        finally:
            threading.Thread.run = run  # type: ignore[method-assign]

    def _launching(self, launch: Callable[..., Any]) -> Callable[..., Any]:
        def launched(this: Any, *args: Any, **kwargs: Any) -> Any:
            self._in_triton += 1
            try:
                kernel = launch(this, *args, **kwargs)
            finally:
                self._in_triton -= 1
            self._note(kernel)
            return kernel

        return launched

    def _interpreting(self, launch: Callable[..., Any]) -> Callable[..., Any]:
        def interpreted(this: Any, *args: Any, **kwargs: Any) -> Any:
            outside, self._in_triton = self._in_triton, 0
            try:
                return launch(this, *args, **kwargs)
            finally:
                self._in_triton = outside

        return interpreted

    def _note(self, kernel: Any) -> None:
        """Does nothing if Triton does not say."""
        registers, words = getattr(kernel, "n_regs", None), getattr(kernel, "n_spills", None)
        if not isinstance(registers, int):
            return
        name = OTHER_CHARACTERS.sub("_", str(getattr(kernel, "name", "kernel"))[:NAME_CHARS]) or "kernel"
        self._kernels[name] = {
            "name": name,
            "registers": registers,
            "shared_bytes": int(getattr(getattr(kernel, "metadata", None), "shared", 0) or 0),
            "local_bytes": LOCAL_WORD_BYTES * words if isinstance(words, int) else 0,
        }


def _starts_kernel(function: Any) -> bool:
    if (
        function.namespace != "aten"
        or getattr(function, "is_view", False)
        or torch.Tag.inplace_view in function.tags
    ):
        return False
    name = function.overloadpacket.__name__
    return name not in NO_KERNEL and not name.startswith(("empty", "sym_"))


def _compiled() -> bool:
    """torch.compile made kernels: a compiled call shows few operations, or none."""
    dynamo = sys.modules.get("torch._dynamo.utils")
    return dynamo is not None and bool(dynamo.counters["frames"]["ok"])
