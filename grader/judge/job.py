"""Requests from a worker to its judge process, and answers: plain data, JSON on a socket."""

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
    #: Of the challenge's files, see ``grader.challenge.fingerprint``.
    fingerprint: str
    language: Language
    source: str
    device: str
    #: Hexadecimal. Known to this judgement alone: case seeds derive from it.
    seed_key: str
    #: Frozen ones of this challenge version: workload -> name -> microseconds (None: too short to measure).
    baselines: dict[str, dict[str, float | None]] = Field(default_factory=dict)
    #: Calibrated ones of this very GPU, see ``RatedDevice``. Without them, the judge measures.
    ceilings: dict[str, float] = Field(default_factory=dict)
    #: If compiled ahead: a CUDA source's library, or kernels of a Triton source.
    artefact: Artefact | None = None
    #: Fields of the judge's log lines.
    context: dict[str, str | int] = Field(default_factory=dict)
    #: A run with the public cases only, without times.
    public_only: bool = False
    #: Run this public case alone, with its sizes and inputs.
    own_case: OwnCase | None = None
    #: Timed instead of the challenge's own, if any.
    workloads: list[Workload] = Field(default_factory=list)
    #: Draw questions on the kernel if it is accepted, see ``grader.judge.quiz``.
    quiz: bool = False
    #: Report where the time went, see ``grader.judge.phases``.
    phases: bool = False


class JudgingProgress(Strict):
    state: State
    progress: ProgressView


class Outcome(Strict):
    report: Report
    #: New ones, to be frozen for the device model and version of torch.
    baselines: dict[str, dict[str, float | None]] = Field(default_factory=dict)
    #: Never a part of the report, which its author reads.
    quiz: list[DrawnQuestion] = Field(default_factory=list)
    #: Seconds by phase, if the job asked for them.
    phases: dict[str, float] = Field(default_factory=dict)
    #: Seconds of the start of the submission's box by step, as its runner reports.
    start: dict[str, float] = Field(default_factory=dict)


def counted(number: int, total: int, what: str) -> str:
    return f"{number} of {total} {what}{'' if total == 1 else 's'}"
