"""What a worker hands its judge process, and what comes back: plain data, JSON on a socket."""

from __future__ import annotations

from pydantic import Field

from grader.challenge.model import Workload
from grader.languages import Language
from grader.schemas.artefact import Artefact
from grader.schemas.report import Report
from grader.schemas.strict import Strict
from grader.schemas.submission import ProgressView, State


class Job(Strict):
    """One submission to judge. ``seed_key`` (hex) is known to this judgement alone: case seeds derive from it.
    ``fingerprint``: of what is to be judged by, see ``grader.challenge.fingerprint``.
    ``baselines``: workload -> baseline name -> microseconds, as far as already frozen for this challenge version; none
    for one that is too short to measure.
    ``artefact``: what was compiled ahead, if it was: a CUDA source's library, or kernels of a Triton source.
    ``context``: fields of the judge's log lines. ``public_only``: a run, by the public cases alone, without times.
    ``workloads``: what is timed in place of the challenge's own, if any.
    ``ceilings`` of this very GPU as calibrated, see ``Device.ceilings``; without, the judge measures them.
    ``phases``: the outcome tells where the time went, see ``grader.judge.phases``."""

    submission: str
    catalogue: str
    challenge: str
    fingerprint: str
    language: Language
    source: str
    device: str
    seed_key: str
    baselines: dict[str, dict[str, float | None]] = Field(default_factory=dict)
    ceilings: dict[str, float] = Field(default_factory=dict)
    artefact: Artefact | None = None
    context: dict[str, str | int] = Field(default_factory=dict)
    public_only: bool = False
    workloads: list[Workload] = Field(default_factory=list)
    phases: bool = False


class JudgingProgress(Strict):
    """The state that judging has reached, and how far."""

    state: State
    progress: ProgressView


class Outcome(Strict):
    """``baselines`` holds only what was measured newly, to be frozen under ``device_model`` and ``torch``.
    ``phases``: seconds by phase, where the job asked for them; ``start``: seconds of the start of the submission's box,
    by what was done, as its runner says."""

    report: Report
    baselines: dict[str, dict[str, float | None]] = Field(default_factory=dict)
    phases: dict[str, float] = Field(default_factory=dict)
    start: dict[str, float] = Field(default_factory=dict)


def counted(number: int, total: int, what: str) -> str:
    """``2 of 3 workloads``, as progress is shown."""
    return f"{number} of {total} {what}{'' if total == 1 else 's'}"
