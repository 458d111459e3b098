"""A run of one case under a tool of the CUDA toolkit, on a GPU."""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType

from pydantic import Field

from grader import limits
from grader.formats import duration, three_digits
from grader.schemas.strict import Strict

# In the order of the page.
METRICS = MappingProxyType(
    {
        "gpu__time_duration.sum": "time, with the card's clocks as they are",
        "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed": "memory system, of its peak",
        "sm__throughput.avg.pct_of_peak_sustained_elapsed": "multiprocessors, of their peak",
        "dram__throughput.avg.pct_of_peak_sustained_elapsed": "device memory, of its peak",
        "dram__bytes_read.sum": "read from device memory",
        "dram__bytes_write.sum": "written to device memory",
        "lts__t_sectors.sum": "L2 sectors",
        "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": "global loads of warps",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": "their sectors",
        "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum": "global stores of warps",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": "their sectors",
        "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum": "passes through shared memory",
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum": "bank conflicts among them",
        "smsp__inst_executed.sum": "instructions of warps",
        "smsp__thread_inst_executed_per_inst_executed.ratio": "threads per instruction",
        "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio": "threads with a true predicate",
        "smsp__inst_executed_op_local_ld.sum": "loads from local memory (spills, arrays of a thread)",
        "smsp__inst_executed_op_local_st.sum": "stores to local memory",
        "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active": "tensor cores busy",
        "sm__warps_active.avg.pct_of_peak_sustained_active": "achieved occupancy",
        "sm__maximum_warps_per_active_cycle_pct": "possible occupancy",
        "launch__registers_per_thread": "registers per thread",
        "launch__shared_mem_per_block": "shared memory per block",
        "launch__waves_per_multiprocessor": "waves of blocks",
        "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio": "warps waiting for global memory",
        "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio": "warps waiting at a barrier",
        "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio": "warps waiting for shared memory",
    }
)


class CardTool(StrEnum):
    """Nsight Compute counts; the others are tools of compute-sanitizer."""

    COUNTERS = "counters"
    MEMCHECK = "memcheck"
    RACECHECK = "racecheck"
    INITCHECK = "initcheck"
    SYNCCHECK = "synccheck"

    @property
    def program(self) -> str:
        return "ncu" if self is CardTool.COUNTERS else "compute-sanitizer"

    @property
    def label(self) -> str:
        return "Nsight Compute" if self is CardTool.COUNTERS else f"compute-sanitizer, {self.value}"


class CardCounter(Strict):
    metric: str = Field(max_length=120)
    value: float = Field(allow_inf_nan=False)
    unit: str = Field(
        default="", max_length=40, description="as Nsight Compute writes it; empty for a plain number"
    )

    @property
    def label(self) -> str:
        return METRICS.get(self.metric, self.metric)

    @property
    def text(self) -> str:
        if self.unit == "ns":
            return duration(self.value / 1e3)
        number = f"{self.value:,.0f}" if self.value == int(self.value) else three_digits(self.value)
        if self.unit == "%":
            return f"{number} %"
        unit = {"byte": "bytes", "byte/block": "bytes"}.get(self.unit, "")
        return f"{number} {unit}".rstrip()


class CardKernel(Strict):
    """A launch, in the order of the call."""

    name: str = Field(max_length=200)
    grid: str = Field(max_length=60, description="blocks, such as (128, 1, 1)")
    block: str = Field(max_length=60, description="threads, such as (256, 1, 1)")
    counters: list[CardCounter] = Field(max_length=64)


class CardFinding(Strict):
    """An error that compute-sanitizer reports, with the number of equal ones."""

    text: str = Field(max_length=400, description="its sentence")
    details: list[str] = Field(max_length=8, description="the lines under it")
    line: int | None = Field(default=None, ge=1, description="of the source")
    times: int = Field(default=1, ge=1)


class CardToolRun(Strict):
    """Printed in the submission's box: it informs the author, and decides nothing."""

    tool: CardTool
    kernels: list[CardKernel] = Field(default_factory=list, max_length=limits.CARD_LAUNCHES)
    findings: list[CardFinding] = Field(default_factory=list, max_length=limits.CARD_FINDINGS)
    errors: int | None = Field(
        default=None, ge=0, description="all that compute-sanitizer counted; null if unknown"
    )
    problem: str = Field(default="", max_length=2000, description="why there is nothing to show")

    @property
    def sentence(self) -> str:
        if self.problem:
            return self.problem
        if self.tool is CardTool.COUNTERS:
            return (
                "It counted one launch."
                if len(self.kernels) == 1
                else f"It counted {len(self.kernels)} launches."
            )
        if not self.errors:
            return "It found no error."
        return f"It found {self.errors:,} {'error' if self.errors == 1 else 'errors'}."
