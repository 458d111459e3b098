"""A judge process's requests and answers, as JSON."""

from __future__ import annotations

from pydantic import Field

from grader.challenge.model import Workload
from grader.languages import Language
from grader.schemas.artefact import Artefact
from grader.schemas.own_case import OwnCase
from grader.schemas.quiz import DrawnQuestion
from grader.schemas.report import Report
from grader.schemas.strict import Strict
from grader.schemas.submission import ProgressView, State


class Job(Strict):
    submission: str
    catalogue: str
    challenge: str
    #: See ``grader.challenge.fingerprint``.
    fingerprint: str
    language: Language
    source: str
    device: str
    #: Hexadecimal; known to this judgement only. Case seeds derive from it.
    seed_key: str
    #: Frozen: workload -> name -> microseconds (None: too short to measure).
    baselines: dict[str, dict[str, float | None]] = Field(default_factory=dict)
    #: Calibrated for this GPU, see ``RatedDevice``. If empty, the judge measures.
    ceilings: dict[str, float] = Field(default_factory=dict)
    #: A CUDA source's library, or a Triton source's kernels.
    artefact: Artefact | None = None
    #: Fields for log lines.
    context: dict[str, str | int] = Field(default_factory=dict)
    #: Public cases only, no times.
    public_only: bool = False
    #: Run this case alone.
    own_case: OwnCase | None = None
    #: Timed instead of the challenge's.
    workloads: list[Workload] = Field(default_factory=list)
    #: See ``grader.judge.quiz``.
    quiz: bool = False
    #: See ``grader.judge.phases``.
    phases: bool = False


class JudgingProgress(Strict):
    state: State
    progress: ProgressView


class Outcome(Strict):
    report: Report
    #: To be frozen for the device model and torch version.
    baselines: dict[str, dict[str, float | None]] = Field(default_factory=dict)
    #: Never in the report, which its author reads.
    quiz: list[DrawnQuestion] = Field(default_factory=list)
    #: Seconds by phase.
    phases: dict[str, float] = Field(default_factory=dict)
    #: Seconds by step.
    start: dict[str, float] = Field(default_factory=dict)


def counted(number: int, total: int, what: str) -> str:
    return f"{number} of {total} {what}{'' if total == 1 else 's'}"
