"""Drives the C engine: memory, modules and launches of an emulated GPU.

Callers own the bytes at an address, and keep them while it is in use.
"""

from __future__ import annotations

import ctypes
import math
import mmap
import os
import struct
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from . import LIBRARY, ptx
from .branches import work_of
from .findings import KINDS, OF_SHARED, SPACES, Fault, Finding, Operation, Thread, place_of, shared_array
from .kernel_memory import fill, in_memory
from .library import (
    COUNTS,
    OTHER_VERSION,
    CFinding,
    CKernel,
    CLazy,
    COverlay,
    CProfile,
    CSample,
    CWriter,
    EngineMissing,
    Triple,
    open_library,
    operations_of,
)
from .limits import MOST_COOPERATIVE, LaunchRefused, check_shape, cluster_of
from .lower import ROW, Lowered, function_address, lower
from .model import H200, Launch, Row, after, cycles_of, occupancy_of, share_of, spills_in, weights_of
from .names import (
    BUILT_WITH,
    CHECK,
    COUNT,
    FIRST_ADDRESS,
    GPU_ADDRESSES,
    LARGE_BYTES,
    MOST_STATIC_SHARED,
    PAGE,
    SHARED_ARRAY,
    STOP,
    STREAMS,
    TOGETHER,
    WRITER,
)
from .sample import (
    Chosen,
    Ran,
    Sample,
)
from .spills import Spills
from .stepping.named import Program
from .stepping.not_stored import Wanted
from .stepping.quiz import Launches
from .stepping.recorder import Choice, Recorder
from .stepping.unwritten import Would, Wrote, asked, mapped
from .widths import widths_of
from .work import KINDS as KINDS_OF_WORK
from .work import Work
from .writers import Writer

# See names.h.
NOTHING, EVERYTHING, BUT_SHARED_RACES = CHECK.NOTHING, CHECK.EVERYTHING, CHECK.BUT_SHARED_RACES
# CUDA's default for malloc in kernels.
HEAP_BYTES = 8 << 20
# An index that overflows 32 bits must not reach another array.
_APART_BYTES = 64 << 30
_MAP_NORESERVE = 0x4000
# For prints that name their threads: a flood's head, within a box's output.
_TAGGED_BYTES = 256 << 10


@dataclass(frozen=True)
class Pattern:
    """Fills a large array's pages when touched. Addresses are this process's."""

    data: int  # address of the bytes that repeat
    size: int
    element: int  # in bytes
    overlays: Sequence[tuple[int, int, int]]  # first, step and bits of other elements
    drawn: int  # address of a byte per page: it was filled


@dataclass
class _Named:
    name: str
    address: int
    size: int
    keep: object = None


@dataclass
class Loaded:
    module: ptx.Module
    addresses: dict[str, int]  # of variables, by name
    kernels: dict[str, _Ready] = field(default_factory=dict)
    registers: dict[str, int] = field(default_factory=dict)  # a thread's, by kernel, if known
    spills: Spills = field(default_factory=dict)


@dataclass
class _Ready:
    lowered: Lowered
    kernel: CKernel
    pool: ctypes.Array[ctypes.c_uint32]
    keep: tuple[object, ...]
    work: list[Work] = field(default_factory=list)
    classes: bytes = b""
    weights: array[int] = field(default_factory=lambda: array("I"))
    widths: bytes = b""
    branches: bytes = b""


class Engine:
    """``threads``: host threads; None: all of this process's."""

    def __init__(self, threads: int | None = None, library: Path = LIBRARY, *, gpus: int = 1) -> None:
        """``gpus`` in one address space. Raises EngineMissing, MemoryError."""
        self._c = open_library(library)
        if (
            tuple(self._c.engine_sizes(which) for which in range(5))
            != (
                ROW.size,
                ctypes.sizeof(CKernel),
                ctypes.sizeof(CFinding),
                8 * COUNTS,
                ctypes.sizeof(CProfile),
            )
            or self._c.engine_names().decode() != BUILT_WITH
        ):
            raise EngineMissing(OTHER_VERSION)
        self._operations = operations_of(self._c)
        self._engine = ctypes.c_void_p(self._c.engine_new(threads or len(os.sched_getaffinity(0))))
        if not self._engine:
            raise MemoryError
        self.gpus, self.gpu = gpus, 0
        self._reach = [(1 << gpus) - 1] * gpus
        if gpus > 1:
            self._c.engine_gpus(self._engine, gpus)
        self._named: dict[int, _Named] = {}
        self._grid_barrier = 0
        self._heap = 0
        self._works: list[tuple[Operation, Lowered | None]] = []
        self.check = EVERYTHING
        # Prints name block and thread, from the next call on.
        self.tags_prints = False
        self.instructions = 0
        # If a list, launches are counted and added.
        self.launches: list[Launch] | None = None
        # Chooses blocks; None: all run.
        self.sample: Sample | None = None
        # The launch's blocks, and room for counts of blocks that do not count.
        self._chosen = Chosen()
        self._discarded = (ctypes.c_uint64 * 0)()
        self.recorder: Recorder | None = None

    def close(self) -> None:
        if self._engine:
            self._c.engine_delete(self._engine)
            self._engine = ctypes.c_void_p()

    def use_gpu(self, gpu: int, reach: int) -> bool:
        """For new memory and next launches. ``reach``: GPUs whose memory its kernels reach, as bits. False
        without such a GPU.
        """
        if not 0 <= gpu < self.gpus:
            return False
        if self.gpus > 1:
            self._c.engine_gpu(self._engine, gpu, reach)
        self.gpu, self._reach[gpu] = gpu, reach
        return True

    @contextmanager
    def on_gpu(self, gpu: int) -> Iterator[None]:
        """Memory that is added in the body is this GPU's."""
        before = self.gpu
        self.use_gpu(gpu, self._reach[gpu])
        try:
            yield
        finally:
            self.use_gpu(before, self._reach[before])

    def share(self, address: int) -> None:
        """Let every GPU reach the memory."""
        self._c.engine_everywhere(self._engine, address)

    def gpu_of(self, address: int) -> int | None:
        """None if there is one GPU."""
        return (address - FIRST_ADDRESS) // GPU_ADDRESSES if self.gpus > 1 else None

    def adopt(
        self,
        data: int,
        size: int,
        name: str = "",
        *,
        misalign: int = 0,
        written: bool = True,
        constant: bool = False,
        checked: bool = True,
        keep: object = None,
    ) -> int:
        """Give host memory to the device. Returns its device address. ``written``: the contents count as
        written. ``keep``: lives as long.
        """
        tracked = (1 if written else 2) if checked else 0
        apart = _APART_BYTES if self.sample is not None and size >= LARGE_BYTES else 0
        self._c.engine_keep_apart(self._engine, apart)
        address = self._c.engine_add(self._engine, data, size, misalign, tracked, constant)
        self._c.engine_keep_apart(self._engine, apart)
        if address == 0:
            raise MemoryError("no memory is left for the checks")
        self._named[self._c.engine_number_of(self._engine, address)] = _Named(name, address, size, keep)
        return int(address)

    def allocate(
        self, size: int, name: str = "", *, written: bool = False, checked: bool = True
    ) -> tuple[int, ctypes.Array[ctypes.c_char]]:
        """Address and bytes, with arbitrary contents."""
        if size >= LARGE_BYTES:
            return self._allocate_large(size, name, written=written, checked=checked)
        data = (ctypes.c_char * max(size, 1))()
        return self.adopt(
            ctypes.addressof(data), size, name, written=written, checked=checked, keep=data
        ), data

    def _allocate_large(
        self, size: int, name: str, *, written: bool, checked: bool
    ) -> tuple[int, ctypes.Array[ctypes.c_char]]:
        """Pages exist once touched, and count toward a sample's budget."""
        data = (ctypes.c_char * size).from_buffer(_reserved(size))
        drawn = (ctypes.c_char * (size // PAGE + 1)).from_buffer(_reserved(size // PAGE + 1))
        zeros = (ctypes.c_char * PAGE)()
        keep = (data, drawn, zeros)
        address = self.adopt(ctypes.addressof(data), size, name, written=written, checked=checked, keep=keep)
        self.fill_as_touched(address, Pattern(ctypes.addressof(zeros), PAGE, 1, (), ctypes.addressof(drawn)))
        return address, data

    def fill_as_touched(self, address: int, pattern: Pattern) -> None:
        overlays = (COverlay * max(len(pattern.overlays), 1))(
            *(COverlay(*overlay) for overlay in pattern.overlays)
        )
        lazy = CLazy(
            pattern.drawn,
            pattern.data,
            ctypes.addressof(overlays),
            pattern.size,
            len(pattern.overlays),
            pattern.element,
        )
        named = self._named[self._c.engine_number_of(self._engine, address)]
        named.keep = (named.keep, overlays, lazy)
        self._c.engine_lazy(self._engine, address, ctypes.byref(lazy))

    def fill(self, address: int, size: int) -> None:
        """Fill now, because something other than a kernel uses the bytes."""
        self._c.engine_fill(self._engine, address, size)

    def record(
        self, choice: Choice | None = None, *, programs: bool = False, wanted: Wanted | None = None
    ) -> Recorder:
        """Record the next launches, which copies memory each time. ``programs``: Triton's. ``choice``,
        ``wanted``: see ``Recorder``.
        """
        self.recorder = Recorder(self._c, list(self._operations), choice, programs=programs, wanted=wanted)
        return self.recorder

    def keep_launches(self) -> Launches:
        """Keep the next launches, for questions about them."""
        self.recorder = Launches(self._c, list(self._operations))
        return self.recorder

    def begin_sample(self) -> None:
        """``sample`` chooses this call's blocks."""
        if self.sample is not None:
            self.sample.begin()
            self._c.engine_sample_begins(self._engine)

    def release(self, address: int, *, forget: bool = False) -> bool:
        """False if no memory begins there. Unless ``forget``, a later use is reported."""
        number = self._c.engine_remove(self._engine, address, not forget)
        if number and (named := self._named.get(number)) is not None:
            named.keep = None
        return bool(number)

    def data_at(self, address: int) -> int:
        """A module variable's address in this process."""
        named = self._named[self._c.engine_number_of(self._engine, address)]
        assert isinstance(named.keep, ctypes.Array)
        return ctypes.addressof(named.keep)

    def mark_written(self, address: int, size: int) -> None:
        self._c.engine_mark(self._engine, address, size)

    def unmark_written(self, address: int, size: int, pattern: bytes) -> None:
        """Aligned repetitions of ``pattern`` count as never written."""
        self._c.engine_unmark(self._engine, address, size, pattern, len(pattern))

    def begin_call(self) -> None:
        """Everything before it is done."""
        self._works.clear()
        self._c.engine_order_begins(self._engine)
        if self.tags_prints:
            self._c.engine_tag_prints(self._engine, _TAGGED_BYTES)

    def order(self, stream: int, known: Sequence[int]) -> bool:
        """The next work's stream, and how much of each stream precedes it (default: all). False if out of
        range.
        """
        return bool(self._c.engine_order(self._engine, stream, (ctypes.c_uint32 * STREAMS)(*known)))

    def copied(self, to: int, source: int, size: int, place: int) -> list[Finding]:
        """Findings of a copy or memset just done. Address 0 is the host's. ``place``: see ``Operation``."""
        work = Operation("", place)
        self._works.append((work, None))
        self._c.engine_copied(self._engine, to, source, size)
        return [self._finding(found, None, work) for found in self._found()]

    @property
    def works_begun(self) -> int:
        return len(self._works)

    def writers(self, addresses: Sequence[int]) -> list[Writer | None]:
        """Each element's last writer in this call; None: unknown."""
        found = (CWriter * len(addresses))()
        self._c.engine_writers(self._engine, _words(addresses), len(addresses), found)
        return [self._writer(writer) for writer in found]

    def _writer(self, found: CWriter) -> Writer | None:
        made = self._wrote(found.kind, found.work, found.block)
        if made is None or made.work is None or made.block is None:
            return made
        lowered = self._works[found.work][1]
        lines = sorted({place_of(lowered, line).line for line in found.lines[: found.line_count]} - {0})
        return replace(made, thread=tuple(found.thread), lines=tuple(lines), many=bool(found.many))

    def would_write(
        self, start: int, size: int, place: int, shape: Sequence[int], *, programs: bool
    ) -> tuple[int, Would] | None:
        """The launch and thread that would write an element which nothing wrote; see ``unwritten.mapped``.
        ``start``, ``size``, ``shape``: the array's address, bytes per element, sizes.
        """
        places = asked(place, shape)
        found = (CWriter * len(places))()
        self._c.engine_writers(
            self._engine, _words([start + size * each for each in places]), len(places), found
        )
        wrote: dict[int, Wrote] = {}
        for each, writer in zip(places, found, strict=True):
            if writer.kind == WRITER.THREAD and not writer.many and writer.work < len(self._works):
                wrote[each] = Wrote(writer.work, tuple(writer.block), tuple(writer.thread))
        nearest = min(wrote, key=lambda each: abs(each - place), default=None)
        if nearest is None:
            return None
        work = wrote[nearest].work
        operation = self._works[work][0]
        wrote = {each: writer for each, writer in wrote.items() if writer.work == work}
        would = mapped(place, wrote, operation.grid, operation.threads, shape, programs=programs)
        return (work, would) if would is not None else None

    def work(self, number: int) -> Operation:
        return self._works[number][0]

    def writing_blocks(self, addresses: Sequence[int]) -> tuple[list[int], list[Writer | None]]:
        """Faster than ``writers``, without threads and lines: an index in the list per address."""
        found = (ctypes.c_uint32 * (5 * len(addresses)))()
        self._c.engine_writing_blocks(self._engine, _words(addresses), len(addresses), found)
        data, known = bytes(found), dict[bytes, int]()
        indices = [known.setdefault(data[at : at + 20], len(known)) for at in range(0, len(data), 20)]
        words = (struct.unpack("5I", key) for key in known)
        return indices, [self._wrote(kind, work, block) for kind, work, *block in words]

    def read(self, address: int, size: int, count: int) -> bytes | None:
        """1 per element that this call read, else 0; None: unknown."""
        found = ctypes.create_string_buffer(count)
        known = self._c.engine_read(self._engine, address, size, count, found)
        return found.raw if known else None

    def _wrote(self, kind: int, work: int, block: Sequence[int]) -> Writer | None:
        if kind == WRITER.NOBODY:
            return Writer(None)
        if kind == WRITER.NOT_RECORDED or work >= len(self._works):
            return None
        operation = self._works[work][0]
        return Writer(operation, work, None if kind == WRITER.COPIED else (block[0], block[1], block[2]))

    def use_heap(self, size: int) -> bool:
        """False if the present heap has live allocations."""
        if self.heap_live()[0]:
            return False
        if self._heap:
            self._c.engine_heap(self._engine, 0, 0)
            self.release(self._heap, forget=True)
            self._heap = 0
        self._heap, _ = self.allocate(size, "memory of malloc")
        self.share(self._heap)
        if not self._c.engine_heap(self._engine, self._heap, size):
            raise MemoryError
        return True

    def texture(self, described: bytes) -> int:
        """``described``: protocol.h's struct texture."""
        made = int(self._c.engine_texture(self._engine, described))
        if not made:
            raise MemoryError
        return made

    def heap_live(self) -> tuple[int, int]:
        """Kernels' allocations that were not freed: number and bytes."""
        size = ctypes.c_uint64()
        return int(self._c.engine_heap_live(self._engine, ctypes.byref(size))), size.value

    def load(self, text: str, most: int = ptx.MOST_GLOBAL) -> Loaded:
        """``most``: variables' bytes. Raises ptx.BadPtx, MemoryError."""
        module = ptx.parse(text)
        if (
            sum(
                variable.size
                for variable in module.variables.values()
                if variable.space in ("global", "const")
            )
            > most
        ):
            raise MemoryError
        loaded = Loaded(module, {})
        self.place_variables(loaded)
        return loaded

    def place_variables(self, loaded: Loaded) -> None:
        """On the present GPU."""
        module = loaded.module
        stored: list[tuple[ptx.Variable, ctypes.Array[ctypes.c_char]]] = []
        for variable in module.variables.values():
            if variable.space not in ("global", "const"):
                continue
            data = (ctypes.c_char * max(variable.size, 1))()
            ctypes.memmove(data, variable.data, len(variable.data))
            constant = variable.space == "const"
            address = self.adopt(
                ctypes.addressof(data), variable.size, variable.name, constant=constant, keep=data
            )
            loaded.addresses[variable.name] = address
            stored.append((variable, data))
        for variable, data in stored:
            for offset, name, addend in variable.pointers:
                if name in module.functions:
                    struct.pack_into("<Q", data, offset, function_address(module, name) + addend)
                elif name in loaded.addresses:
                    struct.pack_into("<Q", data, offset, loaded.addresses[name] + addend)

    def ready(self, loaded: Loaded, name: str) -> Lowered:
        """Lowered at the first use. Raises Unsupported, KeyError."""
        return self._ready(loaded, name).lowered

    def _ready(self, loaded: Loaded, name: str) -> _Ready:
        if name not in loaded.kernels:
            lowered = lower(loaded.module, name, loaded.addresses, self._operations)
            made = in_memory(lowered)
            loaded.kernels[name] = _Ready(lowered, made.kernel, made.pool, made.keep)
        return loaded.kernels[name]

    def launch(
        self,
        loaded: Loaded,
        name: str,
        grid: Sequence[int],
        block: Sequence[int],
        params: bytes,
        shared: int = 0,
        *,
        cooperative: bool = False,
        cluster: Sequence[int] = (0, 0, 0),
        place: int = 0,
    ) -> None:
        """``params``: in the kernel's layout. ``shared``: dynamic bytes. ``cluster``: blocks, zeros for the
        compiled size. ``place``: see ``Operation``.

        Raises LaunchRefused, Fault, Unsupported, KeyError.
        """
        ready = self._ready(loaded, name)
        lowered = ready.lowered
        if lowered.allocates and not self._heap:
            self.use_heap(HEAP_BYTES)
        check_shape(lowered, grid, block, shared)
        cluster = cluster_of(lowered, grid, cluster)
        if cooperative and grid[0] * grid[1] * grid[2] > MOST_COOPERATIVE:
            raise LaunchRefused(
                "cudaErrorCooperativeLaunchTooLarge",
                f"a cooperative grid has at most {MOST_COOPERATIVE} blocks here",
            )
        if len(params) < lowered.param_bytes:
            raise LaunchRefused(
                "cudaErrorInvalidValue", f"{name} takes {lowered.param_bytes} bytes of arguments"
            )
        for offset, size, unit in lowered.params:
            value = int.from_bytes(params[offset : offset + size], "little")
            fill(ready.pool, unit, value, 8 if size == 8 else 4)
        block_of_params = None
        if lowered.param_units:
            block_of_params = ctypes.create_string_buffer(params, len(params))
            address = self.adopt(
                ctypes.addressof(block_of_params), len(params), "the arguments", constant=True
            )
            for unit in lowered.param_units:
                fill(ready.pool, unit, address, 8)
        if lowered.grid_units:
            if not self._grid_barrier:
                self._grid_barrier, zeros = self.allocate(
                    4096, "the grid's barrier", written=True, checked=False
                )
                self.share(self._grid_barrier)
                ctypes.memset(zeros, 0, 4096)
            for unit, upper in lowered.grid_units:
                fill(
                    ready.pool,
                    unit,
                    self._grid_barrier >> 32 if upper else self._grid_barrier & 0xFFFFFFFF,
                    4,
                )
        self._choose_blocks(grid, cluster, cooperative=cooperative, coordinates=lowered.coordinates)
        profile = counts = None
        if self.launches is not None:
            counts = (ctypes.c_uint64 * (COUNTS * lowered.row_count))()
            if not ready.work:
                ready.work, shapes = work_of(lowered, list(self._operations))
                ready.branches = bytes(shapes.branches)
                ready.classes = bytes(KINDS_OF_WORK.index(work.kind) for work in ready.work)
                ready.weights = array("I", weights_of(ready.work))
                ready.widths = widths_of(lowered, shapes, list(self._operations))
            asked = Launch(
                name, (grid[0], grid[1], grid[2]), (block[0], block[1], block[2]), lowered.shared_bytes + shared,
                loaded.registers.get(name), gpu=self.gpu if self.gpus > 1 else None,
            )  # fmt: skip
            share = share_of(asked)
            profile = CProfile(
                ctypes.cast(ctypes.c_char_p(ready.classes), ctypes.c_void_p),
                ctypes.addressof(counts),
                ready.weights.buffer_info()[0],
                ctypes.cast(ctypes.c_char_p(ready.widths), ctypes.c_void_p),
                ctypes.cast(ctypes.c_char_p(ready.branches), ctypes.c_void_p),
                fresh=not self.launches,
                l1_lines=share.l1_lines,
                live=share.live,
                resident=occupancy_of(asked).blocks,
                multiprocessors=H200.multiprocessors,
                cycles=cycles_of(),
                unscaled=ctypes.addressof(self._unscaled(COUNTS * lowered.row_count)),
            )
        sizes = ((grid[0], grid[1], grid[2]), (block[0], block[1], block[2]))
        on = self.gpu if self.gpus > 1 else None
        self._works.append((Operation(name, place, 0, shared, *sizes, on), lowered))
        if self.recorder is not None and self.recorder.wants(len(self._works) - 1):
            pool = ctypes.string_at(ready.pool, ctypes.sizeof(ready.pool))
            shape = (grid, block, cluster)
            self.recorder.names = {number: named.name for number, named in self._named.items()}
            self.recorder.program = Program(loaded, bytes(params), self._grid_barrier)
            self.recorder.begins(
                self._engine, lowered, ready.kernel, pool, shape, shared, self.check, cooperative=cooperative
            )
        try:
            ended = self._c.engine_launch(
                self._engine,
                ctypes.byref(ready.kernel),
                Triple(*grid),
                Triple(*block),
                Triple(*cluster),
                shared,
                cooperative,
                self.check,
                ctypes.byref(profile) if profile is not None else None,
            )
        finally:
            if block_of_params is not None:
                self.release(address, forget=True)
        if self.recorder is not None:
            self.recorder.ended(self._names())
        self.instructions = int(self._c.engine_instructions(self._engine))
        if self.launches is not None and profile is not None and counts is not None and not ended:
            arrays = {
                number: (named.name, named.size, self.gpus > 1 and self.gpu_of(named.address) != self.gpu)
                for number, named in self._named.items()
            }
            spills = loaded.spills.get(name, {})
            counted = _launch_of(ready, profile, counts, asked, arrays, spills)
            self.launches.append(after(counted, self.launches))
        if ended == STOP.NO_MEMORY:
            raise MemoryError("no memory is left for the blocks of a launch")
        fault = None
        if ended and ended != STOP.OVER_BUDGET:
            found = CFinding.from_address(self._c.engine_fault(self._engine))
            fault = self._finding(found, lowered, self._works[-1][0])
        if self.sample is not None:
            ran = self._ran(name, math.prod(grid), math.prod(cluster))
            fault = self._note_sample(self.sample, ran, fault, over_budget=ended == STOP.OVER_BUDGET)
        if fault is not None:
            raise Fault(fault)

    def _names(self) -> dict[int, str]:
        """By memory's number."""
        return {number: it.name for number, it in self._named.items()}

    def _unscaled(self, words: int) -> ctypes.Array[ctypes.c_uint64]:
        if len(self._discarded) < words:
            self._discarded = (ctypes.c_uint64 * words)()
        return self._discarded

    def _choose_blocks(
        self, grid: Sequence[int], cluster: Sequence[int], *, cooperative: bool, coordinates: bool
    ) -> None:
        if self.sample is None:
            self._c.engine_sample(self._engine, None)
            return
        clusters = [size // of for size, of in zip(grid, cluster, strict=True)]
        self._chosen = chosen = self.sample.choose(
            clusters, math.prod(cluster), cooperative=cooperative, coordinates=coordinates
        )
        numbers = (ctypes.c_uint64 * len(chosen.numbers or ()))(*(chosen.numbers or ()))
        groups, parts = ((ctypes.c_uint32 * len(words))(*words) for words in (chosen.groups, chosen.parts))
        self._kept_of_sample = (numbers, groups, parts)
        made = CSample(
            ctypes.addressof(numbers) if chosen.numbers else None,
            len(numbers), chosen.enough[0], chosen.most[0], chosen.enough[1], chosen.most[1],
            ctypes.addressof(groups) if chosen.groups else None,
            ctypes.addressof(parts) if chosen.parts else None,
            chosen.fill,
        )  # fmt: skip
        self._c.engine_sample(self._engine, ctypes.byref(made))

    def _ran(self, name: str, blocks: int, of_cluster: int) -> Ran:
        ran = int(self._c.engine_blocks_run(self._engine))
        fair = self._chosen.fair
        fair_ran = ran if fair is None else of_cluster * sum(fair[: ran // of_cluster])
        work = int(self._c.engine_work(self._engine)) * blocks // max(ran, 1)
        return Ran(name, blocks, ran, fair_ran, work)

    def _note_sample(
        self, sample: Sample, ran: Ran, fault: Finding | None, *, over_budget: bool
    ) -> Finding | None:
        """The fault, unless left out blocks may be its cause."""
        # Triton's host memory counts as written (``emulated_relay.py``), which hides reads of left-out
        # results.
        blind = sample.partial and self.check == BUT_SHARED_RACES
        sample.launches.append(ran)
        guessed = blind or bool(self._c.engine_guessed(self._engine))
        sample.guessed |= guessed
        sample.combined |= bool(self._c.engine_combined(self._engine))
        sample.uneven |= bool(self._c.engine_uneven(self._engine))
        if over_budget:
            sample.leave_out("its blocks do more work than is run here")
        elif fault is not None and (guessed or fault.kind in ("deadlock", "endless")):
            sample.leave_out("blocks wait for, or use, results of blocks that were left out")
        return None if sample.incomplete else fault

    def findings(self) -> list[Finding]:
        """Of the last launch, which it did not end."""
        if not self._works:
            return []
        work, lowered = self._works[-1]
        return [self._finding(found, lowered, work) for found in self._found()]

    def _found(self) -> Sequence[CFinding]:
        found = ctypes.c_void_p()
        count = self._c.engine_findings(self._engine, ctypes.byref(found))
        return list((CFinding * count).from_address(found.value or 0)) if count else []

    def printed(self) -> bytes:
        size = ctypes.c_uint64()
        data = self._c.engine_printed(self._engine, ctypes.byref(size))
        text = ctypes.string_at(data, size.value) if size.value else b""
        if left_out := self._c.engine_prints_left_out(self._engine):
            text += b"\x1e!%d\x1f" % left_out
        return text

    def _finding(self, found: CFinding, lowered: Lowered | None, work: Operation) -> Finding:
        if self.recorder is not None:
            self.recorder.found(found, self._names())
        named = self._named.get(found.region)
        space = SPACES[found.space] if found.space < len(SPACES) else ""
        name, start, size = (named.name, 0, found.extent or named.size) if named else ("", 0, 0)
        if lowered is not None and found.region & SHARED_ARRAY:
            name, (start, size) = list(lowered.shared_names.items())[found.region & ~SHARED_ARRAY]
            space = "shared"
        elif lowered is not None and (space == "shared" or (found.region == 0 and found.kind in OF_SHARED)):
            name, start, size = shared_array(lowered, found.offset)
            space = "shared"
        if space == "shared" and name and size == 0:
            size = work.shared  # declared as extern
        works, others, other_gpu = None, lowered, work.gpu
        if KINDS[found.kind] == "stream_race":
            other_work, others = self._works[found.other_work]
            works, other_gpu = (work, other_work), other_work.gpu
        other = None
        if found.has_other:
            other = Thread(tuple(found.other_block), tuple(found.other_thread), other_gpu)
        return Finding(
            KINDS[found.kind], work.kernel, place_of(lowered, found.line),
            Thread(tuple(found.block), tuple(found.thread), work.gpu),
            name, size, found.offset - start, found.size, space, bool(found.is_write), found.times, other,
            place_of(others, found.other_line), bool(found.other_is_write),
            bool(found.together & TOGETHER.TOGETHER_WRITE), works,
            self.gpu_of(named.address) if named else None,
        )  # fmt: skip


def _words(addresses: Sequence[int]) -> ctypes.Array[ctypes.c_uint64]:
    return (ctypes.c_uint64 * len(addresses)).from_buffer(array("Q", addresses or [0]))


def _reserved(size: int) -> mmap.mmap:
    # Private memory would count against a box's RLIMIT_DATA untouched.
    try:
        return mmap.mmap(-1, size, flags=mmap.MAP_SHARED | mmap.MAP_ANONYMOUS | _MAP_NORESERVE)
    except OSError as error:
        raise MemoryError(f"no address space is left for {size:,} bytes") from error


class TooMuchShared(ValueError):
    """Static shared memory; the text is nvcc's for a card."""


def check(module: ptx.Module, library: Path = LIBRARY) -> None:
    """Raises Unsupported, TooMuchShared, EngineMissing."""
    operations = operations_of(open_library(library))
    addresses = dict.fromkeys(module.variables, 0)
    for function in module.functions.values():
        if function.entry:
            lowered = lower(module, function.name, addresses, operations)
            if lowered.shared_bytes > MOST_STATIC_SHARED:
                # ptxas checks it for sm_90 only, not sm_90a.
                raise TooMuchShared(
                    f"ptxas error   : Entry function '{function.name}' uses too much shared data "
                    f"({lowered.shared_bytes:#x} bytes, {MOST_STATIC_SHARED:#x} max)"
                )


def _launch_of(
    ready: _Ready,
    profile: CProfile,
    counts: ctypes.Array[ctypes.c_uint64],
    asked: Launch,
    arrays: Mapping[int, tuple[str, int, bool]],
    spills: Mapping[int, int],
) -> Launch:
    """``asked`` with counts. ``arrays``: a region's name, bytes, and whether it is another GPU's."""
    lowered, rows = ready.lowered, []
    times = asked.blocks / profile.counted if profile.counted else 1.0
    for number, (work, row) in enumerate(zip(ready.work, lowered.code_rows(), strict=True)):
        each = counts[COUNTS * number : COUNTS * (number + 1)]
        if each[COUNT.ISSUED] and work.kind != "free":
            steps = (each[COUNT.STEPS] ^ 1 << 63) - (1 << 63)  # signed
            line, regular = place_of(lowered, row.line).line, each[COUNT.REGULAR] == 1
            known = arrays.get(each[COUNT.ARRAY]) if each[COUNT.BYTES] else None
            array, size, remote = known or ("", 0, False)
            scaled: list[Any] = [
                round(times * count)
                for count in (*each[: COUNT.STEPS], each[COUNT.DELAYED], each[COUNT.BYTES])
            ]
            row_of = (*scaled, array, size, str(lowered.origins[number]), remote)
            rows.append(Row(work, line, steps if regular else None, *row_of))
    return replace(
        asked,
        counted=profile.counted,
        updates=round(times * profile.updates),
        updates_most=max(profile.updates_most, round(times * profile.updates_shared)),
        chain=profile.chain,
        after_l2=profile.after[0] / max(profile.counted, 1),
        after_memory=profile.after[1] / max(profile.counted, 1),
        busiest=tuple(profile.busiest),
        rows=tuple(rows),
        spills=tuple(spills_in(asked, rows, spills)),
    )


def pack_arguments(layout: Sequence[tuple[int, int]], values: Mapping[int, bytes] | Sequence[bytes]) -> bytes:
    """Each argument at its offset."""
    size = max((offset + length for offset, length in layout), default=0)
    packed = bytearray(size)
    for index, (offset, length) in enumerate(layout):
        packed[offset : offset + length] = values[index][:length]
    return bytes(packed)
