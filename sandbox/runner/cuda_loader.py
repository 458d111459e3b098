"""Loads a compiled CUDA submission from a descriptor."""

from __future__ import annotations

import contextlib
import ctypes
import glob
import os
import sys
from collections.abc import Callable
from typing import Any

import gated
from binding import Binding, Call, MakeCall
from cuda_driver import error_of
from cuda_binding import CudaBinding

LIBRARY_NAME = "solution.so"


_OF_TORCH = (
    "libc10.so",
    "libtorch_cpu.so",
    "libc10_cuda.so",
    "libtorch_cuda.so",
    "libtorch.so",
    "libtorch_python.so",
)


def load_submission(message: dict[str, Any], descriptors: list[int]) -> MakeCall:
    if message.get("extension"):
        show_torch()
    for name in message.get("libraries", ()):
        ctypes.CDLL(_path_of(name), mode=ctypes.RTLD_GLOBAL)
    library = Library(descriptors[0])

    def make(binding: Binding) -> Call:
        assert isinstance(binding, CudaBinding), "a CUDA library takes device memory"
        return library.make_call(binding)

    return make


def show_torch() -> None:
    """Let a library find torch's functions: a compiler's box has no torch to link."""
    import torch

    folder = os.path.join(os.path.dirname(torch.__file__), "lib")
    for name in _OF_TORCH:
        if os.path.exists(path := os.path.join(folder, name)):
            ctypes.CDLL(path, mode=os.RTLD_GLOBAL | os.RTLD_NOW)


class CallFailed(Exception):
    """``name``: such as cudaErrorInvalidConfiguration."""

    def __init__(self, code: int, name: str, message: str) -> None:
        super().__init__(message)
        self.code, self.name = code, name

    @property
    def out_of_memory(self) -> bool:
        return self.name == "cudaErrorMemoryAllocation"


class Library:
    def __init__(self, descriptor: int) -> None:
        """Raises OSError, or CallFailed if its kernels do not fit this device."""
        library = ctypes.CDLL(_written(descriptor))
        self._entry = library.grader_entry
        self._entry.restype, self._entry.argtypes = ctypes.c_int, [ctypes.POINTER(ctypes.c_void_p)]
        self._texts = {name: getattr(library, name, None) for name in ("grader_error", "grader_error_name")}
        for function in self._texts.values():
            if function is not None:
                function.restype, function.argtypes = ctypes.c_char_p, [ctypes.c_int]
        with contextlib.suppress(ValueError):  # then it has no wrappers either
            gated.register(_Waits(library))
        if prepare := getattr(library, "grader_prepare", None):
            self._check(prepare())

    def make_call(self, binding: CudaBinding) -> Callable[[], None]:
        values = binding.c_values()
        pointers = (ctypes.c_void_p * max(len(values), 1))(*(ctypes.addressof(value) for value in values))

        def call(_kept: Any = values) -> None:
            self._check(self._entry(pointers))

        return call

    def _check(self, code: int) -> None:
        if code != 0:
            driver_error = error_of(code)
            name = self._text("grader_error_name", code) or driver_error.name
            raise CallFailed(code, name, self._text("grader_error", code) or str(driver_error))

    def _text(self, function: str, code: int) -> str:
        found = self._texts[function]
        return (found(code) or b"").decode(errors="replace") if found is not None else ""


class _Waits:
    """See ``gated.Waits``. Raises ValueError if ``compile.py`` wrapped none."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._gate = ctypes.c_void_p.in_dll(library, "grader_gate")
        self._round = ctypes.c_uint32.in_dll(library, "grader_gate_round")
        self._left_out = ctypes.c_int.in_dll(library, "grader_waits_left_out")

    def begin(self, gate: ctypes.c_uint32, number: int) -> None:
        self._left_out.value, self._round.value = 0, number
        self._gate.value = ctypes.addressof(gate)

    def end(self) -> bool:
        self._gate.value = None
        return bool(self._left_out.value)


def _path_of(library: str) -> str:
    """In one of NVIDIA's wheels, or a name for the linker."""
    for folder in sys.path:
        for path in glob.glob(os.path.join(folder, "nvidia", "*", "lib", library)):
            return path
    return library


def _written(descriptor: int) -> str:
    """The dynamic linker takes only paths."""
    path = os.path.join(os.environ.get("TMPDIR", "/tmp"), LIBRARY_NAME)  # noqa: S108 - the box's own tmpfs
    with open(path, "wb") as file:
        left, offset = os.fstat(descriptor).st_size, 0
        while left > 0:
            data = os.pread(descriptor, min(left, 1 << 20), offset)
            if not data:
                raise OSError("the library is shorter than its descriptor says")
            file.write(data)
            left, offset = left - len(data), offset + len(data)
    return path
