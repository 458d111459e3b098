"""``deadline.py`` without clocks, processes and a database: seconds in place of minutes.

The wait that is shown comes from the platform's own functions, for several seeds, ways to arrive, and loads of the
platform; also for a lab of ten students, whose kernels take from half a second to half a minute.

Usage: python benchmarks/deadline_simulation.py [--seeds 2] [--students 500] [--workers 4] [--loops 4] [--apart 130]
    [--json]
"""

from __future__ import annotations

import argparse
import heapq
import json
import math
import random
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from deadline import (
    ARRIVING,
    DEVICE,
    LOOK_S,
    LOOKING,
    LOOP,
    LOOP_S,
    SERVICE_S,
    SLUG,
    WINDOW_S,
    errors,
    plan,
    quantiles,
)
from results import keep

from grader.languages import Language
from grader.records import forecast, order
from grader.records.durations import SAMPLE, Judged, Work, durations_of, with_outliers
from grader.records.forecast import Arrival, Closing, Running
from grader.records.order import Waiting
from grader.records.queues import Pauses
from grader.service.submissions.waiting import QueueSnapshot, QueueWorkers, expected

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
WORK = Work(SLUG, Language.TRITON)
# Mean seconds that the platform takes of its own at such a time, within a judgement and from one to the next. Nobody
# can know how long the last kind stays slow: others use the machine for a minute of three.
LOADS: dict[str, Callable[[float], tuple[float, float]]] = {
    "fast": lambda _: (0.1, 0.05),
    "slow": lambda _: (0.3, 0.6),
    "slow at times": lambda now: (0.8, 0.3) if now % 180.0 < 60.0 else (0.1, 0.05),
}
LAB_STUDENTS, LAB_SUBMISSIONS, LAB_WORKERS = 10, 146, 2
# Seconds within which a lab sends everything: at once, and over a few minutes.
LAB_WINDOWS = (15.0, 120.0, 300.0)
# Seconds after a submission until its author looks for the first time.
FIRST_LOOK_S = 0.5


def at(seconds: float) -> datetime:
    return BEGAN + timedelta(seconds=seconds)


@dataclass(frozen=True)
class Task:
    """What ``student`` sends ``at`` seconds after the beginning, and the seconds that judging it takes."""

    at: float
    student: int
    work: Work
    takes: float


def deadline(seed: int, students: int, loops: int, apart: float, arriving: str) -> list[Task]:
    """One challenge, and everybody's kernel takes about as long."""
    chance = random.Random(seed)
    return [
        Task(when, student, WORK, LOOP_S if source.startswith(LOOP) else SERVICE_S * chance.uniform(0.9, 1.1))
        for when, student, source in plan(students, loops, WINDOW_S, seed, arriving, apart)
    ]


def lab(seed: int, window: float) -> list[Task]:
    """A lab of ten who try whatever the catalogue has, within ``window`` seconds: many challenges in both languages,
    from half a second to half a minute each, some that fail at their first case, and two endless loops."""
    chance = random.Random(seed)
    works = [Work(f"challenge_{number}", language) for number in range(12) for language in Language]
    usual = {work: chance.lognormvariate(math.log(1.8), 0.7) for work in works}
    tasks = []
    for number in range(LAB_SUBMISSIONS):
        work = chance.choice(works)
        share = chance.choices((1.0, 0.4, 6.0), (65, 28, 7))[0] * chance.uniform(0.8, 1.2)
        tasks.append(Task(window * chance.random(), number % LAB_STUDENTS, work, usual[work] * share))
    loops = [Task(window * share, LAB_STUDENTS - 1, works[0], LOOP_S) for share in (0.2, 0.6)]
    return sorted([*tasks, *loops], key=lambda work: work.at)


@dataclass
class Row:
    """A submission, with how many its author sent earlier; its times in seconds since the beginning."""

    id: int
    user: int
    earlier: int
    work: Work
    takes: float
    created: float
    claimed: float | None = None
    finished: float | None = None
    worker: str = ""


@dataclass
class Look:
    row: Row
    at: float
    first: bool
    shown: float


@dataclass
class Queue:
    """What the database has, and the order that ``grader.records.order`` makes of it."""

    rows: list[Row] = field(default_factory=list)
    authors: dict[int, list[Row]] = field(default_factory=lambda: defaultdict(list))
    ended: list[Row] = field(default_factory=list)
    running: dict[str, Row] = field(default_factory=dict)
    pending: dict[int, Row] = field(default_factory=dict)

    def add(self, task: Task, now: float) -> Row:
        user = task.student
        row = Row(len(self.rows) + 1, user, len(self.authors[user]), task.work, task.takes, now)
        self.rows.append(row)
        self.authors[user].append(row)
        self.pending[row.id] = row
        return row

    def due(self, row: Row, now: float) -> float:
        back = far_back(row.earlier)
        for earlier in self.authors[row.user][: row.earlier]:
            taken = 0.0 if earlier.claimed is None else (earlier.finished or now) - earlier.claimed
            back += max(order.TURN_BACK_S, order.TAKEN_BACK * taken)
        return row.created + back

    def waiting(self, now: float) -> list[Waiting]:
        due = sorted(
            (self.due(submission, now), submission.created, submission.id)
            for submission in self.pending.values()
        )
        began = BEGAN.timestamp()
        return [
            Waiting(id, self.pending[id].user, 0, began + time, self.pending[id].work) for time, _, id in due
        ]

    def claim(self, worker: str, now: float) -> Row | None:
        if not self.pending:
            return None
        busy = {submission.user for submission in self.running.values()}
        order_of = (
            (submission.user in busy, self.due(submission, now), submission.created, submission.id)
            for submission in self.pending.values()
        )
        row = self.pending.pop(min(order_of)[3])
        row.claimed, row.worker = now, worker
        self.running[worker] = row
        return row

    def end(self, row: Row, now: float) -> None:
        row.finished = now
        self.ended.append(row)
        del self.running[row.worker]

    def arrivals(self, now: float) -> list[Arrival]:
        since = now - forecast.ARRIVALS.total_seconds()
        found = []
        for row in reversed(self.rows):
            if row.created <= since:
                break
            earlier = len(self.authors[row.user]) if row.earlier else 0
            back = earlier * order.TURN_BACK_S + far_back(earlier)
            found.append(Arrival(at(row.created), 0, back, row.work, None))
        return found

    def snapshot(self, now: float, workers: list[str]) -> QueueSnapshot:
        known = durations_of([judged(ended) for ended in self.ended[-SAMPLE:][::-1]])
        coming = []
        if known is not None:
            last = {(ended.user, ended.work.challenge): judged(ended) for ended in self.ended}
            known = with_outliers(known, last.values())
            closes = {SLUG: at(WINDOW_S)} if now < WINDOW_S + forecast.ARRIVALS.total_seconds() else {}
            coming = expected(self.arrivals(now), Closing(closes, {}), known, at(now))
        return QueueSnapshot(
            device=DEVICE,
            waiting=self.waiting(now),
            durations=known,
            running={
                name: Running(taken.user, taken.work, now - taken.claimed)
                for name, taken in self.running.items()
                if taken.claimed is not None
            },
            pauses=Pauses({}),
            judges=QueueWorkers(workers),
            compilers=QueueWorkers(()),
            arrivals=coming,
            now=at(now),
        )


def far_back(earlier: int) -> float:
    return order.MANY_BACK_S if earlier >= 4 else 0.0


def judged(row: Row) -> Judged:
    assert row.claimed is not None
    assert row.finished is not None
    return Judged(row.user, row.work, at(row.created), at(row.claimed), at(row.finished))


def simulate(
    seed: int, todo: Sequence[Task], count_of_workers: int, load: str
) -> tuple[list[Row], list[Look]]:
    """``load`` is one of ``LOADS``."""
    chance = random.Random(seed)
    workers = [f"worker-{number}" for number in range(count_of_workers)]
    own = LOADS[load]
    queue, idle, looks = Queue(), list(workers), []
    watched: dict[int, Row] = {}
    numbers = count()
    events: list[tuple[float, int, Callable[[float], None]]] = []

    def later(when: float, what: Callable[[float], None]) -> None:
        heapq.heappush(events, (when, next(numbers), what))

    def arrive(now: float, task: Task) -> None:
        row = queue.add(task, now)
        later(now + FIRST_LOOK_S, lambda now: look(now, [row], first=True))
        if idle:
            take(now, idle.pop())

    def take(now: float, worker: str) -> None:
        row = queue.claim(worker, now)
        if row is None:
            idle.append(worker)
            return
        watched.pop(row.id, None)
        within = chance.expovariate(1 / own(now)[0])
        later(now + row.takes + within, lambda now: end(now, row))

    def end(now: float, row: Row) -> None:
        queue.end(row, now)
        between = chance.expovariate(1 / own(now)[1])
        later(now + between, lambda now: take(now, row.worker))

    def look(now: float, those: list[Row], first: bool = False) -> None:
        waits = queue.snapshot(now, workers).waits
        for submission in those:
            if submission.id in waits:
                looks.append(Look(submission, now, first, waits[submission.id]))
                watched[submission.id] = submission

    def look_on(now: float) -> None:
        if watched:
            look(now, chance.sample(list(watched.values()), min(LOOKING, len(watched))))
        if len(queue.ended) < len(todo):
            later(now + LOOK_S, look_on)

    for task in todo:
        later(task.at, partial(arrive, task=task))
    later(LOOK_S, look_on)
    while events:
        when, _, what = heapq.heappop(events)
        what(when)
    return queue.rows, looks


def figures_of(rows: list[Row], looks: list[Look]) -> dict[str, Any]:
    def off(those: list[Look]) -> dict[str, Any]:
        return errors(
            [(look.shown, look.row.claimed - look.at) for look in those if look.row.claimed is not None], 1.0
        )

    return {
        "submissions": len(rows),
        "waits_s": quantiles([row.claimed - row.created for row in rows if row.claimed is not None]),
        "shown_at_submission": off([look for look in looks if look.first]),
        "shown_later": off([look for look in looks if not look.first]),
    }


def beside_own(rows: list[Row]) -> float:
    """Seconds of workers held by submissions that began during another of their author's while others waited."""
    seconds = 0.0
    for row in rows:
        assert row.claimed is not None
        assert row.finished is not None
        beside = any(
            other.user == row.user and other.id != row.id and other.claimed <= row.claimed < other.finished
            for other in rows
        )
        waited = any(other.user != row.user and other.created < row.claimed < other.claimed for other in rows)
        seconds += row.finished - row.claimed if beside and waited else 0.0
    return seconds


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--students", type=int, default=500)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--loops", type=int, default=4)
    parser.add_argument("--apart", type=float, default=130.0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    scenarios: dict[str, tuple[int, Callable[[int], list[Task]]]] = {
        arriving: (
            options.workers,
            partial(
                deadline,
                students=options.students,
                loops=options.loops,
                apart=options.apart,
                arriving=arriving,
            ),
        )
        for arriving in ARRIVING
    }
    for window in LAB_WINDOWS:
        scenarios[f"lab within {window:.0f} s"] = (LAB_WORKERS, partial(lab, window=window))
    cases = []
    for scenario, (count_of_workers, tasks_of) in scenarios.items():
        for load in LOADS:
            rows, looks, held = [], [], 0.0
            for seed in range(options.seeds):
                more = simulate(seed, tasks_of(seed), count_of_workers, load)
                rows += more[0]
                looks += more[1]
                held += beside_own(more[0])
            figures = figures_of(rows, looks)
            cases.append(
                {"scenario": scenario, "platform": load, "second_workers_s": round(held, 1), **figures}
            )
            print(json.dumps(cases[-1]), flush=True)
    if options.json:
        setup = {
            "seeds": options.seeds,
            "workers": options.workers,
            "service_s": SERVICE_S,
            "loops": options.loops,
            "apart_s": options.apart,
        }
        keep("deadline_simulated", {**setup, "cases": cases})
    return 0


if __name__ == "__main__":
    sys.exit(main())
