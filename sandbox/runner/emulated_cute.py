"""CuTe DSL in a submission's process, for the emulated GPU: the real compiler down to PTX, without a driver.

Its host code calls the runtime by private names (``_cudaLaunchKernelEx``), which are functions here that ask
the GPU in the neighbouring process (``emulated_relay.py``).

Tensors are in the host's memory, but CuTe sees them at the GPU's addresses: the judge's by the binding,
others by memory that lasts for the call and is copied around each launch.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import empty_memory
from emulated import part
from emulated_triton import GpuError, NotOnThisGpu, gpu

device, engine = part("device"), part("engine")
MESSAGE, MISUSE = part("names").MESSAGE, part("names").MISUSE

_POINTER, _INT, _UNSIGNED, _SIZE = ctypes.c_void_p, ctypes.c_int, ctypes.c_uint, ctypes.c_size_t
_INVALID_VALUE, _NOT_SUPPORTED = 1, 801
# PTX of copies by tensor maps, which host code writes in the hardware's form.
_TENSOR_MAP = b".bulk.tensor."
# CUDA's enumerations: an H200's and a kernel's attributes, and a launch's.
_ATTRIBUTES = {8: 49152, 10: 32, 16: 132, 39: 2048, 75: 9, 76: 0, 81: 233472, 97: 232448, 106: 32}
_SHARED_SIZE = 1
_COOPERATIVE, _CLUSTER = 2, 4
# cudaLaunchConfig_t, and cudaLaunchAttribute's size and its value's offset.
_CONFIG = struct.Struct("<6IQQQI")
_ATTRIBUTE_BYTES, _VALUE_AT = 72, 8
# DLTensor: the offset of the device's kind, and CUDA's number.
_DEVICE_AT, _ON_CUDA = 8, 2


@dataclass(frozen=True)
class Kernel:
    module: int
    name: str
    shared: int
    layout: list[tuple[int, int]]


class DefaultStream:
    cuda_stream = 0

    def synchronize(self) -> None:
        pass


class Tensors:
    """A call's tensors outside the judge's buffers."""

    def __init__(self) -> None:
        # By address here: size, address there, and the storage, kept alive.
        self._known: dict[int, tuple[int, int, Any]] = {}

    def address(self, here: int) -> int | None:
        """On the GPU; None for memory that it does not know."""
        of_judge = [(at, size, there) for at, size, there in gpu().buffers]
        for at, size, there in [
            *of_judge,
            *((at, size, there) for at, (size, there, _) in self._known.items()),
        ]:
            if at <= here <= at + size and size:
                return there + here - at
        return None

    def place(self, tensor: Any) -> int:
        """The first element's address on the GPU."""
        here = tensor.data_ptr()
        if (known := self.address(here)) is not None or not here:
            return known or 0
        storage = tensor.untyped_storage()
        start, size = storage.data_ptr(), storage.nbytes()
        (there,) = struct.unpack("<Q", gpu().ask(device.ALLOCATE, struct.pack("<Q", size), "memory"))
        self._known[start] = (size, there, storage)
        return int(there + here - start)

    def bring(self) -> None:
        for here, (size, there, _) in self._known.items():
            contents = ctypes.string_at(here, size)
            if not contents:
                continue
            gpu().ask(device.COPY, device.COPY_HEAD.pack(there, 0, size, 1, 0) + contents, "a copy")
            if size <= empty_memory.MOST_BYTES and empty_memory.PATTERN[:4] in contents:
                gpu().ask(
                    device.UNWRITTEN, device.RANGE.pack(there, size) + empty_memory.PATTERN, "new memory"
                )

    def fetch(self) -> None:
        for here, (size, there, _) in self._known.items():
            if size:
                head = device.COPY_HEAD.pack(0, there, size, 2, 0)
                ctypes.memmove(here, gpu().ask(device.COPY, head, "a copy"), size)

    def release(self) -> None:
        known, self._known = self._known, {}
        for _, there, _ in known.values():
            gpu().ask(device.RELEASE, struct.pack("<Q", there), "a release")


_tensors = Tensors()
_kernels: list[Kernel] = []
# Compiled code cannot pass an exception on.
_error: Exception | None = None


@contextlib.contextmanager
def call() -> Iterator[None]:
    global _error
    _error = None
    try:
        yield
    except Exception:
        if _error is None:
            raise
    finally:
        _tensors.release()
    if _error is not None:
        raise _error


def say_architecture() -> None:
    os.environ["CUTE_DSL_ARCH"] = "sm_90a"
    os.environ["CUTE_DSL_LINEINFO"] = "1"


def _load(ptx: bytes, library: int) -> int:
    if _TENSOR_MAP in ptx:
        raise NotOnThisGpu(
            "the emulated GPU has no TMA descriptors for CuTe DSL: copy by threads on this board"
        )
    (module,) = struct.unpack("<I", gpu().ask(device.MODULE, b"//\n" + ptx, "the PTX of this kernel"))
    _POINTER.from_address(library).value = module + 1
    return 0


def _get_kernel(into: int, library: int, name: int) -> int:
    text, module = ctypes.string_at(name), library - 1
    facts = gpu().ask(device.KERNEL, struct.pack("<I", module) + text, f"the kernel {text.decode()}")
    words = struct.unpack(f"<{len(facts) // 4}I", facts)
    pairs = words[device.KERNEL_FACTS.size // 4 :]
    layout = list(zip(pairs[::2], pairs[1::2], strict=True))
    _kernels.append(Kernel(module, text.decode(), words[0], layout))
    _POINTER.from_address(into).value = len(_kernels)
    return 0


def _device(into: int) -> int:
    _INT.from_address(into).value = 0
    return 0


def _device_attribute(into: int, attribute: int, _device: int) -> int:
    if attribute not in _ATTRIBUTES:
        return _INVALID_VALUE
    _INT.from_address(into).value = _ATTRIBUTES[attribute]
    return 0


def _kernel_attribute(into: int, attribute: int, kernel: int, _device: int) -> int:
    _INT.from_address(into).value = _kernels[kernel - 1].shared if attribute == _SHARED_SIZE else 0
    return 0


def _set(*_: int) -> int:
    return 0


def _occupancy(into: int, kernel: int, threads: int, shared: int) -> int:
    used = _kernels[kernel - 1].shared + shared + 1024
    _INT.from_address(into).value = min(32, 2048 // max(threads, 1), _ATTRIBUTES[81] // used)
    return 0


def _launch_with(config: int, kernel: int, values: int) -> int:
    *shape, shared, _, attributes, count = _CONFIG.unpack(ctypes.string_at(config, _CONFIG.size))
    cooperative, cluster = 0, (1, 1, 1)
    for number in range(count):
        at = attributes + number * _ATTRIBUTE_BYTES
        kind, value = _INT.from_address(at).value, ctypes.string_at(at + _VALUE_AT, 12)
        if kind == _COOPERATIVE:
            (cooperative,) = struct.unpack_from("<i", value)
        elif kind == _CLUSTER:
            cluster = struct.unpack("<3I", value)
    return _launched(kernel, shape, shared, values, bool(cooperative), cluster)


def _launch(
    kernel: int, x: int, y: int, z: int, p: int, q: int, r: int, values: int, shared: int, _stream: int
) -> int:
    return _launched(kernel, [x, y, z, p, q, r], shared, values, False, (1, 1, 1))


def _launched(
    number: int, shape: list[int], shared: int, values: int, cooperative: bool, cluster: tuple[int, ...]
) -> int:
    x, y, z, *block = shape
    threads = block[0] * block[1] * block[2]
    if 0 in shape or threads > 1024 or block[2] > 64 or x >= 1 << 31 or max(y, z) > 65535:
        misused = device.MISUSED_HEAD.pack(MISUSE.BAD_SHAPE, 0, *shape)
        gpu().ask(MESSAGE.MISUSED, misused, "a launch")
        raise GpuError(_INVALID_VALUE, "a launch")
    kernel = _kernels[number - 1]
    pointers = (_POINTER * len(kernel.layout)).from_address(values)
    packed = [
        ctypes.string_at(pointer, size) for pointer, (_, size) in zip(pointers, kernel.layout, strict=True)
    ]
    name = kernel.name.encode()
    head = device.LAUNCH_HEAD.pack(
        kernel.module, len(name), cooperative, shared, *shape, *(max(1, side) for side in cluster), 0
    )
    _tensors.bring()
    body = head + name + engine.pack_arguments(kernel.layout, packed)
    gpu().ask(device.LAUNCH, body, f"the launch of {kernel.name}")
    _tensors.fetch()
    return 0


_Types = tuple[Any, ...]
# By name: function and argument types.
_RUNTIME: dict[str, tuple[Callable[..., int], _Types]] = {
    "_cudaLibraryGetKernel": (_get_kernel, (_POINTER, _SIZE, _POINTER)),
    "_cudaGetDevice": (_device, (_POINTER,)),
    "_cudaDeviceGetAttribute": (_device_attribute, (_POINTER, _INT, _INT)),
    "_cuKernelGetAttribute": (_kernel_attribute, (_POINTER, _INT, _SIZE, _INT)),
    "_cudaKernelSetAttributeForDevice": (_set, (_SIZE, _INT, _INT, _INT)),
    "_cudaFuncSetAttribute": (_set, (_SIZE, _INT, _INT)),
    "_cudaOccupancyMaxActiveBlocksPerMultiprocessor": (_occupancy, (_POINTER, _SIZE, _INT, _SIZE)),
    "_cudaLaunchKernelEx": (_launch_with, (_POINTER, _SIZE, _POINTER)),
    "_cudaLaunchKernel": (_launch, (_SIZE, *[_UNSIGNED] * 6, _POINTER, _SIZE, _SIZE)),
}
_LOAD_TYPES = (_POINTER, _POINTER, _POINTER, _POINTER, _UNSIGNED, _POINTER, _POINTER, _UNSIGNED)


def _callback(function: Callable[..., int], types: _Types) -> Any:
    """It returns a CUDA error and keeps the exception."""

    def answered(*values: int | None) -> int:
        global _error
        try:
            return function(*(value or 0 for value in values))
        except GpuError as error:
            _error = _error or error
            return error.code
        except Exception as error:
            _error = _error or error
            return _NOT_SUPPORTED

    return ctypes.CFUNCTYPE(_INT, *types)(answered)


def use() -> None:
    import cutlass.base_dsl.compiler as compiler
    import cutlass.cute.runtime as runtime
    import cutlass.cutlass_dsl.cuda_jit_executor as executor
    from cutlass.cutlass_dsl.cutlass import CutlassBaseDSL

    made = os.path.join(os.environ.get("TMPDIR", "/tmp"), "cute-ptx")  # noqa: S108 - the box's own
    os.makedirs(made, exist_ok=True)
    callbacks = {name: _callback(*row) for name, row in _RUNTIME.items()}
    kept: list[Any] = []
    jit, pipeline_of = compiler.Compiler.jit, CutlassBaseDSL.preprocess_pipeline

    def with_ptx(self: Any, pipeline: str, arch: str) -> str:
        text: str = pipeline_of(self, pipeline, arch)
        return text.replace("cubin-chip=", f"dump-ptx-path='{made}/kernels' cubin-chip=", 1)

    def with_runtime(self: Any, *args: Any, **kwargs: Any) -> Any:
        found = jit(self, *args, **kwargs)
        load = _callback(lambda library, *_: _load(ptx, library), _LOAD_TYPES)
        ptx = _taken(made)
        kept.append(load)
        for name, function in {**callbacks, "_cudaLibraryLoadData": load}.items():
            found.raw_register_runtime(name, ctypes.cast(function, _POINTER))
        return found

    CutlassBaseDSL.preprocess_pipeline = with_ptx
    compiler.Compiler.jit = with_runtime
    executor.CudaDialectJitCompiledFunction.num_devices = 1
    executor.CudaDialectJitModule.unload = lambda self: None
    _place_tensors(runtime)


def _taken(folder: str) -> bytes:
    """PTX written since the last time."""
    texts = []
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        with open(path, "rb") as file:
            texts.append(file.read())
        os.unlink(path)
    return b"\n".join(texts)


def _place_tensors(runtime: Any) -> None:
    import torch

    tensor_init, pointer_init = runtime._Tensor.__init__, runtime._Pointer.__init__
    address_of = ctypes.pythonapi.PyCapsule_GetPointer
    address_of.restype, address_of.argtypes = _POINTER, (ctypes.py_object, ctypes.c_char_p)

    def tensor_made(self: Any, tensor: Any, *args: Any, **kwargs: Any) -> None:
        tensor_init(self, tensor, *args, **kwargs)
        if isinstance(tensor, torch.Tensor) and tensor.device.type == "cpu":
            at = address_of(self._dlpack_data, b"dltensor")
            _POINTER.from_address(at).value = _tensors.place(tensor)
            _INT.from_address(at + _DEVICE_AT).value = _ON_CUDA

    def pointer_made(self: Any, pointer: Any, *args: Any, **kwargs: Any) -> None:
        known = _tensors.address(pointer) if isinstance(pointer, int) else None
        pointer_init(self, pointer if known is None else known, *args, **kwargs)

    runtime._Tensor.__init__ = tensor_made
    runtime._Pointer.__init__ = pointer_made
