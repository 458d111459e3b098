"""The result of judging a submission, for judge, records, API, CLI and pages. Impossible states do not
validate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any, ClassVar

from pydantic import Field, model_validator

from grader import limits, scoring
from grader.formats import duration, in_units
from grader.languages import Language
from grader.schemas.call_profile import CallProfile
from grader.schemas.card_tool import CardToolRun
from grader.schemas.error_map import ErrorMap
from grader.schemas.hardware import GpuState, KernelUsage
from grader.schemas.own_case import OwnRun
from grader.schemas.step import StepBundle
from grader.schemas.strict import Strict
from grader.schemas.verdict import VerdictRow, VerdictWord

Sizes = dict[str, int]
Interval = tuple[float, float]

# In ``Report.breakdown_s``.
HIDDEN_PHASE = "hidden_cases"
_SHORTEST_US = scoring.SHORTEST_S * 1e6


class Verdict(VerdictWord):
    """The final word on a submission."""

    ACCEPTED: ClassVar[Verdict]
    WRONG_ANSWER: ClassVar[Verdict]
    COMPILE_ERROR: ClassVar[Verdict]
    RUNTIME_ERROR: ClassVar[Verdict]
    TIME_LIMIT: ClassVar[Verdict]
    MEMORY_LIMIT: ClassVar[Verdict]
    OUTPUT_LIMIT: ClassVar[Verdict]
    BROKEN_RULE: ClassVar[Verdict]
    NO_ANSWER: ClassVar[Verdict]
    INTERNAL_ERROR: ClassVar[Verdict]

    @classmethod
    def holds(cls, row: VerdictRow) -> bool:
        return row.of_submissions

    @property
    def meaning(self) -> str:
        """A sentence for the student."""
        return self.row.meaning


class CaseVerdict(VerdictWord):
    """``not_run``: earlier faults used up the submission's fresh boxes. ``not_covered``: too large for the
    emulated GPU, and sampled blocks cannot replace it.
    """

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
        """A submission with such a case is not accepted."""
        return self is not CaseVerdict.ACCEPTED and self is not CaseVerdict.NOT_COVERED


class Flag(StrEnum):
    """A mark for staff; never a verdict."""

    LIBRARY_KERNEL = "library_kernel"
    HOST_COMPUTED = "host_computed"
    ABOVE_ROOFLINE = "above_roofline"
    WORK_OUTSIDE_GATE = "work_outside_gate"
    SIMILAR = "similar"


# A unit of errors, see ``grader.challenge.tolerance``.
STEPS = "steps"
# An allowed error is up to half a step more than a whole number of them.
_ROUNDED_STEP = 1e-6


class WorstElement(Strict):
    """One of the largest errors. NaN and infinity are the words ``nan``, ``inf`` and ``-inf``."""

    index: list[int] = Field(description="row-major")
    got: str = Field(max_length=limits.VALUE_CHARS, description="a number, or never written")
    expected: str = Field(max_length=limits.VALUE_CHARS)
    error: float | None = Field(
        default=None,
        allow_inf_nan=False,
        description="|got - expected|; null if one of them is not finite",
    )
    allowed: float | None = Field(
        default=None, allow_inf_nan=False, description="the largest error that passes; null if none would"
    )
    unit_size: float | None = Field(
        default=None,
        gt=0,
        allow_inf_nan=False,
        description="the size of the mismatch's unit at this element; null without a unit",
    )

    def counted(self, value: float, unit: str) -> str:
        """An error, or the allowed one, in the challenge's unit; a part of a step is none."""
        assert self.unit_size is not None
        number = value / self.unit_size
        if unit == STEPS:
            number = math.floor(number + _ROUNDED_STEP) if value == self.allowed else max(round(number), 1)
        return in_units(number, unit)


class Mismatch(Strict):
    """The first element that differs, and how many do."""

    argument: str
    kind: str = Field(
        description="value, nan, inf, unwritten, not_cleared, late, input_changed, out_of_bounds, padding, "
        "refused"
    )
    index: list[int] | None = Field(default=None, description="row-major, one number per dimension")
    expected: str | None = None
    got: str | None = None
    wrong: int = Field(ge=1, description="elements that differ")
    total: int = Field(ge=0, description="elements compared")
    max_error: float | None = Field(default=None, description="largest |got - expected| among finite pairs")
    unit: str = Field(
        default="", description="in which the challenge counts errors: ulps, steps, or empty for neither"
    )
    worst: list[WorstElement] = Field(
        default_factory=list,
        max_length=limits.WORST_ELEMENTS,
        description="the largest errors, worst first; elements never written or not finite come before all others",
    )
    outside: list[int] = Field(
        default_factory=list,
        max_length=limits.WORST_ELEMENTS,
        description="out_of_bounds: flat indices of elements written outside; negative: before the first element",
    )
    why: str = Field(default="", max_length=limits.CHECKER_CHARS, description="refused: the checker's reason")
    map: ErrorMap | None = Field(default=None, description="of the first failing cases only")

    @property
    def in_units(self) -> str:
        """``17 ulps off, 3 ulps are allowed``, of the worst element; empty without a unit."""
        for element in self.worst:
            if self.unit and element.unit_size and element.error is not None and element.allowed is not None:
                allowed = element.counted(element.allowed, self.unit)
                are = "is" if allowed.startswith("1 ") else "are"
                return f"{element.counted(element.error, self.unit)} off, {allowed} {are} allowed"
        return ""


class Checked(StrEnum):
    """``sample`` and ``faults``: of a large case on an emulated GPU."""

    ALL = "all"
    SAMPLE = "sample"
    FAULTS = "faults"


def place_text(place: Sequence[int]) -> str:
    """``3``, or ``3,1`` and ``3,1,2`` if other axes are used."""
    used = max((axis for axis in range(len(place)) if place[axis]), default=0)
    return ",".join(map(str, place[: used + 1]))


class ThreadPrints(Strict):
    """What one thread printed."""

    block: tuple[int, int, int] = Field(description="x, y, z")
    thread: tuple[int, int, int] = Field(description="x, y, z")
    text: str


class CaseReport(Strict):
    name: str
    category: str
    verdict: CaseVerdict
    seed: int | None = None
    sizes: Sizes | None = None
    detail: str = ""
    hint: str = ""
    named: bool = Field(
        default=False, description="of a wrong answer: the hint names the mistake, not only its effect"
    )
    mismatch: Mismatch | None = None
    output: str = Field(default="", description="text printed during this case, bounded")
    prints: list[ThreadPrints] = Field(
        default_factory=list,
        description="the kernels' part of it by block and thread, of a run with its own case on an emulated GPU",
    )
    prints_left_out: int = Field(
        default=0, ge=0, description="prints of kernels beyond the bound, which are not kept"
    )
    seconds: float | None = None
    hidden: bool = False
    on: str | None = Field(
        default=None, description="gpu: a large case, which runs on a GPU, or in part on an emulated one"
    )
    checked: Checked = Field(
        default=Checked.ALL,
        description="all: every element; sample: what sampled blocks wrote; faults: only faults of sampled blocks",
    )
    step: StepBundle | None = Field(
        default=None, description="the failing block of the first case in which an emulated GPU found a fault"
    )

    @model_validator(mode="after")
    def _payload_matches_verdict(self) -> CaseReport:
        if self.verdict is CaseVerdict.ACCEPTED and (self.mismatch or self.detail):
            raise ValueError(f"case {self.name}: accepted, but with a mismatch or a detail")
        if self.verdict is not CaseVerdict.ACCEPTED and not self.detail:
            raise ValueError(f"case {self.name}: {self.verdict} needs a detail that says why")
        return self


class HiddenCases(Strict):
    """What the author may know: how many passed, and nothing about how the others failed."""

    passed: int = Field(ge=0)
    total: int = Field(ge=1)
    failed_categories: list[str] | None = Field(
        default=None, description="categories with a failed case; null unless the challenge names them"
    )

    @property
    def sentence(self) -> str:
        sentence = f"{self.passed} of {self.total} hidden {'case' if self.total == 1 else 'cases'} passed."
        if self.failed_categories:
            sentence += f" Failed in: {', '.join(name.replace('_', ' ') for name in self.failed_categories)}."
        return sentence


class LargeSizes(Strict):
    """The public GPU-only cases."""

    passed: int = Field(ge=0)
    total: int = Field(ge=1)
    not_covered: int = Field(default=0, ge=0, description="neither passed nor failed")
    checked: Checked = Field(default=Checked.ALL, description="the least of its cases")

    @property
    def sentence(self) -> str:
        return f"{self.passed} of {self.total}{self.remark}"

    @property
    def remark(self) -> str:
        """In brackets; empty if there are none."""
        found = [f"{self.not_covered} not covered"] if self.not_covered else []
        if self.checked is Checked.SAMPLE:
            found.append("only sampled blocks and what they write")
        if self.checked is Checked.FAULTS:
            found.append(
                "only faults of sampled blocks: all blocks produce the result together, or several are right, so its "
                "values are not compared"
            )
        return f" ({'; '.join(found)})" if found else ""


class CaseGroup(Strict):
    """Cases that earn points together in assignments with partial credit. Of a group with hidden cases,
    students see only the points.
    """

    name: str
    points: float = Field(ge=0)
    most: float = Field(gt=0)
    right: int | None = Field(default=None, description="cases that passed; null: some of them are hidden")
    cases: int | None = None
    lacks: list[str] = Field(
        default_factory=list, description="groups that it needs and that did not pass, so it earns nothing"
    )
    rule_broken: bool = Field(
        default=False,
        description="the submission breaks a rule for compiled code, so no group earns anything",
    )

    @property
    def sentence(self) -> str:
        if self.rule_broken:
            return "nothing, because a rule of the challenge is broken"
        if self.lacks:
            names = " and ".join(f"'{name}'" for name in self.lacks)
            return f"nothing without {names}"
        if self.points:
            return "every case is right"
        if self.right is None or self.cases is None:
            return "not every case is right"
        return f"{self.right} of {self.cases} cases are right"


# Points that belong to no group.
EVERY_CASE = "all cases"


class WorkloadCost(Strict):
    """The least bytes and operations by the challenge's cost model, and the device's ceilings."""

    bytes: float = Field(ge=0, description="bytes that must move")
    flops: float = Field(ge=0, description="operations that must be done")
    bandwidth: float | None = Field(
        default=None, gt=0, description="measured ceiling, bytes/s; null if unknown"
    )
    rate: float | None = Field(
        default=None, gt=0, description="measured ceiling in the output's type, flop/s; null if unknown"
    )


TOO_SHORT = "too short to measure here"
# The reference as written, and through torch.compile.
PYTORCH = ("eager", "compile")


def shown_baseline(name: str) -> str:
    return f"PyTorch ({name})" if name in PYTORCH else name


COMPANY = (
    "Something else used the GPU, twice in a row: the fixed cost of a round was more than 5 % off its usual value. "
    "Such a time gets no rank. Submit again, and tell staff if it happens again."
)


class WorkloadReport(Strict):
    """Times of one benchmark size, in microseconds per call."""

    name: str
    sizes: Sizes
    ranked: bool
    time_us: float | None = Field(
        gt=0, description="null if too short to measure here; then there is no speedup"
    )
    ci_us: Interval = Field(description="95 % interval; known even if the time is too short to measure")
    rounds: int = Field(ge=1)
    baselines_us: dict[str, float] = Field(default_factory=dict)
    short_baselines: list[str] = Field(
        default_factory=list, description="baselines that are too short to measure here"
    )
    untimed_baselines: dict[str, str] = Field(
        default_factory=dict, description="baselines that this grading could not time, with the reason"
    )
    speedup: float | None = None
    sol: float | None = Field(
        default=None, description="roofline time / measured time; null if no ceiling is known"
    )
    roofline_us: float | None = Field(
        default=None, description="the least that memory and arithmetic need here; null if unknown"
    )
    cost: WorkloadCost | None = Field(default=None, description="null in old reports")
    host_us: float | None = Field(
        default=None,
        description="go -> queued on the judge's clock; null if it is part of the time: on cpu, and if not gated",
    )
    gated: bool = True
    fixed_us: float | None = Field(default=None, description="cost of a round that was subtracted")
    charged_us: float = Field(default=0.0, ge=0, description="time added for work outside the gate")
    noise_us: float = Field(
        default=0.0, ge=0, description="difference outside the gate that is within noise, so not charged"
    )
    company: bool = Field(
        default=False, description="something else used the GPU: the cost of a round was not as usual"
    )
    gpu: GpuState | None = Field(default=None, description="null on a host, and without NVML")
    profile: CallProfile | None = Field(default=None, description="counts from an emulated GPU")

    @model_validator(mode="before")
    @classmethod
    def _unknown_times_are_none(cls, data: Any) -> Any:
        """Earlier releases kept unknown times."""
        return _without_unknown_time(data) if isinstance(data, dict) else data

    @model_validator(mode="after")
    def _interval_holds_time(self) -> WorkloadReport:
        if self.time_us is None:
            if self.speedup is not None or self.sol is not None:
                raise ValueError(f"workload {self.name}: a speedup, but the time is unknown")
        elif not self.ci_us[0] <= self.time_us <= self.ci_us[1]:
            raise ValueError(f"workload {self.name}: {self.time_us} is outside its interval {self.ci_us}")
        return self

    @property
    def remarks(self) -> list[str]:
        """Sentences for the student."""
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
            f"{TOO_SHORT.capitalize()}: a call takes between {low} and {high}. "
            f"A time counts if its interval is within {scoring.KNOWN_WITHIN:.0%} of it."
        )

    def _why_no_baseline(self) -> str:
        found = []
        if self.short_baselines:
            names = " and ".join(map(shown_baseline, self.short_baselines))
            are = "is" if len(self.short_baselines) == 1 else "are"
            found.append(f"{names} {are} {TOO_SHORT}: there is nothing to compare with.")
        found += [
            f"{shown_baseline(name)} could not be timed: {why.rstrip('.')}."
            for name, why in self.untimed_baselines.items()
        ]
        return " ".join(found)

    def _why_ungated(self) -> str:
        if self.gated:
            return ""
        return (
            "Not gated: a call did not queue behind the closed gate because it waits for the device, copies to the "
            "host or allocates. So the gate was open from the start, and the time includes launching and waiting."
        )

    def _why_not_ranked(self) -> str:
        if self.ranked:
            return ""
        if self.roofline_us is None:
            return "Shown, not ranked: this device's limits are unknown."
        return (
            f"Shown, not ranked: at best this size takes {duration(self.roofline_us)} here, and below "
            f"{limits.RANKED_ROOFLINE_US:,.0f} µs the cost of a round is not known precisely enough for a rank."
        )

    def _why_charged(self) -> str:
        if not self.charged_us:
            return ""
        return (
            f"{duration(self.charged_us)} were added: outside the gate its rounds took that much longer than the "
            "control's, which happens if work is done before the gate opens or after the submission reports the end."
        )


class Score(Strict):
    time_us: float | None = Field(
        default=None, description="geometric mean over ranked workloads; null: no rank, no speedup, no record"
    )
    speedup: float | None = None
    ci: Interval | None = Field(default=None, description="95 % interval of the time, microseconds")
    passed: Annotated[int, Field(ge=0)] = 0
    total: Annotated[int, Field(ge=0)] = 0
    unranked: str = Field(default="", description="why an accepted submission with a time has no rank")


class BrokenRule(Strict):
    """A rule of the challenge's ``[constructs]`` that the compiled code broke."""

    rule: str = Field(description="forbid, require or launches")
    name: str = Field(description="of the construct; launches for their number")
    sentence: str
    line: int | None = Field(default=None, description="of the source; null if unknown, or nothing is there")
    kernel: str = ""
    instruction: str = Field(default="", description="its opcode in PTX")
    call: str = Field(default="", description="the case or workload in which it was executed")


class Report(Strict):
    verdict: Verdict
    flags: list[Flag] = Field(default_factory=list)
    challenge: str
    version: int
    language: Language
    device: str
    representative: bool = Field(
        default=True, description="false on cpu: times are real but say nothing about a GPU"
    )
    cases: list[CaseReport] = Field(default_factory=list)
    hidden: HiddenCases | None = Field(
        default=None, description="passed hidden cases; null if none ran, and in old reports"
    )
    large_sizes: LargeSizes | None = Field(
        default=None, description="passed large cases; null if none ran, and in old reports"
    )
    groups: list[CaseGroup] = Field(
        default_factory=list,
        description="the correctness points by groups of cases; empty if the challenge has none, and for runs",
    )
    own: OwnRun | None = Field(
        default=None, description="of a run of one case with sizes and inputs of its author's choice"
    )
    card_tool: CardToolRun | None = Field(
        default=None, description="of a run of one case under Nsight Compute or compute-sanitizer"
    )
    workloads: list[WorkloadReport] = Field(default_factory=list)
    score: Score = Field(default_factory=Score)
    reward: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="for programs that learn from results: 0 unless accepted, else the share of the speed of light "
        "(sol) over the ranked workloads, a geometric mean of at most 1; null if that is unknown (runs are not "
        "timed) or if the judge failed",
    )
    kernels: list[KernelUsage] = Field(default_factory=list, description="each kernel's use of the device")
    library_ops: list[str] = Field(
        default_factory=list, description="torch's own operations that ran in solve, according to the runner"
    )
    broken_rules: list[BrokenRule] = Field(
        default_factory=list, description="rules for the compiled code that it broke; verdict broken_rule"
    )
    compiler_log: str = ""
    detail: str = Field(default="", description="a sentence on a verdict that no case explains")
    hint: str = ""
    remarks: list[str] = Field(
        default_factory=list, description="anything unusual during judging, as sentences"
    )
    left_out: list[str] = Field(
        default_factory=list,
        description="public cases that were skipped because the GPU lacks memory for them",
    )
    environment: dict[str, str] = Field(default_factory=dict)
    breakdown_s: dict[str, float] = Field(default_factory=dict, description="seconds by phase")

    @model_validator(mode="before")
    @classmethod
    def _unknown_times_make_no_score(cls, data: Any) -> Any:
        """Earlier releases made a score of unknown times."""
        if not isinstance(data, dict) or not isinstance(data.get("score"), dict):
            return data
        timed = [
            workload
            for workload in data.get("workloads") or ()
            if isinstance(workload, dict) and workload.get("ranked")
        ]
        if all(_without_unknown_time(workload).get("time_us") is not None for workload in timed):
            return data
        return {**data, "score": {**data["score"], "time_us": None, "ci": None, "speedup": None}}

    @model_validator(mode="after")
    def _verdict_matches_cases(self) -> Report:
        failing = [case for case in self.cases if case.verdict.holds_back]
        if self.verdict is Verdict.ACCEPTED and (failing or not self.cases):
            raise ValueError("accepted, but a case failed or none ran")
        if self.verdict is Verdict.COMPILE_ERROR and (self.cases or self.workloads):
            raise ValueError("compile_error, but cases or workloads ran")
        if (self.verdict is Verdict.BROKEN_RULE) != bool(self.broken_rules):
            raise ValueError("broken_rule names the rules, and no other verdict does")
        if self.workloads and self.verdict is not Verdict.ACCEPTED:
            raise ValueError("only an accepted submission is timed")
        if self.library_ops and Flag.LIBRARY_KERNEL not in self.flags:
            raise ValueError("operations of a library, but without the flag library_kernel")
        return self

    @property
    def speedups(self) -> dict[str, float]:
        """By baseline that every ranked workload has, ``eager`` first: geometric mean of its time over the
        submission's. Empty without a score.
        """
        ranked = [workload for workload in self.workloads if workload.ranked]
        times = [workload.time_us for workload in ranked if workload.time_us is not None]
        if self.score.time_us is None or len(times) < len(ranked):
            return {}
        names = {name: None for workload in ranked for name in workload.baselines_us}
        ordered = sorted(names, key=lambda name: (name not in PYTORCH, name != PYTORCH[0]))
        found = {
            name: scoring.speedup(times, [each.baselines_us.get(name) for each in ranked]) for name in ordered
        }
        return {name: value for name, value in found.items() if value is not None}

    @property
    def credit(self) -> float | None:
        """Share of the correctness points that its groups earned, 0 to 1; null without groups."""
        most = sum(group.most for group in self.groups)
        return sum(group.points for group in self.groups) / most if most else None

    @property
    def fails_only_hidden(self) -> bool:
        """Every public case passed, but a hidden one failed."""
        if self.hidden is None or self.hidden.passed == self.hidden.total:
            return False
        return not any(case.verdict.holds_back for case in self.cases if not case.hidden)

    @property
    def meaning(self) -> str:
        """A sentence for the student."""
        if self.fails_only_hidden:
            return "Every public case passed, but at least one hidden case failed."
        return self.verdict.meaning

    def redacted(self) -> Report:
        """The report for everyone but staff: only the number of hidden cases that passed.

        A submission controls how and when a hidden case fails, so each word and each second could carry a
        piece of its data. docs/judging.md describes what remains.
        """
        hidden = [case for case in self.cases if case.hidden]
        kept = dict(self.breakdown_s)
        # They may have run unlisted, if judging ended during them.
        if not hidden and HIDDEN_PHASE not in kept:
            return self
        public = [case for case in self.cases if not case.hidden]
        # The total contains their seconds; before they were counted separately, "cases" did, too.
        unsafe = {"total", HIDDEN_PHASE} if HIDDEN_PHASE in kept else {"total", "cases"}
        shown = self.model_copy(
            update={
                "cases": public,
                "hidden": self.hidden or hidden_cases(hidden, named=False),
                "breakdown_s": {name: seconds for name, seconds in kept.items() if name not in unsafe},
            }
        )
        # Older reports have other verdicts for hidden failures.
        if shown.fails_only_hidden and self.verdict.row.of_cases:
            shown = shown.model_copy(update={"verdict": Verdict.WRONG_ANSWER})
        return shown


def large_sizes(cases: Sequence[CaseReport]) -> LargeSizes | None:
    """None if no public GPU-only case ran."""
    large = [case for case in cases if case.on and not case.hidden]
    if not large:
        return None
    order = list(Checked)
    return LargeSizes(
        passed=sum(case.verdict is CaseVerdict.ACCEPTED for case in large),
        total=len(large),
        not_covered=sum(case.verdict is CaseVerdict.NOT_COVERED for case in large),
        checked=max((case.checked for case in large), key=order.index),
    )


def hidden_cases(cases: Sequence[CaseReport], *, named: bool) -> HiddenCases | None:
    """None if there are none. ``named``: the challenge shows their categories."""
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
        return workload  # validation refuses it
    return workload if known else {**workload, "time_us": None, "speedup": None, "sol": None}
