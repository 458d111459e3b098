"""A memory plan in which everything fits, for tests to override."""

from __future__ import annotations

from grader.challenge.cases import Case
from grader.challenge.loader import Challenge
from grader.challenge.model import Workload


class Plenty:
    def shortage(self, challenge: Challenge, workload: Workload) -> str:
        return ""

    def case_shortage(self, challenge: Challenge, case: Case) -> str:
        return ""

    def fits_alone(self, challenge: Challenge, workload: Workload) -> bool:
        return True

    def has_room(self, challenge: Challenge, case: Case) -> bool:
        return True

    def make_room(self) -> None:
        pass

    def lacked_memory(self, error: Exception) -> bool:
        return False

    def free_bytes(self) -> int:
        return 0

    def may_keep(self, kept: int) -> bool:
        return True
