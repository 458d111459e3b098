"""Judges one submission from start to report."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Unpack

from grader import limits
from grader.challenge.model import Workload
from grader.device_kinds import home_board
from grader.errors import JudgeFailure, LanguageNotServed
from grader.judge import quiz
from grader.judge.assembly import Found, TimedWorkload, report, verdict_of, workload_report
from grader.judge.card_tool import run_under
from grader.judge.channel import ChannelError
from grader.judge.checker import with_checker
from grader.judge.compilation import (
    compile_error,
    compile_source,
    compiler_of,
    kernels_of,
    kernels_request,
    request_of,
    result_of,
    with_names,
)
from grader.judge.constructs import Watched, broken_rules, needs_survey, unchecked
from grader.judge.correctness import Suite
from grader.judge.device import Device
from grader.judge.environment import driver_environment, judge_environment
from grader.judge.explaining import Mistakes
from grader.judge.faults import BoxKilled, failed_workload
from grader.judge.job import JudgingProgress, Outcome, counted
from grader.judge.kept_control import KeptControl
from grader.judge.launch import Launcher, LoadFailed
from grader.judge.messages import Unfreed
from grader.judge.modelled import Modelled
from grader.judge.own_run import KeptResults, Unanswered, own_run
from grader.judge.phases import phase
from grader.judge.request import Request
from grader.judge.roofline import is_ranked
from grader.judge.rule import Measured
from grader.judge.runner_client import RunnerClient
from grader.judge.size_order import size_order_hint
from grader.judge.survey import library_operations, survey
from grader.judge.timekeeper import Half, HostComputed, Reading, TimedWrong, Timekeeper
from grader.judge.tuning import tune
from grader.judge.watched_elsewhere import watched_elsewhere
from grader.languages import ON_GPU
from grader.logs import get_logger
from grader.sandbox.box import BoxMaker
from grader.sandbox.compiler.nvcc import CompileResult
from grader.schemas.artefact import Artefact
from grader.schemas.card_tool import CardToolRun
from grader.schemas.hardware import KernelUsage
from grader.schemas.own_case import OwnRun
from grader.schemas.quiz import DrawnQuestion
from grader.schemas.report import HIDDEN_PHASE, BrokenRule, CaseReport, CaseVerdict, Report, Verdict
from grader.schemas.submission import ProgressView, State

log = get_logger(__name__)

PUBLIC_ONLY = "Only the public cases ran: hidden cases and times come with Submit."
ONE_CASE_ONLY = "Only the case that you chose ran, so this counts for nothing."
_SILENCED = "Output printed while the work was counted is not shown; output of cases is."
_TOO_FAST = (
    "Workload '{}': less work was counted than reading its inputs and writing its outputs needs at the card's speed, "
    "so its time is that minimum. Staff see a flag."
)
_KEPT_MEMORY = "It kept so much GPU memory between calls that there was none left for the next call's inputs."
_KEEP_LESS = "Free a call's allocations before it returns, or keep them and reuse them in the next call."
# The driver frees a killed process's memory within moments.
_FREED_SECONDS = 3.0
_INTERRUPTED_EVERY = 0.05


class OutOfTime(Exception):
    """Judging took longer than limits.JUDGING_CLOCK_SECONDS."""


@dataclass
class Session:
    request: Request
    device: Device
    boxes: BoxMaker
    on_progress: Callable[[JudgingProgress], None]
    #: Raises when the answer is no longer wanted.
    interrupt: Callable[[], None]
    #: Waits until the judge itself cannot disturb the next timing.
    quiet: Callable[[], None] = lambda: None
    kept_control: KeptControl | None = None
    spent: dict[str, float] = field(default_factory=dict)
    own_seconds: list[float] = field(default_factory=list)
    measured: dict[str, Measured] = field(default_factory=dict)
    kernels: Sequence[KernelUsage] = ()
    library_ops: Sequence[str] = ()
    kills: int = 0
    #: The workload whose result the host computes in part.
    on_host: str = ""
    unfreed: Unfreed | None = None
    remarks: tuple[str, ...] = ()
    quiz: list[DrawnQuestion] = field(default_factory=list)
    #: Broken rules for compiled code, and a sentence on those that could not be checked.
    broken_rules: list[BrokenRule] = field(default_factory=list)
    unchecked: str = ""
    _watched: Watched = field(default_factory=Watched)
    _done: int = 0
    _reports: Sequence[CaseReport] = ()
    _left_out: Sequence[str] = ()
    _lacking: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._deadline = math.inf
        self.interrupt = self._in_time(self.interrupt)
        challenge, self._checker = with_checker(self.request.challenge, self.boxes, self.interrupt)
        self.request = replace(self.request, challenge=challenge)
        self._leave_out_what_does_not_fit()
        self._launcher = Launcher(
            self.request, self.device, self.boxes, self.interrupt, kept_control=self.kept_control
        )
        kind = Modelled if self.device.modelled else Timekeeper
        self._timekeeper = kind(
            self.request,
            self.device,
            self._launcher,
            tell=self._tell_timing,
            clock=self._clock,
            quiet=self.quiet,
        )
        self._kept = KeptResults() if self.request.own is not None else None
        self._public = [case for case in self.request.cases if not case.hidden]
        # Hidden cases come last: a box that has seen them must not produce anything that its author can read, not even
        # an error's text or an operation's name.
        self._hidden = [case for case in self.request.cases if case.hidden]

    def _leave_out_what_does_not_fit(self) -> None:
        """The report names left-out public cases, and counts hidden ones."""
        challenge, plan = self.request.challenge, self.device.memory_plan
        if plan is None:
            return
        reasons = {case.name: plan.case_shortage(challenge, case) for case in self.request.cases if case.on}
        left_out = [case for case in self.request.cases if reasons.get(case.name)]
        self._left_out = [case.name for case in left_out if not case.hidden]
        self._lacking = [reasons[name] for name in self._left_out]
        if hidden := len(left_out) - len(self._left_out):
            number = "a hidden case" if hidden == 1 else f"{hidden} hidden cases"
            self._lacking.append(f"Without {number}: this GPU lacks the memory.")
        if left_out:
            cases = [case for case in self.request.cases if case not in left_out]
            self.request = replace(self.request, cases=cases)

    def _in_time(self, interrupt: Callable[[], None]) -> Callable[[], None]:
        def asked() -> None:
            interrupt()
            if time.perf_counter() > self._deadline:
                raise OutOfTime

        return asked

    @property
    def readings(self) -> Sequence[Reading]:
        return self._timekeeper.taken

    def run(self) -> Outcome:
        try:
            return self.judge()
        finally:
            self.close()

    def close(self) -> None:
        """Raises BoxUnavailable if a box cannot be ended now."""
        if self._checker is not None:
            self._checker.close()
        self._launcher.close()

    def judge(self) -> Outcome:
        """Raises JudgeFailure or BoxUnavailable if we fail, LanguageNotServed."""
        tune()
        began = time.perf_counter()
        self._deadline = began + limits.JUDGING_CLOCK_SECONDS
        try:
            outcome = self._judge_with_room()
            self._launcher.keep_control()
        except OutOfTime:
            minutes = limits.JUDGING_CLOCK_SECONDS / 60
            late = f"Judging it took longer than {minutes:g} minutes in all, so it was stopped."
            outcome = Outcome(report=self._report(Verdict.TIME_LIMIT, detail=late))
        except Unanswered as error:
            outcome = Outcome(report=self._report(Verdict.NO_ANSWER, detail=error.message))
            self._launcher.keep_control()
        except LoadFailed as failed:
            failure = self._report(failed.verdict, detail=failed.detail, hint=failed.hint, log=failed.log)
            outcome = Outcome(report=failure)
            self._launcher.keep_control()
        under_tool = self._under_tool()
        self.spent["total"] = time.perf_counter() - began
        spent = {name: round(seconds, 4) for name, seconds in self.spent.items()}
        told = outcome.report.model_copy(
            update={"breakdown_s": spent, "own": self._own(), "card_tool": under_tool}
        )
        return outcome.model_copy(update={"report": told, "start": self._launcher.start_seconds})

    def _own(self) -> OwnRun | None:
        request = self.request
        if request.own is None or self._kept is None or not request.cases:
            return None
        case = request.cases[0]
        return own_run(request.challenge, request.own, case, request.seed_of(case), self._kept)

    def _under_tool(self) -> CardToolRun | None:
        """None if the source did not load."""
        own = self.request.own
        if (
            own is None
            or own.tool is None
            or not self._reports
            or self.device.on_processor
            or self.device.modelled
        ):
            return None
        with self._clock("tool"):
            return run_under(own.tool, self.request, self._launcher, self.device)

    def _judge_with_room(self) -> Outcome:
        """If the judge runs out of device memory, end the submission's boxes to see if they had taken it. Raises
        JudgeFailure if not."""
        try:
            return self._judge_through_kills()
        except Exception as error:
            plan = self.device.memory_plan
            if plan is None or not plan.lacked_memory(error):
                raise
            lacked = str(error)
        free = plan.free_bytes()
        self._launcher.end_submissions()
        end = time.perf_counter() + _FREED_SECONDS
        while plan.may_keep(plan.free_bytes() - free):
            if time.perf_counter() > end:
                raise JudgeFailure(
                    f"The device had no memory left for the judge: {lacked}",
                    "Does another program use the GPU? `nvidia-smi` names it.",
                )
            time.sleep(_INTERRUPTED_EVERY)
        # The amount stays secret: a submission could choose it to leak hidden cases.
        log.info("memory_kept", lacked=lacked)
        cases = [case for case in self._reports if not case.hidden]
        kept = self._report(Verdict.MEMORY_LIMIT, cases=cases, detail=_KEPT_MEMORY, hint=_KEEP_LESS)
        return Outcome(report=kept)

    def _judge_through_kills(self) -> Outcome:
        """Judge again if a box was killed from outside. A submission cannot cause that (see
        ``sandbox/runner/supervise.py``), so a host that keeps killing is our failure."""
        while True:
            try:
                return self._judge()
            except BoxKilled as killed:
                self.kills += 1
                log.warning("box_killed", how=str(killed), times=self.kills)
                self._launcher.close()
                if self.kills > limits.KILLED_BOXES:
                    raise JudgeFailure(
                        f"The submission's box was killed from outside {self.kills} times.",
                        "Find out what ends processes here: an operator, a service manager, or a host short of memory.",
                    ) from killed

    def _remarks(self) -> list[str]:
        found = []
        if self.kills:
            times = {1: "once", 2: "twice"}.get(self.kills, f"{self.kills} times")
            found.append(f"The box was killed from outside {times} and the submission was judged again.")
        if self._timekeeper.silenced:
            found.append(_SILENCED)
        for name in self._timekeeper.too_fast:
            found.append(_TOO_FAST.format(name))
        found += [self.unchecked] if self.unchecked and not self.request.timing else []
        found += self._lacking
        found += [
            f"Case {case.name}: {case.detail}"
            for case in self._reports
            if case.verdict is CaseVerdict.NOT_COVERED and not case.hidden
        ]
        found += self.remarks
        return [*found, *([self.unfreed.sentence] if self.unfreed is not None else [])]

    def _judge(self) -> Outcome:
        log, self._done, self._reports = "", 0, ()
        if self.request.language.compiled:
            compiled = self._compile()
            log, self.kernels = compiled.log, compiled.kernels
            if not compiled.ok:
                return Outcome(report=self._compile_error(compiled))
            self._launcher.artefact = compiled.artefact
        elif self.request.artefact is not None:
            self._launcher.artefact = self._kernels_ahead(self.request.artefact)
        if self.request.language not in self.device.languages():
            raise LanguageNotServed(
                f"It compiles, but the board {self.device.name} does not run {self.request.language.display_name}.",
                f"Use the board {home_board(self.request.language)}, or a GPU.",
            )
        control = self._timekeeper.control() if self.request.timing else None
        halves = self._timekeeper.ahead(control) if self.request.timing else []
        suite = self._suite()
        self._reports = suite.reports
        last = self._test(suite, self._start())
        if suite.passed and self._rules_apply and self._breaks_rules(suite, last):
            self._test_hidden(suite, last, State.TESTING)
            return self._outcome(suite.reports, log)
        if suite.passed and self.request.timing:
            # A case that was not covered may have ended its box.
            return self._time(last or self._start(), suite, log, control, halves)
        with self._clock("cases"):
            hint = size_order_hint(suite, self.request.language)
        self._test_hidden(suite, last, State.TESTING)
        return self._outcome(suite.reports, log, hint)

    @property
    def _rules_apply(self) -> bool:
        request = self.request
        return request.challenge.manifest.constructs.any and request.holds_to_rules and request.own is None

    def _breaks_rules(self, suite: Suite, living: RunnerClient | None) -> bool:
        self._tell(State.TESTING, len(self._public), "Checking the rules for compiled code")
        with self._clock("rules"):
            if suite.watched is None:
                self._watched = watched_elsewhere(self.request, self.boxes, self.interrupt)
            else:
                self._watched = suite.watched
                if living is not None and needs_survey(self.request):
                    small = [case for case in self._public if case.on is None]
                    found = library_operations(living, self.request, small, self.device)
                    self._watched.library_operations = found
        self.broken_rules = broken_rules(self.request, self._watched)
        self.unchecked = unchecked(self.request, self._watched)
        return bool(self.broken_rules)

    def _compile(self) -> CompileResult:
        """Compiled ahead, or now in a separate box."""
        language = self.request.language
        plain = request_of(self.request.challenge, language, self.request.source, self.device.architecture)
        request = with_names(plain, self.request.own)
        if self.request.artefact is not None:
            known = result_of(self.request.artefact, request)
            if known is not None:
                return known
        self._tell(State.COMPILING, 0, compiler_of(language).progress)
        with self._clock("compile"):
            wanted = replace(request, background=not self.device.modelled)
            return compile_source(self.boxes, wanted, self.interrupt)

    def _kernels_ahead(self, artefact: Artefact) -> bytes | None:
        """Missing kernels are compiled when they are called."""
        request = self.request
        if not request.language.kernels_ahead or self.device.on != ON_GPU:
            return None
        wanted = kernels_request(
            request.challenge, request.language, request.source, self.device.architecture
        )
        return kernels_of(artefact, wanted)

    def _compile_error(self, compiled: CompileResult) -> Report:
        request = self.request
        return compile_error(
            request.challenge,
            request.language,
            request.device,
            compiled,
            len(request.cases),
            self._environment(),
        )

    def _suite(self) -> Suite:
        self._tell(State.TESTING, 0, "Loading")
        return Suite(
            challenge=self.request.challenge,
            cases=self.request.cases,
            seed_of=self.request.seed_of,
            start=self._launcher.submission,
            on_case=self._tell_case,
            device=self.device,
            # Autotuning launches every variant: watch only later calls.
            warm_up=self.device.warm_up_cases
            or (self._rules_apply and self.device.modelled and self.request.language.torch),
            # Both work with one GPU only.
            mistakes=(
                Mistakes(self.request.challenge, self.request.language, self.request.source)
                if self.request.challenge.manifest.gpus == 1
                else None
            ),
            records=self.device.modelled and self.request.challenge.manifest.gpus == 1,
            kept=self._kept,
            step=self.request.own.step if self.request.own is not None else None,
            watched=Watched() if self._rules_apply and self.device.modelled else None,
        )

    def _test(self, suite: Suite, client: RunnerClient | None) -> RunnerClient | None:
        """Returns a living box that may go on, if any."""
        with self._clock("cases"):
            last = suite.run(client, self._public)
        self._launcher.needs_open_gate = suite.needs_open_gate
        self.own_seconds = suite.own_seconds
        self.unfreed, self.remarks = suite.unfreed, suite.remarks
        return last

    def _test_hidden(self, suite: Suite, client: RunnerClient | None, state: State) -> None:
        """An onlooker sees begin and end, but no single case; with ``Request.conceals`` no precise time."""
        if not self._hidden:
            return
        self._tell(state, self._total - 1, "Testing hidden cases")
        suite.on_case = lambda *_: self.interrupt()
        with self._clock(HIDDEN_PHASE), self._in_steps():
            last = suite.run(client, self._hidden)
            if last is not None:
                last.close()
        self.own_seconds = suite.own_seconds

    @contextmanager
    def _in_steps(self) -> Iterator[None]:
        """Wait until a coarse step of time is over, however the block ends."""
        began = time.perf_counter()
        try:
            yield
        finally:
            if self.request.conceals:
                end = began + step_seconds(time.perf_counter() - began)
                with phase("wait for a step"):
                    while (left := end - time.perf_counter()) > 0:
                        self.interrupt()
                        time.sleep(min(left, _INTERRUPTED_EVERY))

    def _outcome(self, cases: Sequence[CaseReport], log: str, hint: str = "") -> Outcome:
        verdict = verdict_of(cases)
        if verdict is Verdict.ACCEPTED and self.broken_rules:
            sentences = " ".join(rule.sentence for rule in self.broken_rules)
            return Outcome(
                report=self._report(
                    Verdict.BROKEN_RULE,
                    cases=cases,
                    detail=sentences,
                    log=log,
                    broken_rules=self.broken_rules,
                )
            )
        only = PUBLIC_ONLY if self.request.own is None else ONE_CASE_ONLY
        detail = only if self.request.public_only and verdict is Verdict.ACCEPTED else ""
        return Outcome(report=self._report(verdict, cases=cases, detail=detail, hint=hint, log=log))

    def _time(
        self,
        subject: RunnerClient,
        suite: Suite,
        log: str,
        control: RunnerClient | None,
        halves: Sequence[Half],
    ) -> Outcome:
        try:
            own = self._timekeeper.own(subject, halves)
        except TimedWrong as wrong:
            failed = failed_workload(self.request.challenge, wrong.workload, subject, wrong.error)
            subject.close()
            self._test_hidden(suite, None, State.TIMING)
            return self._outcome([*suite.reports, failed], log)
        except HostComputed as computed:
            self._test_hidden(suite, subject, State.TIMING)
            self.on_host = computed.workload.name
            return self._outcome(suite.reports, log)
        if self._rules_apply and self._timekeeper.watched:
            self._watched.workloads = self._timekeeper.watched
            self.broken_rules = broken_rules(self.request, self._watched)
            if self.broken_rules:
                self._test_hidden(suite, subject, State.TIMING)
                return self._outcome(suite.reports, log)
        if self.request.language.torch:
            self._survey(subject, [half.workload for half in halves])
        living = self._draw_quiz(suite, subject)
        # The state never goes back from timing to testing.
        self._test_hidden(suite, living, State.TIMING)
        if not suite.passed:
            return self._outcome(suite.reports, log)
        subject.close()
        timed = self._timekeeper.settled(own, halves, control)
        if doubted := self._timekeeper.doubted(timed, halves):
            subject = self._start()
            try:
                timed = self._timekeeper.confirmed(timed, doubted, control, subject)
            except TimedWrong as wrong:
                failed = failed_workload(self.request.challenge, wrong.workload, subject, wrong.error)
                return self._outcome([*suite.reports, failed], log)
        return self._accepted(suite, log, timed, control)

    def _draw_quiz(self, suite: Suite, subject: RunnerClient) -> RunnerClient | None:
        """Call before the box sees a hidden case. Returns the box if still usable: failing here costs the submission
        nothing."""
        one = self.request.challenge.manifest.gpus == 1
        if not (self.request.quiz and self.device.modelled and suite.passed and one):
            return subject
        try:
            with self._clock("questions"):
                self.quiz = quiz.draw(self.request, subject)
        except (ChannelError, JudgeFailure) as error:
            log.warning("quiz_not_drawn", why=str(error))
            subject.close()
            suite.fresh_boxes += 1
            return None
        return subject

    def _accepted(
        self, suite: Suite, log: str, timed: Sequence[Reading], control: RunnerClient | None
    ) -> Outcome:
        fresh = self._timekeeper.baselines([reading.workload for reading in timed], control)
        frozen = self.request.baselines
        self.measured = {reading.workload.name: reading.measured for reading in timed}
        reports = [
            workload_report(
                self.request.challenge.manifest,
                TimedWorkload(
                    reading.workload,
                    reading.measured,
                    {**frozen.get(reading.workload.name, {}), **fresh.get(reading.workload.name, {})},
                    self._timekeeper.untimed.get(reading.workload.name, {}),
                ),
                self.device,
            )
            for reading in timed
        ]
        left_out = [workload for workload in self.request.workloads if workload.name not in self.measured]
        plan, challenge = self.device.memory_plan, self.request.challenge
        accepted = self._report(
            Verdict.ACCEPTED,
            cases=suite.reports,
            workloads=reports,
            crowded_out=[workload.name for workload in left_out if self._is_crowded_out(workload)],
            detail=" ".join(
                reason
                for workload in left_out
                if plan is not None and (reason := plan.shortage(challenge, workload))
            ),
            log=log,
        )
        return Outcome(report=accepted, baselines=fresh, quiz=self.quiz)

    def _is_crowded_out(self, workload: Workload) -> bool:
        """True if an untimed workload would count, and would fit if nothing else used the GPU."""
        challenge, plan = self.request.challenge, self.device.memory_plan
        counts = is_ranked(challenge.manifest, workload, self.device)
        return counts and (plan is None or plan.fits_alone(challenge, workload))

    def _start(self) -> RunnerClient:
        with self._clock("box"):
            return self._launcher.submission()

    def _survey(self, subject: RunnerClient, workloads: Sequence[Workload]) -> None:
        with self._clock("survey"):
            found = survey(subject, self.request, workloads, self.device)
        self.library_ops, self.kernels = found.library_ops, found.kernels

    @cached_property
    def _total(self) -> int:
        timed = self._timekeeper.fitting() if self.request.timing else []
        return len(self._public) + len(timed) + bool(self._hidden)

    def _tell(self, state: State, done: int, label: str) -> None:
        self.interrupt()
        # Measuring again does not set it back.
        self._done = max(self._done, done)
        view = ProgressView(done=self._done, total=self._total, label=label)
        self.on_progress(JudgingProgress(state=state, progress=view))

    def _tell_case(self, done: int, _: int, name: str) -> None:
        if name:
            cases = counted(done + 1, len(self._public), "public case")
            self._tell(State.TESTING, done, f"Testing {cases}: {name}")

    def _tell_timing(self, done: int, label: str) -> None:
        self._tell(State.TIMING, len(self._public) + done, label)

    @contextmanager
    def _clock(self, name: str) -> Iterator[None]:
        began = time.perf_counter()
        try:
            with phase(name):
                yield
        finally:
            self.spent[name] = self.spent.get(name, 0.0) + time.perf_counter() - began

    def _report(self, verdict: Verdict, **found: Unpack[Found]) -> Report:
        return report(
            self.request,
            verdict,
            self._environment(),
            {
                "kernels": self.kernels,
                "library_ops": self.library_ops,
                "remarks": self._remarks(),
                "left_out": self._left_out,
                "on_host": self.on_host,
                "unchecked": self.unchecked,
                "too_fast": bool(self._timekeeper.too_fast),
                **found,
            },
        )

    def _environment(self) -> dict[str, str]:
        known = {"device_model": self.device.model, "box": self._launcher.boxes.about}
        driver = driver_environment(self.device.name)
        return {**judge_environment(), **driver, **known, **self._launcher.environment}


def step_seconds(seconds: float) -> float:
    """Rounded up, for hidden cases."""
    step = limits.HIDDEN_STEP_SECONDS
    while step < seconds:
        step *= 2
    return step
