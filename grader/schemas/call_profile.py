"""Counts of one call on the emulated GPU, named as metrics of Nsight Compute if possible.

Nsight Compute counts machine code, this counts PTX, in which addresses take more instructions and short
branches are not yet predicates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, StringConstraints, model_serializer

from grader.schemas.strict import Strict

# ``sandbox/emulator/profile.py`` cuts at these, since every report stores them.
MOST_KERNELS, MOST_LINES = 32, 200
MOST_ACCESSES, MOST_IN_TIMELINE = 64, 100
SECTOR_BYTES = 32
MULTIPROCESSORS, MOST_WARPS = 132, 64

Count = Annotated[int, Field(ge=0, lt=2**63)]
Step = Annotated[int, Field(gt=-(2**63), lt=2**63)]
Size = Annotated[int, Field(ge=1, lt=2**32)]
Microseconds = Annotated[float, Field(ge=0, lt=3600e6, allow_inf_nan=False)]
KernelName = Annotated[str, StringConstraints(max_length=100, pattern=r"^[A-Za-z0-9_$<>:, .()-]+$")]
ArrayName = Annotated[str, StringConstraints(max_length=60, pattern=r"^[A-Za-z0-9_$<>:, .()-]*$")]
Text = Annotated[str, StringConstraints(max_length=100)]
Term = Annotated[str, StringConstraints(max_length=40, pattern=r"^[A-Za-z0-9 ]+$")]


class KernelCounts(Strict):
    """Counts of some instructions; zeros are omitted."""

    instructions: Count = Field(
        default=0,
        description="issued by warps; moves between registers are none (smsp__inst_executed)",
    )
    threads: Count = Field(
        default=0,
        description="active threads of those instructions (smsp__thread_inst_executed)",
    )
    threads_on: Count = Field(
        default=0,
        description="those whose predicate was true (smsp__thread_inst_executed_pred_on)",
    )
    divergent_branches: Count = Field(
        default=0,
        description="branches that sent a warp more than one way (smsp__branch_targets_threads_divergent)",
    )
    stall_cycles: Count = Field(
        default=0,
        description="cycles that warps waited for an operand, or for others at a barrier, if nothing else delayed them",
    )
    load_requests: Count = Field(
        default=0,
        description="loads from global memory by warps, cp.async among them "
        "(l1tex__t_requests_pipe_lsu_mem_global_op_ld)",
    )
    load_sectors: Count = Field(
        default=0,
        description="sectors of 32 bytes that these touch (l1tex__t_sectors_pipe_lsu_mem_global_op_ld)",
    )
    load_ideal_sectors: Count = Field(
        default=0,
        description="sectors needed if the bytes were contiguous",
    )
    store_requests: Count = Field(
        default=0,
        description="stores to global memory by warps (l1tex__t_requests_pipe_lsu_mem_global_op_st)",
    )
    store_sectors: Count = Field(
        default=0, description="their sectors (l1tex__t_sectors_pipe_lsu_mem_global_op_st)"
    )
    store_ideal_sectors: Count = Field(default=0, description="as for loads")
    atomic_requests: Count = Field(
        default=0,
        description="atomic operations on global memory by warps",
    )
    atomic_sectors: Count = Field(default=0, description="their sectors")
    atomic_turns: Count = Field(
        default=0,
        description="turns of their threads: the largest number that change one address, summed over requests",
    )
    l2_sectors: Count = Field(
        default=0,
        description="sectors requested from the modelled L2 cache (lts__t_sectors)",
    )
    dram_sectors: Count = Field(
        default=0,
        description="sectors that missed it, read or written (dram__sectors)",
    )
    shared_requests: Count = Field(
        default=0,
        description="accesses to shared memory by warps",
    )
    shared_passes: Count = Field(
        default=0,
        description="passes through its 32 banks (l1tex__data_pipe_lsu_wavefronts_mem_shared)",
    )
    shared_ideal_passes: Count = Field(
        default=0,
        description="passes without bank conflicts; the rest are conflicts "
        "(l1tex__data_bank_conflicts_pipe_lsu_mem_shared)",
    )
    constant_requests: Count = Field(default=0, description="loads from constant memory by warps")
    constant_passes: Count = Field(default=0, description="distinct addresses in them")
    local_requests: Count = Field(
        default=0,
        description="accesses to local memory: arrays of a thread, and calls",
    )
    local_sectors: Count = Field(default=0, description="their sectors")
    spill_requests: Count = Field(
        default=0,
        description="accesses of warps to registers that the assembler put into local memory, 4 bytes a thread each; "
        "from machine code, times how often warps pass the line",
    )
    l1_lines: Count = Field(
        default=0, description="lines of 128 bytes that requests touch (l1tex__t_set_accesses_pipe_lsu)"
    )
    delay_cycles: Count = Field(
        default=0,
        description="cycles that warps waited for results of these instructions, or at these barriers",
    )
    issue_slots: Count = Field(
        default=0, description="cycles of issue: one for most instructions, many for a division"
    )
    division_slots: Count = Field(
        default=0, description="those of divisions of integers, and of their remainders"
    )

    # A return type would replace the fields in the OpenAPI document.
    @model_serializer(mode="wrap")
    def _without_zeros(self, serialize: SerializerFunctionWrapHandler):  # type: ignore[no-untyped-def]
        kept = serialize(self).items()
        return {
            name: value for name, value in kept if value not in (None, []) and (value or name not in _COUNTS)
        }

    @property
    def threads_per_instruction(self) -> float:
        """Per warp of 32, on average."""
        return self.threads / self.instructions if self.instructions else 0.0

    @property
    def active_threads(self) -> float:
        """Threads per warp of 32 that did something, on average; a false predicate switches a thread off."""
        return self.threads_on / self.instructions if self.instructions else 0.0

    @property
    def waited_for(self) -> int:
        """Cycles; profiles of earlier versions have them where warps wait, not where they wait for."""
        return self.delay_cycles or self.stall_cycles

    @property
    def local_bytes(self) -> int:
        """Local memory: arrays of threads, and spilled registers."""
        return SECTOR_BYTES * self.local_sectors + 4 * 32 * self.spill_requests

    @property
    def requests(self) -> int:
        """To global memory."""
        return self.load_requests + self.store_requests + self.atomic_requests

    @property
    def sectors(self) -> int:
        return self.load_sectors + self.store_sectors + self.atomic_sectors

    @property
    def sectors_per_request(self) -> float | None:
        return self.sectors / self.requests if self.requests else None

    @property
    def conflicts(self) -> int:
        """Passes through shared memory's banks beyond the ideal."""
        return self.shared_passes - self.shared_ideal_passes

    @property
    def passes_per_request(self) -> float | None:
        return self.shared_passes / self.shared_requests if self.shared_requests else None

    @property
    def dram_bytes(self) -> int:
        return SECTOR_BYTES * self.dram_sectors

    @property
    def l2_bytes(self) -> int:
        return SECTOR_BYTES * self.l2_sectors


class PtxCount(Strict):
    """How often warps issued a PTX instruction."""

    text: Text
    instructions: Count


class LineCounts(KernelCounts):
    """One line, over all launches of a kernel. A step is the distance in bytes between the addresses of
    neighbouring threads, if it is constant.
    """

    line: int = Field(ge=0, lt=2**31, description="of the source, from 1; 0: unknown")
    load_step: Step | None = None
    store_step: Step | None = None
    shared_step: Step | None = None
    ptx: list[PtxCount] = Field(default_factory=list, description="in the program's order")


class AccessCounts(Strict):
    """One kind of access to one array at one line, over all launches of a kernel."""

    line: int = Field(ge=0, lt=2**31, description="of the source; 0: unknown")
    array: ArrayName = Field(default="", description="empty: unknown, or several")
    array_bytes: Count = Field(default=0, description="the array's size")
    kind: Literal["load", "store", "atomic"]
    requests: Count = Field(default=0, description="by warps")
    sectors: Count = 0
    ideal_sectors: Count = 0
    l1_lines: Count = 0
    l2_sectors: Count = 0
    dram_sectors: Count = 0
    bytes: Count = Field(default=0, description="that threads asked for")
    threads: Count = Field(default=0, description="that asked")
    turns: Count = Field(default=0, description="of atomics, see ``atomic_turns``")
    delay_cycles: Count = 0
    step: Step | None = None

    @property
    def times(self) -> float | None:
        """Per byte, on average; None if the array is unknown."""
        return self.bytes / self.array_bytes if self.array_bytes else None


class ArrayCounts(Strict):
    """Of global memory, over all launches of a kernel."""

    name: ArrayName
    bytes: Count = Field(description="its size")
    read: Count = Field(description="bytes that threads asked for")
    written: Count = Field(description="bytes that threads wrote or changed")
    moved: Count = Field(description="bytes between the modelled L2 cache and memory")


class Launched(Strict):
    """A launch on the time line of the call."""

    kernel: int = Field(ge=0, lt=MOST_KERNELS, description="index in ``kernels``")
    start_us: Microseconds
    time_us: Microseconds


class KernelProfile(Strict):
    """All launches of one kernel with the same shape. Times are sums in microseconds."""

    name: KernelName
    launches: Size
    grid: tuple[Size, Size, Size]
    block: tuple[Size, Size, Size]
    counted_blocks: Count = Field(
        default=0,
        description="blocks that were counted; counts are scaled up to all blocks. 0: all, or not known",
    )
    registers: int | None = Field(
        ge=0, lt=2**16, description="per thread, from the assembler; null if it was not run"
    )
    shared_bytes: Count = Field(description="per block")
    resident_blocks: Size = Field(description="blocks per multiprocessor at a time")
    resident_warps: Size
    limiter: Term = Field(description="what prevents more of them: registers, shared memory, threads, blocks")
    time_us: Microseconds
    launch_us: Microseconds = Field(description="part of that time: the cost of empty launches")
    terms_us: dict[Term, Microseconds] = Field(
        max_length=32,
        description="the time of each resource if it were the only limit; the total is a little above the longest",
    )
    lines: list[LineCounts] = Field(
        max_length=MOST_LINES, description="the lines with most work, in the source's order"
    )
    rest: KernelCounts = Field(default_factory=KernelCounts, description="of the omitted lines")
    accesses: list[AccessCounts] = Field(
        default_factory=list, max_length=MOST_ACCESSES, description="those with most sectors first"
    )
    arrays: list[ArrayCounts] = Field(
        default_factory=list, max_length=MOST_ACCESSES, description="the largest first"
    )
    stalls: dict[Term, Count] = Field(
        default_factory=dict, max_length=16, description="cycles that warps waited, by what they waited for"
    )
    spill_terms_us: dict[Term, Microseconds] = Field(
        default_factory=dict, max_length=32, description="the part of ``terms_us`` that is spilled registers"
    )
    spilled_bytes: Count = Field(
        default=0, description="of a thread's loads and stores of spilled registers in the machine code"
    )
    balance: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="instructions of an average multiprocessor, as a share of the busiest one's",
    )

    @property
    def occupancy(self) -> float:
        """Share of a multiprocessor's warps that can be resident."""
        return min(self.resident_warps / MOST_WARPS, 1.0)

    @property
    def threads(self) -> int:
        """Of a block."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def blocks(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def counted_text(self) -> str:
        """Empty if all blocks are counted."""
        return (
            f" (counted in {self.counted_blocks:,} of {self.blocks:,} blocks)" if self.counted_blocks else ""
        )

    @property
    def local_bytes_a_thread(self) -> float:
        return self.total.local_bytes / (self.launches * self.blocks * self.threads)

    @property
    def bound(self) -> str:
        """The resource that limits it; empty if it does nothing."""
        return max(self.terms_us, key=lambda term: self.terms_us[term], default="")

    @property
    def total(self) -> KernelCounts:
        return total([*self.lines, self.rest])


class CallProfile(Strict):
    card: str = Field(max_length=64, description="the card that the model describes")
    model: int = Field(ge=1, description="version; times and counts of two versions are not comparable")
    time_us: Microseconds = Field(
        description="by the model: the kernels' times and that of copies and memsets"
    )
    copies: Count
    copied_bytes: Count
    copies_us: Microseconds
    kernels: list[KernelProfile] = Field(max_length=MOST_KERNELS, description="the longest first")
    left_out: Count = Field(default=0, description="launches of omitted kernels")
    timeline: list[Launched] = Field(
        default_factory=list,
        max_length=MOST_IN_TIMELINE,
        description="the first launches, one after the other; copies are left out",
    )

    @property
    def total(self) -> KernelCounts:
        return total([kernel.total for kernel in self.kernels])

    @property
    def terms_us(self) -> dict[str, float]:
        """Sums over all kernels, longest first."""
        sums: dict[str, float] = {}
        for kernel in self.kernels:
            for name, us in kernel.terms_us.items():
                sums[name] = sums.get(name, 0.0) + us
        return dict(sorted(sums.items(), key=lambda term: -term[1]))

    @property
    def parts_us(self) -> dict[str, float]:
        """Of ``time_us``: for each bound the time of the kernels that it limits, then launches, copies and
        omitted kernels.
        """
        parts: dict[str, float] = {}
        for kernel in self.kernels:
            if kernel.bound:
                parts[kernel.bound] = parts.get(kernel.bound, 0.0) + kernel.time_us - kernel.launch_us
        parts = dict(sorted(parts.items(), key=lambda part: -part[1]))
        parts["launches"] = sum(kernel.launch_us for kernel in self.kernels)
        parts["copies"] = self.copies_us
        parts["other kernels"] = self.time_us - sum(parts.values())
        return {name: us for name, us in parts.items() if us > 1e-6 * self.time_us}

    @property
    def by_line(self) -> dict[int, LineCounts]:
        found: dict[int, list[LineCounts]] = {}
        for kernel in self.kernels:
            for each in kernel.lines:
                found.setdefault(each.line, []).append(each)
        return {line: _merged(line, found[line]) for line in sorted(found)}


_COUNTS = tuple(KernelCounts.model_fields)
_STEPS = ("load_step", "store_step", "shared_step")


def total(counts: Iterable[KernelCounts]) -> KernelCounts:
    return KernelCounts(**_sums(list(counts)))


def _sums(counts: list[Any]) -> dict[str, int]:
    value: Callable[[Any, str], int] = getattr
    return {name: sum(value(each, name) for each in counts) for name in _COUNTS}


def _merged(line: int, counts: list[LineCounts]) -> LineCounts:
    if len(counts) == 1:
        return counts[0]
    steps = {}
    for name in _STEPS:
        requests = name.replace("step", "requests")
        seen = {getattr(each, name) for each in counts if getattr(each, requests)}
        steps[name] = seen.pop() if len(seen) == 1 else None
    ptx = [instruction for each in counts for instruction in each.ptx]
    return LineCounts(line=line, **steps, **_sums(counts), ptx=ptx)
