"""Triton in a submission's process, for the emulated GPU: the real compiler down to PTX, and a driver that
asks the neighbouring process (``emulated_relay.py``).

Tensors are in the host's memory. The GPU has its own addresses for the judge's buffers; a launch sends other
tensors along and brings them back.
"""

from __future__ import annotations

import os
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import empty_memory
from emulated import part
from host_binding import HostBinding
from triton_driver import PROPERTIES, Driver

device, engine = part("device"), part("engine")

ARCHITECTURE = 90
_EVERY = 0xFF
_FORMATS = {
    "fp32": "<f", "f32": "<f", "fp64": "<d", "f64": "<d", "fp16": "<e", "i1": "<?", "i8": "<b", "i16": "<h",
    "i32": "<i", "i64": "<q", "u1": "<?", "u8": "<B", "u16": "<H", "u32": "<I", "u64": "<Q",
}  # fmt: skip


class GpuError(RuntimeError):
    """``code``: CUDA's error number."""

    def __init__(self, code: int, doing: str) -> None:
        super().__init__(f"the emulated GPU refused {doing}: CUDA error {code}")
        self.code = code


class NotOnThisGpu(RuntimeError):
    """A kernel needs what the emulated GPU does not have."""


class Gpu:
    """``buffers``: the judge's, as (address here, bytes, address there)."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self.buffers: list[tuple[int, int, int]] = []

    def ask(self, kind: int, body: bytes, doing: str) -> bytes:
        with self._lock:
            self._connection.sendall(device.HEADER.pack(kind, len(body)) + body)
            status, size = device.REPLY.unpack(self._exactly(device.REPLY.size))
            reply = self._exactly(size)
        if status:
            raise GpuError(status, doing)
        return reply

    def _exactly(self, size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            data = self._connection.recv(min(size - len(parts), 1 << 20))
            if not data:
                raise EOFError("the emulated GPU is gone")
            parts += data
        return bytes(parts)

    @contextmanager
    def reaching(self, tensors: list[Any]) -> Iterator[list[int]]:
        """Their GPU addresses, during a launch."""
        copies: dict[int, tuple[int, Any]] = {}
        addresses = []
        try:
            for tensor in tensors:
                here = tensor.data_ptr()
                known = next(
                    (there + here - at for at, size, there in self.buffers if at <= here <= at + size), None
                )
                if known is None:
                    known = self._copied(tensor, copies) + here
                addresses.append(known)
            yield addresses
            for there, memory in copies.values():
                head = device.COPY_HEAD.pack(0, there, len(memory), 2, 0)
                if memory:
                    memory[:] = self.ask(device.COPY, head, "a copy")
        finally:
            for there, _ in copies.values():
                self.ask(device.RELEASE, struct.pack("<Q", there), "a release")

    def _copied(self, tensor: Any, copies: dict[int, tuple[int, Any]]) -> int:
        """Copies once. Returns the offset of its addresses."""
        import ctypes

        storage = tensor.untyped_storage()
        start, size = storage.data_ptr(), storage.nbytes()
        if start not in copies:
            memory = (
                memoryview((ctypes.c_char * size).from_address(start)).cast("B") if size else memoryview(b"")
            )
            (there,) = struct.unpack("<Q", self.ask(device.ALLOCATE, struct.pack("<Q", size), "memory"))
            copies[start] = (there, memory)
            if size:
                head, contents = device.COPY_HEAD.pack(there, 0, size, 1, 0), bytes(memory)
                self.ask(device.COPY, head + contents, "a copy")
                if size <= empty_memory.MOST_BYTES and empty_memory.PATTERN[:4] in contents:
                    body = device.RANGE.pack(there, size) + empty_memory.PATTERN
                    self.ask(device.UNWRITTEN, body, "new memory")
        return int(copies[start][0] - start)


class ClientBinding(HostBinding):
    """In host memory; the GPU knows the buffers too."""

    def __init__(self, entries: list[dict[str, Any]], descriptors: list[int]) -> None:
        super().__init__(entries, descriptors)
        gpu().buffers = [
            (self.address(entry), entry["nbytes"], entry["device"])
            for entry in entries
            if entry["kind"] == "buffer"
        ]


class RelayDriver(Driver):
    def milliseconds(self, kernel_call: Callable[[], Any]) -> float:
        gpu().ask(device.TIME, struct.pack("<I", 1), "counting")
        try:
            kernel_call()
        finally:
            reply = gpu().ask(device.TIME, struct.pack("<I", 0), "counting")
        (seconds,) = struct.unpack("<d", reply)
        return 1e3 * float(seconds)


class Utils:
    def get_device_properties(self, number: int = 0) -> dict[str, int]:
        return dict(PROPERTIES)

    def load_binary(self, name: str, code: bytes, shared: int, number: int) -> tuple[Any, ...]:
        """Module, function, registers and spills (unknown), a block's most threads."""
        text = code if isinstance(code, bytes) else code.encode()
        (module,) = struct.unpack("<I", gpu().ask(device.MODULE, b"//\n" + text, "the PTX of this kernel"))
        facts = gpu().ask(device.KERNEL, struct.pack("<I", module) + name.encode(), f"the kernel {name}")
        words = struct.unpack(f"<{len(facts) // 4}I", facts)[device.KERNEL_FACTS.size // 4 :]
        layout = list(zip(words[::2], words[1::2], strict=True))
        return module, (module, name, layout), None, None, 1024

    def unload_module(self, module: Any) -> None:
        pass


class Launcher:
    def __init__(self, source: Any, metadata: Any) -> None:
        self._types = list(_flat(list(source.signature.values())))
        self._metadata = metadata
        self._scratch = (
            getattr(metadata, "global_scratch_size", 0),
            getattr(metadata, "global_scratch_align", 1),
        )
        if getattr(metadata, "num_ctas", 1) != 1:
            raise NotOnThisGpu("the emulated GPU has no clusters: num_ctas must be 1")
        if any(kind.startswith("tensordesc") for kind in self._types):
            raise NotOnThisGpu("the emulated GPU has no tensor descriptors")

    def __call__(
        self, x: int, y: int, z: int, stream: int, function: Any, packed: Any, launched: Any, enter: Any, leave: Any,
        *values: Any,
    ) -> None:  # fmt: skip
        if min(x, y, z) <= 0:
            return
        if enter is not None:
            enter(launched)
        module, name, layout = function
        given = [
            (kind, value)
            for kind, value in zip(self._types, _flat(values), strict=True)
            if kind != "constexpr"
        ]
        # After the arguments: scratch memory from the submission's allocator.
        if self._scratch[0]:
            from triton.runtime import _allocation

            size, align = self._scratch
            given.append(("*i8", _allocation._allocator.get()(size * x * y * z, align, stream)))
        tensors = [value for kind, value in given if kind.startswith("*") and hasattr(value, "data_ptr")]
        with gpu().reaching(tensors) as addresses:
            pointers = iter(addresses)
            packed_values = [
                struct.pack("<Q", next(pointers) if hasattr(value, "data_ptr") else (value or 0))
                if kind.startswith("*")
                else _number(kind, value)
                for kind, value in given
            ]
            packed_values += [bytes(8)] * (len(layout) - len(packed_values))
            body = engine.pack_arguments(layout, packed_values)
            threads = 32 * self._metadata.num_warps
            head = device.LAUNCH_HEAD.pack(
                module, len(name), getattr(self._metadata, "launch_cooperative_grid", False),
                self._metadata.shared, x, y, z, threads, 1, 1, 1, 1, 1, 0,
            )  # fmt: skip
            gpu().ask(device.LAUNCH, head + name.encode() + body, f"the launch of {name}")
        if leave is not None:
            leave(launched)


def _flat(values: Any) -> Iterator[Any]:
    for value in values:
        if isinstance(value, (tuple, list)):
            yield from _flat(value)
        else:
            yield value


def _number(kind: str, value: Any) -> bytes:
    if kind == "bf16":
        return struct.pack("<f", value)[2:]
    return struct.pack(_FORMATS[kind], value)


_gpu: Gpu | None = None


def gpu() -> Gpu:
    global _gpu
    if _gpu is None:
        _gpu = Gpu(socket.socket(fileno=int(os.environ["GRADER_GPU"])))
    return _gpu


def choose_gpu(number: int) -> None:
    """For the next launches, which reach every GPU's memory."""
    gpu().ask(device.GPU, struct.pack("<II", number, _EVERY), "another GPU")


def use() -> None:
    import triton
    from triton.backends.nvidia.compiler import CUDABackend

    make, stages = CUDABackend.__init__, CUDABackend.add_stages

    def made(self: Any, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **kwargs)
        self.binary_ext = "ptx"

    def added(self: Any, into: dict[str, Any], *args: Any, **kwargs: Any) -> None:
        stages(self, into, *args, **kwargs)
        into.pop("cubin", None)

    CUDABackend.__init__, CUDABackend.add_stages = made, added
    triton.runtime.driver.set_active(RelayDriver(ARCHITECTURE, Utils(), Launcher))
