"""What judging a submission found. One model, shared by judge, records, API, CLI and pages.

Impossible states do not validate: an accepted case carries no mismatch, a compile error has run no case.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any, ClassVar

from pydantic import Field, model_validator

from grader import limits, scoring
from grader.formats import duration
from grader.languages import Language
from grader.schemas.call_profile import CallProfile
from grader.schemas.hardware import GpuState, KernelUsage
from grader.schemas.strict import Strict
from grader.schemas.verdict import VerdictRow, VerdictWord

Sizes = dict[str, int]
Interval = tuple[float, float]

# The name of their part in ``Report.breakdown_s``.
HIDDEN_PHASE = "hidden_cases"
_SHORTEST_US = scoring.SHORTEST_S * 1e6


class Verdict(VerdictWord):
    """The one word a submission ends with."""

    ACCEPTED: ClassVar[Verdict]
    WRONG_ANSWER: ClassVar[Verdict]
    COMPILE_ERROR: ClassVar[Verdict]
    RUNTIME_ERROR: ClassVar[Verdict]
    TIME_LIMIT: ClassVar[Verdict]
    MEMORY_LIMIT: ClassVar[Verdict]
    OUTPUT_LIMIT: ClassVar[Verdict]
    INTERNAL_ERROR: ClassVar[Verdict]

    @classmethod
    def holds(cls, row: VerdictRow) -> bool:
        return row.of_submissions

    @property
    def meaning(self) -> str:
        """One sentence for a student."""
        return self.row.meaning


class CaseVerdict(VerdictWord):
    """How one case ended. ``not_run``: earlier faults used up the fresh boxes that a submission gets. ``not_covered``:
    too large for the emulated GPU, in a way that sampled blocks cannot make up for."""

    ACCEPTED: ClassVar[CaseVerdict]
    WRONG_ANSWER: ClassVar[CaseVerdict]
    RUNTIME_ERROR: ClassVar[CaseVerdict]
    TIME_LIMIT: ClassVar[CaseVerdict]
    MEMORY_LIMIT: ClassVar[CaseVerdict]
    OUTPUT_LIMIT: ClassVar[CaseVerdict]
    NOT_RUN: ClassVar[CaseVerdict]
    NOT_COVERED: ClassVar[CaseVerdict]

    @classmethod
    def holds(cls, row: VerdictRow) -> bool:
        return row.of_cases

    @property
    def holds_back(self) -> bool:
        """Whether a submission with such a case is not accepted."""
        return self is not CaseVerdict.ACCEPTED and self is not CaseVerdict.NOT_COVERED


class Flag(StrEnum):
    """A mark for staff beside a verdict; never a verdict."""

    LIBRARY_KERNEL = "library_kernel"
    HOST_COMPUTED = "host_computed"
    ABOVE_ROOFLINE = "above_roofline"
    WORK_OUTSIDE_GATE = "work_outside_gate"
    SIMILAR = "similar"


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


class Checked(StrEnum):
    """How much of a case was looked at. ``sample`` and ``faults``: of a large case on an emulated GPU."""

    ALL = "all"
    SAMPLE = "sample"
    FAULTS = "faults"


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
    on: str | None = Field(
        default=None, description="gpu: a large case, which runs on a GPU or, in part, on an emulated one"
    )
    checked: Checked = Field(
        default=Checked.ALL,
        description="all: every element; sample: what sampled blocks wrote; faults: that sampled blocks do not fail",
    )

    @model_validator(mode="after")
    def _payload_matches_verdict(self) -> CaseReport:
        if self.verdict is CaseVerdict.ACCEPTED and (self.mismatch or self.detail):
            raise ValueError(f"case {self.name}: accepted, but it carries a mismatch or a detail")
        if self.verdict is not CaseVerdict.ACCEPTED and not self.detail:
            raise ValueError(f"case {self.name}: {self.verdict} needs a detail that says why")
        return self


class HiddenCases(Strict):
    """What the author of a submission learns of hidden cases: how many passed, and nothing of how the others failed.

    ``failed_categories`` are those in which at least one failed; none unless the challenge names them.
    """

    passed: int = Field(ge=0)
    total: int = Field(ge=1)
    failed_categories: list[str] | None = None

    @property
    def sentence(self) -> str:
        sentence = f"{self.passed} of {self.total} hidden {'case' if self.total == 1 else 'cases'} passed."
        if self.failed_categories:
            sentence += f" Failed in: {', '.join(name.replace('_', ' ') for name in self.failed_categories)}."
        return sentence


class LargeSizes(Strict):
    """The public cases for a GPU alone, as a group: how many passed, of how many. ``not_covered``: did neither."""

    passed: int = Field(ge=0)
    total: int = Field(ge=1)
    not_covered: int = Field(default=0, ge=0)
    checked: Checked = Field(default=Checked.ALL, description="the least of its cases")

    @property
    def sentence(self) -> str:
        return f"{self.passed} of {self.total}{self.remark}"

    @property
    def remark(self) -> str:
        """What else is to be said, in brackets; or nothing."""
        found = [f"{self.not_covered} not covered"] if self.not_covered else []
        if self.checked is Checked.SAMPLE:
            found.append("sampled blocks, and what they write")
        if self.checked is Checked.FAULTS:
            found.append(
                "faults of sampled blocks alone: all blocks make the result together, so its values are not compared"
            )
        return f" ({'; '.join(found)})" if found else ""


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


TOO_SHORT = "too short to measure here"
COMPANY = (
    "Something else used the GPU, twice in a row: the fixed cost of a round was more than 5 % from what it usually is "
    "there. Such a time has no rank; submit again, and tell staff if it stays so."
)


class WorkloadReport(Strict):
    """Times of one benchmark size. All times are microseconds per call.

    ``time_us`` is none where the call is too short to measure here (``grader.scoring.is_known``): then it has no
    speedup, and ``ci_us`` is all that is known of it.
    """

    name: str
    sizes: Sizes
    ranked: bool
    time_us: float | None = Field(gt=0, description="none where it is too short to measure here")
    ci_us: Interval
    rounds: int = Field(ge=1)
    baselines_us: dict[str, float] = Field(default_factory=dict)
    short_baselines: list[str] = Field(
        default_factory=list, description="baselines that are too short to measure here"
    )
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
    company: bool = Field(
        default=False, description="something else used the GPU: the cost of a round was not what it is there"
    )
    gpu: GpuState | None = Field(default=None, description="none on a host, and where NVML is not there")
    profile: CallProfile | None = Field(default=None, description="what was counted, on an emulated GPU")

    @model_validator(mode="before")
    @classmethod
    def _unknown_times_are_none(cls, data: Any) -> Any:
        """Earlier releases kept a time also where it was not known."""
        return _without_unknown_time(data) if isinstance(data, dict) else data

    @model_validator(mode="after")
    def _interval_holds_time(self) -> WorkloadReport:
        if self.time_us is None:
            if self.speedup is not None or self.sol is not None:
                raise ValueError(f"workload {self.name}: a speedup of a time that is not known")
        elif not self.ci_us[0] <= self.time_us <= self.ci_us[1]:
            raise ValueError(f"workload {self.name}: {self.time_us} lies outside its interval {self.ci_us}")
        return self

    @property
    def remarks(self) -> list[str]:
        """What is out of the ordinary with this time, a sentence each, for a student."""
        found = (
            self._why_no_time(),
            self._why_no_baseline(),
            self._why_ungated(),
            self._why_not_ranked(),
            self._why_charged(),
            COMPANY if self.company else "",
        )
        return [text for text in found if text]

    def _why_no_time(self) -> str:
        if self.time_us is not None:
            return ""
        low, high = map(duration, self.ci_us)
        return (
            f"{TOO_SHORT.capitalize()}: all that is known is that a call takes from {low} to {high}. "
            f"A time counts where its interval lies within {scoring.KNOWN_WITHIN:.0%} of it."
        )

    def _why_no_baseline(self) -> str:
        if not self.short_baselines:
            return ""
        names = " and ".join(f"PyTorch ({name})" for name in self.short_baselines)
        are = "is" if len(self.short_baselines) == 1 else "are"
        return f"{names} {are} {TOO_SHORT}: there is nothing to compare with."

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
            f"Shown, not ranked: at best this size takes {duration(self.roofline_us)} here, and below "
            f"{limits.RANKED_ROOFLINE_US:,.0f} µs the cost of a round is not known well enough to rank by."
        )

    def _why_charged(self) -> str:
        if not self.charged_us:
            return ""
        return (
            f"{duration(self.charged_us)} were added: outside the gate its rounds took that much longer than the "
            "control's, as they do where work is done before it opens or after it said done."
        )


class Score(Strict):
    """``time_us`` is the geometric mean over ranked workloads, ``ci`` its 95 % interval in microseconds. Without it
    there is no rank, no speedup and no record; ``unranked`` says why an accepted submission has none."""

    time_us: float | None = None
    speedup: float | None = None
    ci: Interval | None = None
    passed: Annotated[int, Field(ge=0)] = 0
    total: Annotated[int, Field(ge=0)] = 0
    unranked: str = Field(default="", description="why it has no rank, though it was accepted and timed")


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
    hidden: HiddenCases | None = Field(
        default=None, description="how many hidden cases passed; none where none ran, and in old reports"
    )
    large_sizes: LargeSizes | None = Field(
        default=None, description="how many large cases passed; none where none ran, and in old reports"
    )
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
    left_out: list[str] = Field(
        default_factory=list,
        description="public cases that did not run, because the GPU lacks memory for them",
    )
    environment: dict[str, str] = Field(default_factory=dict)
    breakdown_s: dict[str, float] = Field(default_factory=dict, description="where the seconds went")

    @model_validator(mode="before")
    @classmethod
    def _unknown_times_make_no_score(cls, data: Any) -> Any:
        """As of a workload's: earlier releases made a score of them."""
        if not isinstance(data, dict) or not isinstance(data.get("score"), dict):
            return data
        timed = [it for it in data.get("workloads") or () if isinstance(it, dict) and it.get("ranked")]
        if all(_without_unknown_time(it).get("time_us") is not None for it in timed):
            return data
        return {**data, "score": {**data["score"], "time_us": None, "ci": None, "speedup": None}}

    @model_validator(mode="after")
    def _verdict_matches_cases(self) -> Report:
        failing = [case for case in self.cases if case.verdict.holds_back]
        if self.verdict is Verdict.ACCEPTED and (failing or not self.cases):
            raise ValueError("accepted, but a case failed or none ran")
        if self.verdict is Verdict.COMPILE_ERROR and (self.cases or self.workloads):
            raise ValueError("compile_error, but cases or workloads ran")
        if self.workloads and self.verdict is not Verdict.ACCEPTED:
            raise ValueError("only an accepted submission is timed")
        if self.library_ops and Flag.LIBRARY_KERNEL not in self.flags:
            raise ValueError("operations of a library, but no flag that says so")
        return self

    @property
    def fails_only_hidden(self) -> bool:
        """Whether every public case passed, and a hidden one did not."""
        if self.hidden is None or self.hidden.passed == self.hidden.total:
            return False
        return not any(case.verdict.holds_back for case in self.cases if not case.hidden)

    @property
    def meaning(self) -> str:
        """What the verdict means here, a sentence for a student."""
        if self.fails_only_hidden:
            return "Every public case passed, and at least one hidden case did not."
        return self.verdict.meaning

    def redacted(self) -> Report:
        """The report as everyone but staff sees it, at any time: of hidden cases only how many passed.

        A submission chooses how and when a hidden case fails, so each word and each second of it could carry a piece
        of that case's data: docs/judging.md says what remains.
        """
        hidden = [case for case in self.cases if case.hidden]
        kept = dict(self.breakdown_s)
        # They may have run and not be named here, where judging ended within them.
        if not hidden and HIDDEN_PHASE not in kept:
            return self
        public = [case for case in self.cases if not case.hidden]
        # Their seconds are in the whole; before they were counted apart, they were in "cases", too.
        unsafe = {"total", HIDDEN_PHASE} if HIDDEN_PHASE in kept else {"total", "cases"}
        shown = self.model_copy(
            update={
                "cases": public,
                "hidden": self.hidden or hidden_cases(hidden, named=False),
                "breakdown_s": {name: seconds for name, seconds in kept.items() if name not in unsafe},
            }
        )
        # In reports from before all hidden failures had the same verdict.
        if shown.fails_only_hidden and self.verdict.row.of_cases:
            shown = shown.model_copy(update={"verdict": Verdict.WRONG_ANSWER})
        return shown


def large_sizes(cases: Sequence[CaseReport]) -> LargeSizes | None:
    """Those of the public cases that are for a GPU alone; None: none of them ran."""
    large = [it for it in cases if it.on and not it.hidden]
    if not large:
        return None
    order = list(Checked)
    return LargeSizes(
        passed=sum(it.verdict is CaseVerdict.ACCEPTED for it in large),
        total=len(large),
        not_covered=sum(it.verdict is CaseVerdict.NOT_COVERED for it in large),
        checked=max((it.checked for it in large), key=order.index),
    )


def hidden_cases(cases: Sequence[CaseReport], *, named: bool) -> HiddenCases | None:
    """What may be shown of these hidden ones; none where there are none. ``named``: the challenge lets categories be
    known."""
    if not cases:
        return None
    failed = [case for case in cases if case.verdict is not CaseVerdict.ACCEPTED]
    return HiddenCases(
        passed=len(cases) - len(failed),
        total=len(cases),
        failed_categories=sorted({case.category for case in failed}) if named else None,
    )


def _without_unknown_time(workload: dict[str, Any]) -> dict[str, Any]:
    try:
        time_us, (low, high) = workload["time_us"], workload["ci_us"]
        known = time_us is None or scoring.is_known(scoring.Estimate(time_us, (low, high)), _SHORTEST_US)
    except (KeyError, TypeError, ValueError):
        return workload  # it is refused for what it is
    return workload if known else {**workload, "time_us": None, "speedup": None, "sol": None}
