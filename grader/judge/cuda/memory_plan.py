"""What fits into a GPU's memory next to everything else."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from grader import limits
from grader.challenge.cases import Case
from grader.challenge.loader import Challenge
from grader.challenge.model import Workload
from grader.judge.cuda.driver import DriverError
from grader.judge.cuda.memory import KEPT_SHARE, CudaMemories, Staging
from grader.judge.cuda.memory_needs import case_bytes, kept_bytes, workload_bytes

# The rest is for the submission's temporaries.
PLANNED_SHARE = 0.8
# The most that the judge's contexts and a display take. A workload that needs more than the rest is too large for this
# model.
TAKEN_BYTES = 4 * limits.GIB


class CudaMemoryPlan:
    def __init__(self, memories: CudaMemories, staging: Staging) -> None:
        self.memories = memories
        self.staging = staging

    def shortage(self, challenge: Challenge, workload: Workload) -> str:
        lacking = self._lacks(workload_bytes(challenge, workload), 0)
        return f"Not timed at {_said(workload.sizes)}: {lacking}" if lacking else ""

    def fits_alone(self, challenge: Challenge, workload: Workload) -> bool:
        _, total = torch.cuda.mem_get_info()
        return workload_bytes(challenge, workload) <= (total - TAKEN_BYTES) * PLANNED_SHARE

    def case_shortage(self, challenge: Challenge, case: Case) -> str:
        """Besides what workloads keep."""
        lacking = self._lacks(case_bytes(challenge, case), _kept(challenge))
        return f"Without case {case.name} at {_said(case.sizes)}: {lacking}" if lacking else ""

    def _lacks(self, needed: int, kept: int) -> str:
        """Empty if ``needed`` bytes fit besides ``kept``.

        Kept memory stays if possible: its place changes some kernels' time by up to 1 %, so all gradings should have
        the same.
        """
        free, _ = torch.cuda.mem_get_info()
        held = self.memories.kept_bytes + self.staging.kept_bytes
        available = free + held + torch.cuda.memory_reserved() - torch.cuda.memory_allocated()
        if kept + needed <= available * PLANNED_SHARE:
            if needed <= free * PLANNED_SHARE - max(0, kept - held):
                return ""
            self.memories.give_back()
            self.staging.give_back()
            torch.cuda.empty_cache()
            available, _ = torch.cuda.mem_get_info()
        if kept + needed <= available * PLANNED_SHARE:
            return ""
        room = max(0.0, available - kept / PLANNED_SHARE)
        return f"judging it takes {needed / 2**30:.0f} GiB, and {room / 2**30:.0f} are free here."

    def has_room(self, challenge: Challenge, case: Case) -> bool:
        torch.cuda.empty_cache()
        free, _ = torch.cuda.mem_get_info()
        return case_bytes(challenge, case) <= free * PLANNED_SHARE

    def make_room(self) -> None:
        """Kept memory stays."""
        torch.cuda.empty_cache()

    def lacked_memory(self, error: Exception) -> bool:
        if isinstance(error, DriverError):
            return error.name == "CUDA_ERROR_OUT_OF_MEMORY"
        return isinstance(error, torch.OutOfMemoryError)

    def free_bytes(self) -> int:
        free, _ = torch.cuda.mem_get_info()
        return int(free)

    def may_keep(self, kept: int) -> bool:
        return kept <= (1 - PLANNED_SHARE) * self.free_bytes()


def _said(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {size:,}" for name, size in sizes.items())


def _kept(challenge: Challenge) -> int:
    total = torch.cuda.get_device_properties(torch.cuda.current_device()).total_memory
    return min(kept_bytes(challenge), int(2 * KEPT_SHARE * total))
