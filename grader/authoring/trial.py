"""Runs one of our submissions against a suite in a forked box, with the judge that ranks."""

from __future__ import annotations

import hashlib
import math
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from grader.authoring.candidates import NATIVE, Candidate
from grader.authoring.probe import makes_a_difference
from grader.challenge.cases import Case
from grader.challenge.loader import Challenge
from grader.challenge.pattern import cases_on
from grader.device_kinds import kind_of
from grader.judge.checker import with_checker
from grader.judge.compilation import compile_source, compiler_of, request_of
from grader.judge.constructs import broken_rules, unchecked
from grader.judge.correctness import Suite
from grader.judge.device import Device
from grader.judge.launch import Launcher, LoadFailed
from grader.judge.oracle import Question, ask
from grader.judge.request import Request
from grader.judge.watched_elsewhere import watched_elsewhere
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.sandbox.compiler.nvcc import CompileResult
from grader.sandbox.emulator.lower.rows import UNKNOWN_INSTRUCTION
from grader.sandbox.kernel_headers import lacking
from grader.schemas.proof import CandidateOutcome, CandidateResult, CandidateRole
from grader.schemas.report import CaseReport, CaseVerdict

_RAISED = re.compile(r"\w+ while solve ran")
# The process called exit, was killed, or broke the connection.
_EXITED = re.compile(
    r"^While [^:]*?, the process (?:ended itself|was ended by signal (?:9|15))\b|^It broke the connection"
)
# Errors of driver and CUDA runtime, which torch and Triton quote.
_OF_THE_GPU = ("CUDA", "cudaError")
_DETAIL_CHARS = 400
_SLOWEST = 3


class _TimeIsUp(Exception):
    """Ends what ``Trial.until`` holds."""


@dataclass
class Trial:
    """Questions are drawn once and asked of every submission."""

    challenge: Challenge
    device: Device
    boxes: BoxMaker
    compiled: dict[str, CompileResult] = field(default_factory=dict)
    # Also after the last case, with an empty name.
    on_case: Callable[[int, int, str], None] = lambda *_: None
    _questions: dict[str, Question] = field(default_factory=dict)
    _end: float = math.inf

    def __post_init__(self) -> None:
        self.challenge, self._checker = with_checker(self.challenge, self.boxes)

    def close(self) -> None:
        if self._checker is not None:
            self._checker.close()

    @property
    def cases(self) -> list[Case]:
        """See ``try_large``."""
        return [case for case in [*self.challenge.cases, *self.challenge.hidden_cases] if case.on is None]

    def try_out(self, candidate: Candidate, *, every_case: bool) -> CandidateResult:
        """A wrong one stops at its first failure unless ``every_case``. Raises ChallengeInvalid,
        BoxUnavailable.
        """
        return self.try_cases(candidate, self.cases, every_case=every_case or not candidate.role.wrong)

    def try_large(self, candidate: Candidate) -> CandidateResult:
        """GPU-only cases that fit. Nothing else may use the GPU meanwhile."""
        cases = cases_on(self.challenge, kind_of(self.device.name))
        plan = self.device.memory_plan
        large = [
            case
            for case in cases
            if case.on and (plan is None or not plan.case_shortage(self.challenge, case))
        ]
        return self.try_cases(replace(candidate, large=False), large, every_case=True)

    def try_cases(self, candidate: Candidate, cases: Sequence[Case], *, every_case: bool) -> CandidateResult:
        began = time.perf_counter()
        ending, reports, detail = self._ending(candidate, cases, every_case)
        failed = [report for report in reports if report.verdict.failed]
        if failed:
            detail = f"{failed[0].name}: {failed[0].verdict.value}: {_told(failed[0])}"
        return CandidateResult(
            slug=self.challenge.slug,
            role=candidate.role,
            name=candidate.name,
            language=candidate.language,
            ending=ending,
            failed=[report.name for report in failed],
            ran=sum(report.verdict is not CaseVerdict.NOT_RUN for report in reports),
            no_answer=no_answer(failed[0]) if failed else "",
            detail=detail[:_DETAIL_CHARS],
            slowest=_slowest(reports),
            seconds=round(time.perf_counter() - began, 3),
        )

    def _ending(
        self, candidate: Candidate, cases: Sequence[Case], whole: bool
    ) -> tuple[CandidateOutcome, list[CaseReport], str]:
        if candidate.reason:
            return CandidateOutcome.NOT_APPLICABLE, [], candidate.reason
        if candidate.role is CandidateRole.GENERIC and (
            reason := makes_a_difference(self.challenge, candidate)
        ):
            return CandidateOutcome.NOT_APPLICABLE, [], reason
        launcher = self.launcher(candidate, cases)
        if (prevented := self.compile_into(launcher, candidate)) is not None:
            ending, why = prevented
            compiles = ending is CandidateOutcome.COMPILED
            broken = self._rules(candidate, launcher.request)[0] if compiles and whole else ""
            return (CandidateOutcome.FAILED, [], broken) if broken else (ending, [], why)
        if candidate.large:
            return CandidateOutcome.NOT_RUN, [], "its mistake shows only in cases for a GPU"
        try:
            reports = self._run(launcher, cases, whole)
        except LoadFailed as failed:
            return CandidateOutcome.BROKEN, [], failed.detail
        finally:
            launcher.close()
        if any(report.verdict.holds_back for report in reports):
            return CandidateOutcome.FAILED, reports, ""
        broken, unknown = self._rules(candidate, launcher.request) if whole else ("", "")
        return (CandidateOutcome.FAILED if broken else CandidateOutcome.ACCEPTED), reports, broken or unknown

    def _rules(self, candidate: Candidate, request: Request) -> tuple[str, str]:
        """Rules for compiled code that a right submission breaks, and those that cannot be checked."""
        kept_to = (CandidateRole.SOLUTION, CandidateRole.VARIANT)
        if candidate.role not in kept_to or not self.challenge.manifest.constructs.any:
            return "", ""
        watched = watched_elsewhere(request, self.boxes)
        return " ".join(rule.sentence for rule in broken_rules(request, watched)), unchecked(request, watched)

    def compile_into(self, launcher: Launcher, candidate: Candidate) -> tuple[CandidateOutcome, str] | None:
        """Hand ``launcher`` the library, if compiled. Returns why it cannot run, or None."""
        if candidate.language.compiled:
            compiler = compiler_of(candidate.language)
            if compiler.version() is None:
                return CandidateOutcome.NOT_RUN, compiler.missing
            compiled = self.compiled.get(candidate.source)
            if compiled is None:
                request = request_of(
                    self.challenge, candidate.language, candidate.source, self.device.architecture
                )
                if lack := lacking(request.headers):
                    return CandidateOutcome.NOT_RUN, lack[0]
                compiled = self.compiled[candidate.source] = compile_source(self.boxes, request)
            if not compiled.ok:
                return CandidateOutcome.BROKEN, compiled.log
            launcher.artefact = compiled.artefact
        if candidate.language not in self.device.languages():
            return CandidateOutcome.COMPILED, "it compiles; no GPU here can run it"
        return None

    def launcher(self, candidate: Candidate, cases: Sequence[Case] = ()) -> Launcher:
        """Its seeds are the same in every run."""
        request = self._request(candidate.language, candidate.source, cases)
        return Launcher(request, self.device, self.boxes, interrupt=self._interrupt)

    @contextmanager
    def until(self, end: float) -> Iterator[None]:
        """Ends trying at ``end`` of the monotonic clock without an error."""
        before, self._end = self._end, end
        try:
            yield
        except _TimeIsUp:
            pass
        finally:
            self._end = before

    def _interrupt(self) -> None:
        if time.monotonic() > self._end:
            raise _TimeIsUp

    def _request(self, language: Language, source: str, cases: Sequence[Case] = ()) -> Request:
        return Request(
            challenge=self.challenge,
            language=language,
            source=source,
            device=self.device.name,
            seed_key=hashlib.sha256(f"check: {self.challenge.slug}".encode()).digest(),
            cases=cases,
            timing=False,
        )

    def _run(self, launcher: Launcher, cases: Sequence[Case], whole: bool) -> list[CaseReport]:
        suite = Suite(
            challenge=self.challenge,
            cases=cases if whole else self.small_first(cases),
            seed_of=launcher.request.seed_of,
            start=launcher.submission,
            on_case=self.on_case,
            device=self.device,
            warm_up=self.device.warm_up_cases,
            fresh_boxes=len(cases),
            answer=self._question,
            stop_at_failure=not whole,
        )
        suite.run(launcher.submission())
        return suite.reports

    def small_first(self, cases: Sequence[Case]) -> list[Case]:
        """Most mistakes show there, a hundred times faster in the interpreter."""
        manifest = self.challenge.manifest
        return sorted(
            cases,
            key=lambda case: sum(math.prod(manifest.shape(arg, case.sizes)) for arg in manifest.buffers),
        )

    def question(self, case: Case) -> Question:
        """The same seed for every submission. Raises ChallengeInvalid."""
        self._interrupt()
        return self._question(case, self._request(NATIVE, "").seed_of(case))

    def forget(self, names: Iterable[str]) -> None:
        for name in names:
            self._questions.pop(name, None)

    def keep_questions(self, other: Trial, names: Iterable[str]) -> None:
        """Of cases that are the same in ``other``."""
        self._questions |= {name: other._questions[name] for name in names if name in other._questions}

    def _question(self, case: Case, seed: int) -> Question:
        if case.on is not None:  # too large to keep
            return ask(self.challenge, case, seed, self.device.torch_device)
        if case.name not in self._questions:
            self._questions[case.name] = ask(self.challenge, case, seed, self.device.torch_device)
        return self._questions[case.name]


def _slowest(reports: Sequence[CaseReport]) -> str:
    timed = sorted(((report.seconds or 0.0, report.name) for report in reports), reverse=True)[:_SLOWEST]
    return ", ".join(f"{name} {seconds:.0f} s" for seconds, name in timed if seconds >= 1)


def _told(report: CaseReport) -> str:
    return report.detail.splitlines()[0] if report.detail else ""


def no_answer(report: CaseReport) -> str:
    """How a submission failed without a wrong answer, or "". GPU faults and stray accesses (signals) count as
    answers.
    """
    if report.verdict in (CaseVerdict.TIME_LIMIT, CaseVerdict.MEMORY_LIMIT, CaseVerdict.OUTPUT_LIMIT):
        return f"ends with {report.verdict.value}"
    if UNKNOWN_INSTRUCTION in report.detail:
        return "needs what the emulated GPU lacks"
    if _EXITED.search(report.detail):
        return "ends its process"
    # torch and Triton also raise exceptions for GPU faults.
    if _RAISED.match(report.detail) and not any(name in report.detail for name in _OF_THE_GPU):
        return "raises an exception"
    return ""
