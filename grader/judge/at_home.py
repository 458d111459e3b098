"""``grader test`` and ``grader profile``: the judge without server, queue or database."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable
from dataclasses import replace

from grader.challenge.cases import Case
from grader.challenge.loader import Challenge
from grader.challenge.pattern import runs_on
from grader.device_kinds import EMULATED, home_board, kind_of
from grader.errors import ChallengeInvalid, JudgeFailure
from grader.judge.compilation import (
    artefact_of,
    compile_error,
    compile_source,
    compiler_of,
    request_of,
)
from grader.judge.environment import driver_environment, judge_environment
from grader.judge.job import JudgingProgress
from grader.judge.request import Request
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.sandbox.compiler.nvcc import CompileResult
from grader.schemas.report import Report
from grader.schemas.submission import ProgressView, State


def judge_at_home(
    challenge: Challenge,
    source: str,
    language: Language,
    boxes: BoxMaker,
    *,
    device: str | None = None,
    case: str | None = None,
    seed: int | None = None,
    timing: bool = True,
    on_progress: Callable[[JudgingProgress], None] = lambda _: None,
) -> Report:
    """``device`` defaults to the board of a machine without a GPU. ``case`` and ``seed`` replay one failure; seeds are
    fixed per challenge.

    Raises ChallengeInvalid for a case that is unknown or not on the board, LanguageNotServed, and BoxUnavailable.
    """
    board = device or home_board(language)
    cases = [_found(challenge, case)] if case else [*challenge.cases, *challenge.hidden_cases]
    if case and not runs_on(challenge.manifest, cases[0], kind_of(board)):
        raise ChallengeInvalid(
            f"Case '{case}' is too large for the board {board}.",
            "Run it on a GPU: name one with `grader test --device`.",
        )
    request = Request(
        challenge=challenge,
        language=language,
        source=source,
        device=board,
        seed_key=_seed_key(challenge),
        cases=cases,
        seeds={case: seed} if case is not None and seed is not None else {},
        timing=timing and case is None,
    )
    return _report(request, boxes, on_progress)


def profile_at_home(
    challenge: Challenge,
    source: str,
    language: Language,
    boxes: BoxMaker,
    *,
    workload: str | None = None,
    on_progress: Callable[[JudgingProgress], None] = lambda _: None,
) -> Report:
    """Count the work on the emulated GPU. Runs only the first case. The report has no times of this machine, so equal
    sources give equal reports.

    Raises ChallengeInvalid for an unknown workload, and as ``judge_at_home``.
    """
    names = [workload.name for workload in challenge.manifest.workloads]
    if workload is not None and workload not in names:
        raise ChallengeInvalid(
            f"'{challenge.slug}' has no workload '{workload}'.", f"It has: {', '.join(names)}."
        )
    request = Request(
        challenge=challenge,
        language=language,
        source=source,
        device=EMULATED,
        seed_key=_seed_key(challenge),
        cases=challenge.cases[:1],
        only_workloads=[workload] if workload is not None else [],
        holds_to_rules=False,
    )
    report = _report(request, boxes, on_progress)
    cases = [case.model_copy(update={"seconds": None}) for case in report.cases]
    return report.model_copy(update={"cases": cases, "breakdown_s": {}})


def _found(challenge: Challenge, case: str) -> Case:
    from grader.judge.oracle import find_case

    return find_case(challenge, case)


def _seed_key(challenge: Challenge) -> bytes:
    return hashlib.sha256(f"at home: {challenge.slug}".encode()).digest()


def _report(request: Request, boxes: BoxMaker, on_progress: Callable[[JudgingProgress], None]) -> Report:
    began = time.perf_counter()
    ahead = _CompiledAhead(request, boxes) if _compiles_here(request) else None
    try:
        if ahead is not None:
            label = compiler_of(request.language).progress
            on_progress(JudgingProgress(state=State.COMPILING, progress=ProgressView(label=label)))
        # Importing torch takes about as long as compiling.
        from grader.judge.device import make_device
        from grader.judge.session import Session

        device = make_device(request.device)
        if ahead is not None:
            result = ahead.result()
            seconds = round(time.perf_counter() - began, 4)
            if not result.ok:
                return _not_compiled(request, result, device.model, boxes, seconds)
            request = replace(request, artefact=artefact_of(ahead.wanted, result))
        report = Session(request, device, boxes, on_progress, interrupt=lambda: None).run().report
        if ahead is None:
            return report
        spent = report.breakdown_s
        total = round(spent.get("total", 0.0) + seconds, 4)
        return report.model_copy(update={"breakdown_s": {"compile": seconds, **spent, "total": total}})
    finally:
        if ahead is not None:
            ahead.stop()
        boxes.reap()


def _compiles_here(request: Request) -> bool:
    return (
        request.language.compiled
        and bool(kind_of(request.device).architecture)
        and compiler_of(request.language).version() is not None
    )


class _CompiledAhead:
    def __init__(self, request: Request, boxes: BoxMaker) -> None:
        architecture = kind_of(request.device).architecture
        plain = request_of(request.challenge, request.language, request.source, architecture)
        self.wanted = replace(plain, background=False)
        self._boxes = boxes
        self._stopped = threading.Event()
        self._result: CompileResult | None = None
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._compile, name="compile-ahead", daemon=True)
        self._thread.start()

    def _compile(self) -> None:
        try:
            self._result = compile_source(self._boxes, self.wanted, self._interrupt)
        except Exception as error:
            self._error = error

    def _interrupt(self) -> None:
        if self._stopped.is_set():
            raise JudgeFailure("It was stopped.")

    def result(self) -> CompileResult:
        self._thread.join()
        if self._error is not None:
            raise self._error
        assert self._result is not None
        return self._result

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()


def _not_compiled(
    request: Request, result: CompileResult, model: str, boxes: BoxMaker, seconds: float
) -> Report:
    known = {"device_model": model, "box": boxes.about}
    environment = {**judge_environment(), **driver_environment(request.device), **known}
    report = compile_error(
        request.challenge, request.language, request.device, result, len(request.cases), environment
    )
    return report.model_copy(update={"breakdown_s": {"compile": seconds, "total": seconds}})
