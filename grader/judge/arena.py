"""The only memory that judge and runner share: inputs, outputs, and guard zones around them.

A host buffer is a sealed ``memfd``: a runner that shrank it would fault the judge. Arrays end near the end of their
mapping, and the runner maps unreadable pages on either side.
"""

from __future__ import annotations

import fcntl
import math
import mmap
import os
import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

from grader.challenge.dtypes import BITS
from grader.challenge.model import Argument, Kind, Manifest
from grader.challenge.numbers import comparable, decode, encode, held_type, stored_type
from grader.challenge.scalars import Number, data_of
from grader.challenge.tolerance import Allowance

if TYPE_CHECKING:
    import torch

ALIGNMENT = 256
PAGE = mmap.PAGESIZE

_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL


class Poison(Enum):
    """A maximum or minimum drops a NaN: those need an extreme number."""

    NAN = 0
    LARGE = 1
    LOW = 2

    @classmethod
    def in_turn(cls, number: int) -> Poison:
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
    mapped = -(-(nbytes + ALIGNMENT) // page) * page
    offset = (mapped - nbytes) // ALIGNMENT * ALIGNMENT
    return BufferLayout(nbytes, mapped, offset)


class Memory(Protocol):
    bytes: torch.Tensor
    descriptor: int
    #: Unique; 0 if the runner should map it each time.
    number: int

    def close(self) -> None: ...


class MemoryMaker(Protocol):
    page: int

    def make(self, name: str, size: int) -> Memory:
        """``size`` is a multiple of ``page``. The memory is zero after the device has settled."""

    @property
    def home(self) -> torch.device | None:
        """Where values are compared; None on the host."""

    def on(self, gpu: int) -> MemoryMaker:
        """Raises BoxUnavailable if there is no such GPU."""


class HostMemory:
    number = 0

    def __init__(self, name: str, size: int) -> None:
        import torch

        self.descriptor = os.memfd_create(f"arena-{name}", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.descriptor, size)
        fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, _SEALS)
        # Later page faults cost several times as much on a virtual machine.
        self._map = mmap.mmap(self.descriptor, size, mmap.MAP_SHARED | mmap.MAP_POPULATE)
        self.bytes = torch.frombuffer(self._map, dtype=torch.uint8)

    def close(self) -> None:
        del self.bytes
        self._map.close()
        os.close(self.descriptor)


class HostMemories:
    page = PAGE
    home = None

    def on(self, gpu: int) -> HostMemories:
        return self

    def make(self, name: str, size: int) -> HostMemory:
        return HostMemory(name, size)


HOST = HostMemories()


class Buffer:
    """``shape`` and ``count`` are of the held values, see ``grader.challenge.numbers``."""

    #: In elements; None: dense, row-major. ``count`` and ``values`` leave padding out.
    strides: tuple[int, ...] | None = None
    # Places of padding, in elements of the memory, and the bits to keep there.
    _padding: tuple[torch.Tensor, torch.Tensor] | None = None

    allowance = Allowance()
    gpu = 0

    def __init__(
        self,
        argument: Argument,
        shape: tuple[int, ...],
        memories: MemoryMaker = HOST,
        strides: tuple[int, ...] | None = None,
        label: str = "",
    ) -> None:
        self._describe(argument, shape)
        self.label = label or argument.name
        self.strides = strides if self.count else None
        if self.strides is not None:
            assert argument.dtype.strided
            extent = max(size * stride for size, stride in zip(shape, self.strides, strict=True))
            self._nbytes = argument.dtype.bytes_of(extent)
        self.layout = lay_out(self._nbytes, memories.page)
        self._memory = memories.make(self.label, self.layout.mapped)
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
        if self.strides is not None:
            # This loads kernels, which must not happen while a GPU's stream is held.
            self.poison()
            self.pad()
            self.changed_padding()

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
        """Flat indices of written elements: negative before the array, from ``count`` after."""
        import torch

        places = []
        for zone, first_byte in (
            (self._before, -self._before.numel()),
            (self._after, self.layout.nbytes),
        ):
            changed = (zone != self._pattern(zone.numel())).nonzero().reshape(-1) + first_byte
            size = self.argument.dtype.itemsize // self.argument.dtype.facts.parts
            elements = torch.div(changed, size, rounding_mode="floor") * self.argument.dtype.facts.packed
            places += torch.unique_consecutive(elements).tolist()
        return places

    def write(self, values: torch.Tensor, first: int = 0) -> None:
        if not values.numel():
            return
        words = encode(values, self.argument.dtype)
        if self.strides is not None:
            assert words.numel() == self.count
            bits = self._integers(words.contiguous())
            self._view(self._integers(self.words)).copy_(bits.view(self.shape))
            return
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
        """Two reads may differ: take a snapshot."""
        return self._bytes.view(stored_type(self.argument.dtype))

    @property
    def values(self) -> torch.Tensor:
        """Flat; a copy if encoded or not dense."""
        return decode(self.dense_words, self.argument.dtype)

    @property
    def dense_words(self) -> torch.Tensor:
        """``words`` without padding; with strides, a copy."""
        return self.words if self.strides is None else self._view(self.words).reshape(-1)

    def values_from(self, first: int, count: int) -> torch.Tensor:
        if self.strides is not None:
            return self.values[first : first + count]
        each = self.argument.dtype.facts.packed
        begin, ahead = divmod(first, each)
        words = self.words[begin : -(-(first + count) // each)]
        return decode(words, self.argument.dtype)[ahead : ahead + count]

    def _view(self, flat: torch.Tensor) -> torch.Tensor:
        return flat.view(self.shape) if self.strides is None else flat.as_strided(self.shape, self.strides)

    def held_at(self, places: torch.Tensor) -> torch.Tensor:
        """Places in a strided buffer's memory, in elements (int64)."""
        import torch

        assert self.strides is not None
        found = torch.zeros_like(places)
        for size, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            found += places.remainder(size) * stride
            places = places.div(size, rounding_mode="floor")
        return found

    def read_into(self, target: torch.Tensor) -> None:
        """Enqueues."""
        target.copy_(self._view(self.words))

    def poison(self, poison: Poison = Poison.NAN) -> None:
        self._poison = poison
        if self.strides is not None:
            self._view(self._integers(self.words)).copy_(
                self._integers(self.poison_elements(self.count)).view(self.shape)
            )
        elif self.count:
            self._fill_with_poison(self._integers(self.words))

    def pad(self, poison: Poison = Poison.NAN) -> None:
        """Padding of inputs is ``poison``, to reveal reads; of results random bytes, to reveal writes."""
        import torch

        if self.strides is None:
            return
        bits = self._integers(self.words)
        if self._padding is None:
            outside = torch.ones(bits.numel(), dtype=torch.bool, device=bits.device)
            outside.as_strided(self.shape, self.strides).fill_(False)
            self._padding = outside.nonzero().reshape(-1), bits[:0]
        places, kept = self._padding
        if self.argument.kind is Kind.INPUT:
            before, self._poison = self._poison, poison
            kept = self._integers(self.poison_elements(places.numel()))
            self._poison = before
        elif kept.numel() != places.numel():
            # Once: a copy to a GPU waits for its stream.
            size = self.argument.dtype.itemsize * places.numel()
            kept = torch_bytes(secrets.token_bytes(ALIGNMENT)).repeat(-(-size // ALIGNMENT))[:size]
            kept = kept.to(bits.device).view(bits.dtype)
        bits[places] = kept
        self._padding = places, kept

    def changed_padding(self) -> torch.Tensor | None:
        if self._padding is None:
            return None
        places, kept = self._padding
        changed = places[self._integers(self.words)[places] != kept]
        return changed if changed.numel() else None

    def _fill_with_poison(self, bits: torch.Tensor, first: int = 0) -> None:
        """Alternates two values, so a minimum or maximum with an unset output is wrong for one of them."""
        bits.fill_(self.poison_value)
        if not self._poisoned_as_float:
            bits[1 - first % 2 :: 2] = _with_highest_bit(self.poison_value, self._width)

    @property
    def _width(self) -> int:
        return stored_type(self.argument.dtype).itemsize

    @property
    def _poisoned_as_float(self) -> bool:
        return self.argument.dtype.floating and not self.argument.dtype.packed

    @property
    def poison_value(self) -> int:
        """The first element, as ``_integers`` reads it."""
        dtype, width = self.argument.dtype, self._width
        if not self._poisoned_as_float:
            return 0x5A if width == 1 else int("2B5AFEC0DE15BAD1"[: width * 2], 16)
        if self._poison is Poison.NAN:
            return dtype.as_float.poison
        large = dtype.as_float.large
        return large if self._poison is Poison.LARGE else _with_highest_bit(large, width)

    @property
    def never_written(self) -> int | None:
        """An element with these bits is wrong, even if NaN is right."""
        floats = self.argument.dtype.floating and not self.encoded
        written = self.argument.kind is Kind.OUTPUT and floats
        return self.argument.dtype.as_float.poison if written else None

    @property
    def holds_nan(self) -> bool:
        dtype = self.argument.dtype
        return dtype.floating and dtype.as_float.nan_poison and self._poison is Poison.NAN

    def snapshot(self) -> torch.Tensor:
        """A private copy, which cannot change during the comparison."""
        import torch

        if not self.count:
            return torch.empty(self.shape, dtype=self.dtype, device=self._bytes.device)
        if self.strides is not None:
            return self._view(self.words).contiguous()
        return self.values_of(self._bytes.clone().view(stored_type(self.argument.dtype)))

    def values_of(self, words: torch.Tensor) -> torch.Tensor:
        return comparable(decode(words.reshape(-1), self.argument.dtype), self.argument.dtype).view(
            self.shape
        )

    def poisoned(self, snapshot: torch.Tensor, first: int = 0) -> torch.Tensor:
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
        """True for each float that arithmetic on the poison made. NVIDIA's GPUs keep a NaN's bits only in float64."""
        import torch

        if self.encoded:
            return torch.zeros(snapshot.numel(), dtype=torch.bool, device=snapshot.device)
        made = self.poison_value | self.argument.dtype.as_float.quiet_bit
        bits = self._integers(snapshot.reshape(-1))
        return bits & torch.iinfo(bits.dtype).max == made

    def _integers(self, values: torch.Tensor) -> torch.Tensor:
        import torch

        word: torch.dtype = getattr(torch, BITS[values.element_size()])
        return values.view(word)

    def close(self) -> None:
        """Tensors over the memory are invalid afterwards."""
        del self._before, self._after, self._bytes, self._guards
        self._padding = None
        self._memory.close()


def _with_highest_bit(value: int, width: int) -> int:
    return value ^ 0x80 if width == 1 else value - (1 << (8 * width - 1))


class Shards(Buffer):
    """A buffer on every GPU; its first dimension is the GPU. Reads are gathered on the first one."""

    _home: torch.device | None = None

    def __init__(self, argument: Argument, shape: tuple[int, ...], memories: MemoryMaker = HOST) -> None:
        self._describe(argument, shape)
        self.label = argument.name
        self.each: list[Buffer] = []
        for gpu in range(shape[0]):
            self._add(Buffer(argument, shape[1:], memories.on(gpu), label=f"{argument.name}[{gpu}]"), gpu)

    def _add(self, shard: Buffer, gpu: int) -> None:
        shard.gpu = gpu
        self.each.append(shard)

    @property
    def dtype(self) -> torch.dtype:
        return self.each[0].dtype

    @property
    def never_written(self) -> int | None:
        return self.each[0].never_written

    @property
    def holds_nan(self) -> bool:
        return self.each[0].holds_nan

    @property
    def values(self) -> torch.Tensor:
        return self.snapshot().reshape(-1)

    @property
    def dense_words(self) -> torch.Tensor:
        return self.values

    def values_from(self, first: int, count: int) -> torch.Tensor:
        return self.values[first : first + count]

    def guards(self) -> list[tuple[torch.Tensor, torch.Tensor]]:
        return [guard for shard in self.each for guard in shard.guards()]

    def write(self, values: torch.Tensor, first: int = 0) -> None:
        assert first == 0, "no part of such a buffer is written alone"
        for shard, part in zip(self.each, self._parts(values), strict=True):
            shard.write(part)

    def poison(self, poison: Poison = Poison.NAN) -> None:
        for shard in self.each:
            shard.poison(poison)

    def snapshot(self) -> torch.Tensor:
        import torch

        found = [shard.snapshot() for shard in self.each]
        return torch.cat([part.reshape(-1).to(self._home or found[0].device) for part in found]).view(
            self.shape
        )

    def poisoned(self, snapshot: torch.Tensor, first: int = 0) -> torch.Tensor:
        import torch

        parts = zip(self.each, self._parts(snapshot), strict=True)
        found = [shard.poisoned(part.to(shard.values.device)) for shard, part in parts]
        return torch.cat([part.to(snapshot.device) for part in found])

    def poison_elements(self, count: int, first: int = 0) -> torch.Tensor:
        import torch

        found = [shard.poison_elements(shard.count) for shard in self.each]
        home = self._home or found[0].device
        return torch.cat([part.to(home) for part in found])[first : first + count]

    def computed_from_poison(self, snapshot: torch.Tensor) -> torch.Tensor:
        return self.each[0].computed_from_poison(snapshot)

    def _parts(self, values: torch.Tensor) -> list[torch.Tensor]:
        flat, size = values.reshape(-1), self.each[0].count
        return [flat[number * size : (number + 1) * size] for number in range(len(self.each))]

    def close(self) -> None:
        for shard in self.each:
            shard.close()


class Elsewhere(Shards):
    """A buffer of one GPU that is not the first."""

    def __init__(self, argument: Argument, shape: tuple[int, ...], memories: MemoryMaker, gpu: int) -> None:
        self._describe(argument, shape)
        self.label = argument.name
        self.each = []
        self._home = memories.home
        self._add(Buffer(argument, shape, memories.on(gpu)), gpu)


class InputWriter(Protocol):
    def write_to(self, buffers: Mapping[str, Buffer]) -> None: ...


Inputs = Mapping[str, "torch.Tensor"] | InputWriter


class Arena:
    """The buffers of a case, or of a workload whose rounds share them."""

    def __init__(
        self,
        manifest: Manifest,
        sizes: Mapping[str, int],
        scalars: Mapping[str, Number],
        memories: MemoryMaker = HOST,
        sent_sizes: Mapping[str, int] | None = None,
        without: Collection[str] = (),
    ) -> None:
        """``sent_sizes``: for the runner, if not the arrays'. ``without``: optional inputs to leave out."""
        self.manifest = manifest
        self.poison = Poison.NAN
        self.sizes = dict(sizes if sent_sizes is None else sent_sizes)
        self.scalars = dict(scalars)
        if manifest.gpus > 1:
            self.sizes["gpus"] = manifest.gpus
        self.buffers: dict[str, Buffer] = {
            arg.name: self._buffer(arg, sizes, memories)
            for arg in manifest.buffers
            if arg.name not in without
        }
        self._allow(sizes)

    def _allow(self, sizes: Mapping[str, int]) -> None:
        for arg in self.manifest.results:
            buffer, allowance = self.buffers[arg.name], self.manifest.allowance(arg, sizes, self.scalars)
            for part in [buffer, *(buffer.each if isinstance(buffer, Shards) else ())]:
                part.allowance = allowance

    def _buffer(self, arg: Argument, sizes: Mapping[str, int], memories: MemoryMaker) -> Buffer:
        shape = self.manifest.shape(arg, sizes)
        if self.manifest.on_each(arg):
            return Shards(arg, shape, memories)
        if not arg.on:
            return Buffer(arg, shape, memories, self.manifest.strides(arg, sizes))
        assert isinstance(arg.on, int)
        return Elsewhere(arg, shape, memories, arg.on)

    def pieces(self) -> list[Buffer]:
        return [
            buffer
            for known in self.buffers.values()
            for buffer in (known.each if isinstance(known, Shards) else [known])
        ]

    def entries(self) -> list[dict[str, Any]]:
        return [entry for arg in self.manifest.parameters for entry in self._entries(arg)]

    def _entries(self, arg: Argument) -> list[dict[str, Any]]:
        buffer = self.buffers.get(arg.name)
        if isinstance(buffer, Elsewhere):
            return [self._entry(arg, buffer.each[0])]
        if isinstance(buffer, Shards):
            return [{**self._entry(arg, shard), "of": arg.name} for shard in buffer.each]
        return [self._entry(arg, buffer)]

    def _entry(self, arg: Argument, buffer: Buffer | None) -> dict[str, Any]:
        if buffer is not None:
            layout = buffer.layout
            return {
                "kind": "buffer",
                "name": buffer.label,
                "dtype": arg.dtype.given,
                "itemsize": arg.dtype.itemsize // arg.dtype.facts.parts,
                "shape": list(buffer.given_shape),
                **({"strides": list(buffer.strides)} if buffer.strides is not None else {}),
                "mapped": layout.mapped,
                "memory": buffer.memory_number,
                "offset": layout.offset,
                "nbytes": layout.nbytes,
                "output": not arg.kind.given,
                **({"gpu": buffer.gpu} if self.manifest.gpus > 1 else {}),
            }
        if arg.kind.buffer:
            return {"kind": "absent", "name": arg.name}
        value = self.sizes[arg.name] if arg.kind is Kind.SIZE else self.scalars[arg.name]
        data = data_of(arg.dtype, value).hex()
        return {"kind": "value", "name": arg.name, "dtype": arg.dtype.value, "value": value, "data": data}

    def descriptors(self) -> list[int]:
        return [buffer.descriptor for buffer in self.pieces()]

    def reveal(self, inputs: Inputs) -> None:
        """Poison last: no early change shows that all inputs are there."""
        if isinstance(inputs, Mapping):
            for name, values in inputs.items():
                self.buffers[name].write(values)
        else:
            inputs.write_to(self.buffers)
        for buffer in self.buffers.values():
            buffer.pad(self.poison)
        for buffer in self.of_kind(Kind.OUTPUT, Kind.WORKSPACE):
            buffer.poison(self.poison)

    def of_kind(self, *kinds: Kind) -> Sequence[Buffer]:
        return [buffer for buffer in self.buffers.values() if buffer.argument.kind in kinds]

    def snapshot(self) -> dict[str, torch.Tensor]:
        return {buffer.argument.name: buffer.snapshot() for buffer in self.of_kind(Kind.INOUT, Kind.OUTPUT)}

    def close(self) -> None:
        for buffer in self.buffers.values():
            buffer.close()
