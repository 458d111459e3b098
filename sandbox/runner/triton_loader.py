"""Loads a Triton submission, on a GPU or in Triton's interpreter, and makes the interpreter behave."""

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
import warned
from binding import Binding, Call, MakeCall
from failure import SOURCE_NAME, printable
from timings import timed


# Products and sums become one instruction, as always; Triton 3.9 warns where nobody says so.
_FUSION = ("TRITON_DEFAULT_FP_FUSION", "1")


class LoadError(Exception):
    """The source loads, but is not a submission: no ``solve``, or one that takes other arguments."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class HostDriver:
    """What ``triton.autotune`` and common set-up code ask of a driver, answered for the interpreter.

    Plain Triton has no driver here and fails on the first autotuned kernel. Each configuration is run once, so that a
    configuration that is wrong, or an in-place kernel without ``restore_value``, is wrong here as it is on a GPU.
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
    """Names of kernels launched with a grid of zero programs: kept for a hint, never for a verdict."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def take(self) -> list[str]:
        names, self.names = self.names[:8], []
        return names

    def watch_compiler(self) -> None:
        """The same for kernels that are compiled: Triton skips an empty grid silently."""
        from triton.runtime.jit import JITFunction

        run = JITFunction.run

        def watched(this: Any, *args: Any, grid: Any, **kwargs: Any) -> Any:
            return run(this, *args, grid=self._noting(grid, getattr(this, "__name__", "kernel")), **kwargs)

        JITFunction.run = watched

    def _noting(self, grid: Any, name: str) -> Any:
        """``grid`` as it is, noting ``name`` when it is empty."""

        def noted(meta: Any) -> Any:
            found = grid(meta) if callable(grid) else grid
            if any(size == 0 for size in found):
                self.names.append(printable(str(name), 64))
            return found

        return noted

    def watch_interpreter(self) -> None:
        """Wrap the interpreter's grid so that an empty one is noticed; a Triton without this class is left alone."""
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
    """Import torch and Triton and set them up for a machine without a GPU. Done before the box is handed out."""
    os.environ["TRITON_INTERPRET"] = "1"
    import torch
    import triton
    import triton.language  # loaded now, so that the submission's import is free

    triton.runtime.driver.set_active(HostDriver())
    interpreted.round_as_gpu()
    empty_memory.use()
    # Under the gate nothing can be waited for, and many submissions end with this call.
    torch.cuda.synchronize = lambda device=None: None
    empty = EmptyLaunches()
    empty.watch_interpreter()
    _warm()
    warned.show_own_lines()
    return empty


def prepare_client() -> EmptyLaunches:
    """Import torch and Triton for the emulated GPU beside this process. Done before the box is handed out."""
    os.environ.setdefault(*_FUSION)
    import torch
    import triton
    import triton.language  # noqa: F401 - loaded now, so that the submission's import is free

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
    """Import torch and Triton for a GPU, which is not used yet. Done before the box is handed out."""
    os.environ.setdefault(*_FUSION)
    with timed("torch"):
        import torch  # noqa: F401 - loaded now, as what follows
    with timed("triton"):
        import triton.language  # noqa: F401

        large_kernels.use()
    with timed("headers"):
        host_compiler.use()


def prepare_compiler() -> EmptyLaunches:
    """Make all that was imported ready for the GPU, whose context exists already."""
    import torch
    import triton

    with timed("torch on the GPU"):
        torch.zeros(1, device="cuda")
    with timed("triton's driver"):
        triton.runtime.driver.active.get_current_device()  # compiles and loads Triton's own helper for the driver
    _name_by_version()
    with timed("a first kernel"):
        _warm("cuda")
    compiling.watch_triton()
    empty = EmptyLaunches()
    empty.watch_compiler()
    warned.show_own_lines()
    return empty


def _name_by_version() -> None:
    """Have compiled kernels cached under Triton's version, not under a hash of all its 400 MB: a box's cache is empty
    when it begins and ends with it."""
    import triton
    from triton.runtime import cache

    if hasattr(cache, "triton_key"):
        cache.triton_key = lambda: str(triton.__version__)


def _warm(device: str = "cpu") -> None:
    """Run a tiny kernel, so that the first case does not pay for what Triton imports, finds and patches lazily."""
    import torch
    import warm_kernel

    values = torch.zeros(4, device=device)
    warm_kernel.touch[(1,)](values, BLOCK=4)


def prepare_without_gpu() -> None:
    """Import torch and Triton for a GPU that is elsewhere. Done before there is a source."""
    os.environ.setdefault(*_FUSION)
    import torch  # noqa: F401 - loaded now, as what follows
    import triton.language  # noqa: F401

    large_kernels.use()
    _name_by_version()


def load_submission(message: dict[str, Any], descriptors: list[int]) -> MakeCall:
    """See ``main.py``. A descriptor is that of kernels which were compiled ahead. Raises what ``load`` raises."""
    if descriptors:
        with open(os.dup(descriptors[0]), "rb") as stream:
            stream.seek(0)  # it comes as its writer left it, at its end
            kernel_cache.unpack(stream)
    solve = load(message["source"], message["parameters"], message["declaration"])

    def make(binding: Binding) -> Call:
        values = list(binding.tensors().values())
        return lambda: solve(*values)

    return make


def load(source: str, parameters: list[str], wanted: str) -> Callable[..., Any]:
    """Import ``source`` as a module and return its ``solve``.

    The source is written to a file, because Triton reads the text of a kernel from its file. Raises whatever the
    module raises, and LoadError.
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
    if solve is None:
        raise LoadError(
            "The source defines no function 'solve'.", _instead_of_solve(module, parameters, wanted)
        )
    if not callable(solve):
        raise LoadError(f"'solve' is a {type(solve).__name__}, not a function.", f"Define: {wanted}")
    _check_arity(solve, parameters, wanted)
    return solve  # type: ignore[no-any-return]


def _instead_of_solve(module: Any, parameters: list[str], wanted: str) -> str:
    """A hint: the only function that could be called as ``solve`` is, if there is just one."""
    own = {it for it in vars(module).values() if inspect.isfunction(it) and it.__module__ == module.__name__}
    fitting = [it for it in own if _arity_error(it, parameters) is None]
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
    """Why ``function`` does not take that many arguments; empty where it does or where that cannot be known."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    try:
        signature.bind(*parameters)
    except TypeError as error:
        return error
    return None
