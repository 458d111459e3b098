"""A process that proves challenges, with one device and one box maker."""

from __future__ import annotations

import atexit
import functools
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from grader.authoring.baseline import baseline_checks
from grader.authoring.calibrate import calibrate, calibration_checks
from grader.authoring.candidates import subjects
from grader.authoring.categories import category_checks
from grader.authoring.checked import checker_checks
from grader.authoring.contract import contract_check
from grader.authoring.costs import cost_checks
from grader.authoring.examples import example_check
from grader.authoring.gradients import gradient_checks
from grader.authoring.holes import Closing, close
from grader.authoring.measure import calibrated_check, measured_check
from grader.authoring.odds import Odds, odds
from grader.authoring.specs import text_checks
from grader.authoring.trial import Trial
from grader.challenge.cases import Case
from grader.challenge.catalogue import Catalogue
from grader.challenge.loader import Challenge
from grader.challenge.model import Workload
from grader.device_kinds import kind_of
from grader.errors import ChallengeInvalid, GraderError
from grader.judge.device import Device, make_device
from grader.judge.oracle import workload_case
from grader.judge.tuning import tune
from grader.languages import Language
from grader.sandbox.forked_box import ForkedBoxes
from grader.schemas.proof import CandidateResult, CandidateRole, Check, Status


class Part(StrEnum):
    FILES = "files"
    SUBMISSION = "submission"
    HOLE = "hole"
    MEASURED = "measured"
    APPROXIMATIONS = "approximations"


@dataclass(frozen=True)
class Work:
    slug: str
    part: Part = Part.FILES
    number: int = 0
    label: str = "files, reference, tolerance, costs"
    languages: tuple[Language, ...] = ()
    matrix: bool = False


@dataclass(frozen=True)
class Done:
    checks: list[Check] = field(default_factory=list)
    tried: list[CandidateResult] = field(default_factory=list)
    odds: Odds = field(default_factory=Odds)
    proposed: Mapping[str, Closing] = field(default_factory=dict)
    seconds: float = 0.0


class _WorkerThread:
    def __init__(self, catalogue: Path, device: str, gpu: int, said: Said) -> None:
        tune()
        self.said = said
        self.catalogue = Catalogue(catalogue)
        self.device: Device = make_device(device, gpu)
        self.boxes = ForkedBoxes()
        self._bench: Trial | None = None

    def bench(self, slug: str) -> Trial:
        """Keeps the last challenge only: work comes challenge by challenge."""
        if self._bench is None or self._bench.challenge.slug != slug:
            if self._bench is not None:
                self._bench.close()
            self._bench = Trial(self.catalogue.load(slug), self.device, self.boxes)
        return self._bench

    def say(self, work: Work, done: int, total: int, name: str) -> None:
        self.said.put(f"{work.slug}: {work.label}, case {done + 1} of {total} ({name})" if name else "")


class GpuNumbers(Protocol):
    def get(self) -> int: ...


class Said(Protocol):
    def put(self, text: str, /) -> None: ...


_worker: _WorkerThread | None = None
_unusable: GraderError | None = None


def begin(catalogue: Path, device: str, gpus: GpuNumbers, said: Said) -> None:
    """Once in each process. ``gpus`` holds a GPU's number for each."""
    global _worker, _unusable
    # Ctrl-C reaches the whole terminal; the parent handles it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        _worker = _WorkerThread(catalogue, device, gpus.get(), said)
    except GraderError as error:  # a pool would lose the reason if raised here
        _unusable = error
        return
    atexit.register(_worker.boxes.close)


def do(work: Work) -> Done:
    """Raises BoxUnavailable; the challenge's mistakes become checks."""
    import torch

    if _unusable is not None:
        raise _unusable
    assert _worker is not None, "begin() comes first"
    began = time.perf_counter()
    bench = _worker.bench(work.slug)
    bench.on_case = functools.partial(_worker.say, work)
    try:
        done = _done(bench, work, _worker.device)
    except torch.OutOfMemoryError as error:
        done = Done(checks=[Check(name="suite", status=Status.ERROR, summary=str(error))])
    except torch.AcceleratorError as error:  # nothing runs on the GPU in this process any more
        said = str(error).partition("\n")[0]
        raise ChallengeInvalid(
            f"{work.slug}: PyTorch failed on the GPU, probably in the reference: {said}",
            f"An index beyond an array? `grader challenge check {work.slug} --device cpu` may name it.",
        ) from error
    return replace(done, seconds=time.perf_counter() - began)


def _done(bench: Trial, work: Work, device: Device) -> Done:
    match work.part:
        case Part.FILES:
            return Done(checks=examine(bench.challenge, device))
        case Part.APPROXIMATIONS:
            return approximate(bench.challenge, work.number, device)
        case _:
            return _run(bench, work)


def _run(bench: Trial, work: Work) -> Done:
    try:
        made = subjects(bench.challenge, work.languages)
        if work.part is Part.MEASURED:
            solutions = [candidate for candidate in made if candidate.role is CandidateRole.SOLUTION]
            large = [*solutions, *(candidate for candidate in made if candidate.large)]
            return Done(
                checks=[calibrated_check(bench), measured_check(bench, solutions)],
                tried=[bench.try_large(candidate) for candidate in large]
                if _has_large(bench.challenge)
                else [],
            )
        if work.part is Part.HOLE:
            closing = close(bench, made[work.number])
            return Done(proposed={made[work.number].name: closing} if closing else {})
        return Done(tried=[bench.try_out(made[work.number], every_case=work.matrix)])
    except ChallengeInvalid as error:  # checks without a submission report it once
        return Done(checks=[Check(name="suite", status=Status.ERROR, summary=error.message)])


def approximate(challenge: Challenge, number: int, device: Device) -> Done:
    """Workload ``number``, on a GPU at its own sizes if they fit. A failing reference becomes a check."""
    workload = challenge.manifest.workloads[number]
    plan = device.memory_plan
    fits = plan is None or not plan.shortage(challenge, workload)
    whole = not device.on_processor and workload.on == "gpu" and fits
    try:
        return Done(odds=_odds(challenge, workload, device, whole))
    except ChallengeInvalid as error:
        return Done(checks=[Check(name="approximations", status=Status.ERROR, summary=error.message)])


def _odds(challenge: Challenge, workload: Workload, device: Device, whole: bool) -> Odds:
    """Falls back to a processor's sizes if a GPU has too little room."""
    import torch

    try:
        return odds(challenge, workload, device.torch_device, whole=whole)
    except torch.OutOfMemoryError:
        if not whole:
            raise
    torch.cuda.empty_cache()
    return odds(challenge, workload, device.torch_device, whole=False)


def examine(challenge: Challenge, device: Device) -> list[Check]:
    return [found for name, part in parts_of(challenge, device) for found in examined(name, part)]


def parts_of(challenge: Challenge, device: Device) -> list[tuple[str, Callable[[], list[Check]]]]:
    return [
        ("spec", lambda: text_checks(challenge)),
        ("checker", lambda: checker_checks(challenge)),
        ("contract", lambda: [contract_check(challenge)]),
        ("examples", lambda: [example_check(challenge)]),
        ("categories", lambda: category_checks(challenge)),
        ("reference", lambda: _calibrated(challenge, device)),
        ("baseline", lambda: baseline_checks(challenge, small_cases(challenge), device.torch_device)),
        ("gradients", lambda: gradient_checks(challenge)),
        ("cost_bytes", lambda: cost_checks(challenge)),
    ]


def examined(name: str, part: Callable[[], list[Check]]) -> list[Check]:
    """A failure becomes the error ``name``."""
    try:
        return part()
    except ChallengeInvalid as error:
        return [Check(name=name, status=Status.ERROR, summary=error.message)]
    except Exception as error:  # staff's reference may raise anything
        return [Check(name=name, status=Status.ERROR, summary=f"{type(error).__name__}: {error}")]


def _has_large(challenge: Challenge) -> bool:
    return any(case.on for case in [*challenge.cases, *challenge.hidden_cases])


def small_cases(challenge: Challenge) -> list[Case]:
    """GPU-only cases would not fit in parallel."""
    return [case for case in [*challenge.cases, *challenge.hidden_cases] if case.on is None]


def _calibrated(challenge: Challenge, device: Device) -> list[Check]:
    """A GPU's workloads are left to the timed runs: they would not fit in parallel."""
    cases = small_cases(challenge)
    if device.on_processor:
        timed = challenge.manifest.timed_on(kind_of(device.name).workloads)
        cases += [workload_case(challenge, workload) for workload in timed]
    found = calibrate(challenge, cases, device.torch_device)
    return calibration_checks(challenge, found, loose=device.on_processor)
