"""A judge that judges nothing: the test decides what it does."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from pathlib import Path

from grader.errors import BoxUnavailable, JudgeFailure
from grader.judge.job import Job, JudgingProgress, Outcome
from grader.judge.process import Cancelled
from grader.records.baselines import Times
from grader.sandbox.box import Box, BoxSpec
from grader.sandbox.compiler.nvcc import CompileRequest, CompileResult
from grader.sandbox.compiler.triton import KernelsRequest
from grader.schemas.artefact import Artefact
from grader.schemas.hardware import KernelUsage
from grader.schemas.report import CaseReport, CaseVerdict, Report, Score, Verdict
from grader.schemas.submission import ProgressView, State


def report_for(job: Job, verdict: Verdict = Verdict.ACCEPTED) -> Report:
    failed = verdict is not Verdict.ACCEPTED
    kind = CaseVerdict.WRONG_ANSWER if failed else CaseVerdict.ACCEPTED
    cases = [CaseReport(name="seven", category="prime", verdict=kind, detail="0 is not 1" if failed else "")]
    time_us = 10.0 if verdict is Verdict.ACCEPTED else None
    return Report(
        verdict=verdict,
        challenge=job.challenge,
        version=1,
        language=job.language,
        device=job.device,
        cases=[] if verdict in (Verdict.COMPILE_ERROR, Verdict.INTERNAL_ERROR) else cases,
        score=Score(time_us=time_us, ci=(9.0, 11.0) if time_us else None, passed=int(not failed), total=1),
        detail="the disk is full" if verdict is Verdict.INTERNAL_ERROR else "",
    )


Act = Callable[[Job, Callable[[JudgingProgress], None], Callable[[], bool]], Outcome]


class FakeJudge:
    """Runs the given acts, one for each submission, and repeats the last one."""

    device_model = "paper"
    torch_version = "0"
    architecture = "sm_90a"

    def __init__(self, *acts: Act) -> None:
        self._acts = list(acts) or [judged()]
        self.jobs: list[Job] = []
        self.closed = False
        self.probes = 0
        self.trouble = ""  # the result of a probe
        self.boxless = 0  # this many boxes in a row do not start
        self.tries = 0
        self.on_try: Callable[[int], None] = lambda _: None  # gets the number of the try

    def warm_up(self) -> None:
        pass

    def probe(self) -> None:
        self.probes += 1
        if self.trouble:
            raise JudgeFailure(self.trouble)

    def try_box(self) -> None:
        self.tries += 1
        self.on_try(self.tries)
        if self.boxless:
            self.boxless -= 1
            raise BoxUnavailable("The engine is away.")

    def run(
        self, job: Job, on_progress: Callable[[JudgingProgress], None], cancelled: Callable[[], bool]
    ) -> Outcome:
        self.jobs.append(job)
        act = self._acts.pop(0) if len(self._acts) > 1 else self._acts[0]
        return act(job, on_progress, cancelled)

    def close(self) -> None:
        self.closed = True


LIBRARY = b"\x7fELF not really"


class FakeCompiler:
    """Every source becomes ``LIBRARY``, except for the given acts, one for each. ``on_kernels`` is called
    before kernels are.
    """

    def __init__(self, *acts: Callable[[Callable[[], None]], CompileResult]) -> None:
        self._acts = list(acts)
        self.requests: list[CompileRequest] = []
        self.kernels: list[KernelsRequest] = []
        self.on_kernels: Callable[[Callable[[], None]], None] = lambda _: None
        self.of_kernels = LIBRARY
        self.boxless = 0  # this many boxes in a row do not start
        self.closed = False

    def compile(self, request: CompileRequest, interrupt: Callable[[], None]) -> CompileResult:
        self.requests.append(request)
        if self._acts:
            return self._acts.pop(0)(interrupt)
        return compiled()

    def compile_kernels(self, request: KernelsRequest, interrupt: Callable[[], None]) -> Artefact:
        self.kernels.append(request)
        self.on_kernels(interrupt)
        return kernels_of(request, self.of_kernels)

    def try_box(self) -> None:
        if self.boxless:
            self.boxless -= 1
            raise BoxUnavailable("The engine is away.")

    def close(self) -> None:
        self.closed = True


def kernels_of(request: KernelsRequest, library: bytes) -> Artefact:
    sha256 = hashlib.sha256(library).hexdigest()
    return Artefact(key=request.key(), arch="sm_90a", toolkit="triton", library=library, sha256=sha256)


def compiled(log: str = "") -> CompileResult:
    return CompileResult(True, LIBRARY, log, 0.1, (KernelUsage(name="add", registers=24),))


class NoBoxes:
    name, about = "none", "no boxes"

    def start(self, spec: BoxSpec) -> Box:
        raise BoxUnavailable("there are no boxes in this test")

    def reap(self) -> int:
        return 0


def judged(verdict: Verdict = Verdict.ACCEPTED, baselines: Times | None = None) -> Act:
    def act(
        job: Job, on_progress: Callable[[JudgingProgress], None], cancelled: Callable[[], bool]
    ) -> Outcome:
        return Outcome(report=report_for(job, verdict), baselines=baselines or {})

    return act


def raises(error: Exception) -> Act:
    def act(
        job: Job, on_progress: Callable[[JudgingProgress], None], cancelled: Callable[[], bool]
    ) -> Outcome:
        raise error

    return act


def waits_for(gate: Path, state: State = State.TESTING, verdict: Verdict = Verdict.ACCEPTED) -> Act:
    """Enters ``state`` and stays there until the file exists, or it is cancelled."""
    path = {
        State.COMPILING: [],
        State.TESTING: [State.TESTING],
        State.TIMING: [State.TESTING, State.TIMING],
    }[state]

    def act(
        job: Job, on_progress: Callable[[JudgingProgress], None], cancelled: Callable[[], bool]
    ) -> Outcome:
        for step in path:
            on_progress(JudgingProgress(state=step, progress=ProgressView(done=1, total=3, label="seven")))
        while not gate.exists():
            if cancelled():
                raise Cancelled
            time.sleep(0.02)
        return Outcome(report=report_for(job, verdict))

    return act
