"""A device of one call: it owns memory and modules, and answers requests like a driver."""

from __future__ import annotations

import ctypes
import itertools
import re
import struct
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..assembler import assembled
from ..constructs import constructs_of
from ..engine import Engine, Loaded
from ..explain import array_name
from ..fatbin import ptx_of, registers_of
from ..findings import Fault, Finding
from ..limits import LaunchRefused
from ..lower import Unsupported
from ..model import seconds_of
from ..names import MESSAGE, MISUSE
from ..profile import profile_of
from ..ptx import BadPtx
from ..spills import spills_of
from ..writers import Writer
from .outcome import Call, Misuse, Returned, Unfreed
from .refusals import why_not_launched, why_not_that_gpu
from .requests import (
    COPY_HEAD,
    GPU_OF,
    KERNEL_FACTS,
    LAUNCH_HEAD,
    MISUSED_HEAD,
    MOST_BYTES,
    ORDER_OF,
    PLACED,
    RANGE,
    SET_HEAD,
    TEXTURE_OF,
    UNWRITTEN_PATTERN_BYTES,
)

# Index: cudaMemcpyKind.
_DIRECTIONS = (
    "cudaMemcpyHostToHost", "cudaMemcpyHostToDevice", "cudaMemcpyDeviceToHost", "cudaMemcpyDeviceToDevice",
)  # fmt: skip
MEMORY_BYTES = 2 << 30
# More in a sampled call, as on a card. Little of it is touched.
SAMPLED_BYTES = 64 << 30
# Changed bytes of managed memory that the host sees in a counted call: a flag or a count.
MANAGED_TAKEN = 256
_FROM_THE_HOST = (0, 1)
_ACCESSES = ("accesses", "reads", "writes")
_MOST_MISUSES = 16
# A thread's, in PTX for sm_90.
MOST_REGISTERS = 255
# PTX text, not a fat binary.
_PLAIN = b"//"
_INVALID_VALUE, _NO_MEMORY, _NO_FUNCTION, _BAD_PTX, _UNKNOWN = 1, 2, 98, 218, 999
_NUMBERS = {
    "cudaErrorInvalidValue": 1,
    "cudaErrorCooperativeLaunchTooLarge": 720,
    "cudaErrorInvalidClusterSize": 912,
}
_FAULTS = {
    "misaligned": 716,
    "asserted": 710,
    "trapped": 719,
    "deadlock": 702,
    "endless": 702,
    "mbarrier_bytes": 702,
}
_ILLEGAL_ADDRESS = 700


@dataclass
class _Allocated:
    size: int
    data: ctypes.Array[ctypes.c_char]
    place: int


class Device:
    """Owns ``engine``. ``memory_bytes``: for programs. ``ptxas``: counts registers of PTX that comes as text.
    ``relayed``: tensors are on the host and travel around each launch. ``line_at``: the source line of a
    place in the host's library.
    """

    def __init__(
        self,
        engine: Engine,
        memory_bytes: int = MEMORY_BYTES,
        ptxas: Path | None = None,
        *,
        relayed: bool = False,
    ) -> None:
        self.engine, self._left, self._ptxas, self._relayed = engine, memory_bytes, ptxas, relayed
        # See ``_is_relays``: hashes of contents that went back to the host, and the last counted copy to the
        # device.
        self._returned_contents: set[int] = set()
        self._filled = (0, 0)
        self.line_at: Callable[[int], int] = lambda place: 0
        # By module. ptxas is slow, and only the model needs it.
        self._not_assembled: dict[int, str] = {}
        # See ``begin``.
        self._watched = self._limited = False
        # For ``TIME``: the first launch, and whether launches are counted only for it.
        self._timed_from, self._timed_apart = 0, False
        self._modules: list[Loaded | None] = []
        # Variables on the other GPUs, by module and GPU.
        self._on_others: dict[tuple[int, int], Loaded] = {}
        self._allocated: dict[int, _Allocated] = {}
        # Size, and places of allocation and release.
        self._freed: dict[int, tuple[int, int, int]] = {}
        self._arguments: dict[int, str] = {}
        # What copies may reach: address -> size and host address.
        self._memory: dict[int, tuple[int, int]] = {}
        # As the host sees it.
        self._managed: dict[int, bytearray] = {}
        self.call = Call()

    def adopt(
        self,
        data: int,
        size: int,
        name: str,
        *,
        written: bool,
        constant: bool = False,
        misalign: int = 0,
        gpu: int = 0,
    ) -> int:
        """See ``Engine.adopt``. Returns the device address."""
        with self.engine.on_gpu(gpu):
            address = self.engine.adopt(
                data, size, name, misalign=misalign, written=written, constant=constant
            )
        self._memory[address], self._arguments[address] = (size, data), name
        return address

    def forget(self, address: int) -> None:
        self._memory.pop(address, None)
        self._arguments.pop(address, None)
        self.engine.release(address, forget=True)

    def writer(self, address: int) -> Writer | None:
        """As ``Engine.writers``, with a copy's source line. None in a sampled call."""
        if self.engine.sample is not None:
            return None
        (found,) = self.engine.writers([address])
        if found is None or found.work is None or found.block is not None:
            return found
        line = self.line_at(found.work.place)
        return replace(found, lines=(line,) if line else ())

    def begin(self, *, counted: bool = False, watched: bool = False) -> None:
        """``counted``: count work for a modelled time, which is slower. ``watched``: count it for
        ``Returned.constructs``.
        """
        self._watched, self._limited = watched, counted
        self.call = Call()
        self._returned_contents.clear()
        self._filled = (0, 0)
        self.engine.begin_call()
        self.engine.launches = [] if counted or watched else None
        self.engine.begin_sample()
        self._timed_from, self._timed_apart = 0, False

    def returned(self, code: int = 0, name: str = "", text: str = "", forgotten: int = 0) -> Returned:
        """Since ``begin``. The arguments are the host code's report."""
        call = self.call
        call.findings = [self._with_lines(finding) for finding in call.findings]
        unfreed = [
            Unfreed(allocation.size, self.line_at(allocation.place))
            for allocation in self._allocated.values()
        ]
        return Returned(
            code, name, text, call.fault, call.findings, call.unsupported, call.refused, self.engine.printed(),
            call.instructions, call.launches, unfreed, call.misuses, call.remarks, forgotten,
            call.forgotten_lines, tuple(self.engine.launches or ()),
            self._modelled(), self._profile(), call.taken, self.engine.heap_live(), call.broken,
            self._constructs(),
        )  # fmt: skip

    def _with_lines(self, finding: Finding) -> Finding:
        """With the host code's lines of two racing works."""
        if finding.works is None:
            return finding
        mine, other = (replace(work, line=self.line_at(work.place)) for work in finding.works)
        place = finding.place if mine.kernel else replace(finding.place, line=mine.line)
        return replace(finding, place=place, works=(mine, other))

    def _modelled(self) -> float | None:
        if self.engine.launches is None:
            return None
        call = self.call
        return seconds_of(self.engine.launches, call.copies, call.copied, linked=call.linked)

    def _profile(self) -> dict[str, Any] | None:
        if self.engine.launches is None:
            return None
        call = self.call
        return profile_of(self.engine.launches, call.copies, call.copied, linked=call.linked)

    def _constructs(self) -> dict[str, Any] | None:
        if not self._watched or self.engine.launches is None:
            return None
        works = [self.engine.work(number) for number in range(self.engine.works_begun)]
        return constructs_of(
            self.engine.launches,
            [self.line_at(work.place) for work in works if work.kernel],
            lambda: [
                function
                for loaded in self._modules
                if loaded is not None
                for function in loaded.module.functions.values()
            ],
        )

    def answer(self, kind: int, body: bytes) -> tuple[int, bytes]:
        """Status and reply. A malformed request is an invalid value; our own faults go to
        ``Returned.broken``.
        """
        handler = HANDLERS.get(kind)
        if handler is None:
            return _INVALID_VALUE, b""
        try:
            return handler(self, body)
        except struct.error:
            return _INVALID_VALUE, b""
        except MemoryError:
            return _NO_MEMORY, b""
        except Exception:
            self.call.broken = self.call.broken or traceback.format_exc()
            return _UNKNOWN, b""

    def _module(self, body: bytes) -> tuple[int, bytes]:
        number = len(self._modules)
        self._modules.append(None)
        try:
            plain = body.startswith(_PLAIN)
            texts = [body.decode()] if plain else ptx_of(body)
            if texts:
                loaded = self.engine.load(texts[-1], self._left)
                self._left -= sum(loaded.module.variables[name].size for name in loaded.addresses)
                if not plain:
                    loaded.registers, loaded.spills = registers_of(body), spills_of(body)
                elif self._ptxas is not None:
                    self._not_assembled[number] = texts[-1]
                self._modules[number] = loaded
                self._keep_variables(loaded)
        except (ValueError, BadPtx) as error:
            self.call.refused = f"the PTX cannot be read: {error}"
            return _BAD_PTX, struct.pack("<I", number)
        return 0, struct.pack("<I", number)

    def _find(self, body: bytes) -> tuple[Loaded | None, str]:
        (module,) = struct.unpack_from("<I", body)
        return self._loaded(module), body[4:].decode("ascii", "replace")

    def _loaded(self, number: int) -> Loaded | None:
        first = self._modules[number] if number < len(self._modules) else None
        if first is None or self.engine.gpu == 0:
            return first
        key = number, self.engine.gpu
        if key not in self._on_others:
            loaded = replace(first, addresses={}, kernels={})
            self.engine.place_variables(loaded)
            self._keep_variables(loaded)
            self._on_others[key] = loaded
        return self._on_others[key]

    def _keep_variables(self, loaded: Loaded) -> None:
        for name, address in loaded.addresses.items():
            variable = loaded.module.variables[name]
            self._memory[address] = (variable.size, self.engine.data_at(address))
            if variable.managed:
                self.engine.share(address)
                self._managed[address] = bytearray()

    def _kernel(self, body: bytes) -> tuple[int, bytes]:
        loaded, name = self._find(body)
        if not _is_kernel(loaded, name):
            return _NO_FUNCTION, b""
        assert loaded is not None
        try:
            lowered = self.engine.ready(loaded, name)
        except Unsupported as error:
            self.call.unsupported = self.call.unsupported or error
            return _BAD_PTX, b""
        if len(lowered.param_layout) > 1024:
            return _INVALID_VALUE, b""
        facts = (
            lowered.shared_bytes,
            lowered.local_bytes,
            lowered.max_threads or 1024,
            loaded.registers.get(name, 32),
            _architecture(loaded.module.target),
            len(lowered.param_layout),
        )
        pairs = [word for pair in lowered.param_layout for word in pair]
        return 0, KERNEL_FACTS.pack(*facts) + struct.pack(f"<{len(pairs)}I", *pairs)

    def _symbol(self, body: bytes) -> tuple[int, bytes]:
        loaded, name = self._find(body)
        if loaded is None or name not in loaded.addresses:
            return 13, b""
        return 0, struct.pack("<QQ", loaded.addresses[name], loaded.module.variables[name].size)

    def _allocate(self, body: bytes) -> tuple[int, bytes]:
        size, place = PLACED.unpack_from(body.ljust(PLACED.size, b"\0"))
        if size > self._left + (SAMPLED_BYTES if self.engine.sample is not None else 0):
            return _NO_MEMORY, b""
        address, data = self.engine.allocate(size, "an allocation of cudaMalloc")
        self._left -= size
        self._allocated[address] = _Allocated(size, data, place)
        self._memory[address] = (size, ctypes.addressof(data))
        return 0, struct.pack("<Q", address)

    def _allocate_managed(self, body: bytes) -> tuple[int, bytes]:
        """All of it counts as written: the host's writes are unknown."""
        size, place = PLACED.unpack_from(body.ljust(PLACED.size, b"\0"))
        if size > self._left:
            return _NO_MEMORY, b""
        address, data = self.engine.allocate(size, "managed memory", written=True)
        self.engine.share(address)
        self._left -= size
        self._allocated[address] = _Allocated(size, data, place)
        self._memory[address] = (size, ctypes.addressof(data))
        self._managed[address] = bytearray(size)
        return 0, struct.pack("<Q", address)

    def _push(self, body: bytes) -> tuple[int, bytes]:
        at = 0
        while at < len(body):
            address, size = RANGE.unpack_from(body, at)
            at += RANGE.size
            start = next(
                (start for start in self._managed if start <= address < start + self._memory[start][0]), None
            )
            into = self._range(address, size)
            if start is None or into is None or at + size > len(body):
                return _INVALID_VALUE, b""
            self._copies(size)
            self.engine.fill(address, size)
            ctypes.memmove(into, body[at : at + size], size)
            self._managed[start][address - start : address - start + size] = body[at : at + size]
            at += size
        return 0, b""

    def _pull(self, body: bytes) -> tuple[int, bytes]:
        address, size = RANGE.unpack(body)
        if address not in self._managed or self._memory[address][0] != size:
            return _INVALID_VALUE, b""
        now = ctypes.string_at(self._memory[address][1], size)
        before = self._managed[address]
        if now == before:
            return 0, b""
        if self._limited:
            pairs = zip(before, now, strict=False)
            left = MANAGED_TAKEN - self.call.taken
            differing = sum(1 for _ in itertools.islice((1 for a, b in pairs if a != b), max(left, 0) + 1))
            if differing > left:
                return 0, b""
            self.call.taken += differing
            self._copies(differing)
        self._managed[address] = bytearray(now)
        return 0, now

    def _heap(self, body: bytes) -> tuple[int, bytes]:
        (size,) = struct.unpack("<Q", body)
        if not 0 < size <= self._left:
            return _NO_MEMORY, b""
        return (0 if self.engine.use_heap(size) else _INVALID_VALUE), b""

    def _texture(self, body: bytes) -> tuple[int, bytes]:
        address, pitch, width, height, depth, element, *rest = TEXTURE_OF.unpack(body)
        bits, kind, modes = rest[:4], rest[4], rest[5:8]
        whole = width > 0 and height > 0 and depth > 0 and (height * depth == 1 or pitch >= width * element)
        known = kind <= 2 and all(bit in (0, 8, 16, 32) for bit in bits) and all(mode <= 3 for mode in modes)
        sized = element in (1, 2, 4, 8, 16) and element == sum(bits) // 8 and not (kind == 2 and 8 in bits)
        size = (height * depth - 1) * pitch + width * element
        if not (whole and known and sized) or self._range(address, size) is None:
            return _INVALID_VALUE, b""
        return 0, struct.pack("<Q", self.engine.texture(body))

    def _release(self, body: bytes) -> tuple[int, bytes]:
        address, place = PLACED.unpack_from(body.ljust(PLACED.size, b"\0"))
        if address not in self._allocated:
            self._misused(*self._why_not_freed(address), place)
            return _INVALID_VALUE, b""
        freed = self._allocated.pop(address)
        self._left += freed.size
        self._freed[address] = (freed.size, freed.place, place)
        del self._memory[address]
        self._managed.pop(address, None)
        self.engine.release(address)
        return 0, b""

    def _misused(self, kind: str, message: str, place: int) -> None:
        if len(self.call.misuses) < _MOST_MISUSES:
            self.call.misuses.append(Misuse(kind, self.line_at(place), message))

    def _refused_there(self, body: bytes) -> tuple[int, bytes]:
        which, place, *numbers = MISUSED_HEAD.unpack_from(body)
        name, call = body[MISUSED_HEAD.size :].decode("ascii", "replace"), self.call
        match which:
            case MISUSE.TOO_MUCH_SHARED | MISUSE.NO_SUCH_KERNEL | MISUSE.BAD_SHAPE:
                self._misused("bad_launch", why_not_launched(which, numbers), place)
            case MISUSE.SYMBOL_TOO_SMALL:
                size, offset, whole = numbers[:3]
                at = f" from byte {offset:,} on" if offset else ""
                self._misused(
                    "bad_copy",
                    f"A copy of {size:,} bytes{at} is larger than the device variable, which has {whole:,}.",
                    place,
                )
            case MISUSE.NO_SUCH_SYMBOL:
                text = "This is not a __device__ or __constant__ variable of this source."
                self._misused("bad_symbol", text, place)
            case MISUSE.OTHER_DIRECTION if len(call.remarks) < _MOST_MISUSES:
                stated = _DIRECTIONS[numbers[0]] if numbers[0] < len(_DIRECTIONS) else "another direction"
                text = f"A copy says {stated}, but {self._really(*numbers[:3])}."
                call.remarks.append(Misuse("bad_copy", self.line_at(place), text))
            case MISUSE.NOT_WAITED_FOR if len(call.forgotten_lines) < _MOST_MISUSES:
                call.forgotten_lines.append(self.line_at(place))
            case MISUSE.ON_HOST:
                verb = _ACCESSES[numbers[1]] if numbers[1] < len(_ACCESSES) else _ACCESSES[0]
                text = (
                    f"The host code {verb} {self._name_of(numbers[0])}, which is device memory: only kernels reach it. "
                    "Do this in a kernel, or use cudaMemcpy to copy to or from a host array."
                )
                call.on_host = Misuse("device_memory_on_host", self.line_at(place), text)
            case MISUSE.OTHER_GPU:
                self._misused("other_gpu", why_not_that_gpu(numbers), place)
            case MISUSE.NOT_HERE:
                self._misused("not_here", f"{name[:100]} is not on the emulated GPU.", place)
        return 0, b""

    def _really(self, stated: int, to: int, source: int) -> str:
        """The direction that a copy really has."""
        if stated in _FROM_THE_HOST and self._range(source, 1) is not None:
            return (
                f"its source is {self._name_of(source)}, which is device memory already. It is copied from there. "
                "Arrays that solve gets are device pointers: pass them to kernels as they are"
            )
        return f"its target is {self._name_of(to)}, which is device memory. It is copied there"

    def _name_of(self, address: int) -> str:
        """The device array that contains an address or ends there."""
        for start, (size, _) in self._memory.items():
            if start <= address <= start + size:
                return array_name(self._arguments.get(start, "")) or "an allocation of cudaMalloc"
        return "memory that was freed" if self._was_freed(address) else "a device pointer"

    def _was_freed(self, address: int) -> bool:
        return any(start <= address < start + size for start, (size, _, _) in self._freed.items())

    def _why_not_freed(self, address: int) -> tuple[str, str]:
        if address in self._freed:
            _, _, place = self._freed[address]
            line = self.line_at(place)
            where = f" in line {line}" if line else ""
            return "double_free", f"cudaFree gets memory that was already freed{where}."
        if address in self._arguments:
            name = self._arguments[address]
            return (
                "bad_free",
                f"cudaFree gets the argument {name}: the caller of solve owns it, so do not free it.",
            )
        for start, allocation in self._allocated.items():
            if start < address < start + allocation.size:
                return "bad_free", (
                    f"cudaFree gets an address {address - start:,} bytes into an allocation: pass the pointer that "
                    "cudaMalloc returned."
                )
        return "bad_free", "cudaFree gets a pointer that cudaMalloc did not return."

    def _whose(self, address: int) -> str:
        for start, (size, _) in self._memory.items():
            if start <= address < start + max(size, 1):
                name = array_name(self._arguments.get(start, "")) or "an allocation"
                into = f" byte {address - start:,} of" if address > start else ""
                return f"{into} {name}, which has {size:,} bytes"
        for start, (size, _, _) in self._freed.items():
            if start <= address < start + size:
                return " memory that was already freed"
        return " an address that is not device memory"

    def _is_only_devices(self, address: int) -> bool:
        """The host cannot reach it."""
        managed = any(start <= address < start + len(size) for start, size in self._managed.items())
        return self._range(address, 1) is not None and not managed

    def _range(self, address: int, size: int) -> int | None:
        """The host address; None if it crosses a buffer's end."""
        for start, (length, data) in self._memory.items():
            if start <= address and address + size <= start + length:
                return data + address - start
        return None

    def _copies(self, size: int) -> None:
        self.call.copies, self.call.copied = self.call.copies + 1, self.call.copied + size

    def written_by_host(self, size: int) -> None:
        """A program in Python wrote ``size`` bytes of an argument: on a card, that takes at least a memset or a
        copy."""
        self._copies(size)

    def _copy(self, body: bytes) -> tuple[int, bytes]:
        to, source, size, kind, place = COPY_HEAD.unpack_from(body)
        given = body[COPY_HEAD.size :]
        if not self._is_relays(to, source, kind, given):
            self._copies(size)
        if kind == 3 and self.engine.gpu_of(to) != self.engine.gpu_of(source):
            self.call.linked += size
        into = self._range(to, size) if kind in (1, 3) else 0
        out_of = self._range(source, size) if kind in (2, 3) else 0
        if (
            into is None
            or out_of is None
            or kind not in (1, 2, 3)
            or (kind == 1 and len(given) != size)
            or (kind == 2 and self._is_only_devices(to))
        ):
            self._misused("bad_copy", self._why_not_copied(to, source, size, kind, into, out_of), place)
            return _INVALID_VALUE, b""
        if self._is_too_much(size, "a copy"):
            return (0 if kind != 2 else _NO_MEMORY), b""
        if kind == 2 and size > MOST_BYTES:
            return _NO_MEMORY, b""
        if kind != 1:
            self.engine.fill(source, size)
        if kind == 2:
            self.call.taken += size
            self.call.findings += self.engine.copied(0, source, size, place)
            contents = ctypes.string_at(out_of, size)
            if self._relayed and self.engine.launches is not None:
                self._returned_contents.add(hash(contents))
            return 0, contents
        self.engine.fill(to, size)
        if kind == 1:
            ctypes.memmove(into, given, size)
        else:
            ctypes.memmove(into, out_of, size)
        self.engine.mark_written(to, size)
        self.call.findings += self.engine.copied(to, source if kind == 3 else 0, size, place)
        return 0, b""

    def _is_relays(self, to: int, source: int, kind: int, given: bytes) -> bool:
        """True if a card's program would not copy: the tensor would stay on the device. Tensors over
        arguments are not copied.
        """
        if not self._relayed or (to if kind == 1 else source) in self._arguments:
            return False
        relays = kind == 2 or (kind == 1 and hash(given) in self._returned_contents)
        self._filled = (to, len(given)) if kind == 1 and not relays else (0, 0)
        return relays

    def _unwritten(self, body: bytes) -> tuple[int, bytes]:
        address, size = RANGE.unpack_from(body)
        pattern = body[RANGE.size :]
        held = self._range(address, size)
        if held is None or len(pattern) != UNWRITTEN_PATTERN_BYTES:
            return _INVALID_VALUE, b""
        if self._filled == (address, size) and _repeats(ctypes.string_at(held, size), pattern):
            # A new tensor is the relay's; anything else was a real copy.
            self.call.copies, self.call.copied = self.call.copies - 1, self.call.copied - size
        self._filled = (0, 0)
        self.engine.unmark_written(address, size, pattern)
        return 0, b""

    def _is_too_much(self, size: int, what: str) -> bool:
        """A sampled call leaves out large copies and memsets."""
        sample = self.engine.sample
        if sample is None or size <= sample.copied_bytes:
            return False
        sample.leave_out(f"{what} of {size:,} bytes is too much to be done here")
        return True

    def _why_not_copied(
        self, to: int, source: int, size: int, kind: int, into: int | None, out_of: int | None
    ) -> str:
        if out_of is None:
            return f"A copy of {size:,} bytes reads from{self._whose(source)}."
        if into is None:
            return f"A copy of {size:,} bytes writes to{self._whose(to)}."
        wrong = "to the host, but its target" if kind == 2 else "from the host, but its source"
        return f"A copy goes {wrong} is device memory: use the right cudaMemcpyKind."

    def _set(self, body: bytes) -> tuple[int, bytes]:
        to, size, value, place = SET_HEAD.unpack(body)
        self._copies(size)
        into = self._range(to, size)
        if into is None:
            self._misused("bad_copy", f"A memset of {size:,} bytes writes to{self._whose(to)}.", place)
            return _INVALID_VALUE, b""
        if self._is_too_much(size, "a memset"):
            return 0, b""
        self.engine.fill(to, size)
        ctypes.memset(into, value & 255, size)
        self.engine.mark_written(to, size)
        self.call.findings += self.engine.copied(to, 0, size, place)
        return 0, b""

    def _order(self, body: bytes) -> tuple[int, bytes]:
        stream, *known, _ = ORDER_OF.unpack(body)
        return (0 if self.engine.order(stream, known) else _INVALID_VALUE), b""

    def _use_gpu(self, body: bytes) -> tuple[int, bytes]:
        return (0 if self.engine.use_gpu(*GPU_OF.unpack(body)) else _INVALID_VALUE), b""

    def _time(self, body: bytes) -> tuple[int, bytes]:
        (begins,) = struct.unpack("<I", body)
        if begins:
            if self.engine.launches is None:
                self.engine.launches, self._timed_apart = [], True
            self._timed_from = len(self.engine.launches)
            return 0, b""
        seconds = seconds_of((self.engine.launches or [])[self._timed_from :])
        if self._timed_apart:
            self.engine.launches, self._timed_apart = None, False
        return 0, struct.pack("<d", seconds)

    def _launch(self, body: bytes) -> tuple[int, bytes]:
        module, length, cooperative, shared, *sizes, place = LAUNCH_HEAD.unpack_from(body)
        name = body[LAUNCH_HEAD.size : LAUNCH_HEAD.size + length].decode("ascii", "replace")
        loaded = self._loaded(module)
        if not _is_kernel(loaded, name):
            return _NO_FUNCTION, b""
        assert loaded is not None
        call = self.call
        try:
            if self.engine.launches is not None and module in self._not_assembled:
                assert self._ptxas is not None
                text = self._not_assembled.pop(module)
                loaded.registers, loaded.spills = assembled(text, self._ptxas)
            # A card would not run it, since ptxas rejects it; it runs at the lowest occupancy.
            loaded.registers.setdefault(name, MOST_REGISTERS)
            params = body[LAUNCH_HEAD.size + length :]
            self.engine.launch(
                loaded,
                name,
                sizes[:3],
                sizes[3:6],
                params,
                shared,
                cooperative=bool(cooperative),
                cluster=sizes[6:9],
                place=place,
            )
        except LaunchRefused as error:
            call.refused = call.refused or str(error)
            self._misused("bad_launch", f"A launch is refused: {error}.", place)
            return _NUMBERS[error.name], b""
        except Unsupported as error:
            call.unsupported = call.unsupported or error
            return _BAD_PTX, b""
        except Fault as error:
            call.fault = error.finding
            call.findings += self.engine.findings()
            return _FAULTS.get(error.finding.kind, _ILLEGAL_ADDRESS), b""
        call.findings += self.engine.findings()
        call.instructions += self.engine.instructions
        call.launches += 1
        return 0, struct.pack("<Q", self.engine.instructions)


def _architecture(target: str) -> int:
    """80 for ``sm_80``; 0 if unknown."""
    found = re.match(r"sm_(\d{2,3})(?!\d)", target)
    return int(found[1]) if found else 0


def _repeats(contents: bytes, pattern: bytes) -> bool:
    return contents == (pattern * (len(contents) // len(pattern) + 1))[: len(contents)]


def _is_kernel(loaded: Loaded | None, name: str) -> bool:
    function = loaded.module.functions.get(name) if loaded is not None else None
    return function is not None and function.entry


HANDLERS: dict[int, Callable[[Device, bytes], tuple[int, bytes]]] = {
    MESSAGE.MODULE: Device._module,
    MESSAGE.KERNEL: Device._kernel,
    MESSAGE.SYMBOL: Device._symbol,
    MESSAGE.ALLOCATE: Device._allocate,
    MESSAGE.RELEASE: Device._release,
    MESSAGE.COPY: Device._copy,
    MESSAGE.SET: Device._set,
    MESSAGE.LAUNCH: Device._launch,
    MESSAGE.ALLOCATE_MANAGED: Device._allocate_managed,
    MESSAGE.PUSH: Device._push,
    MESSAGE.PULL: Device._pull,
    MESSAGE.HEAP: Device._heap,
    MESSAGE.TEXTURE: Device._texture,
    MESSAGE.ORDER: Device._order,
    MESSAGE.TIME: Device._time,
    MESSAGE.GPU: Device._use_gpu,
    MESSAGE.UNWRITTEN: Device._unwritten,
    MESSAGE.MISUSED: Device._refused_there,
}
