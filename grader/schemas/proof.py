"""The result of proving a challenge."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from grader.languages import Language
from grader.schemas.strict import Strict


class Status(StrEnum):
    """``weak``: a wrong kernel could pass, or a figure is not reliable."""

    OK = "ok"
    WEAK = "weak"
    ERROR = "error"
    SKIPPED = "skipped"

    @property
    def fails(self) -> bool:
        return self in (Status.WEAK, Status.ERROR)


class Check(Strict):
    name: str
    status: Status
    summary: str
    details: list[str] = Field(default_factory=list, description="a line for each finding")
    remarks: list[str] = Field(default_factory=list, description="lines that fail nothing")


class CandidateRole(StrEnum):
    """The first three must pass, the last two must fail. ``variant``: another right answer than the
    reference's, for a challenge with a checker.
    """

    SOLUTION = "solution"
    NATIVE = "native"
    VARIANT = "variant"
    MUTANT = "mutant"
    GENERIC = "generic"

    @property
    def wrong(self) -> bool:
        return self in (CandidateRole.MUTANT, CandidateRole.GENERIC)


class CandidateOutcome(StrEnum):
    """``broken``: it did not compile or load, so it says nothing about the suite. ``compiled``: it compiles,
    but nothing here can run it.
    """

    ACCEPTED = "accepted"
    FAILED = "failed"
    BROKEN = "broken"
    COMPILED = "compiled"
    NOT_APPLICABLE = "not_applicable"
    NOT_RUN = "not_run"


class CandidateResult(Strict):
    """One of our submissions against the suite."""

    slug: str
    role: CandidateRole
    name: str
    language: Language
    ending: CandidateOutcome
    failed: list[str] = Field(default_factory=list, description="the failed cases")
    ran: int = Field(default=0, description="number of cases that ran")
    no_answer: str = Field(
        default="",
        description="if its first failure is not a wrong answer: the exception, exit or limit",
    )
    detail: str = ""
    slowest: str = Field(default="", description="the cases that took longest, with their seconds")
    proposed: str = Field(
        default="", description="for a wrong kernel that survives: a case for cases.py that it would fail"
    )
    seconds: float = 0.0


class ApproximationOutcome(StrEnum):
    """The result of a wrong answer in the rounds of a workload. ``allowed``: it passes, and the challenge
    says why. ``not_applicable``: it equals the right answer on all cases.
    """

    CAUGHT = "caught"
    PASSES = "passes"
    ALLOWED = "allowed"
    NOT_APPLICABLE = "not_applicable"


class ApproximationResult(Strict):
    """One wrong answer at one workload."""

    workload: str
    name: str
    words: str
    tried_at: dict[str, int] = Field(description="sizes of the drawn rounds")
    factor: float = Field(default=1.0, description="terms of the workload's own sums / terms of those tried")
    outcome: ApproximationOutcome
    probability: float = Field(description="of passing a whole grading")
    shown_by: list[str] = Field(default_factory=list, description="kinds of rounds that caught it")
    reason: str = Field(default="", description="why it is allowed")


class Proof(Strict):
    """All results for one challenge."""

    slug: str
    device: str = Field(default="cpu", description="the board that it was proven on")
    checks: list[Check]
    tried: list[CandidateResult] = Field(default_factory=list)
    approximations: list[ApproximationResult] = Field(default_factory=list)
    cases: list[str] = Field(default_factory=list, description="names of the cases of the suite")
    matrix: bool = Field(default=False, description="wrong kernels ran every case, not only up to a failure")
    seconds: float = Field(description="processor time spent on it, summed over our workers")

    @property
    def strong(self) -> bool:
        return not any(check.status.fails for check in self.checks)

    @property
    def wrong(self) -> list[CandidateResult]:
        """The kernels that must fail."""
        return [result for result in self.tried if result.role.wrong]

    @property
    def refusing(self) -> list[str]:
        named = {name for result in self.wrong for name in result.failed}
        known = [name for name in self.cases if name in named]
        return [*known, *sorted(named.difference(known))]


class Proofs(Strict):
    """A run of `grader challenge check`."""

    strong: bool
    device: str
    seconds: float
    challenges: list[Proof]
