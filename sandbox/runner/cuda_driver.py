"""The CUDA driver through ctypes, without any package, which would slow the start.

Sizes are bytes; addresses and handles are integers.
"""

from __future__ import annotations

import ctypes
import functools
from ctypes import POINTER, byref, c_char_p, c_float, c_int, c_size_t, c_uint, c_uint32, c_uint64, c_void_p
from typing import Any

LEGACY_STREAM = 0x1
PER_THREAD_STREAM = 0x2

_POSIX_DESCRIPTOR = 1
_PINNED, _DEVICE, _READ_WRITE = 1, 1, 3
_PORTABLE, _DEVICEMAP = 0x1, 0x2
_NO_TIMING = 0x2
_WAIT_GEQ = 0x0
_LIMIT_PRINTF_FIFO = 0x1
_POOL_RELEASE_THRESHOLD = 4
_OUT_OF_MEMORY = 2


class CudaError(Exception):
    """``name``: such as CUDA_ERROR_ILLEGAL_ADDRESS. The message is CUDA's."""

    def __init__(self, code: int, name: str, message: str) -> None:
        super().__init__(message)
        self.code, self.name = code, name

    @property
    def out_of_memory(self) -> bool:
        return self.code == _OUT_OF_MEMORY


class _Location(ctypes.Structure):
    _fields_ = [("type", c_int), ("id", c_int)]


class _AllocationProperties(ctypes.Structure):
    _fields_ = [
        ("type", c_int),
        ("handle_types", c_int),
        ("location", _Location),
        ("win32", c_void_p),
        ("flags", ctypes.c_ubyte * 8),
    ]


class _Access(ctypes.Structure):
    _fields_ = [("location", _Location), ("flags", c_int)]


# The newest revision of each call, with its arguments' types.
_CALLS: dict[str, tuple[Any, ...]] = {
    "cuInit": (c_uint,),
    "cuDeviceGet": (POINTER(c_int), c_int),
    "cuDeviceGetCount": (POINTER(c_int),),
    "cuDevicePrimaryCtxRetain": (POINTER(c_void_p), c_int),
    "cuCtxSetCurrent": (c_void_p,),
    "cuCtxSetLimit": (c_int, c_size_t),
    "cuCtxSynchronize": (),
    "cuCtxEnablePeerAccess": (c_void_p, c_uint),
    "cuDeviceGetDefaultMemPool": (POINTER(c_void_p), c_int),
    "cuMemPoolSetAttribute": (c_void_p, c_int, c_void_p),
    "cuMemPoolSetAccess": (c_void_p, POINTER(_Access), c_size_t),
    "cuMemGetAllocationGranularity": (POINTER(c_size_t), POINTER(_AllocationProperties), c_int),
    "cuMemImportFromShareableHandle": (POINTER(c_uint64), c_void_p, c_int),
    "cuMemAddressReserve": (POINTER(c_uint64), c_size_t, c_size_t, c_uint64, c_uint64),
    "cuMemMap": (c_uint64, c_size_t, c_size_t, c_uint64, c_uint64),
    "cuMemSetAccess": (c_uint64, c_size_t, POINTER(_Access), c_size_t),
    "cuMemUnmap": (c_uint64, c_size_t),
    "cuMemAddressFree": (c_uint64, c_size_t),
    "cuMemRelease": (c_uint64,),
    "cuMemAlloc_v2": (POINTER(c_uint64), c_size_t),
    "cuMemFree_v2": (c_uint64,),
    "cuMemcpyDtoD_v2": (c_uint64, c_uint64, c_size_t),
    "cuMemHostRegister_v2": (c_void_p, c_size_t, c_uint),
    "cuMemHostUnregister": (c_void_p,),
    "cuMemHostGetDevicePointer_v2": (POINTER(c_uint64), c_void_p, c_uint),
    "cuStreamWaitValue32_v2": (c_void_p, c_uint64, c_uint32, c_uint),
    "cuStreamWriteValue32_v2": (c_void_p, c_uint64, c_uint32, c_uint),
    "cuModuleLoadData": (POINTER(c_void_p), c_char_p),
    "cuModuleGetFunction": (POINTER(c_void_p), c_void_p, c_char_p),
    "cuLaunchKernel": (c_void_p, *[c_uint] * 7, c_void_p, POINTER(c_void_p), POINTER(c_void_p)),
    "cuEventCreate": (POINTER(c_void_p), c_uint),
    "cuEventRecord": (c_void_p, c_void_p),
    "cuEventElapsedTime": (POINTER(c_float), c_void_p, c_void_p),
    "cuStreamWaitEvent": (c_void_p, c_void_p, c_uint),
}


@functools.cache
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL("libcuda.so.1")
    for name, types in _CALLS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = c_int, types
    return library


def error_of(code: int) -> CudaError:
    """Driver and runtime share their numbers."""
    return CudaError(code, _text("cuGetErrorName", code), _text("cuGetErrorString", code))


def _text(function: str, code: int) -> str:
    found = c_char_p()
    getattr(_library(), function)(c_int(code), byref(found))
    return (found.value or f"CUDA error {code}".encode()).decode(errors="replace")


def _call(name: str, *arguments: Any) -> None:
    code = getattr(_library(), name)(*arguments)
    if code != 0:
        raise error_of(code)


_contexts: list[c_void_p] = []


def make_context(printf_bytes: int) -> None:
    """Make the devices' primary contexts, shared with the runtime and torch, and the first current. Devices
    can access each other's memory.

    ``printf_bytes`` bounds kernels' output per call. The pool keeps what ``cudaFreeAsync`` returns, so a warm
    call allocates nothing.
    """
    count, pools = c_int(), []
    _call("cuInit", 0)
    _call("cuDeviceGetCount", byref(count))
    for number in range(count.value):
        device, context, pool = c_int(), c_void_p(), c_void_p()
        _call("cuDeviceGet", byref(device), number)
        _call("cuDevicePrimaryCtxRetain", byref(context), device)
        _contexts.append(context)
        _call("cuCtxSetCurrent", context)
        _call("cuCtxSetLimit", _LIMIT_PRINTF_FIFO, printf_bytes)
        _call("cuDeviceGetDefaultMemPool", byref(pool), device)
        keep_all = c_uint64(2**64 - 1)
        _call("cuMemPoolSetAttribute", pool, _POOL_RELEASE_THRESHOLD, byref(keep_all))
        pools.append(pool)
    for number, pool in enumerate(pools):
        use(number)
        for other, context in enumerate(_contexts):
            if other != number:
                access = _Access(_Location(_DEVICE, other), _READ_WRITE)
                _call("cuMemPoolSetAccess", pool, byref(access), 1)
                _call("cuCtxEnablePeerAccess", context, 0)
    use(0)


def devices() -> range:
    return range(max(len(_contexts), 1))


def use(number: int) -> None:
    _call("cuCtxSetCurrent", _contexts[number])


def synchronise() -> None:
    """Wait for all devices and flush kernels' output. Raises CudaError for an earlier fault; the first
    device's context is current either way.
    """
    if len(_contexts) <= 1:
        _call("cuCtxSynchronize")
        return
    failed: CudaError | None = None
    for number in reversed(devices()):
        use(number)
        try:
            _call("cuCtxSynchronize")
        except CudaError as error:
            failed = error
    if failed is not None:
        raise failed


@functools.cache
def granularity() -> int:
    size = c_size_t()
    wanted = _AllocationProperties(_PINNED, _POSIX_DESCRIPTOR, _Location(_DEVICE, 0))
    _call("cuMemGetAllocationGranularity", byref(size), byref(wanted), 0)
    return size.value


def import_memory(descriptor: int) -> int:
    """Of another process's exported memory."""
    handle = c_uint64()
    _call("cuMemImportFromShareableHandle", byref(handle), c_void_p(descriptor), _POSIX_DESCRIPTOR)
    return handle.value


def release_memory(handle: int) -> None:
    _call("cuMemRelease", handle)


def reserve(size: int) -> int:
    address = c_uint64()
    _call("cuMemAddressReserve", byref(address), size, 0, 0, 0)
    return address.value


def unreserve(address: int, size: int) -> None:
    _call("cuMemAddressFree", address, size)


def map_memory(address: int, size: int, handle: int) -> None:
    _call("cuMemMap", address, size, 0, handle, 0)
    reached = devices()
    access = (_Access * len(reached))(
        *(_Access(_Location(_DEVICE, number), _READ_WRITE) for number in reached)
    )
    _call("cuMemSetAccess", address, size, access, len(reached))


def unmap_memory(address: int, size: int) -> None:
    _call("cuMemUnmap", address, size)


def allocate(size: int) -> int:
    """Memory of this process alone."""
    address = c_uint64()
    _call("cuMemAlloc_v2", byref(address), size)
    return address.value


def free(address: int) -> None:
    _call("cuMemFree_v2", address)


def copy(target: int, source: int, size: int) -> None:
    _call("cuMemcpyDtoD_v2", target, source, size)


def register_host(address: int, size: int) -> int:
    """Returns the device's address."""
    found = c_uint64()
    _call("cuMemHostRegister_v2", address, size, _DEVICEMAP | (_PORTABLE if len(_contexts) > 1 else 0))
    _call("cuMemHostGetDevicePointer_v2", byref(found), address, 0)
    return found.value


def unregister_host(address: int) -> None:
    _call("cuMemHostUnregister", address)


def wait_value(stream: int, address: int, value: int) -> None:
    """Later work waits until the word has reached ``value`` (cyclic comparison)."""
    _call("cuStreamWaitValue32_v2", stream, address, value, _WAIT_GEQ)


def write_value(stream: int, address: int, value: int) -> None:
    _call("cuStreamWriteValue32_v2", stream, address, value, 0)


def load_function(image: bytes, name: str) -> int:
    """``image``: PTX text or cubin."""
    module, function = c_void_p(), c_void_p()
    _call("cuModuleLoadData", byref(module), image)
    _call("cuModuleGetFunction", byref(function), module, name.encode())
    return function.value or 0


def launch(function: int, blocks: int, threads: int, stream: int, *values: Any) -> None:
    """``values``: ctypes objects."""
    pointers = (c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
    _call("cuLaunchKernel", function, blocks, 1, 1, threads, 1, 1, 0, stream, pointers, None)


def make_event(*, timed: bool = True) -> int:
    event = c_void_p()
    _call("cuEventCreate", byref(event), 0 if timed else _NO_TIMING)
    return event.value or 0


def record(event: int, stream: int) -> None:
    _call("cuEventRecord", event, stream)


def wait_event(stream: int, event: int) -> None:
    _call("cuStreamWaitEvent", stream, event, 0)


def elapsed_us(start: int, end: int) -> float:
    milliseconds = c_float()
    _call("cuEventElapsedTime", byref(milliseconds), start, end)
    return milliseconds.value * 1e3
