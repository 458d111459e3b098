"""Loads a Triton submission, on a GPU or in Triton's interpreter, which it makes like a GPU."""

from __future__ import annotations

import importlib.util
import inspect
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import compiling
import empty_memory
import host_compiler
import interpreted
import kernel_cache
import large_kernels
import several
import warned
from binding import Binding, Call, MakeCall
from failure import SOURCE_NAME, printable
from function_form import functions_of, solve_of
from timings import timed


# Triton's default; 3.9 warns if it is unset.
_FUSION = ("TRITON_DEFAULT_FP_FUSION", "1")


class LoadError(Exception):
    """No ``solve``, or one with other parameters."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class HostDriver:
    """Enough for ``triton.autotune`` and common set-up code, which fail without a driver.

    Each configuration runs once, so an in-place kernel without ``restore_value`` is wrong, as on a GPU.
    """

    class utils:  # noqa: N801 - the name that Triton's drivers have
        @staticmethod
        def get_device_properties(device: int = 0) -> dict[str, int]:
            return {"multiprocessor_count": 1, "max_shared_mem": 49152, "warpSize": 32}

    def get_benchmarker(self) -> Callable[..., list[float]]:
        def run_once(kernel_call: Callable[[], Any], quantiles: Any = None, **_: Any) -> list[float]:
            start = time.perf_counter()
            kernel_call()
            elapsed = (time.perf_counter() - start) * 1e3
            return [elapsed] * len(quantiles or (0.5, 0.2, 0.8))

        return run_once

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int | None = None) -> int:
        return 0

    def get_current_target(self) -> Any:
        from triton.backends.compiler import GPUTarget

        return GPUTarget("cpu", 0, 32)

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cpu")


class EmptyLaunches:
    """Kernels with an empty grid: a hint, never a verdict."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def take(self) -> list[str]:
        names, self.names = self.names[:8], []
        return names

    def watch_compiler(self) -> None:
        """Triton skips it silently."""
        from triton.runtime.jit import JITFunction

        run = JITFunction.run

        def watched(this: Any, *args: Any, grid: Any, **kwargs: Any) -> Any:
            return run(this, *args, grid=self._noting(grid, getattr(this, "__name__", "kernel")), **kwargs)

        JITFunction.run = watched

    def _noting(self, grid: Any, name: str) -> Any:

        def noted(meta: Any) -> Any:
            found = grid(meta) if callable(grid) else grid
            if any(size == 0 for size in found):
                self.names.append(printable(str(name), 64))
            return found

        return noted

    def watch_interpreter(self) -> None:
        from triton.runtime import interpreter

        executor = getattr(interpreter, "GridExecutor", None)
        if executor is None:
            return
        launch = executor.__call__

        def watched(this: Any, *args: Any, **kwargs: Any) -> Any:
            this.grid = self._noting(this.grid, getattr(this.fn, "__name__", "kernel"))
            return launch(this, *args, **kwargs)

        executor.__call__ = watched


def prepare_interpreter() -> EmptyLaunches:
    os.environ["TRITON_INTERPRET"] = "1"
    import torch
    import triton
    import triton.language  # so the submission's import is free

    triton.runtime.driver.set_active(HostDriver())
    interpreted.prepare_once()
    interpreted.round_as_gpu()
    empty_memory.use()
    # Many submissions end with this call; there is no GPU.
    torch.cuda.synchronize = lambda device=None: None
    empty = EmptyLaunches()
    empty.watch_interpreter()
    _warm()
    warned.show_own_lines()
    return empty


def prepare_client() -> EmptyLaunches:
    os.environ.setdefault(*_FUSION)
    import torch
    import triton
    import triton.language  # noqa: F401 - loaded now: the submission's import costs nothing

    import emulated_triton

    emulated_triton.use()
    empty_memory.use()
    large_kernels.use()
    torch.cuda.synchronize = lambda device=None: None
    _name_by_version()
    _warm()
    empty = EmptyLaunches()
    empty.watch_compiler()
    warned.show_own_lines()
    return empty


def import_compiler() -> None:
    """Does not use the GPU."""
    os.environ.setdefault(*_FUSION)
    with timed("torch"):
        import torch  # noqa: F401 - loaded now, like the rest
    with timed("triton"):
        import triton.language  # noqa: F401

        large_kernels.use()
    with timed("headers"):
        host_compiler.use()


def prepare_compiler() -> EmptyLaunches:
    """Needs the GPU's context."""
    import torch
    import triton

    with timed("torch on the GPU"):
        torch.zeros(1, device="cuda")
    with timed("triton's driver"):
        triton.runtime.driver.active.get_current_device()  # compiles and loads Triton's driver helper
    _name_by_version()
    with timed("a first kernel"):
        _warm("cuda")
    compiling.watch_triton()
    empty = EmptyLaunches()
    empty.watch_compiler()
    warned.show_own_lines()
    return empty


def _name_by_version() -> None:
    """Not by a hash of Triton's 400 MB: the cache ends with the box."""
    import triton
    from triton.runtime import cache

    if hasattr(cache, "triton_key"):
        cache.triton_key = lambda: str(triton.__version__)


def _warm(device: str = "cpu") -> None:
    """Else the first case pays for Triton's lazy imports."""
    import torch
    import warm_kernel

    values = torch.zeros(4, device=device)
    warm_kernel.touch[(1,)](values, BLOCK=4)


def prepare_without_gpu() -> None:
    """For a GPU on another machine."""
    os.environ.setdefault(*_FUSION)
    import torch  # noqa: F401 - loaded now, like the rest
    import triton.language  # noqa: F401

    large_kernels.use()
    _name_by_version()


def load_submission(message: dict[str, Any], descriptors: list[int]) -> MakeCall:
    """A descriptor has kernels compiled ahead. Raises what ``load`` raises."""
    if descriptors:
        with open(os.dup(descriptors[0]), "rb") as stream:
            stream.seek(0)
            kernel_cache.unpack(stream)
    solve = load(message["source"], message["parameters"], message["declaration"], message.get("autograd"))

    begin = _several(message.get("gpus", 1))

    def make(binding: Binding) -> Call:
        values = list(binding.tensors().values())

        def call() -> Any:
            begin()
            return solve(*values)

        return call

    return make


def _several(gpus: int) -> Callable[[], None]:
    """Returns a function that chooses the first GPU again."""
    if gpus == 1:
        return lambda: None
    if "GRADER_GPU" in os.environ:
        import emulated_triton

        return several.use(gpus, emulated_triton.choose_gpu)
    if os.environ.get("TRITON_INTERPRET") == "1":
        return several.use(gpus)
    import torch

    return lambda: torch.cuda.set_device(0)


def load(
    source: str, parameters: list[str], wanted: str, form: dict[str, Any] | None = None
) -> Callable[..., Any]:
    """Returns ``solve``. ``form``: see ``function_form``. Writes a file, because Triton reads a kernel's
    text. Raises LoadError, and whatever the module raises.
    """
    path = Path(os.environ.get("TMPDIR", "/tmp")) / SOURCE_NAME  # noqa: S108 - the box's own tmpfs
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("solution", path)
    if spec is None or spec.loader is None:
        raise LoadError("The source cannot be imported.", "")
    module = importlib.util.module_from_spec(spec)
    sys.modules["solution"] = module
    spec.loader.exec_module(module)
    solve = getattr(module, "solve", None)
    if solve is None and form is not None:
        found = functions_of(module)
        if len(found) == 1:
            return solve_of(found[0], form, parameters)
        raise LoadError(
            f"The source defines {'no' if not found else len(found)} torch.autograd.Function and no function 'solve'.",
            f"Define one class whose forward takes ctx, {', '.join(form['forward'])}; or: {wanted}",
        )
    if solve is None:
        raise LoadError(
            "The source defines no function 'solve'.", _instead_of_solve(module, parameters, wanted)
        )
    if not callable(solve):
        raise LoadError(f"'solve' is a {type(solve).__name__}, not a function.", f"Define: {wanted}")
    _check_arity(solve, parameters, wanted)
    return solve  # type: ignore[no-any-return]


def _instead_of_solve(module: Any, parameters: list[str], wanted: str) -> str:
    """The only function with these parameters, if any."""
    own = {
        value
        for value in vars(module).values()
        if inspect.isfunction(value) and value.__module__ == module.__name__
    }
    fitting = [function for function in own if _arity_error(function, parameters) is None]
    return f"Rename '{fitting[0].__name__}' to 'solve'." if len(fitting) == 1 else f"Define: {wanted}"


def _check_arity(solve: Callable[..., Any], parameters: list[str], wanted: str) -> None:
    error = _arity_error(solve, parameters)
    if error is not None:
        raise LoadError(
            f"'solve{inspect.signature(solve)}' cannot be called with the {len(parameters)} arguments of this "
            f"challenge: {error}.",
            f"Define: {wanted}",
        ) from error


def _arity_error(function: Callable[..., Any], parameters: list[str]) -> TypeError | None:
    """None if it takes them, or if that is unknown."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    try:
        signature.bind(*parameters)
    except TypeError as error:
        return error
    return None
