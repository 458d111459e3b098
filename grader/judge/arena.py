"""The only memory that judge and runner share: inputs, outputs, and guard zones around them.

One piece of memory per buffer. On the host it is a sealed ``memfd``, which the runner can neither shrink (that would
fault the judge) nor grow. The array ends as near to the end of its mapping as 256-byte alignment allows; the runner
maps an unreadable page on either side. Between them is a guard zone with a pattern that must survive the call.
"""

from __future__ import annotations

import fcntl
import math
import mmap
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

from grader.challenge.dtypes import BITS
from grader.challenge.model import Argument, Kind, Manifest
from grader.challenge.numbers import comparable, decode, encode, held_type, stored_type

if TYPE_CHECKING:
    import torch

ALIGNMENT = 256
PAGE = mmap.PAGESIZE

_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL


class Poison(Enum):
    """Content of float outputs before a call. A NaN spreads to everything computed from it, even times 0, but a
    maximum or minimum drops it (``fmaxf``, ``tl.maximum``): those need an extreme number."""

    NAN = 0
    LARGE = 1
    LOW = 2

    @classmethod
    def in_turn(cls, number: int) -> Poison:
        """Each comes up for every third ``number``."""
        return (cls.LARGE, cls.LOW, cls.NAN)[number % 3]


@dataclass(frozen=True)
class BufferLayout:
    nbytes: int
    mapped: int
    offset: int


def torch_bytes(data: bytes) -> torch.Tensor:
    import torch

    return torch.frombuffer(bytearray(data), dtype=torch.uint8)


def lay_out(nbytes: int, page: int = PAGE) -> BufferLayout:
    """Align the array next to the mapping's end, with a guard zone of at least one alignment before it."""
    mapped = -(-(nbytes + ALIGNMENT) // page) * page
    offset = (mapped - nbytes) // ALIGNMENT * ALIGNMENT
    return BufferLayout(nbytes, mapped, offset)


class Memory(Protocol):
    bytes: torch.Tensor
    #: For the runner.
    descriptor: int
    #: Unique; 0 if the runner should map it each time.
    number: int

    def close(self) -> None: ...


class MemoryMaker(Protocol):
    page: int

    def make(self, name: str, size: int) -> Memory:
        """``size`` is a multiple of ``page``. The memory is zero after the device has settled."""


class HostMemory:
    number = 0

    def __init__(self, name: str, size: int) -> None:
        import torch

        self.descriptor = os.memfd_create(f"arena-{name}", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.descriptor, size)
        fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, _SEALS)
        # Populated at once: page faults later cost several times as much on a virtual machine.
        self._map = mmap.mmap(self.descriptor, size, mmap.MAP_SHARED | mmap.MAP_POPULATE)
        self.bytes = torch.frombuffer(self._map, dtype=torch.uint8)

    def close(self) -> None:
        del self.bytes
        self._map.close()
        os.close(self.descriptor)


class HostMemories:
    page = PAGE

    def make(self, name: str, size: int) -> HostMemory:
        return HostMemory(name, size)


HOST = HostMemories()


class Buffer:
    """``shape`` and ``count``: of the held values, see ``grader.challenge.numbers``."""

    def __init__(self, argument: Argument, shape: tuple[int, ...], memories: MemoryMaker = HOST) -> None:
        """``shape``: the argument's."""
        self._describe(argument, shape)
        self.layout = lay_out(self._nbytes, memories.page)
        self._memory = memories.make(argument.name, self.layout.mapped)
        self.descriptor = self._memory.descriptor
        self.memory_number = self._memory.number
        everything = self._memory.bytes
        end = self.layout.offset + self.layout.nbytes
        self._before = everything[: self.layout.offset]
        self._after = everything[end:]
        self._bytes = everything[self.layout.offset : end]
        pattern = torch_bytes(secrets.token_bytes(ALIGNMENT))
        self._guard = pattern.to(everything.device)
        self._guards = [
            (zone, self._pattern(zone.numel())) for zone in (self._before, self._after) if zone.numel()
        ]
        self._fill_guards()
        self._poison = Poison.NAN

    def _describe(self, argument: Argument, shape: tuple[int, ...]) -> None:
        self.argument = argument
        self.shape = argument.dtype.held_shape(shape)
        self.count = math.prod(self.shape)
        self.given_shape = argument.dtype.given_shape(shape)
        self._nbytes = argument.dtype.bytes_of(math.prod(shape))

    @property
    def dtype(self) -> torch.dtype:
        return held_type(self.argument.dtype)

    @property
    def encoded(self) -> bool:
        """Its words are not its values."""
        return self.argument.dtype.encoded

    def _fill_guards(self) -> None:
        for zone, untouched in self.guards():
            zone.copy_(untouched)

    def _pattern(self, size: int) -> torch.Tensor:
        return self._guard.repeat(-(-size // ALIGNMENT))[:size]

    def guards(self) -> list[tuple[torch.Tensor, torch.Tensor]]:
        return self._guards

    def guards_intact(self) -> bool:
        import torch

        return all(torch.equal(zone, untouched) for zone, untouched in self.guards())

    def written_outside(self) -> list[int]:
        """Flat indices of elements written in the guard zones, ascending: negative before the array, from ``count``
        after it."""
        import torch

        places = []
        for zone, first_byte in (
            (self._before, -self._before.numel()),
            (self._after, self.layout.nbytes),
        ):
            changed = (zone != self._pattern(zone.numel())).nonzero().reshape(-1) + first_byte
            size = self.argument.dtype.itemsize
            elements = torch.div(changed, size, rounding_mode="floor") * self.argument.dtype.facts.packed
            places += torch.unique_consecutive(elements).tolist()
        return places

    def write(self, values: torch.Tensor, first: int = 0) -> None:
        """Put ``values`` where the runner sees them, from the flat place ``first`` on."""
        if not values.numel():
            return
        words = encode(values, self.argument.dtype)
        target = self.words
        if words.numel() != target.numel():
            begin = first // self.argument.dtype.facts.packed
            target = target[begin : begin + words.numel()]
        if values.is_cuda:
            from grader.judge.cuda.kernels import copy

            copy(words, target)
        else:
            target.copy_(words)

    @property
    def words(self) -> torch.Tensor:
        """The shared memory, flat. Two reads may differ: take a snapshot."""
        return self._bytes.view(stored_type(self.argument.dtype))

    @property
    def values(self) -> torch.Tensor:
        """The shared values, flat; a copy if the words are not the values."""
        return decode(self.words, self.argument.dtype)

    def values_from(self, first: int, count: int) -> torch.Tensor:
        """``count`` of ``values`` from the flat place ``first`` on."""
        each = self.argument.dtype.facts.packed
        begin, ahead = divmod(first, each)
        words = self.words[begin : -(-(first + count) // each)]
        return decode(words, self.argument.dtype)[ahead : ahead + count]

    def poison(self, poison: Poison = Poison.NAN) -> None:
        """Fill with the pattern for "never written"; floats with that ``poison``."""
        self._poison = poison
        if self.count:
            self._fill_with_poison(self._integers(self.words))

    def _fill_with_poison(self, bits: torch.Tensor, first: int = 0) -> None:
        """Every other integer has its highest bit set: a minimum or a maximum with an output that was not set first is
        wrong in one of them."""
        bits.fill_(self.poison_value)
        if not self._poisoned_as_float:
            bits[1 - first % 2 :: 2] = _with_highest_bit(self.poison_value, self._width)

    @property
    def _width(self) -> int:
        """Bytes of a word."""
        return stored_type(self.argument.dtype).itemsize

    @property
    def _poisoned_as_float(self) -> bool:
        return self.argument.dtype.floating and not self.argument.dtype.packed

    @property
    def poison_value(self) -> int:
        """The bits of the first element before it is written, as ``_integers`` reads them."""
        dtype, width = self.argument.dtype, self._width
        if not self._poisoned_as_float:
            return 0x5A if width == 1 else int("2B5AFEC0DE15BAD1"[: width * 2], 16)
        if self._poison is Poison.NAN:
            return dtype.as_float.poison
        large = dtype.as_float.large
        return large if self._poison is Poison.LARGE else _with_highest_bit(large, width)

    @property
    def never_written(self) -> int | None:
        """The bits of the NaN poison of a float output: an element with them is wrong, even if NaN is right. The other
        poisons are wrong by their value."""
        floats = self.argument.dtype.floating and not self.encoded
        written = self.argument.kind is Kind.OUTPUT and floats
        return self.argument.dtype.as_float.poison if written else None

    @property
    def holds_nan(self) -> bool:
        """True if unwritten elements hold a NaN that no right answer is."""
        dtype = self.argument.dtype
        return dtype.floating and dtype.as_float.nan_poison and self._poison is Poison.NAN

    def snapshot(self) -> torch.Tensor:
        """The values of a private copy, which cannot change during the comparison."""
        import torch

        if not self.count:
            return torch.empty(self.shape, dtype=self.dtype, device=self._bytes.device)
        return self.values_of(self._bytes.clone().view(stored_type(self.argument.dtype)))

    def values_of(self, words: torch.Tensor) -> torch.Tensor:
        """The values of a copy of all words, for a comparison."""
        return comparable(decode(words.reshape(-1), self.argument.dtype), self.argument.dtype).view(
            self.shape
        )

    def poisoned(self, snapshot: torch.Tensor, first: int = 0) -> torch.Tensor:
        """True for each element of a snapshot (or a piece from the flat place ``first`` on) that still is poison,
        flat."""
        bits = self._integers(snapshot.reshape(-1))
        if self._poisoned_as_float and not self.encoded:
            return bits == self.poison_value
        return bits == self._integers(self.poison_elements(bits.numel(), first))

    def poison_elements(self, count: int, first: int = 0) -> torch.Tensor:
        import torch

        dtype = self.argument.dtype
        before, ahead = divmod(first, dtype.facts.packed)
        words = torch.empty(
            -(-(ahead + count) // dtype.facts.packed), dtype=stored_type(dtype), device=self._bytes.device
        )
        self._fill_with_poison(self._integers(words), before)
        return decode(words, dtype)[ahead : ahead + count]

    def computed_from_poison(self, snapshot: torch.Tensor) -> torch.Tensor:
        """True for each float that is the NaN that arithmetic on the poison makes, of either sign, flat. CPUs keep a
        NaN's bits; NVIDIA's GPUs only in float64, else nothing is found."""
        import torch

        if self.encoded:  # its arithmetic is that of a larger type
            return torch.zeros(snapshot.numel(), dtype=torch.bool, device=snapshot.device)
        made = self.poison_value | self.argument.dtype.as_float.quiet_bit
        bits = self._integers(snapshot.reshape(-1))
        return bits & torch.iinfo(bits.dtype).max == made

    def _integers(self, values: torch.Tensor) -> torch.Tensor:
        import torch

        word: torch.dtype = getattr(torch, BITS[values.element_size()])
        return values.view(word)

    def close(self) -> None:
        """Give the memory back; tensors over it are invalid then."""
        del self._before, self._after, self._bytes, self._guards
        self._memory.close()


def _with_highest_bit(value: int, width: int) -> int:
    """``value`` with its highest bit set; signed if it has more than one byte."""
    return value ^ 0x80 if width == 1 else value - (1 << (8 * width - 1))


class InputWriter(Protocol):
    """Inputs that are never whole in memory."""

    def write_to(self, buffers: Mapping[str, Buffer]) -> None: ...


# By name, or written a piece at a time.
Inputs = Mapping[str, "torch.Tensor"] | InputWriter


class Arena:
    """The buffers of one binding: a case, or a workload whose rounds share them. ``poison``: for float outputs at the
    next reveal."""

    def __init__(
        self,
        manifest: Manifest,
        sizes: Mapping[str, int],
        scalars: Mapping[str, float],
        memories: MemoryMaker = HOST,
        sent_sizes: Mapping[str, int] | None = None,
    ) -> None:
        """``sent_sizes``: the sizes that the runner gets, if they differ from the arrays'."""
        self.manifest = manifest
        self.poison = Poison.NAN
        self.sizes = dict(sizes if sent_sizes is None else sent_sizes)
        self.scalars = dict(scalars)
        self.buffers = {
            arg.name: Buffer(arg, manifest.shape(arg, sizes), memories) for arg in manifest.buffers
        }

    def entries(self) -> list[dict[str, Any]]:
        return [self._entry(arg) for arg in self.manifest.args]

    def _entry(self, arg: Argument) -> dict[str, Any]:
        if arg.kind.buffer:
            buffer = self.buffers[arg.name]
            layout = buffer.layout
            return {
                "kind": "buffer",
                "name": arg.name,
                "dtype": arg.dtype.given,
                "shape": list(buffer.given_shape),
                "mapped": layout.mapped,
                "memory": buffer.memory_number,
                "offset": layout.offset,
                "nbytes": layout.nbytes,
                "output": arg.kind is Kind.OUTPUT,
            }
        value = self.sizes[arg.name] if arg.kind is Kind.SIZE else self.scalars[arg.name]
        return {"kind": "value", "name": arg.name, "dtype": arg.dtype.value, "value": value}

    def descriptors(self) -> list[int]:
        return [buffer.descriptor for buffer in self.buffers.values()]

    def reveal(self, inputs: Inputs) -> None:
        """Write the inputs, then poison the outputs: last, so no early change shows that all inputs are there."""
        if isinstance(inputs, Mapping):
            for name, values in inputs.items():
                self.buffers[name].write(values)
        else:
            inputs.write_to(self.buffers)
        for buffer in self.of_kind(Kind.OUTPUT):
            buffer.poison(self.poison)

    def of_kind(self, *kinds: Kind) -> Sequence[Buffer]:
        return [buffer for buffer in self.buffers.values() if buffer.argument.kind in kinds]

    def snapshot(self) -> dict[str, torch.Tensor]:
        return {buffer.argument.name: buffer.snapshot() for buffer in self.of_kind(Kind.INOUT, Kind.OUTPUT)}

    def close(self) -> None:
        for buffer in self.buffers.values():
            buffer.close()
