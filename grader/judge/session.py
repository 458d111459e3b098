"""Judges one submission from start to report: compile, test every case, time every workload, put it together."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from grader import limits, scoring
from grader.challenge.cases import Case, Category
from grader.challenge.loader import Challenge
from grader.challenge.model import Kind, Workload
from grader.challenge.signature import cuda_footer, declaration
from grader.errors import BoxUnavailable, JudgeFailure, LanguageNotServed
from grader.judge import faults
from grader.judge.channel import ChannelError
from grader.judge.correctness import Suite
from grader.judge.environment import judge_environment
from grader.judge.job import Outcome, Progress
from grader.judge.messages import Failure
from grader.judge.remote import Remote
from grader.judge.timing import CONTROL_US, Measured, Plan, Stopwatch, WrongInTiming
from grader.judge.tuning import tune
from grader.sandbox.box import BoxMaker, BoxSpec, Purpose
from grader.sandbox.compiler.nvcc import CompileRequest, CompileResult, compile_cuda
from grader.schemas.report import (
    CaseReport,
    CaseVerdict,
    Flag,
    Language,
    Report,
    Score,
    Verdict,
    WorkloadReport,
)
from grader.schemas.submission import ProgressView, State
from grader.scoring import Estimate

# The interpreter runs on the CPU; torch's own threads would fight the judge for the cores that it measures on.
RUN_ENV = {"GRADER_PRELOAD": "triton", "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}
RUN_SPEC = BoxSpec(Purpose.RUN, env=RUN_ENV)
CONTROL_SPEC = BoxSpec(Purpose.CONTROL, env={"GRADER_PRELOAD": ""})
CPU = "cpu"


@dataclass(frozen=True)
class Request:
    """What to judge. ``seeds`` overrides the seed of single cases by name (a replay)."""

    challenge: Challenge
    language: Language
    source: str
    device: str
    seed_key: bytes
    cases: Sequence[Case]
    baselines: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    seeds: Mapping[str, int] = field(default_factory=dict)
    timing: bool = True
    plan: Plan = field(default_factory=Plan)

    def seed_of(self, case: Case) -> int:
        """48 bits, so that every JSON reader keeps them: an HMAC of the case's name under the submission's key."""
        if case.name in self.seeds:
            return self.seeds[case.name]
        return int.from_bytes(hmac.digest(self.seed_key, case.name.encode(), hashlib.sha256)[:6], "big")

    @property
    def workloads(self) -> list[Workload]:
        on = "cpu" if self.device == CPU else "gpu"
        return [workload for workload in self.challenge.manifest.workloads if workload.on == on]


class LoadFailed(Exception):
    """The submission could not be loaded, or ended its box while it was."""

    def __init__(self, verdict: Verdict, detail: str, hint: str, log: str) -> None:
        super().__init__(detail)
        self.verdict, self.detail, self.hint, self.log = verdict, detail, hint, log


@dataclass
class Session:
    """One submission's way through the judge. ``interrupt`` raises when nobody wants the answer any more."""

    request: Request
    boxes: BoxMaker
    on_progress: Callable[[Progress], None]
    interrupt: Callable[[], None]
    spent: dict[str, float] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    own_seconds: list[float] = field(default_factory=list)
    _open: list[Remote] = field(default_factory=list)

    def run(self) -> Outcome:
        """Raises JudgeFailure or BoxUnavailable where we fail; the submission's own failures are in the report."""
        tune()
        began = time.perf_counter()
        try:
            outcome = self._judge()
        finally:
            for remote in self._open:
                remote.close()
        self.spent["total"] = time.perf_counter() - began
        rounded = {name: round(seconds, 4) for name, seconds in self.spent.items()}
        return outcome.model_copy(
            update={"report": outcome.report.model_copy(update={"breakdown_s": rounded})}
        )

    def _judge(self) -> Outcome:
        if self.request.language is Language.CUDA:
            return self._judge_cuda()
        self._tell(State.TESTING, 0, len(self.request.cases), "loading")
        try:
            remote = self._start_submission()
        except LoadFailed as failed:
            return Outcome(
                report=self._report(failed.verdict, detail=failed.detail, hint=failed.hint, log=failed.log)
            )
        suite = Suite(
            challenge=self.request.challenge,
            cases=self.request.cases,
            seed_of=self.request.seed_of,
            start=self._start_submission,
            on_case=lambda done, total, label: self._tell(State.TESTING, done, total, label),
        )
        with self._clock("cases"):
            last = suite.run(remote)
        self.own_seconds = suite.own_seconds
        if (
            last is None
            or not self.request.timing
            or any(it.verdict != CaseVerdict.ACCEPTED for it in suite.reports)
        ):
            return Outcome(report=self._report(_verdict(suite.reports), cases=suite.reports))
        return self._time(last, suite.reports)

    def _judge_cuda(self) -> Outcome:
        compiled = self._compile()
        if not compiled.ok:
            log = compiled.log
            return Outcome(report=self._report(Verdict.COMPILE_ERROR, detail=_first_error(log), log=log))
        raise LanguageNotServed(
            "It compiles, but this machine cannot run it: grader found no NVIDIA GPU that it can use.",
            "Submit to a server whose workers have a GPU, or judge the Triton version here.",
        )

    def _compile(self) -> CompileResult:
        """Compile a CUDA source, with the footer that checks its signature, in a box of its own."""
        self._tell(State.COMPILING, 0, 1, "nvcc")
        footer = cuda_footer(self.request.challenge.manifest)
        with self._clock("compile"):
            return compile_cuda(self.boxes, CompileRequest(self.request.source, footer))

    def _time(self, subject: Remote, cases: list[CaseReport]) -> Outcome:
        """Time every workload, then, with the submission gone, the baselines that are not frozen yet."""
        workloads = self.request.workloads
        measured: dict[str, Measured] = {}
        with self._clock("timing"):
            control = self._start_control()
            for number, workload in enumerate(workloads):
                self._tell(State.TIMING, number, len(workloads), workload.name)
                try:
                    measured[workload.name] = self._stopwatch(workload).measure(subject, control)
                except (WrongInTiming, ChannelError) as error:
                    failed = self._failed_workload(workload, subject, error)
                    return Outcome(report=self._report(_verdict([*cases, failed]), cases=[*cases, failed]))
        subject.close()
        with self._clock("baselines"):
            fresh = self._measure_baselines(workloads, control)
        baselines = {
            it.name: {**self.request.baselines.get(it.name, {}), **fresh.get(it.name, {})} for it in workloads
        }
        report = self._report(
            Verdict.ACCEPTED,
            cases=cases,
            workloads=[_workload_report(it, measured[it.name], baselines[it.name]) for it in workloads],
        )
        return Outcome(report=report, baselines=fresh)

    def _stopwatch(self, workload: Workload) -> Stopwatch:
        return Stopwatch(self.request.challenge, workload, self.request.seed_key, self.request.plan)

    def _measure_baselines(
        self, workloads: Sequence[Workload], control: Remote
    ) -> dict[str, dict[str, float]]:
        missing = [it for it in workloads if "eager" not in self.request.baselines.get(it.name, {})]
        if not missing:
            return {}
        found = {}
        try:
            eager = self._start_reference()
            for workload in missing:
                self._tell(State.TIMING, len(workloads), len(workloads), f"PyTorch baseline, {workload.name}")
                measured = self._stopwatch(workload).measure(eager, control, checked=False)
                found[workload.name] = {"eager": round(measured.time.value * 1e6, 3)}
        except ChannelError as error:
            raise JudgeFailure(f"the baseline's box failed: {error}") from error
        return found

    def _failed_workload(
        self, workload: Workload, remote: Remote, error: WrongInTiming | ChannelError
    ) -> CaseReport:
        """A timed call that went wrong, as a case that its seed replays."""
        stopwatch_case = f"workload {workload.name}"
        seconds = self.request.challenge.manifest.limits.case_seconds
        seed, mismatch = None, None
        if isinstance(error, ChannelError):
            finding = faults.of_broken_channel(remote, error, "solve was timed", seconds)
        elif error.answer.failure is not None:
            seed, finding = error.seed, faults.of_exception(error.answer.failure, "solve was timed")
        else:
            assert error.mismatch is not None
            seed, mismatch = error.seed, error.mismatch
            case = Case(stopwatch_case, Category.LARGE, dict(workload.sizes))
            finding = faults.of_mismatch(error.mismatch, case, error.answer.empty_launches)
        return CaseReport(
            name=stopwatch_case,
            category=Category.LARGE.value,
            verdict=finding.verdict,
            seed=seed,
            sizes=dict(workload.sizes),
            detail=finding.detail,
            hint=finding.hint,
            mismatch=mismatch,
        )

    def _start_submission(self) -> Remote:
        """A box with the submission loaded. Raises LoadFailed."""
        request = self.request
        spec = replace(RUN_SPEC, memory_bytes=request.challenge.manifest.limits.memory_bytes)
        with self._clock("box"):
            remote = self._start(spec)
        self.environment.update({f"box_{name}": value for name, value in remote.environment.items()})
        message = {
            "language": request.language.value,
            "source": request.source,
            "parameters": [arg.name for arg in request.challenge.manifest.args],
            "declaration": declaration(request.challenge.manifest, request.language),
        }
        with self._clock("load"):
            try:
                failure = remote.load(message)
            except ChannelError as error:
                finding = faults.of_broken_channel(
                    remote, error, "the source was loaded", limits.LOAD_SECONDS
                )
                printed = remote.box.output().decode("utf-8", errors="replace")[: limits.OUTPUT_KEPT_BYTES]
                raise LoadFailed(
                    Verdict(finding.verdict.value), finding.detail, finding.hint, printed
                ) from error
        if failure is not None:
            raise _load_failed(failure)
        return remote

    def _start_control(self) -> Remote:
        message = {"language": "control", "outputs": self._names(Kind.OUTPUT), "duration_us": CONTROL_US}
        return self._start_trusted(CONTROL_SPEC, message)

    def _start_reference(self) -> Remote:
        spec = BoxSpec(Purpose.BASELINE, env={**RUN_ENV, "GRADER_PRELOAD": "torch"})
        source = self.request.challenge.reference_source
        message = {"language": "reference", "source": source, "outputs": self._names(Kind.OUTPUT)}
        return self._start_trusted(spec, message)

    def _names(self, kind: Kind) -> list[str]:
        return [arg.name for arg in self.request.challenge.manifest.args if arg.kind is kind]

    def _start_trusted(self, spec: BoxSpec, message: Mapping[str, object]) -> Remote:
        remote = self._start(spec)
        try:
            failure = remote.load(message)
        except ChannelError as error:
            raise JudgeFailure(f"the {spec.purpose} box failed: {error}") from error
        if failure is not None:
            raise JudgeFailure(f"the {spec.purpose} box failed: {failure.type}: {failure.message}")
        return remote

    def _start(self, spec: BoxSpec) -> Remote:
        remote = Remote(self.boxes.start(spec), self.interrupt)
        self._open.append(remote)
        try:
            remote.hello()
        except ChannelError as error:
            raise BoxUnavailable(f"a box started, but its runner did not answer: {error}") from error
        return remote

    def _tell(self, state: State, done: int, total: int, label: str) -> None:
        self.interrupt()
        self.on_progress(Progress(state=state, progress=ProgressView(done=done, total=total, label=label)))

    @contextmanager
    def _clock(self, name: str) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self.spent[name] = self.spent.get(name, 0.0) + time.perf_counter() - began

    def _report(
        self,
        verdict: Verdict,
        *,
        cases: Sequence[CaseReport] = (),
        workloads: Sequence[WorkloadReport] = (),
        detail: str = "",
        hint: str = "",
        log: str = "",
    ) -> Report:
        request = self.request
        charged = any(it.charged_us for it in workloads)
        return Report(
            verdict=verdict,
            flags=[Flag.WORK_OUTSIDE_GATE] if charged else [],
            challenge=request.challenge.slug,
            version=request.challenge.manifest.version,
            language=request.language,
            device=request.device,
            representative=request.device != CPU,
            cases=list(cases),
            workloads=list(workloads),
            score=_score(cases, workloads, len(request.cases)),
            compiler_log=log,
            detail=detail,
            hint=hint,
            environment={**judge_environment(), **self.environment},
        )


def _first_error(log: str) -> str:
    """The compiler's first error line, which is most often the one to mend."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line]
    return next(iter([*errors, *lines]), "It does not compile.")


def _load_failed(failure: Failure) -> LoadFailed:
    where = f" in line {failure.line}" if failure.line else ""
    text = f"{failure.type}{where}: {failure.message}"
    verdict = Verdict.MEMORY_LIMIT if failure.kind == "memory" else Verdict.COMPILE_ERROR
    hint = failure.hint
    if failure.kind == "import":
        hint = "A submission may import torch, triton and Python's standard library."
    return LoadFailed(verdict, text, hint, f"{text}\n{failure.trace}".strip())


def _verdict(cases: Sequence[CaseReport]) -> Verdict:
    """The verdict of the first case that failed; accepted where none did."""
    for case in cases:
        if case.verdict not in (CaseVerdict.ACCEPTED, CaseVerdict.NOT_RUN):
            return Verdict(case.verdict.value)
    return Verdict.ACCEPTED


def _workload_report(
    workload: Workload, measured: Measured, baselines: Mapping[str, float]
) -> WorkloadReport:
    time_us = measured.time.value * 1e6
    low, high = (edge * 1e6 for edge in measured.time.interval)
    eager = baselines.get("eager")
    return WorkloadReport(
        name=workload.name,
        sizes=dict(workload.sizes),
        ranked=True,
        time_us=time_us,
        ci_us=(low, high),
        rounds=measured.rounds,
        baselines_us=dict(baselines),
        speedup=eager / time_us if eager else None,
        host_us=measured.host * 1e6,
        charged_us=measured.charged * 1e6,
    )


def _score(cases: Sequence[CaseReport], workloads: Sequence[WorkloadReport], total: int) -> Score:
    passed = sum(case.verdict is CaseVerdict.ACCEPTED for case in cases)
    ranked = [it for it in workloads if it.ranked]
    if not ranked:
        return Score(passed=passed, total=max(total, len(cases)))
    whole = scoring.combine([Estimate(it.time_us, it.ci_us) for it in ranked])
    return Score(
        time_us=whole.value,
        ci=whole.interval,
        speedup=scoring.speedup(
            [it.time_us for it in ranked], [it.baselines_us.get("eager") for it in ranked]
        ),
        passed=passed,
        total=max(total, len(cases)),
    )
