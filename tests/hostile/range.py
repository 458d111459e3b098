"""Judges attacks and controls by the real judge in real boxes."""

from __future__ import annotations

import hashlib
import math
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.challenge.catalogue import Catalogue
from grader.judge.device import Device, TimingPlan
from grader.judge.host_device import EmulatedDevice, HostDevice
from grader.judge.job import JudgingProgress
from grader.judge.oracle import find_case
from grader.judge.request import CPU, Request
from grader.judge.session import Session
from grader.sandbox.box import BoxMaker
from grader.schemas.report import HIDDEN_PHASE, CaseVerdict, Flag, HiddenCases, Report, Verdict
from tests.hostile.conditions import around, leaked
from tests.hostile.host_state import HostState, settled, take
from tests.hostile.suite import CHARGED, CONTROL, Entry

CATALOGUE = Path(__file__).resolve().parent.parent / "catalogue"
# No real secret; the same for every attack, and for repeated judgements of one.
SEED_KEY = hashlib.sha256(b"the hostile suite").digest()

# An attack puts this before a hidden case's data that it reveals.
TOLD = "HOSTILE_TOLD_"

DEFENDED, VULNERABLE = "DEFENDED", "VULNERABLE"
ACCEPTED, REFUSED = "ACCEPTED", "REFUSED"
# The end is none that its header names: it no longer tries its mechanism.
UNEXPECTED = "UNEXPECTED"
NOT_RUN = "NOT RUN"
# Boxes that hold attacks, not only accidents.
WALLED = ("docker", "bubblewrap")
FAILURES = (VULNERABLE, REFUSED, UNEXPECTED)

# Errors of an attack on names that the runner no longer has: it ends before it tries anything.
_OUT_OF_DATE = ("AttributeError", "ImportError", "ModuleNotFoundError", "NameError", "StopIteration")

# How often a submission is judged if its time stays unknown, as on a busy CPU.
TRIES_TO_TIME = 3

# Reports round seconds to this.
_ROUNDED_S = 0.01


class QuickHost(HostDevice):
    """The host with few rounds: these tests need no precise time."""

    plan = TimingPlan(rounds=5, most_rounds=5, control_rounds=3, warm_up=1, between_seconds=3.0)


@dataclass(frozen=True)
class Finding:
    """``by``: the defence that ended it. ``host``: its changes of the host, by kind."""

    name: str
    surface: str
    language: str
    device: str
    outcome: str
    by: str
    seconds: float = 0.0
    host: dict[str, list[str]] = field(default_factory=dict)
    detail: str = ""

    @property
    def failed(self) -> bool:
        return self.outcome in FAILURES


@dataclass
class Range:
    """``watch``: count the host around each entry; then nothing else in this process may start or end boxes.
    ``alone``: nobody else uses this host.
    """

    boxes: BoxMaker
    device: Device = field(default_factory=QuickHost)
    watch: bool = False
    alone: bool = False
    catalogue: Catalogue = field(default_factory=lambda: Catalogue(CATALOGUE))
    folders: Sequence[Path] = field(default_factory=lambda: [CATALOGUE, Path(tempfile.gettempdir())])

    def judge(self, entry: Entry) -> Finding:
        """Any failure is this entry's finding, so that the others still run."""
        if entry.walls_only and self.boxes.name not in WALLED:
            return self._finding(entry, NOT_RUN, "only behind walls: a plain process would harm this host")
        before = self._take()
        began = time.perf_counter()
        try:
            heard: list[JudgingProgress] = []
            with around(entry):
                report = self._report(entry, heard.append)
            outcome, by, detail = decide(entry, report)
            if secret := leaked(entry, report):
                outcome, by = VULNERABLE, f"the report shows {secret}"
            if told := told_of_hidden(report, heard):
                outcome, by = VULNERABLE, f"its author may read {told}"
        except Exception as error:  # an attack may break the judge in any way, which is then the finding
            outcome = REFUSED if entry.surface == CONTROL else VULNERABLE
            by, detail = "the judge failed", f"{type(error).__name__}: {error}"[:300]
        seconds = time.perf_counter() - began
        host = settled(before, self.folders, alone=self.alone).changed_since(before) if before else {}
        if host:
            outcome, detail = (VULNERABLE, f"the host changed: {host}; {detail}")
        return replace(self._finding(entry, outcome, by), seconds=seconds, host=host, detail=detail)

    def _report(self, entry: Entry, on_progress: Callable[[JudgingProgress], None]) -> Report:
        judged = 0
        while True:
            request = self._request(entry)
            report = Session(request, self._device(entry), self.boxes, on_progress, lambda: None).run().report
            judged += 1
            lacks_time = entry.takes_us is not None and any(
                workload.time_us is None for workload in report.workloads
            )
            if judged >= entry.judged and (judged >= TRIES_TO_TIME or not lacks_time):
                return report

    def _request(self, entry: Entry) -> Request:
        challenge = self.catalogue.load(entry.fields["Challenge"])
        every = [*challenge.cases, *challenge.hidden_cases]
        return Request(
            challenge=challenge,
            language=entry.language,
            source=entry.source,
            device=self._device(entry).name,
            seed_key=SEED_KEY,
            cases=every if entry.case is None else [find_case(challenge, entry.case)],
            # Baselines are trusted, and no attack is alive while they are timed.
            baselines={
                workload.name: {"eager": 1.0, "compile": 1.0} for workload in challenge.manifest.workloads
            },
            timing=entry.timed,
        )

    def _device(self, entry: Entry) -> Device:
        """Languages for GPUs are judged on an emulated one if there is no other."""
        return self.device if entry.language in self.device.languages() else EmulatedDevice()

    def _take(self) -> HostState | None:
        return take(self.folders, alone=self.alone) if self.watch else None

    def _finding(self, entry: Entry, outcome: str, by: str) -> Finding:
        return Finding(entry.name, entry.surface, entry.language.value, self._device(entry).name, outcome, by)


def told_of_hidden(report: Report, heard: Sequence[JudgingProgress]) -> str:
    """What an author learns of hidden cases beyond how many passed."""
    told = report.redacted()
    hidden = [case for case in report.cases if case.hidden]
    if not hidden:
        return ""
    passed = sum(case.verdict is CaseVerdict.ACCEPTED for case in hidden)
    seconds = sum(told.breakdown_s.values()) + report.breakdown_s.get(HIDDEN_PHASE, math.inf)
    learned = {
        "a hidden case's data": TOLD in told.model_dump_json(),
        "of a hidden case by itself": any(case.hidden for case in told.cases),
        "which hidden cases passed": told.hidden != HiddenCases(passed=passed, total=len(hidden)),
        "how a hidden case failed": told.fails_only_hidden and told.verdict is not Verdict.WRONG_ANSWER,
        "how long hidden cases took": seconds > report.breakdown_s["total"] + _ROUNDED_S,
        "the name of a hidden case": any(
            case.name in news.progress.label for case in hidden for news in heard
        ),
    }
    return next((what for what, leaks in learned.items() if leaks), "")


def decide(entry: Entry, report: Report) -> tuple[str, str, str]:
    words = report.detail or next((case.detail for case in report.cases if case.detail), "")
    detail = words.partition("\n")[0][:160]
    if entry.surface == CONTROL:
        return _decide_control(entry, report, detail)
    if report.verdict is not Verdict.ACCEPTED:
        known = report.verdict.value in entry.defence_on(report.device) and not detail.startswith(
            _OUT_OF_DATE
        )
        return (DEFENDED if known else UNEXPECTED), report.verdict.value, detail
    held = _of_accepted(entry, report)
    for name, by in held.items():
        if name in entry.defence_on(report.device):
            return DEFENDED, by, detail
    return (UNEXPECTED if held else VULNERABLE), ", ".join(["accepted", *held.values()]), detail


def _decide_control(entry: Entry, report: Report, detail: str) -> tuple[str, str, str]:
    """Accepted, without flags other than those that its header names."""
    flags = {flag.value for flag in _flags(report)}
    fine = report.verdict is Verdict.ACCEPTED and flags == set(entry.defence_on(report.device))
    by = ", ".join([report.verdict.value, *sorted(flags)])
    return (ACCEPTED if fine else REFUSED), by, detail


def _of_accepted(entry: Entry, report: Report) -> dict[str, str]:
    """What stops an accepted attack: name and description."""
    held = {flag.value: f"flag {flag.value}" for flag in _flags(report)}
    if entry.takes_us is None or not report.workloads:
        return held
    known = [workload.time_us for workload in report.workloads if workload.time_us is not None]
    if known and min(known) >= entry.takes_us:
        held[CHARGED] = f"timed {min(known) / 1e3:.1f} ms, its work takes {entry.takes_us / 1e3:.0f} ms"
    elif not known and report.score.time_us is None:
        held[CHARGED] = "no time is known, so it has no rank"
    return held


def _flags(report: Report) -> set[Flag]:
    """On a busy CPU a window gets long, so work outside the gate proves nothing there."""
    return set(report.flags) - ({Flag.WORK_OUTSIDE_GATE} if report.device == CPU else set())


def run(
    entries: Sequence[Entry],
    range_: Range,
    on_finding: Callable[[Finding], None] = lambda _: None,
    end: float = math.inf,
) -> list[Finding]:
    """Judge those entries that run on the range's device, in order; none begins after ``end`` (monotonic,
    seconds).
    """
    findings = []
    for entry in entries:
        if entry.runs_on(range_.device.name) and time.monotonic() < end:
            findings.append(range_.judge(entry))
            on_finding(findings[-1])
    return findings
