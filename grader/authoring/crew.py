"""What a process that proves challenges does: it keeps one device and one maker of boxes for all of its work."""

from __future__ import annotations

import atexit
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.authoring.calibrate import calibrate, calibration_checks
from grader.authoring.categories import category_checks
from grader.authoring.costs import cost_checks
from grader.authoring.examples import example_check
from grader.authoring.findings import Check, Status, Tried
from grader.authoring.specs import text_checks
from grader.authoring.subjects import subjects
from grader.authoring.trial import Bench
from grader.challenge.cases import Case
from grader.challenge.loader import Challenge, Course
from grader.errors import ChallengeInvalid
from grader.judge.device import Device, make_device
from grader.judge.oracle import workload_case
from grader.judge.request import CPU
from grader.judge.tuning import tune
from grader.sandbox.forked_box import ForkedBoxes
from grader.schemas.report import Language


@dataclass(frozen=True)
class Work:
    """One piece: submission ``number`` of a challenge against its suite, or (None) all that runs no submission."""

    slug: str
    number: int | None = None
    label: str = "files, reference, tolerance, costs"
    languages: tuple[Language, ...] = ()
    matrix: bool = False


@dataclass(frozen=True)
class Done:
    checks: list[Check] = field(default_factory=list)
    tried: list[Tried] = field(default_factory=list)
    seconds: float = 0.0


class _Desk:
    """The state of one process."""

    def __init__(self, course: Path, device: str) -> None:
        tune()
        self.course = Course(course)
        self.device: Device = make_device(device)
        self.boxes = ForkedBoxes()
        self._bench: Bench | None = None

    def bench(self, slug: str) -> Bench:
        """Work comes challenge by challenge, so the last one is most often the next."""
        if self._bench is None or self._bench.challenge.slug != slug:
            self._bench = Bench(self.course.load(slug), self.device, self.boxes)
        return self._bench


_desk: _Desk | None = None


def begin(course: Path, device: str) -> None:
    """Called once in each process of the pool, before its first work."""
    global _desk
    # Ctrl-C goes to the whole terminal; the process that was started decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _desk = _Desk(course, device)
    atexit.register(_desk.boxes.close)


def do(work: Work) -> Done:
    """Do one piece of work. Raises BoxUnavailable where the machine fails; what the challenge gets wrong is a check."""
    assert _desk is not None, "begin() comes first"
    began = time.perf_counter()
    bench = _desk.bench(work.slug)
    if work.number is None:
        done = Done(checks=examine(bench.challenge, _desk.device))
    else:
        subject = subjects(bench.challenge, work.languages)[work.number]
        done = _tried(bench, lambda: [bench.try_out(subject, every_case=work.matrix)])
    return replace(done, seconds=time.perf_counter() - began)


def _tried(bench: Bench, run: Callable[[], list[Tried]]) -> Done:
    try:
        return Done(tried=run())
    except ChallengeInvalid as error:  # the same for every submission: the checks without one say it once
        return Done(checks=[Check(name="suite", status=Status.ERROR, summary=error.message)])


def examine(challenge: Challenge, device: Device) -> list[Check]:
    """Every check that runs no submission; one that cannot be made says why as an error of its own."""
    parts: list[tuple[str, Callable[[], list[Check]]]] = [
        ("spec", lambda: text_checks(challenge)),
        ("examples", lambda: [example_check(challenge)]),
        ("categories", lambda: category_checks(challenge)),
        ("reference", lambda: _calibrated(challenge, device)),
        ("costs", lambda: cost_checks(challenge)),
    ]
    checks: list[Check] = []
    for name, part in parts:
        try:
            checks += part()
        except ChallengeInvalid as error:
            checks.append(Check(name=name, status=Status.ERROR, summary=error.message))
        except (
            Exception
        ) as error:  # staff's own reference, outside the judge's care: whatever it raises is its fault
            summary = f"{type(error).__name__}: {error}"
            checks.append(Check(name=name, status=Status.ERROR, summary=summary))
    return checks


def _calibrated(challenge: Challenge, device: Device) -> list[Check]:
    cases: list[Case] = [*challenge.cases, *challenge.hidden_cases]
    on = "cpu" if device.name == CPU else "gpu"
    for workload in challenge.manifest.workloads:
        if workload.on == on and not device.fits(challenge, workload.sizes):
            cases.append(workload_case(challenge, workload))
    return calibration_checks(challenge, calibrate(challenge, cases, device.torch_device))
