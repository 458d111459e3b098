"""Judges one submission from start to report: compile, test every case, time every workload, put it together."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from grader.challenge.cases import Case, Category
from grader.challenge.model import Workload
from grader.challenge.signature import cuda_footer
from grader.errors import JudgeFailure, LanguageNotServed
from grader.judge import faults
from grader.judge.assembly import TimedWorkload, flags_of, score_of, verdict_of, workload_report
from grader.judge.channel import ChannelError
from grader.judge.correctness import Suite
from grader.judge.device import Device
from grader.judge.environment import judge_environment
from grader.judge.job import Outcome, Progress
from grader.judge.launch import Launcher, LoadFailed
from grader.judge.remote import Remote
from grader.judge.request import CPU, Request
from grader.judge.timing import Stopwatch, WrongInTiming
from grader.judge.tuning import tune
from grader.sandbox.box import BoxMaker
from grader.sandbox.compiler.nvcc import CompileRequest, CompileResult, compile_cuda
from grader.schemas.report import CaseReport, CaseVerdict, Language, Report, Verdict, WorkloadReport
from grader.schemas.submission import ProgressView, State

Baselines = dict[str, dict[str, float]]


@dataclass
class Session:
    """One submission's way through the judge. ``interrupt`` raises when nobody wants the answer any more."""

    request: Request
    device: Device
    boxes: BoxMaker
    on_progress: Callable[[Progress], None]
    interrupt: Callable[[], None]
    spent: dict[str, float] = field(default_factory=dict)
    own_seconds: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._launcher = Launcher(self.request, self.device, self.boxes, self.interrupt)

    def run(self) -> Outcome:
        """Raises JudgeFailure or BoxUnavailable where we fail, LanguageNotServed where this device cannot run it; the
        submission's own failures are in the report."""
        tune()
        began = time.perf_counter()
        try:
            outcome = self._judge()
        except LoadFailed as failed:
            report = self._report(failed.verdict, detail=failed.detail, hint=failed.hint, log=failed.log)
            outcome = Outcome(report=report)
        finally:
            self._launcher.close()
        self.spent["total"] = time.perf_counter() - began
        spent = {name: round(seconds, 4) for name, seconds in self.spent.items()}
        return outcome.model_copy(update={"report": outcome.report.model_copy(update={"breakdown_s": spent})})

    def _judge(self) -> Outcome:
        log = ""
        if self.request.language is Language.CUDA:
            compiled = self._compile()
            log = compiled.log
            if not compiled.ok:
                return Outcome(report=self._report(Verdict.COMPILE_ERROR, detail=_first_error(log), log=log))
            self._launcher.artefact = compiled.artefact
        if self.request.language not in self.device.languages():
            raise LanguageNotServed(
                "It compiles, but this machine cannot run it: grader found no NVIDIA GPU that it can use.",
                "Submit to a server whose workers have a GPU, or judge the Triton version here.",
            )
        last, cases = self._test()
        failed = any(it.verdict is not CaseVerdict.ACCEPTED for it in cases)
        if last is None or failed or not self.request.timing:
            return Outcome(report=self._report(verdict_of(cases), cases=cases, log=log))
        return self._time(last, cases, log)

    def _compile(self) -> CompileResult:
        """Compile a CUDA source, with the footer that checks its signature, in a box of its own."""
        self._tell(State.COMPILING, 0, 1, "nvcc")
        footer = cuda_footer(self.request.challenge.manifest)
        request = CompileRequest(self.request.source, footer, arch=self.device.architecture)
        with self._clock("compile"):
            return compile_cuda(self.boxes, request)

    def _test(self) -> tuple[Remote | None, list[CaseReport]]:
        """Run every case. Returns a box that may go on, where one lives, and what was found."""
        self._tell(State.TESTING, 0, len(self.request.cases), "loading")
        with self._clock("box"):
            remote = self._launcher.submission()
        suite = Suite(
            challenge=self.request.challenge,
            cases=self.request.cases,
            seed_of=self.request.seed_of,
            start=self._launcher.submission,
            on_case=lambda done, total, label: self._tell(State.TESTING, done, total, label),
            device=self.device,
            warm_up=self.device.warm_up_cases(self.request.language),
        )
        with self._clock("cases"):
            last = suite.run(remote)
        self.own_seconds = suite.own_seconds
        return last, suite.reports

    def _time(self, subject: Remote, cases: list[CaseReport], log: str) -> Outcome:
        """Time every workload, then, with the submission gone, the baselines that are not frozen yet."""
        left_out = {
            it.name: self.device.fits(self.request.challenge, it.sizes) for it in self.request.workloads
        }
        workloads = [it for it in self.request.workloads if not left_out[it.name]]
        timed = []
        control = self._launcher.control()
        for number, workload in enumerate(workloads):
            self._tell(State.TIMING, number, len(workloads), workload.name)
            try:
                with self._clock("timing"):
                    timed.append((workload, self._stopwatch(workload).measure(subject, control)))
            except (WrongInTiming, ChannelError) as error:
                cases = [*cases, self._failed_workload(workload, subject, error)]
                return Outcome(report=self._report(verdict_of(cases), cases=cases, log=log))
        subject.close()
        fresh = self._measure_baselines(workloads, control)
        frozen = self.request.baselines
        reports = [
            workload_report(
                self.request.challenge.manifest,
                TimedWorkload(it, measured, {**frozen.get(it.name, {}), **fresh.get(it.name, {})}),
                self.device,
            )
            for it, measured in timed
        ]
        detail = " ".join(reason for reason in left_out.values() if reason)
        report = self._report(Verdict.ACCEPTED, cases=cases, workloads=reports, detail=detail, log=log)
        return Outcome(report=report, baselines=fresh)

    def _stopwatch(self, workload: Workload) -> Stopwatch:
        return Stopwatch(self.request.challenge, workload, self.request.seed_key, self.device)

    def _measure_baselines(self, workloads: Sequence[Workload], control: Remote) -> Baselines:
        """Time the reference wherever a baseline is not frozen yet. Runs only with the submission's box gone."""
        found: Baselines = {}
        for mode in self.device.baselines:
            missing = [it for it in workloads if mode not in self.request.baselines.get(it.name, {})]
            if not missing:
                continue
            with self._clock("baselines"):
                reference = self._launcher.reference(mode)
                for workload in missing:
                    self._tell(
                        State.TIMING, len(workloads), len(workloads), f"PyTorch {mode}, {workload.name}"
                    )
                    try:
                        measured = self._stopwatch(workload).measure(reference, control, checked=False)
                    except ChannelError as error:
                        raise JudgeFailure(f"the baseline's box failed: {error}") from error
                    found.setdefault(workload.name, {})[mode] = round(measured.time.value * 1e6, 3)
                reference.close()
        return found

    def _failed_workload(
        self, workload: Workload, remote: Remote, error: WrongInTiming | ChannelError
    ) -> CaseReport:
        """A timed call that went wrong, as a case that its seed replays."""
        case = Case(f"workload {workload.name}", Category.LARGE, dict(workload.sizes))
        doing = "solve was timed"
        seed, mismatch = None, None
        if isinstance(error, ChannelError):
            limit = self.request.challenge.manifest.limits.case_seconds
            finding = faults.of_broken_channel(remote, error, doing, limit)
        elif error.mismatch is None or error.answer.failure is not None:
            assert error.answer.failure is not None
            seed, finding = error.seed, faults.of_exception(error.answer.failure, doing)
        else:
            seed, mismatch = error.seed, error.mismatch
            finding = faults.of_mismatch(mismatch, case, error.answer.empty_launches)
        return CaseReport(
            name=case.name,
            category=case.category.value,
            verdict=finding.verdict,
            seed=seed,
            sizes=dict(workload.sizes),
            detail=finding.detail,
            hint=finding.hint,
            mismatch=mismatch,
        )

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
        return Report(
            verdict=verdict,
            flags=flags_of(workloads),
            challenge=request.challenge.slug,
            version=request.challenge.manifest.version,
            language=request.language,
            device=request.device,
            representative=request.device != CPU,
            cases=list(cases),
            workloads=list(workloads),
            score=score_of(cases, workloads, len(request.cases)),
            compiler_log=log,
            detail=detail,
            hint=hint,
            environment={
                **judge_environment(),
                "device_model": self.device.model,
                **self._launcher.environment,
            },
        )


def _first_error(log: str) -> str:
    """The compiler's first error line, which is most often the one to mend."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line]
    return next(iter([*errors, *lines]), "It does not compile.")
