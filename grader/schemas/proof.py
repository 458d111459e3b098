"""What proving a challenge found, for people and programs: named checks, and what became of every submission run."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from grader.languages import Language
from grader.schemas.strict import Strict


class Status(StrEnum):
    """How a check ended. ``weak``: a wrong kernel could pass, or a figure says little."""

    OK = "ok"
    WEAK = "weak"
    ERROR = "error"
    SKIPPED = "skipped"

    @property
    def fails(self) -> bool:
        return self in (Status.WEAK, Status.ERROR)


class Check(Strict):
    """One named check of one challenge. ``details``: one line for each thing found; ``remarks`` fail nothing."""

    name: str
    status: Status
    summary: str
    details: list[str] = Field(default_factory=list)
    remarks: list[str] = Field(default_factory=list)


class CandidateRole(StrEnum):
    """What a submission of ours is for: the first two must pass, the last two must fail."""

    SOLUTION = "solution"
    NATIVE = "native"
    MUTANT = "mutant"
    GENERIC = "generic"

    @property
    def wrong(self) -> bool:
        return self in (CandidateRole.MUTANT, CandidateRole.GENERIC)


class CandidateOutcome(StrEnum):
    """What became of it. ``broken``: it did not compile or load, so nothing is known of the suite. ``compiled``: it
    compiles, and nothing here can run it."""

    ACCEPTED = "accepted"
    FAILED = "failed"
    BROKEN = "broken"
    COMPILED = "compiled"
    NOT_APPLICABLE = "not_applicable"
    NOT_RUN = "not_run"


class CandidateResult(Strict):
    """One submission of ours against the suite. ``failed``: the cases that it failed, of those that ran."""

    slug: str
    role: CandidateRole
    name: str
    language: Language
    ending: CandidateOutcome
    failed: list[str] = Field(default_factory=list)
    ran: int = 0
    no_answer: str = Field(
        default="",
        description="how its first failure is no wrong answer: by an exception, an exit or a limit; else empty",
    )
    detail: str = ""
    seconds: float = 0.0


class ApproximationOutcome(StrEnum):
    """What became of a wrong answer in the rounds of a workload. ``allowed``: it passes, and the challenge says why
    it may. ``not_applicable``: it is right, bit for bit, on everything that the cases hold."""

    CAUGHT = "caught"
    PASSES = "passes"
    ALLOWED = "allowed"
    NOT_APPLICABLE = "not_applicable"


class ApproximationResult(Strict):
    """One wrong answer at one workload. ``tried_at``: the sizes of the rounds drawn; ``factor``: how many times as many
    terms the workload's own sums have. ``probability``: of passing a whole grading. ``shown_by``: the kinds of rounds
    that showed it. ``reason``: why it is allowed."""

    workload: str
    name: str
    words: str
    tried_at: dict[str, int]
    factor: float = 1.0
    outcome: ApproximationOutcome
    probability: float
    shown_by: list[str] = Field(default_factory=list)
    reason: str = ""


class Proof(Strict):
    """What is known of one challenge."""

    slug: str
    device: str = Field(default="cpu", description="the board that it was proven on")
    checks: list[Check]
    tried: list[CandidateResult] = Field(default_factory=list)
    approximations: list[ApproximationResult] = Field(default_factory=list)
    seconds: float = Field(description="processor time of ours spent on it, by the clock of each worker")

    @property
    def strong(self) -> bool:
        return not any(check.status.fails for check in self.checks)


class Proofs(Strict):
    """A whole run of `grader challenge check`."""

    strong: bool
    device: str
    seconds: float
    challenges: list[Proof]
