"""Gradings by the real judge with everything left out that is no time: one case, chosen workloads, no baselines."""

from __future__ import annotations

import os
import select
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from subjects import Subject, narrowed

from grader import limits
from grader.challenge.cases import Category
from grader.challenge.model import Workload
from grader.judge.device import Device
from grader.judge.kept_control import KeptControl
from grader.judge.launch import submission_spec
from grader.judge.request import Request
from grader.judge.rule import Measured
from grader.judge.session import Session
from grader.judge.timekeeper import Reading
from grader.sandbox.box import Box, BoxMaker, BoxSpec
from grader.schemas.report import Report, Verdict

Given = ParamSpec("Given")
Result = TypeVar("Result")


class Ahead:
    """A maker of boxes that starts some side by side ahead of need: none of them is busy while another is timed."""

    def __init__(self, maker: BoxMaker) -> None:
        self.name, self.about = maker.name, maker.about
        self._maker = maker
        self._ready: list[tuple[BoxSpec, Box]] = []

    def prepare(self, specs: Sequence[BoxSpec]) -> None:
        """Start a box of each and wait until its runner has said hello."""
        with ThreadPoolExecutor(max_workers=max(1, len(specs))) as threads:
            boxes = list(threads.map(self._maker.start, specs))
        self._ready += zip(specs, boxes, strict=True)
        end = time.monotonic() + limits.BOX_START_SECONDS
        for box in boxes:
            select.select([box.connection], [], [], max(0.0, end - time.monotonic()))

    def start(self, spec: BoxSpec) -> Box:
        for place, (known, box) in enumerate(self._ready):
            if known == spec:
                del self._ready[place]
                return box
        return self._maker.start(spec)

    def reap(self) -> int:
        return self._maker.reap()

    def close(self) -> None:
        while self._ready:
            self._ready.pop()[1].kill()


class Steps:
    """Runs the parts of a benchmark so that one that fails does not lose the rest."""

    def __init__(self) -> None:
        self.failures: list[str] = []
        self._began = time.perf_counter()

    def attempt(
        self, name: str, work: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs
    ) -> Result | None:
        """What ``work`` returns, or None where it fails."""
        began = time.perf_counter()
        try:
            found = work(*args, **kwargs)
        except Exception as error:
            traceback.print_exc()
            self.failures.append(f"{name}: {type(error).__name__}: {str(error)[:400]}")
            return None
        print(f"[{self.seconds:6.1f} s] {name}: {time.perf_counter() - began:.1f} s", flush=True)
        return found

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._began


def box_specs(device: Device, every: Iterable[Subject]) -> list[BoxSpec]:
    """What the submissions' boxes of one grading each will be asked for with."""
    return [
        submission_spec(device, subject.language, manifest.limits.memory_bytes, manifest.allow)
        for subject in every
        for manifest in [subject.challenge.manifest]
    ]


def grade(
    subject: Subject,
    chosen: Sequence[Workload],
    device: Device,
    boxes: BoxMaker,
    source: str | None = None,
    readings: list[Reading] | None = None,
    control: KeptControl | None = None,
) -> Report:
    """One grading with a fresh key; ``readings`` gets its rounds, ``control`` serves it and the next.

    Raises RuntimeError if it is not accepted.
    """
    challenge = narrowed(subject.challenge, chosen)
    case = next(case for case in challenge.cases if case.category is Category.BASIC)
    request = Request(
        challenge=challenge,
        language=subject.language,
        source=source if source is not None else subject.source,
        device=device.name,
        seed_key=os.urandom(32),
        cases=[case],
        # Frozen already, whatever they are: no baseline is measured.
        baselines={workload.name: dict.fromkeys(device.baselines, 1.0) for workload in chosen},
    )
    session = Session(request, device, boxes, lambda _: None, lambda: None, kept_control=control)
    report = session.run().report
    for name, measured in session.measured.items():
        print(f"    {subject.name}, {name}: {parts(measured)}", flush=True)
    if readings is not None:
        readings += session.readings
    if report.verdict is not Verdict.ACCEPTED:
        raise RuntimeError(f"{subject.name}: {report.verdict.value}: {report.detail} {report.cases[-1:]}")
    return report


def parts(measured: Measured) -> str:
    """What a time is made of, in microseconds, and how steady measured and the control were."""
    low, high = measured.time.interval
    before, after = (part * 1e6 for part in measured.beyond)
    return (
        f"{measured.time.value * 1e6:.2f} us (+-{(high - low) / 2 / measured.time.value:.2%}), "
        f"{measured.rounds} rounds, "
        f"c {measured.fixed * 1e6:.2f} drift {measured.drift * 1e6:.2f} disturbed {measured.disturbed:.0%}, "
        f"E {before:+.2f} {after:+.2f} noise {measured.noise * 1e6:.2f}"
    )


def spread(values: Sequence[float]) -> float:
    """max / min - 1."""
    return max(values) / min(values) - 1.0
