"""The emulated GPU as a device: it owns memory and modules, and answers the process that runs a student's host code.

That process (``host/``) has no memory of the device and no word of the judge: device pointers are numbers to it, and
each of its requests is checked here, as a driver checks them.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import re
import socket
import struct
import subprocess
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from . import HOST
from .assembler import registers_of_ptx
from .engine import MOST_GRID, MOST_THREADS, Engine, Fault, Finding, LaunchRefused, Loaded
from .explain import array_name
from .fatbin import ptx_of, registers_of
from .host_lines import HostLines
from .lower import Unsupported
from .model import Launch, seconds_of
from .names import MESSAGE, MISUSE, STREAMS
from .profile import profile_of
from .ptx import BadPtx
from .sample import ENOUGH_BYTES

# What the device has, in bytes, beside the buffers of a call.
MEMORY_BYTES = 2 << 30
# What else programs may allocate in a call of which a sample runs: as the card would let them. Little of it is touched.
SAMPLED_BYTES = 64 << 30
# Requests that the runner sends, too; ``MESSAGE`` has them all.
MODULE, KERNEL, ALLOCATE, RELEASE, COPY, LAUNCH, TIME, UNWRITTEN = (
    MESSAGE[name] for name in "MODULE KERNEL ALLOCATE RELEASE COPY LAUNCH TIME UNWRITTEN".split()
)
# As struct order of protocol.h.
ORDER_OF = struct.Struct(f"<{1 + STREAMS}I")
UNWRITTEN_PATTERN_BYTES = 16
_SAID, _MOST_SAID = struct.Struct("<ii"), 1024
HEADER, REPLY = struct.Struct("<II"), struct.Struct("<iI")
COPY_HEAD, SET_HEAD, LAUNCH_HEAD = (
    struct.Struct("<QQQII"),
    struct.Struct("<QQII"),
    struct.Struct("<IIII3I3I3II"),
)
RANGE = struct.Struct("<QQ")
# Address, pitch; width, height, depth, element, bits of channels, kind, modes, three flags; border.
TEXTURE_OF = struct.Struct("<QQ15I4f4x")
# Bytes of managed memory that the host sees in a call whose work is counted, as a flag or a count needs them.
MANAGED_TAKEN = 256
# What is asked with a place of the host code behind it.
_PLACED = struct.Struct("<QI")
# As struct misused: which, at, and numbers; a name follows.
MISUSED_HEAD = struct.Struct("<II6Q")


# By cudaMemcpyKind.
_DIRECTIONS = (
    "cudaMemcpyHostToHost", "cudaMemcpyHostToDevice", "cudaMemcpyDeviceToHost", "cudaMemcpyDeviceToDevice",
)  # fmt: skip
_FROM_THE_HOST = (0, 1)
_ACCESSES = ("accesses", "reads", "writes")
# As struct kernel_facts: what the reply to KERNEL begins with.
KERNEL_FACTS = struct.Struct("<6I")
# So many misuses of one call are kept.
_MOST_MISUSES = 16
# Of a thread, as PTX is assembled for sm_90.
MOST_REGISTERS = 255
# The largest request.
MOST_BYTES = (1 << 31) + 4096
# What PTX begins with that comes as text, and not in a fat binary.
_PLAIN = b"//"
# CUDA's numbers of errors.
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


def hide() -> None:
    """Lets no other process of this user read or change the memory of this one, nor follow what it does."""
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE


class HostEnded(Exception):
    """The process of the host code is gone. ``status``: as ``subprocess.Popen.returncode``."""

    def __init__(self, status: int | None) -> None:
        super().__init__(f"the host code's process ended with status {status}")
        self.status = status


class LoadFailed(Exception):
    """The library cannot be loaded; the text is the dynamic linker's."""


@dataclass(frozen=True)
class Misuse:
    """A call of the runtime's that was refused, or a remark on one. ``kind``: double_free, bad_free, bad_copy,
    bad_launch, bad_symbol or not_here; ``line``: of the source, counted from 1; 0: not known."""

    kind: str
    line: int
    message: str


@dataclass(frozen=True)
class Unfreed:
    """An allocation that was not freed: its size in bytes, and its line as a misuse's."""

    size: int
    line: int


@dataclass
class _Allocated:
    size: int
    data: ctypes.Array[ctypes.c_char]
    place: int


@dataclass
class Returned:
    """What a call came to. ``code``: what ``grader_entry`` returned, ``name`` and ``text``: CUDA's for it. ``fault``:
    what ended a launch; ``findings``: what else was wrong; ``unsupported``: an instruction that is not known;
    ``printed``: by kernels; ``instructions``: of all launches, a warp's counting once; ``launches``: their number.
    ``unfreed``: what is allocated; ``misuses``: calls that were refused; ``remarks``: on calls that were done otherwise
    than they say. ``forgotten``: launches, copies and memsets on streams of its own that nobody waited for, and that
    were left out; ``forgotten_lines``: where they were asked for. ``counted``: its launches, ``modelled``: its
    seconds by the model, and ``profile``: see ``profile_of``, where that was asked for. ``taken``: bytes that were
    copied from the device to the host. ``broken``: where a program of ours failed, which is no fault of who calls."""

    code: int
    name: str
    text: str
    fault: Finding | None
    findings: list[Finding]
    unsupported: Unsupported | None
    refused: str
    printed: bytes
    instructions: int
    launches: int
    unfreed: list[Unfreed]
    misuses: list[Misuse]
    remarks: list[Misuse]
    forgotten: int
    forgotten_lines: list[int]
    counted: tuple[Launch, ...]
    modelled: float | None
    profile: dict[str, Any] | None
    taken: int
    heap_leaked: tuple[int, int]
    broken: str


@dataclass
class _Call:
    fault: Finding | None = None
    findings: list[Finding] = field(default_factory=list)
    unsupported: Unsupported | None = None
    refused: str = ""
    instructions: int = 0
    launches: int = 0
    copies: int = 0
    copied: int = 0
    taken: int = 0
    misuses: list[Misuse] = field(default_factory=list)
    broken: str = ""
    remarks: list[Misuse] = field(default_factory=list)
    forgotten_lines: list[int] = field(default_factory=list)
    # What the host code did to memory of the GPU's, if that ended its process.
    on_host: Misuse | None = None


class Device:
    """``engine`` belongs to it; ``memory_bytes``: what programs may allocate; ``ptxas``: the assembler to ask how many
    registers kernels take whose PTX comes as text. ``line_at``: the source's line of a place in the host's library."""

    def __init__(self, engine: Engine, memory_bytes: int = MEMORY_BYTES, ptxas: Path | None = None) -> None:
        self.engine, self._left, self._ptxas = engine, memory_bytes, ptxas
        self.line_at: Callable[[int], int] = lambda place: 0
        # By module, what the assembler was not asked about yet: it takes a while, and only a model wants to know.
        self._not_assembled: dict[int, str] = {}
        # Of ``TIME``: the first launch, and whether launches are counted for it alone.
        self._timed_from, self._timed_apart = 0, False
        self._modules: list[Loaded | None] = []
        self._allocated: dict[int, _Allocated] = {}
        # What was freed: its size, and where it was allocated and freed.
        self._freed: dict[int, tuple[int, int, int]] = {}
        # Of buffers that are the call's arguments.
        self._arguments: dict[int, str] = {}
        # Address -> size and where the bytes are, of all that copies may reach.
        self._memory: dict[int, tuple[int, int]] = {}
        # Of managed memory: what the host has there.
        self._managed: dict[int, bytearray] = {}
        self.call = _Call()

    def adopt(
        self, data: int, size: int, name: str, *, written: bool, constant: bool = False, misalign: int = 0
    ) -> int:
        """A buffer of a call's, see ``Engine.adopt``; its address on the device."""
        address = self.engine.adopt(data, size, name, misalign=misalign, written=written, constant=constant)
        self._memory[address], self._arguments[address] = (size, data), name
        return address

    def forget(self, address: int) -> None:
        self._memory.pop(address, None)
        self._arguments.pop(address, None)
        self.engine.release(address, forget=True)

    def begin(self, *, counted: bool = False) -> None:
        """Begin a call. ``counted``: its work is, for a modelled time; that takes longer."""
        self.call = _Call()
        self.engine.begin_call()
        self.engine.launches = [] if counted else None
        self.engine.begin_sample()
        self._timed_from, self._timed_apart = 0, False

    def returned(self, code: int = 0, name: str = "", text: str = "", forgotten: int = 0) -> Returned:
        """What the call came to that ``begin`` began; the rest is what the host code says."""
        call = self.call
        call.findings = [self._with_lines(it) for it in call.findings]
        unfreed = [Unfreed(it.size, self.line_at(it.place)) for it in self._allocated.values()]
        return Returned(
            code, name, text, call.fault, call.findings, call.unsupported, call.refused, self.engine.printed(),
            call.instructions, call.launches, unfreed, call.misuses, call.remarks, forgotten,
            call.forgotten_lines, tuple(self.engine.launches or ()),
            self._modelled(), self._profile(), call.taken, self.engine.heap_live(), call.broken,
        )  # fmt: skip

    def _with_lines(self, it: Finding) -> Finding:
        """Says of two works that race in which lines the host's code asked for them."""
        if it.works is None:
            return it
        mine, other = (replace(work, line=self.line_at(work.place)) for work in it.works)
        place = it.place if mine.kernel else replace(it.place, line=mine.line)
        return replace(it, place=place, works=(mine, other))

    def _modelled(self) -> float | None:
        if self.engine.launches is None:
            return None
        return seconds_of(self.engine.launches, self.call.copies, self.call.copied)

    def _profile(self) -> dict[str, Any] | None:
        if self.engine.launches is None:
            return None
        return profile_of(self.engine.launches, self.call.copies, self.call.copied)

    def answer(self, kind: int, body: bytes) -> tuple[int, bytes]:
        """Status and reply to one request of the host code. A request that makes no sense is an invalid value; what we
        do wrong ourselves is kept as ``Returned.broken``."""
        handler = _HANDLERS.get(kind)
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
                    loaded.registers = registers_of(body)
                elif self._ptxas is not None:
                    self._not_assembled[number] = texts[-1]
                self._modules[number] = loaded
                for name, address in loaded.addresses.items():
                    variable = loaded.module.variables[name]
                    self._memory[address] = (variable.size, self.engine.data_at(address))
                    if variable.managed:
                        self._managed[address] = bytearray()
        except (ValueError, BadPtx) as error:
            self.call.refused = f"the PTX cannot be read: {error}"
            return _BAD_PTX, struct.pack("<I", number)
        return 0, struct.pack("<I", number)

    def _find(self, body: bytes) -> tuple[Loaded | None, str]:
        (module,) = struct.unpack_from("<I", body)
        loaded = self._modules[module] if module < len(self._modules) else None
        return loaded, body[4:].decode("ascii", "replace")

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
            32,
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
        size, place = _PLACED.unpack_from(body.ljust(_PLACED.size, b"\0"))
        if size > self._left + (SAMPLED_BYTES if self.engine.sample is not None else 0):
            return _NO_MEMORY, b""
        address, data = self.engine.allocate(size, "an allocation of cudaMalloc")
        self._left -= size
        self._allocated[address] = _Allocated(size, data, place)
        self._memory[address] = (size, ctypes.addressof(data))
        return 0, struct.pack("<Q", address)

    def _allocate_managed(self, body: bytes) -> tuple[int, bytes]:
        """As ``_allocate``; all of it counts as written, because the host's writes are not seen one by one."""
        size, place = _PLACED.unpack_from(body.ljust(_PLACED.size, b"\0"))
        if size > self._left:
            return _NO_MEMORY, b""
        address, data = self.engine.allocate(size, "managed memory", written=True)
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
            start = next((it for it in self._managed if it <= address < it + self._memory[it][0]), None)
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
        if self.engine.launches is not None:
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
        known = kind <= 2 and all(it in (0, 8, 16, 32) for it in bits) and all(it <= 3 for it in modes)
        sized = element in (1, 2, 4, 8, 16) and element == sum(bits) // 8 and not (kind == 2 and 8 in bits)
        size = (height * depth - 1) * pitch + width * element
        if not (whole and known and sized) or self._range(address, size) is None:
            return _INVALID_VALUE, b""
        return 0, struct.pack("<Q", self.engine.texture(body))

    def _release(self, body: bytes) -> tuple[int, bytes]:
        address, place = _PLACED.unpack_from(body.ljust(_PLACED.size, b"\0"))
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
                self._misused("bad_launch", _why_not_launched(which, numbers), place)
            case MISUSE.SYMBOL_TOO_SMALL:
                size, offset, whole = numbers[:3]
                at = f" from byte {offset:,} on" if offset else ""
                self._misused(
                    "bad_copy",
                    f"A copy of {size:,} bytes{at} is larger than the variable of the GPU's, which has {whole:,}.",
                    place,
                )
            case MISUSE.NO_SUCH_SYMBOL:
                text = "This is no __device__ or __constant__ variable of this source."
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
                    "Do this in a kernel, or copy to or from an array of the host's with cudaMemcpy."
                )
                call.on_host = Misuse("device_memory_on_host", self.line_at(place), text)
            case MISUSE.NOT_HERE:
                self._misused("not_here", f"{name[:100]} is not on the emulated GPU.", place)
        return 0, b""

    def _really(self, stated: int, to: int, source: int) -> str:
        """Of a copy with another direction than it states."""
        if stated in _FROM_THE_HOST and self._range(source, 1) is not None:
            return (
                f"its source is {self._name_of(source)}, which is device memory already. It is copied from there. "
                "Arguments of solve that are arrays are device pointers, which kernels take as they are"
            )
        return f"its target is {self._name_of(to)}, which is device memory. It is copied there"

    def _name_of(self, address: int) -> str:
        """An array of the device's, by an address in it or just behind it."""
        for start, (size, _) in self._memory.items():
            if start <= address <= start + size:
                return array_name(self._arguments.get(start, "")) or "an allocation of cudaMalloc"
        return "memory that was freed" if self._was_freed(address) else "a pointer of the GPU's"

    def _was_freed(self, address: int) -> bool:
        return any(start <= address < start + size for start, (size, _, _) in self._freed.items())

    def _why_not_freed(self, address: int) -> tuple[str, str]:
        if address in self._freed:
            _, _, place = self._freed[address]
            line = self.line_at(place)
            where = f" in line {line}" if line else ""
            return "double_free", f"Memory is freed that was freed before{where}."
        if address in self._arguments:
            name = self._arguments[address]
            return "bad_free", f"{name} is freed, which is an argument: its owner is who calls solve."
        for start, it in self._allocated.items():
            if start < address < start + it.size:
                return "bad_free", (
                    f"What is freed is an address {address - start:,} bytes behind the beginning of an allocation: "
                    "cudaFree takes the pointer that cudaMalloc gave."
                )
        return "bad_free", "What is freed is no memory that cudaMalloc gave."

    def _whose(self, address: int) -> str:
        """Of a copy's address: where it leads."""
        for start, (size, _) in self._memory.items():
            if start <= address < start + max(size, 1):
                name = array_name(self._arguments.get(start, "")) or "an allocation"
                behind = f" {address - start:,} bytes behind the beginning of" if address > start else ""
                return f"{behind} {name}, which has {size:,} bytes"
        for start, (size, _, _) in self._freed.items():
            if start <= address < start + size:
                return " memory that was freed before"
        return " an address that is none of the GPU's"

    def _is_only_devices(self, address: int) -> bool:
        """Whether it is an address of the GPU's that the host cannot reach."""
        managed = any(it <= address < it + len(size) for it, size in self._managed.items())
        return self._range(address, 1) is not None and not managed

    def _range(self, address: int, size: int) -> int | None:
        """Where ``size`` bytes at an address lie in this process; None: they are not all of one buffer."""
        for start, (length, data) in self._memory.items():
            if start <= address and address + size <= start + length:
                return data + address - start
        return None

    def _copies(self, size: int) -> None:
        """Counts a copy or a memset of so many bytes."""
        self.call.copies, self.call.copied = self.call.copies + 1, self.call.copied + size

    def _copy(self, body: bytes) -> tuple[int, bytes]:
        to, source, size, kind, place = COPY_HEAD.unpack_from(body)
        given = body[COPY_HEAD.size :]
        self._copies(size)
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
            return 0, ctypes.string_at(out_of, size)
        self.engine.fill(to, size)
        if kind == 1:
            ctypes.memmove(into, given, size)
        else:
            ctypes.memmove(into, out_of, size)
        self.engine.mark_written(to, size)
        self.call.findings += self.engine.copied(to, source if kind == 3 else 0, size, place)
        return 0, b""

    def _unwritten(self, body: bytes) -> tuple[int, bytes]:
        address, size = RANGE.unpack_from(body)
        pattern = body[RANGE.size :]
        if self._range(address, size) is None or len(pattern) != UNWRITTEN_PATTERN_BYTES:
            return _INVALID_VALUE, b""
        self.engine.unmark_written(address, size, pattern)
        return 0, b""

    def _is_too_much(self, size: int, what: str) -> bool:
        """Whether a copy or memset is left out of a call of which a sample runs."""
        sample = self.engine.sample
        if sample is None or size <= ENOUGH_BYTES:
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
        wrong = "to the host, and its target" if kind == 2 else "from the host, and its source"
        return f"A copy goes {wrong} is memory of the GPU's: the direction is another one."

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
        stream, *known = ORDER_OF.unpack(body)
        return (0 if self.engine.order(stream, known) else _INVALID_VALUE), b""

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
        loaded = self._modules[module] if module < len(self._modules) else None
        if not _is_kernel(loaded, name):
            return _NO_FUNCTION, b""
        assert loaded is not None
        call = self.call
        try:
            if self.engine.launches is not None and module in self._not_assembled:
                assert self._ptxas is not None
                loaded.registers = registers_of_ptx(self._not_assembled.pop(module), self._ptxas)
            # A card does not run what the assembler did not take; here it runs at the lowest occupancy.
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


def _why_not_launched(which: int, numbers: Sequence[int]) -> str:
    if which == MISUSE.NO_SUCH_KERNEL:
        return "What is launched is no kernel of this source."
    if which == MISUSE.TOO_MUCH_SHARED:
        dynamic, static, most = numbers[:3]
        return (
            f"A launch asks for {dynamic:,} bytes of dynamic shared memory, and its kernel has {static:,} of its own: "
            f"more than the {most:,} that it may have. Beyond 48 KiB in all, cudaFuncSetAttribute with "
            "cudaFuncAttributeMaxDynamicSharedMemorySize must allow it first."
        )
    grid, block = numbers[:3], numbers[3:6]
    threads = block[0] * block[1] * block[2]
    if not all(grid):
        return (
            f"A launch has a grid of {_shape(grid)} blocks: there must be at least one. If a size is 0, return before "
            "the launch; else, a division of integers rounds down: (n + 255) / 256 counts blocks of 256, n / 256 "
            "drops the last one."
        )
    if not threads:
        return f"A launch has blocks of {_shape(block)} threads: there must be at least one."
    if threads > MOST_THREADS:
        product = f", {threads:,} in all" if max(block) < threads else ""
        return (
            f"A launch has blocks of {_shape(block)} threads{product}: a block has at most {MOST_THREADS:,}. Use "
            "smaller blocks, and more of them."
        )
    return (
        f"A launch has a grid of {_shape(grid)} blocks of {_shape(block)} threads. A grid has at most {MOST_GRID[0]:,} "
        f"blocks along x and {MOST_GRID[1]:,} along y and z, a block at most 64 threads along z."
    )


def _shape(sizes: Sequence[int]) -> str:
    """``1,024``, or ``16 x 16`` where there is more than one dimension."""
    last = max((i for i, size in enumerate(sizes) if size != 1), default=0)
    return " x ".join(f"{size:,}" for size in sizes[: last + 1])


def _architecture(target: str) -> int:
    """80 of ``sm_80``; 0 of what is no such name."""
    found = re.match(r"sm_(\d{2,3})(?!\d)", target)
    return int(found[1]) if found else 0


def _is_kernel(loaded: Loaded | None, name: str) -> bool:
    function = loaded.module.functions.get(name) if loaded is not None else None
    return function is not None and function.entry


_HANDLERS: dict[int, Callable[[Device, bytes], tuple[int, bytes]]] = {
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
    MESSAGE.UNWRITTEN: Device._unwritten,
    MESSAGE.MISUSED: Device._refused_there,
}


class HostProcess:
    """The host code of one library, in a process of its own."""

    def __init__(
        self,
        device: Device,
        library: str | os.PathLike[str] | int,
        host: Path = HOST,
        output: int | None = None,
    ) -> None:
        """``library``: its path, or a descriptor of it; ``output``: a descriptor for what it prints, else this
        process's own. Raises LoadFailed, HostEnded."""
        self.device = device
        self._connection, theirs = socket.socketpair()
        if isinstance(library, int):
            path, given = f"/proc/self/fd/{library}", [library]
        else:
            path, given = os.fspath(library), []
        self._library = path
        self._lines: HostLines | None = None
        device.line_at = self._line_at
        with theirs:
            self._process = subprocess.Popen(
                [str(host), str(theirs.fileno()), path],
                pass_fds=[theirs.fileno(), *given],
                stdin=subprocess.DEVNULL,
                stdout=output,
            )
        try:
            text = self._serve(MESSAGE.LOADED)
        except BaseException:
            self.close()
            raise
        if text:
            self.close()
            raise LoadFailed(text.decode("utf-8", "replace"))

    def _line_at(self, place: int) -> int:
        if place == 0:
            return 0
        if self._lines is None:
            try:
                self._lines = HostLines(Path(self._library).read_bytes())
            except OSError:
                self._lines = HostLines(b"")
        return self._lines.line_at(place)

    def close(self) -> None:
        self._connection.close()
        self._process.kill()
        self._process.wait()

    def call(self, values: Sequence[bytes], *, counted: bool = False) -> Returned:
        """Call the entry point; ``values``: its arguments as C has them, at most 8 bytes each; ``counted``: see
        ``Device.begin``. Raises HostEnded."""
        self.device.begin(counted=counted)
        self._reply(0, b"".join(it.ljust(8, b"\0") for it in values))
        said = self._serve(MESSAGE.RETURNED)
        code, forgotten = _SAID.unpack_from(said)
        name, _, text = said[_SAID.size :].decode("ascii", "replace").partition(" ")
        return self.device.returned(code, name, text, forgotten)

    def _serve(self, last: int) -> bytes:
        """Answer until a request of the kind ``last``, which the next call answers."""
        while True:
            kind, size = HEADER.unpack(self._exactly(HEADER.size))
            if size > MOST_BYTES:
                raise self._ended()
            body = self._exactly(size)
            if kind == last and (kind != MESSAGE.RETURNED or _SAID.size <= size <= _MOST_SAID):
                return body
            self._reply(*self.device.answer(kind, body))

    def _reply(self, status: int, body: bytes) -> None:
        try:
            self._connection.sendall(REPLY.pack(status, len(body)) + body)
        except OSError as error:
            raise self._ended() from error

    def _exactly(self, size: int) -> bytes:
        parts = bytearray(size)
        view, at = memoryview(parts), 0
        while at < size:
            try:
                some = self._connection.recv_into(view[at:])
            except OSError:
                some = 0
            if some == 0:
                raise self._ended()
            at += some
        return bytes(parts)

    def _ended(self) -> HostEnded:
        self._connection.close()
        self._process.kill()
        return HostEnded(self._process.wait())
