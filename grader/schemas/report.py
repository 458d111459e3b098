"""What judging a submission found. One model, shared by judge, records, API, CLI and pages.

Impossible states do not validate: an accepted case carries no mismatch, a compile error has run no case.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field, model_validator

from grader import limits
from grader.schemas.hardware import GpuState, KernelUsage
from grader.schemas.strict import Strict

Sizes = dict[str, int]
Interval = tuple[float, float]


class Verdict(StrEnum):
    """The one word a submission ends with."""

    ACCEPTED = "accepted"
    WRONG_ANSWER = "wrong_answer"
    COMPILE_ERROR = "compile_error"
    RUNTIME_ERROR = "runtime_error"
    TIME_LIMIT = "time_limit"
    MEMORY_LIMIT = "memory_limit"
    OUTPUT_LIMIT = "output_limit"
    INTERNAL_ERROR = "internal_error"

    @property
    def meaning(self) -> str:
        """One sentence for a student."""
        return VERDICT_MEANINGS[self]


VERDICT_MEANINGS = {
    Verdict.ACCEPTED: "Every case passed.",
    Verdict.WRONG_ANSWER: "It ran, and at least one output differs from the reference.",
    Verdict.COMPILE_ERROR: "It could not be compiled or loaded; the compiler's words are below.",
    Verdict.RUNTIME_ERROR: "It raised an error, crashed, or ended its process.",
    Verdict.TIME_LIMIT: "A case did not end within its time limit.",
    Verdict.MEMORY_LIMIT: "It asked for more memory than a submission may use.",
    Verdict.OUTPUT_LIMIT: "It printed more than a submission may print.",
    Verdict.INTERNAL_ERROR: "We failed, not you: it is tried again and costs you nothing.",
}


class CaseVerdict(StrEnum):
    """How one case ended. ``not_run``: earlier faults used up the fresh boxes that a submission gets."""

    ACCEPTED = "accepted"
    WRONG_ANSWER = "wrong_answer"
    RUNTIME_ERROR = "runtime_error"
    TIME_LIMIT = "time_limit"
    MEMORY_LIMIT = "memory_limit"
    OUTPUT_LIMIT = "output_limit"
    NOT_RUN = "not_run"


class Flag(StrEnum):
    """A mark for staff beside a verdict; never a verdict."""

    LIBRARY_KERNEL = "library_kernel"
    ABOVE_ROOFLINE = "above_roofline"
    WORK_OUTSIDE_GATE = "work_outside_gate"
    SIMILAR = "similar"


class Language(StrEnum):
    CUDA = "cuda"
    TRITON = "triton"

    @property
    def suffix(self) -> str:
        """The file ending of a source in this language."""
        return ".cu" if self is Language.CUDA else ".py"


class WorstElement(Strict):
    """One of the elements that are furthest off. ``index`` is row-major; NaN and infinity are the words ``nan``,
    ``inf`` and ``-inf``."""

    index: list[int]
    got: str = Field(max_length=limits.VALUE_CHARS, description="a number, or never written")
    expected: str = Field(max_length=limits.VALUE_CHARS)
    error: float | None = Field(
        default=None,
        allow_inf_nan=False,
        description="|got - expected|; none where one of them is not finite",
    )
    allowed: float | None = Field(
        default=None, allow_inf_nan=False, description="the largest error that passes; none where none would"
    )


class Mismatch(Strict):
    """The first element that differs, and how many do. ``index`` is row-major, one number per dimension."""

    argument: str
    kind: str = Field(
        description="value, nan, inf, unwritten, not_cleared, late, input_changed, out_of_bounds"
    )
    index: list[int] | None = None
    expected: str | None = None
    got: str | None = None
    wrong: int = Field(ge=1, description="elements that differ")
    total: int = Field(ge=0, description="elements compared")
    max_error: float | None = Field(default=None, description="largest |got - expected| among finite pairs")
    worst: list[WorstElement] = Field(
        default_factory=list,
        max_length=limits.WORST_ELEMENTS,
        description="those furthest off, the worst first: what was never written or is not finite ahead of all",
    )
    outside: list[int] = Field(
        default_factory=list,
        max_length=limits.WORST_ELEMENTS,
        description="out_of_bounds: flat indices of elements written outside; negative before the first element",
    )


class CaseReport(Strict):
    name: str
    category: str
    verdict: CaseVerdict
    seed: int | None = None
    sizes: Sizes | None = None
    detail: str = ""
    hint: str = ""
    mismatch: Mismatch | None = None
    output: str = Field(default="", description="what the submission printed during this case, bounded")
    seconds: float | None = None
    hidden: bool = False

    @model_validator(mode="after")
    def _payload_matches_verdict(self) -> CaseReport:
        if self.verdict is CaseVerdict.ACCEPTED and (self.mismatch or self.detail):
            raise ValueError(f"case {self.name}: accepted, but it carries a mismatch or a detail")
        if self.verdict is not CaseVerdict.ACCEPTED and not self.detail:
            raise ValueError(f"case {self.name}: {self.verdict} needs a detail that says why")
        return self


class WorkloadCost(Strict):
    """What a workload needs at least, by its challenge's cost model, and what the device reaches at most."""

    bytes: float = Field(ge=0, description="bytes that must move")
    flops: float = Field(ge=0, description="operations that must be done")
    bandwidth: float | None = Field(
        default=None, gt=0, description="measured ceiling, bytes/s; none where not known"
    )
    rate: float | None = Field(
        default=None, gt=0, description="measured ceiling in the output's type, flop/s; none where not known"
    )


class WorkloadReport(Strict):
    """Times of one benchmark size. All times are microseconds per call."""

    name: str
    sizes: Sizes
    ranked: bool
    time_us: float = Field(gt=0)
    ci_us: Interval
    rounds: int = Field(ge=1)
    baselines_us: dict[str, float] = Field(default_factory=dict)
    speedup: float | None = None
    sol: float | None = Field(
        default=None, description="roofline time / measured time; none where no ceiling is known"
    )
    roofline_us: float | None = Field(
        default=None, description="what memory and arithmetic alone need here; none where it is not known"
    )
    cost: WorkloadCost | None = Field(default=None, description="none in reports from before it was kept")
    host_us: float | None = Field(
        default=None,
        description="go -> queued on the judge's clock; none where it is part of the time: on cpu, and not gated",
    )
    gated: bool = True
    fixed_us: float | None = Field(default=None, description="cost of a round that was taken off")
    charged_us: float = Field(default=0.0, ge=0, description="time added for work outside the gate")
    noise_us: float = Field(
        default=0.0, ge=0, description="what lies outside the gate may differ by so much for nothing"
    )
    gpu: GpuState | None = Field(default=None, description="none on a host, and where NVML is not there")

    @model_validator(mode="after")
    def _interval_holds_time(self) -> WorkloadReport:
        if not self.ci_us[0] <= self.time_us <= self.ci_us[1]:
            raise ValueError(f"workload {self.name}: {self.time_us} lies outside its interval {self.ci_us}")
        return self

    @property
    def remarks(self) -> list[str]:
        """What is out of the ordinary with this time, a sentence each, for a student."""
        return [text for text in (self._why_ungated(), self._why_not_ranked(), self._why_charged()) if text]

    def _why_ungated(self) -> str:
        if self.gated:
            return ""
        return (
            "Not gated: a call did not queue behind the closed gate, because it waits for the device, copies to the "
            "host or allocates; so the gate was open from the start, and it pays for its own launching and waiting."
        )

    def _why_not_ranked(self) -> str:
        if self.ranked:
            return ""
        if self.roofline_us is None:
            return "Shown, not ranked: what this device reaches at most is not known."
        return (
            f"Shown, not ranked: at best this size takes {_microseconds(self.roofline_us)} here, and below "
            f"{limits.RANKED_ROOFLINE_US:,.0f} µs the cost of a round is not known well enough to rank by."
        )

    def _why_charged(self) -> str:
        if not self.charged_us:
            return ""
        return (
            f"{_microseconds(self.charged_us)} were added: outside the gate its rounds took that much longer than the "
            "control's, as they do where work is done before it opens or after it said done."
        )


class Score(Strict):
    """``time_us`` is the geometric mean over ranked workloads, ``ci`` its 95 % interval in microseconds."""

    time_us: float | None = None
    speedup: float | None = None
    ci: Interval | None = None
    passed: Annotated[int, Field(ge=0)] = 0
    total: Annotated[int, Field(ge=0)] = 0


class Report(Strict):
    verdict: Verdict
    flags: list[Flag] = Field(default_factory=list)
    challenge: str
    version: int
    language: Language
    device: str
    representative: bool = Field(
        default=True, description="false on cpu: times are real but say nothing of a GPU"
    )
    cases: list[CaseReport] = Field(default_factory=list)
    workloads: list[WorkloadReport] = Field(default_factory=list)
    score: Score = Field(default_factory=Score)
    kernels: list[KernelUsage] = Field(default_factory=list, description="what each takes of the device")
    library_ops: list[str] = Field(
        default_factory=list, description="torch's own operations that ran in solve, as the runner said"
    )
    compiler_log: str = ""
    detail: str = Field(default="", description="one sentence on a verdict that no case explains")
    hint: str = ""
    remarks: list[str] = Field(
        default_factory=list, description="what was out of the ordinary while it was judged, a sentence each"
    )
    environment: dict[str, str] = Field(default_factory=dict)
    breakdown_s: dict[str, float] = Field(default_factory=dict, description="where the seconds went")

    @model_validator(mode="after")
    def _verdict_matches_cases(self) -> Report:
        failing = [case for case in self.cases if case.verdict is not CaseVerdict.ACCEPTED]
        if self.verdict is Verdict.ACCEPTED and (failing or not self.cases):
            raise ValueError("accepted, but a case failed or none ran")
        if self.verdict is Verdict.COMPILE_ERROR and (self.cases or self.workloads):
            raise ValueError("compile_error, but cases or workloads ran")
        if self.workloads and self.verdict is not Verdict.ACCEPTED:
            raise ValueError("only an accepted submission is timed")
        if self.library_ops and Flag.LIBRARY_KERNEL not in self.flags:
            raise ValueError("operations of a library, but no flag that says so")
        return self

    def redacted(self) -> Report:
        """The report as its author may see it before the deadline: hidden cases keep category and kind, no data."""
        number = 0
        cases = []
        for case in self.cases:
            if case.hidden:
                number += 1
                case = _without_data(case, number)
            cases.append(case)
        return self.model_copy(update={"cases": cases})


def _microseconds(value: float) -> str:
    return f"{value:,.0f} µs" if value >= 99.5 else f"{value:.1f} µs"


def _without_data(case: CaseReport, number: int) -> CaseReport:
    return CaseReport(
        name=f"hidden {number}",
        category=case.category,
        verdict=case.verdict,
        detail=_told_of_hidden(case),
        hidden=True,
    )


def _told_of_hidden(case: CaseReport) -> str:
    """What its author reads of a hidden case: of what kind it is and how it failed, and nothing that it held."""
    if case.verdict is CaseVerdict.ACCEPTED:
        return ""
    if case.verdict is CaseVerdict.NOT_RUN:
        return "Not run: too many earlier cases ended their process."
    kind = case.mismatch.kind if case.mismatch else case.verdict.value
    return f"A hidden {case.category} case failed: {kind}.".replace("_", " ")
