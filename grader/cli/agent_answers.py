"""What the tools of `grader mcp` answer: data for programs, and a short text with the same content.

A report has maps and blocks to step through, which fill an agent's context: these keep what names a mistake.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pydantic import Field

from grader import limits
from grader.advice import advise
from grader.challenge import drawings
from grader.cli.follow import obstacle, waiting_text
from grader.cli.output import printable
from grader.cli.report import sizes_text
from grader.formats import duration, wait
from grader.languages import Language
from grader.schemas.challenge import ChallengeDetail, ChallengeSummary
from grader.schemas.comparison import ComparedWorkload, KernelComparison
from grader.schemas.profile_advice import bound_sentence, gain_text, hints_of, totals
from grader.schemas.report import (
    TOO_SHORT,
    CaseReport,
    CaseVerdict,
    HiddenCases,
    Interval,
    Report,
    Sizes,
    Verdict,
    WorkloadReport,
    WorstElement,
)
from grader.schemas.standing import Standing
from grader.schemas.strict import Strict
from grader.schemas.submission import JudgingReason, State, SubmissionView

# More failing cases, and more lines of a profile, say the same again.
_FAILED_CASES = 10
_PROFILED_LINES = 20
_PRINTED_CHARS = 2_000
_LOG_CHARS = 8_000


# ---- challenges ----


class ChallengeListing(Strict):
    challenges: list[ChallengeSummary]
    total: int = Field(description="challenges of the server, before the filters")
    tracks: list[str] = Field(description="every track of the server")


class ShownChallenge(ChallengeDetail):
    source_bytes: int = Field(default=limits.SOURCE_BYTES, description="the largest source, in bytes")


def listing_text(found: ChallengeListing) -> str:
    lines = [
        f"{each.slug}: {each.title} ({each.track}, {each.difficulty}; {', '.join(each.languages)})"
        for each in found.challenges
    ]
    return printable("\n".join([f"{len(lines)} of {found.total} challenges.", *lines]))


def shown_challenge(detail: ChallengeDetail, language: Language | None) -> ShownChallenge:
    """Drawings as words. With ``language``, no other language's declaration and starter."""
    kept = detail.model_dump(mode="json") | {"drawings": {}}
    kept["spec"] = drawings.in_words(detail.spec, detail.drawings)
    if language is not None:
        for name in ("signatures", "starters"):
            kept[name] = {key: text for key, text in kept[name].items() if key == language.value}
    return ShownChallenge.model_validate(kept)


def challenge_text(shown: ShownChallenge) -> str:
    parts = [
        f"{shown.slug}, version {shown.version}: {shown.title} ({shown.track}, {shown.difficulty})",
        shown.spec.strip(),
        *(f"Rule for the compiled code: {rule}" for rule in shown.rules),
        *(f"Starter in {language}:\n{text.rstrip()}" for language, text in shown.starters.items()),
        f"PyTorch reference, which is the contract:\n{shown.reference.rstrip()}",
        _cases_text(shown),
        "\n".join(
            ["Timed workloads:", *(_sized(each.name, each.sizes, each.on) for each in shown.workloads)]
        ),
        f"Tolerance: {', '.join(f'{name} {value:g}' for name, value in shown.tolerance.items()) or 'exact'}. "
        f"One call: {shown.limits['case_seconds']:g} s on a GPU, {shown.limits['cpu_seconds']:g} s of processor "
        f"time without one. A source: {shown.source_bytes:,} bytes.",
        shown.library_told,
    ]
    return printable("\n\n".join(parts))


def _cases_text(shown: ShownChallenge) -> str:
    lines = [f"{len(shown.cases)} public cases, {shown.hidden_cases} hidden. {shown.hidden_told}"]
    for case in shown.cases:
        inputs = "; ".join(f"{name}: {words}" for name, words in case.inputs.items())
        lines.append(_sized(case.name, case.sizes, "; ".join(filter(None, (inputs, case.note, case.on)))))
    return "\n".join(lines)


def _sized(name: str, sizes: Sizes, more: str) -> str:
    return f"- {name}: {sizes_text(sizes)}{f' ({more})' if more else ''}"


# ---- results ----


class FailedCase(Strict):
    name: str
    category: str
    verdict: CaseVerdict
    sizes: Sizes | None
    seed: int | None = Field(description="draws the same inputs again; null for inputs without randomness")
    detail: str
    hint: str
    argument: str = Field(description="the wrong result; empty unless the verdict is wrong_answer")
    wrong: int = Field(description="elements that differ")
    total: int = Field(description="elements compared")
    max_error: float | None = Field(description="largest |got - expected| among finite pairs")
    worst: list[WorstElement]
    printed: str = Field(description=f"what the case printed, at most {_PRINTED_CHARS:,} characters")

    @classmethod
    def of(cls, case: CaseReport) -> FailedCase:
        mismatch = case.mismatch
        return cls(
            name=case.name,
            category=case.category,
            verdict=case.verdict,
            sizes=case.sizes,
            seed=case.seed,
            detail=case.detail,
            hint=case.hint,
            argument=mismatch.argument if mismatch else "",
            wrong=mismatch.wrong if mismatch else 0,
            total=mismatch.total if mismatch else 0,
            max_error=mismatch.max_error if mismatch else None,
            worst=mismatch.worst if mismatch else [],
            printed=case.output[:_PRINTED_CHARS],
        )


class TimedWorkload(Strict):
    name: str
    sizes: Sizes
    ranked: bool
    time_us: float | None = Field(description="microseconds per call; null if too short to measure")
    ci_us: Interval = Field(description="95 % interval of it")
    speedup: float | None = Field(description="PyTorch's time / this time")
    sol: float | None = Field(description="share of the device's ceiling, 0 to 1")
    baselines_us: dict[str, float]
    remarks: list[str]


class Outcome(Strict):
    """A run or a submission, done or not."""

    submission: str = Field(description="the id that `status`, `profile` and `compare` take")
    kind: JudgingReason = Field(description="run: public cases only, counts for nothing")
    challenge: str
    version: int
    language: Language
    device: str
    state: State
    done: bool = Field(description="false: ask `status` for it again")
    verdict: Verdict | None = Field(description="null until done, and if cancelled or failed")
    sentence: str = Field(description="what the verdict, or the state, means")
    advice: str = Field(description="what to look at first")
    passed: int = Field(description="cases")
    total: int = Field(description="cases; of a student's submission, public ones")
    hidden: HiddenCases | None = Field(description="null for runs: they have no hidden cases")
    failed: list[FailedCase] = Field(description=f"public cases, at most {_FAILED_CASES}")
    failed_left_out: int = Field(description="further failing public cases")
    broken_rules: list[str]
    compiler_log: str = Field(description=f"its first {_LOG_CHARS:,} characters")
    remarks: list[str]
    workloads: list[TimedWorkload] = Field(description="of accepted submissions; runs are not timed")
    time_us: float | None = Field(description="geometric mean over ranked workloads, microseconds per call")
    speedup: float | None = Field(description="PyTorch's time / this time")
    unranked: str = Field(description="why an accepted submission has no rank; empty if it has one")
    representative: bool = Field(description="false: the device's times say nothing about a GPU")
    standing: Standing | None = Field(description="place on the board; null unless accepted and submitted")
    expected_wait_s: float | None = Field(description="until judging begins; only while it waits")
    remaining: int | None = Field(description="further runs or submissions that are open to you now")
    reused: bool = Field(description="an earlier submission of the same source; no attempt was used")


def outcome(view: SubmissionView, report: Report | None, standing: Standing | None = None) -> Outcome:
    """``report``: None unless it is done."""
    failing = [case for case in report.cases if case.verdict.holds_back and not case.hidden] if report else []
    score = report.score if report else None
    return Outcome(
        submission=view.id,
        kind=view.kind,
        challenge=view.challenge,
        version=view.version,
        language=view.language,
        device=view.device,
        state=view.state,
        done=view.state.final,
        verdict=report.verdict if report else None,
        sentence=report.meaning if report else _state_sentence(view),
        advice=_advice(report) if report else "",
        passed=sum(case.verdict is CaseVerdict.ACCEPTED for case in report.cases) if report else 0,
        total=len(report.cases) if report else 0,
        hidden=report.hidden if report else None,
        failed=[FailedCase.of(case) for case in failing[:_FAILED_CASES]],
        failed_left_out=max(0, len(failing) - _FAILED_CASES),
        broken_rules=[_rule_text(rule.sentence, rule.line) for rule in report.broken_rules] if report else [],
        compiler_log=report.compiler_log[:_LOG_CHARS] if report else "",
        remarks=report.remarks if report else [],
        workloads=[_timed(each) for each in report.workloads] if report else [],
        time_us=score.time_us if score else None,
        speedup=score.speedup if score else None,
        unranked=score.unranked if score else "",
        representative=report.representative if report else True,
        standing=standing,
        expected_wait_s=view.expected_wait_s,
        remaining=view.remaining,
        reused=view.reused,
    )


def state_text(view: SubmissionView) -> str:
    """``testing, 3 of 12 public cases``, or ``queued, place 3, about 20 s``."""
    words = view.progress.label if view.progress.label and not view.state.final else waiting_text(view)
    return printable(", ".join(filter(None, (view.state.value, words, "" if words else obstacle(view)))))


def _state_sentence(view: SubmissionView) -> str:
    if view.state is State.CANCELLED:
        return "It was cancelled: by its author, or because a newer run for the challenge replaced it."
    if view.state is State.FAILED:
        return f"It could not be judged: {view.error or 'the platform failed'}. It used no attempt."
    return f"It is not judged yet: {state_text(view)}. `status` waits for it again."


def _advice(report: Report) -> str:
    return " ".join(dict.fromkeys(filter(None, (advise(report).text, report.detail, report.hint))))


def _rule_text(sentence: str, line: int | None) -> str:
    return f"Line {line}: {sentence}" if line else sentence


def _timed(workload: WorkloadReport) -> TimedWorkload:
    bound = [bound_sentence(workload.profile)] if workload.profile else []
    return TimedWorkload(
        name=workload.name,
        sizes=workload.sizes,
        ranked=workload.ranked,
        time_us=workload.time_us,
        ci_us=workload.ci_us,
        speedup=workload.speedup,
        sol=workload.sol,
        baselines_us=workload.baselines_us,
        remarks=[*workload.remarks, *bound],
    )


def outcome_text(found: Outcome) -> str:
    where = f"{found.challenge} v{found.version}, {found.language.value} on {found.device}"
    what = "run" if found.kind is JudgingReason.RUN else "submission"
    head = f"{found.verdict.value if found.verdict else found.state.value}: {found.sentence}"
    lines = [f"{head} ({what} {found.submission}, {where})"]
    if found.reused:
        lines.append("The same source was judged before; this is its result, and no attempt was used.")
    if found.verdict:
        hidden = f" {found.hidden.sentence}" if found.hidden else ""
        lines.append(f"{found.passed} of {found.total} cases passed.{hidden}")
    lines += [line for case in found.failed for line in _failed_lines(case)]
    if found.failed_left_out:
        lines.append(f"- {found.failed_left_out} more cases failed.")
    lines += [*found.broken_rules, *found.remarks]
    if found.compiler_log.strip():
        lines.append(f"Compiler:\n{found.compiler_log.rstrip()}")
    lines += [_timed_line(each) for each in found.workloads]
    if found.workloads and not found.representative:
        lines.append(f"Times on {found.device} are not representative of a GPU.")
    if found.unranked:
        lines.append(found.unranked)
    if found.standing is not None:
        rank = f"Rank {found.standing.rank} of {found.standing.others + 1}. " if found.standing.rank else ""
        lines.append(f"{rank}{found.standing.sentence}")
    lines.append(found.advice)
    if found.remaining is not None:
        lines.append(f"{found.remaining} more are open to you now.")
    return printable("\n".join(filter(None, lines)))


def _failed_lines(case: FailedCase) -> Iterable[str]:
    seed = f"; seed {case.seed}" if case.seed is not None else ""
    yield f"- {case.name} ({case.category}, {case.verdict.value}; {sizes_text(case.sizes)}{seed}): {case.detail}"
    if case.hint:
        yield f"  Hint: {case.hint}"
    if case.printed:
        yield f"  It printed: {case.printed.rstrip()}"


def _timed_line(workload: TimedWorkload) -> str:
    time = TOO_SHORT if workload.time_us is None else duration(workload.time_us)
    others = ", ".join(f"{name} {duration(us)}" for name, us in workload.baselines_us.items())
    return f"- {workload.name} ({sizes_text(workload.sizes)}): {time}{f'; {others}' if others else ''}"


# ---- profiles ----


class ProfiledKernel(Strict):
    name: str
    launches: int
    time_us: float = Field(description="of all launches, by the model of the card")
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    registers: int | None = Field(description="per thread; null if unknown")
    shared_bytes: int = Field(description="per block")
    occupancy: float = Field(description="resident warps / most warps of a multiprocessor, 0 to 1")
    limiter: str = Field(description="what prevents more resident blocks")
    terms_us: dict[str, float] = Field(description="microseconds if that resource were the only limit")


class ProfileHint(Strict):
    sentence: str
    remedy: str
    gain: str


class ProfiledLine(Strict):
    line: int = Field(description="of the source, from 1")
    text: str
    instructions: int = Field(description="issued by warps")
    active_threads: float = Field(description="of a warp's 32, on average")
    sectors_per_request: float | None = Field(
        description="sectors of 32 bytes per access of a warp to global memory; 4 is best for 4-byte elements"
    )
    dram_bytes: int
    passes_per_request: float | None = Field(
        description="passes through shared memory's banks per access; 1 without conflicts"
    )
    waited_cycles: int = Field(description="cycles that warps waited for the line's results")


class ProfiledWorkload(Strict):
    name: str
    sizes: Sizes
    card: str = Field(description="that the model describes")
    time_us: float = Field(description="microseconds per call, by the model")
    parts_us: dict[str, float] = Field(description="its parts, by what limits them")
    bound: str
    hints: list[ProfileHint] = Field(description="what to try next, the largest gain first")
    kernels: list[ProfiledKernel]
    totals: dict[str, str]
    lines: list[ProfiledLine] = Field(description=f"those with most work, at most {_PROFILED_LINES}")


class Profile(Strict):
    verdict: Verdict = Field(description="of the first public case; of a submission, its own")
    problem: str = Field(description="why there are no counts; empty if there are")
    failed: list[FailedCase]
    workloads: list[ProfiledWorkload]


def profile(report: Report, source: str) -> Profile:
    lines = source.splitlines()
    found = [_profiled(each, lines) for each in report.workloads if each.profile is not None]
    failing = [case for case in report.cases if case.verdict.holds_back and not case.hidden]
    why = " ".join(
        filter(None, (report.meaning, report.detail, report.hint, report.compiler_log[:_LOG_CHARS]))
    )
    return Profile(
        verdict=report.verdict,
        problem="" if found else why,
        failed=[FailedCase.of(case) for case in failing[:_FAILED_CASES]],
        workloads=found,
    )


def _profiled(workload: WorkloadReport, source: Sequence[str]) -> ProfiledWorkload:
    counted = workload.profile
    assert counted is not None
    kernels = [
        ProfiledKernel(
            name=kernel.name,
            launches=kernel.launches,
            time_us=kernel.time_us,
            grid=kernel.grid,
            block=kernel.block,
            registers=kernel.registers,
            shared_bytes=kernel.shared_bytes,
            occupancy=kernel.occupancy,
            limiter=kernel.limiter,
            terms_us=kernel.terms_us,
        )
        for kernel in counted.kernels
    ]
    busiest = sorted(
        (each for each in counted.by_line.values() if 0 < each.line <= len(source)),
        key=lambda each: (-each.waited_for - each.instructions, each.line),
    )
    lines = [
        ProfiledLine(
            line=each.line,
            text=source[each.line - 1].strip(),
            instructions=each.instructions,
            active_threads=each.active_threads,
            sectors_per_request=each.sectors_per_request,
            dram_bytes=each.dram_bytes,
            passes_per_request=each.passes_per_request,
            waited_cycles=each.waited_for,
        )
        for each in sorted(busiest[:_PROFILED_LINES], key=lambda each: each.line)
    ]
    return ProfiledWorkload(
        name=workload.name,
        sizes=workload.sizes,
        card=counted.card,
        time_us=counted.time_us,
        parts_us=counted.parts_us,
        bound=bound_sentence(counted),
        hints=[
            ProfileHint(sentence=hint.sentence, remedy=hint.remedy, gain=gain_text(hint, counted))
            for hint in hints_of(counted)
        ],
        kernels=kernels,
        totals=dict(totals(counted.total)),
        lines=lines,
    )


def profile_text(found: Profile) -> str:
    lines = [found.problem, *(line for case in found.failed for line in _failed_lines(case))]
    for workload in found.workloads:
        lines.append(
            f"{workload.name} ({sizes_text(workload.sizes)}): {duration(workload.time_us)} by the model of an "
            f"{workload.card}. {workload.bound}"
        )
        lines += [f"Try: {hint.sentence}. {hint.remedy} Gain: {hint.gain}." for hint in workload.hints]
        lines += [
            f"Kernel {kernel.name}: grid {kernel.grid}, block {kernel.block}, occupancy {kernel.occupancy:.0%} "
            f"limited by {kernel.limiter}"
            for kernel in workload.kernels
        ]
        lines += [
            f"Line {line.line}: {line.instructions:,} instructions, {line.dram_bytes:,} B of DRAM, "
            f"{line.waited_cycles:,} cycles waited: {line.text}"
            for line in workload.lines
        ]
    return printable("\n".join(filter(None, lines)))


# ---- comparisons ----


def compared(found: KernelComparison, source: bool) -> KernelComparison:
    """Without ``source``, neither sources nor staff's commentary: they may be long."""
    changes: dict[str, object] = {"mine": found.mine.model_copy(update={"source": ""})}
    if not source and found.other is not None:
        changes |= {"other": found.other.model_copy(update={"source": ""}), "commentary": ""}
    return found.model_copy(update=changes)


def comparison_text(found: KernelComparison) -> str:
    other = found.other
    if other is None:
        lines = ["There is nothing to compare with yet."]
    else:
        lines = [f"{found.mine.name} against {other.name}."]
        if not found.workloads:
            lines.append(
                f"{other.name} was not judged on this device, so it has neither times nor counters here."
            )
        lines += [line for each in found.workloads for line in _compared_lines(each)]
        lines += filter(None, (found.commentary, other.source))
    lines += [f"Open to you: {choice.key} ({choice.label})" for choice in found.choices]
    return printable("\n".join(filter(None, (*lines, found.closed))))


def _compared_lines(workload: ComparedWorkload) -> Iterable[str]:
    mine, other = (TOO_SHORT if us is None else duration(us) for us in workload.times_us)
    said = workload.counted.sentence if workload.counted else workload.why
    yield f"- {workload.name} ({sizes_text(workload.sizes)}): {mine} against {other}. {said}".rstrip()
    for counter in workload.counted.counters if workload.counted else ():
        if counter.worse is not None:
            yield f"  {counter.name}: {counter.texts[0]} against {counter.texts[1]} ({counter.times})"


def waited_text(seconds: float) -> str:
    return f"the server has not answered for {wait(seconds)}; trying again"
