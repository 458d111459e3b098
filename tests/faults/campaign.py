"""Strikes a platform under load with a plan of faults, heals the machine, and reports the outcome."""

from __future__ import annotations

import random
import time
from collections import Counter
from dataclasses import dataclass, field

from sqlalchemy.exc import SQLAlchemyError

from grader.schemas.submission import State
from grader.service.accounts.accounts import create_user
from grader.service.accounts.tokens import issue_token
from tests.faults import aftermath, sight
from tests.faults.harness import Harness, Layout
from tests.faults.kinds import KINDS, Kind, Scene, Undo, longer
from tests.faults.sources import CPU
from tests.faults.users import Heard, User
from tests.service.world import until

USERS = 5
# For workers and web to start, and for open submissions to end once nothing fails any more.
START_SECONDS = 120.0
END_SECONDS = 420.0
# If no submission reaches the wanted state in this time, the fault strikes anything.
_MEET_SECONDS = 4.0
# The same for the board with real boxes, which has few submissions.
_MEET_REAL_SECONDS = 12.0
# Interval of undoing expired faults during that wait.
_READING_SECONDS = 0.2
# Least and most pause between two faults: several at once, and moments to recover.
_GAPS = (0.0, 0.8)


@dataclass(frozen=True)
class Wanted:
    """``long``: also faults that outlast all our waits; ``but``: kinds to leave out."""

    long: bool = False
    but: frozenset[str] = frozenset()

    def takes(self, kind: Kind) -> bool:
        return kind.name not in self.but


@dataclass(frozen=True)
class Planned:
    """``device``: the board whose worker is struck, if that board has real boxes."""

    kind: Kind
    state: State
    gap_s: float
    hold_s: float
    device: str | None


ANYTHING = Wanted()


@dataclass(frozen=True)
class Struck:
    """``state``: of the submission that it struck; None if none was in the wanted state."""

    kind: str
    wanted: State
    state: State | None


@dataclass
class Outcome:
    seed: int
    layout: Layout
    struck: list[Struck] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    submissions: int = 0
    attempts: int = 0
    answers: int = 0
    away: int = 0
    slowest_answer_s: float = 0.0
    seconds: float = 0.0
    phases_s: dict[str, float] = field(default_factory=dict)
    logs: dict[str, str] = field(default_factory=dict)

    def table(self) -> dict[str, dict[str, int]]:
        counted: dict[str, Counter[str]] = {}
        for struck in self.struck:
            counted.setdefault(struck.kind, Counter())[struck.state.value if struck.state else "between"] += 1
        return {kind: dict(states) for kind, states in sorted(counted.items())}


def plan(seed: int, faults: int, harness: Harness, wanted: Wanted) -> list[Planned]:
    """Each kind that fits once, then any, in an order from ``seed``."""
    draw = random.Random(seed)
    fitting = [kind for kind in KINDS if kind.fits(harness) and wanted.takes(kind)]
    if wanted.long:
        fitting += [kind for kind in longer(KINDS) if kind.fits(harness)]
    chosen = list(fitting[:faults])
    chosen += draw.choices(fitting, k=max(0, faults - len(chosen)))
    draw.shuffle(chosen)
    turns: Counter[str] = Counter()
    planned = []
    for kind in chosen:
        state = kind.states[turns[kind.name] % len(kind.states)]
        turns[kind.name] += 1
        device = CPU if kind.name.split()[0] in ("judge", "box", "container", "temp", "Docker") else None
        planned.append(Planned(kind, state, draw.uniform(*_GAPS), draw.uniform(*kind.holds), device))
    return planned


class Campaign:
    """Several faults may be in force at once, but one for each part."""

    def __init__(self, harness: Harness, seed: int) -> None:
        self._harness = harness
        self._draw = random.Random(seed)
        self._engine = harness.engine()
        self._in_force: dict[str, tuple[float, Undo]] = {}
        self.struck: list[Struck] = []

    def strike(self, planned: list[Planned]) -> None:
        try:
            for fault in planned:
                self._wait(fault.gap_s)
                while fault.kind.part in self._in_force:
                    self._wait(0.05)
                self._one(fault)
        finally:
            self.heal()

    def _one(self, fault: Planned) -> None:
        patience = _MEET_SECONDS if fault.device is None else _MEET_REAL_SECONDS
        target = self._meet(fault, patience)
        try:
            undo = fault.kind.strike(Scene(self._harness, target, self._draw))
        except SQLAlchemyError:
            return  # no lock was available: leave this one out
        self.struck.append(Struck(fault.kind.name, fault.state, target.state if target else None))
        if undo is not None:
            self._in_force[fault.kind.part] = (time.monotonic() + fault.hold_s, undo)

    def _meet(self, fault: Planned, seconds: float) -> sight.Seen | None:
        """Wait for a target. Other faults must still end in the meantime."""
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            if found := sight.wait_for(self._engine, fault.state, fault.device, self._draw, _READING_SECONDS):
                return found
            self._wait(0.0)
        return None

    def _wait(self, seconds: float) -> None:
        ends = time.monotonic() + seconds
        while True:
            self._harness.tend()
            for part, (until_when, undo) in list(self._in_force.items()):
                if time.monotonic() >= until_when:
                    del self._in_force[part]
                    undo()
            if time.monotonic() >= ends:
                return
            time.sleep(0.02)

    def heal(self) -> None:
        for _, undo in self._in_force.values():
            undo()
        self._in_force.clear()
        self._harness.tend()

    def close(self) -> None:
        self._engine.dispose()


def run(layout: Layout, seed: int, faults: int, wanted: Wanted = ANYTHING) -> Outcome:
    """Never raises for the platform's mistakes: they are in ``wrong``."""
    began = time.monotonic()
    outcome = Outcome(seed, layout)
    harness = Harness(layout)
    try:
        _run(harness, outcome, faults, wanted)
    finally:
        outcome.logs = {name: member.log for name, member in harness.members.items()}
        harness.close()
        outcome.seconds = round(time.monotonic() - began, 1)
    return outcome


class _Phases:
    def __init__(self, kept: dict[str, float]) -> None:
        self._kept, self._began = kept, time.monotonic()

    def end(self, name: str) -> None:
        now = time.monotonic()
        self._kept[name], self._began = round(now - self._began, 1), now


def _run(harness: Harness, outcome: Outcome, faults: int, wanted: Wanted) -> None:
    phases = _Phases(outcome.phases_s)
    users, heard = _people(harness, outcome.seed)
    harness.start()
    campaign = Campaign(harness, outcome.seed)
    try:
        _await_workers(harness)
        phases.end("start")
        for user in users:
            user.start()
            user.posting.set()
        campaign.strike(plan(outcome.seed, faults, harness, wanted))
        phases.end("faults")
        for user in users:
            user.posting.clear()
        outcome.wrong += aftermath.wait_for_the_end(harness, users, END_SECONDS)
    finally:
        for user in users:
            user.ending.set()
        campaign.close()
        outcome.struck = campaign.struck
    phases.end("last verdicts")
    _tell(outcome, heard)
    outcome.wrong += [*heard.wrong, *aftermath.check_records(harness, heard)]
    codes = harness.end()
    outcome.wrong += [f"{name} ended with {code}" for name, code in codes.items() if code != 0]
    outcome.wrong += aftermath.check_leftovers(harness)
    phases.end("end")
    outcome.attempts = aftermath.attempts(harness)


def _tell(outcome: Outcome, heard: Heard) -> None:
    outcome.submissions, outcome.answers, outcome.away = len(heard.sent), heard.answers, heard.away
    outcome.slowest_answer_s = round(heard.slowest_s, 1)


def _people(harness: Harness, seed: int) -> tuple[list[User], Heard]:
    heard = Heard()
    platform = harness.open()
    try:
        users = []
        for number in range(USERS):
            account = create_user(platform, f"user{number}", "correct horse")
            token = issue_token(platform, account).token
            users.append(User(account.name, harness.url, token, seed + number, heard, harness.real_judges))
        return users, heard
    finally:
        platform.close()


def _await_workers(harness: Harness) -> None:
    def up() -> bool:
        harness.tend()
        return aftermath.alive(harness) >= len(harness.workers()) and aftermath.answers(harness)

    until(up, "\n".join(member.log[-2000:] for member in harness.members.values()), START_SECONDS)
