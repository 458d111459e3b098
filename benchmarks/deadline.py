"""The last ten minutes before a deadline, through the real database, queue and worker's loop.

STUDENTS submit, most of them near the end and some several times, to WORKERS processes that take 2 s each; one
student sends endless loops. Checks that none is lost or judged twice, and that nobody's first waits behind somebody's
fifth; measures how far the wait that is shown differs from the real one.

The judge sleeps. ``--scale 5`` divides all times by five, those of the queue's order included; the platform's own
work then weighs five times as much. ``--window 300 --students 250 --loops 2`` is half of it at full pace.
``deadline_simulation.py`` needs no clocks.

Usage: python benchmarks/deadline.py [--scale 1] [--window 600] [--students 500] [--workers 4] [--loops 4] [--json]
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from results import keep
from sqlalchemy import insert, select

from grader.errors import BoxUnavailable
from grader.judge.job import Job, JudgingProgress, Outcome
from grader.queue.embedded import start_redis
from grader.queue.worker import run_worker
from grader.records import forecast, order
from grader.records.engine import AWAY, writing
from grader.records.models import (
    AskedRow,
    AssignmentPartRow,
    AssignmentRow,
    CourseRow,
    MemberRow,
    StayRow,
    SubmissionRow,
    UserRow,
    utcnow,
)
from grader.sandbox.box import Box, BoxSpec
from grader.schemas.account import Role
from grader.schemas.report import CaseReport, CaseVerdict, Report, Score, Verdict
from grader.schemas.submission import ProgressView, State, SubmitBody
from grader.service.accounts.accounts import User
from grader.service.operation.health import health
from grader.service.platform import Platform, open_platform
from grader.service.submissions import waiting
from grader.service.submissions.submissions import get_submission
from grader.service.submissions.submit import submit
from grader.settings import Settings

SLUG, DEVICE = "vector_add", "cpu"
WINDOW_S, SERVICE_S, LOOP_S = 600.0, 2.0, 84.0
# Submissions per student, and how many students of a hundred send that number.
EACH = {1: 40, 2: 25, 3: 15, 4: 12, 5: 8}
# One student in this number sends five at once.
AT_ONCE = 25
# Between two looks at the queue, and how many of those who wait look.
LOOK_S, LOOKING = 5.0, 20
# For shorter waits the error is given in seconds, because a share says little.
SHORT_S = 4 * SERVICE_S
LOOP = "# endless"
SEED = 7
# When in the window a student submits, as a share of it: most of them near the end, all at any time, or in the last
# quarter more than in all the others.
ARRIVING: dict[str, Callable[[random.Random], float]] = {
    "late": lambda chance: max(chance.random(), chance.random()),
    "evenly": lambda chance: chance.random(),
    "at the last moment": lambda chance: max(chance.random() for _ in range(5)),
}


@dataclass
class Sent:
    """``shown``: when somebody looked (seconds since 1970), and the wait they were shown."""

    user: User
    at: float
    source: str
    id: str = ""
    shown: list[tuple[float, float]] = field(default_factory=list)


def plan(
    students: int,
    loops: int,
    window_s: float = WINDOW_S,
    seed: int = SEED,
    arriving: str = "late",
    apart_s: float = 130.0,
) -> list[tuple[float, int, str]]:
    """When who submits what, in seconds since the beginning, by time. ``apart_s``: from one endless loop to the
    next."""
    chance = random.Random(seed)

    def moment() -> float:
        return window_s * ARRIVING[arriving](chance)

    found = []
    for student in range(students):
        count = chance.choices(list(EACH), list(EACH.values()))[0]
        times = [moment()] * 5 if student % AT_ONCE == 0 else [moment() for _ in range(count)]
        found += [(at, student, f"# {student} {number}") for number, at in enumerate(times)]
    found += [(100.0 + apart_s * number, students, f"{LOOP} {number}") for number in range(loops)]
    return sorted(found)


def scale_times(scale: float) -> None:
    """Of the order and of the snapshots of this process."""
    order.TURN_BACK_S /= scale
    order.MANY_BACK_S /= scale
    forecast.ARRIVALS /= scale
    waiting._KEPT_SECONDS /= scale
    waiting._MISSING_SECONDS /= scale


class SleepingJudge:
    """``folder`` gets a file of what each worker judged."""

    device_model, torch_version, architecture = "asleep", "none", "sm_90"

    def __init__(self, scale: float, folder: Path) -> None:
        self._scale = scale
        self._judged = (folder / f"judged-{time.monotonic_ns()}").open("a", buffering=1)

    def warm_up(self) -> None:
        pass

    def probe(self) -> None:
        pass

    def try_box(self) -> None:
        pass

    def close(self) -> None:
        self._judged.close()

    def run(self, job: Job, on_progress: Callable[[JudgingProgress], None], _: Callable[[], bool]) -> Outcome:
        began = time.monotonic()
        self._judged.write(f"{job.submission}\n")
        for state in (State.TESTING, State.TIMING):
            on_progress(JudgingProgress(state=state, progress=ProgressView(done=0, total=1, label="")))
        chance = random.Random(job.source)
        takes = LOOP_S if job.source.startswith(LOOP) else SERVICE_S * chance.uniform(0.9, 1.1)
        time.sleep(max(0.0, takes / self._scale - (time.monotonic() - began)))
        return Outcome(
            report=Report(
                verdict=Verdict.ACCEPTED,
                challenge=job.challenge,
                version=1,
                language=job.language,
                device=job.device,
                cases=[CaseReport(name="basic", category="basic", verdict=CaseVerdict.ACCEPTED)],
                score=Score(time_us=10.0, ci=(10.0, 10.0), passed=1, total=1),
            )
        )


class NoBoxes:
    name, about = "none", "no boxes"

    def start(self, spec: BoxSpec) -> Box:
        raise BoxUnavailable("A simulation has no boxes.")

    def reap(self) -> int:
        return 0


def work(settings: Settings, scale: float, number: int) -> None:
    """A worker process."""
    scale_times(scale)
    judge = SleepingJudge(scale, settings.data_dir)
    run_worker(settings, name=f"worker-{number}", judge=judge, boxes=NoBoxes())


@contextmanager
def workers(settings: Settings, platform: Platform, scale: float, count: int) -> Iterator[None]:
    context = multiprocessing.get_context("spawn")
    started = [context.Process(target=work, args=(settings, scale, number)) for number in range(count)]
    for process in started:
        process.start()
    try:
        while f"{DEVICE}: {count} alive" not in health(platform).parts["workers"].detail:
            time.sleep(0.1)
        yield
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.join()


def enter(platform: Platform, students: int, due: datetime) -> list[User]:
    """The students of a course that assigns the challenge until ``due``."""
    numbers = range(1, students + 1)
    names = {number: f"student{number:04d}" for number in numbers}
    people = [
        {"id": number, "name": name, "name_key": name, "password_hash": "!", "role": "student"}
        for number, name in names.items()
    ]
    course = {
        "id": 1,
        "slug": "gpu",
        "name": "GPU",
        "time_zone": "UTC",
        "visibility": "members",
        "grace_days": 0,
    }
    members = [
        {"course_id": 1, "user_id": number, "role": "student", "section": "", "full_name": ""}
        for number in numbers
    ]
    assignment = {
        "id": 1,
        "course_id": 1,
        "slug": "week1",
        "title": "Week 1",
        "open_at": due - timedelta(days=7),
        "due_at": due,
        "languages": [],
        "devices": [],
        "counts": "best",
        "published_at": due - timedelta(days=7),
    }
    with platform.engine.begin() as connection:
        connection.execute(insert(UserRow), people)
        connection.execute(insert(CourseRow), [course])
        connection.execute(insert(MemberRow), members)
        stays = [
            {"member_id": n, "accepted_at": due - timedelta(days=365)} for n in range(1, len(members) + 1)
        ]
        connection.execute(insert(StayRow), stays)
        connection.execute(insert(AssignmentRow), [assignment])
        part = {"assignment_id": 1, "challenge": SLUG, "weight": 1.0, "place": 0}
        connection.execute(insert(AssignmentPartRow), [part])
        asked = {"assignment_id": 1, "challenge": SLUG, "asked_at": due - timedelta(days=7)}
        connection.execute(insert(AskedRow), [asked])
    return [User(number, name, Role.STUDENT) for number, name in names.items()]


def look(platform: Platform, sent: Sent) -> None:
    """What the page and the command line show."""
    try:
        view = get_submission(platform, sent.user, sent.id)
    except AWAY:
        return
    if view.expected_wait_s is not None and view.state in (State.QUEUED, State.WAITING):
        sent.shown.append((time.time(), view.expected_wait_s))


def send(platform: Platform, sent: Sent) -> None:
    body = SubmitBody(challenge=SLUG, source=sent.source, filename="a.py", device=DEVICE)
    while True:
        try:
            sent.id = submit(platform, sent.user, body, sent.source.removeprefix("# ")).id
            break
        except AWAY:
            # The web answers 503, and the command sends it again with the same key.
            time.sleep(0.5)
    # In a long queue a newcomer has no place for a moment.
    time.sleep(2 * waiting._MISSING_SECONDS)
    look(platform, sent)


def run(platform: Platform, everything: list[Sent], began: float, scale: float) -> None:
    """Send each at its time, and look now and then, until all are judged."""
    chance, over = random.Random(SEED), threading.Event()

    def look_on() -> None:
        while not over.wait(LOOK_S / scale):
            with platform.sessions() as session:
                ids = set(session.scalars(select(SubmissionRow.public_id).where(order.pending())))
            there = [submission for submission in everything if submission.id in ids and submission.shown]
            for submission in chance.sample(there, min(LOOKING, len(there))):
                look(platform, submission)

    watcher = threading.Thread(target=look_on)
    watcher.start()
    with ThreadPoolExecutor(24) as pool:
        futures = []
        for submission in everything:
            time.sleep(max(0.0, began + submission.at - time.time()))
            futures.append(pool.submit(send, platform, submission))
        for future in futures:
            future.result()
    while True:
        with platform.sessions() as session:
            states = session.scalars(select(SubmissionRow.state)).all()
        if all(state.final for state in states):
            break
        time.sleep(0.5)
    over.set()
    watcher.join()


def figures_of(platform: Platform, everything: list[Sent], scale: float) -> dict[str, Any]:
    with writing(platform.sessions) as session:
        rows = {row.public_id: row for row in session.scalars(select(SubmissionRow))}
        session.expunge_all()
    judged = [
        line for path in platform.settings.data_dir.glob("judged-*") for line in path.read_text().splitlines()
    ]
    began = {id: row.claimed_at.timestamp() for id, row in rows.items() if row.claimed_at}
    came = {id: row.created_at.timestamp() for id, row in rows.items()}
    at_first = [(submission, *submission.shown[0]) for submission in everything if submission.shown]
    later = [(submission, at, wait) for submission in everything for at, wait in submission.shown[1:]]
    return {
        "submissions": len(everything),
        "students": len({submission.user.id for submission in everything}),
        "lost": sum(row.state is not State.DONE for row in rows.values()) + len(everything) - len(rows),
        "judged_twice": len(judged) - len(set(judged)) + sum(row.attempt != 1 for row in rows.values()),
        "waits_s": quantiles(
            [(began[submission.id] - came[submission.id]) * scale for submission in everything]
        ),
        "longest_wait_of_a_first_s": round(max(waits_of(everything, rows, 1)) * scale, 1),
        "firsts_behind_a_fifth": behind_a_fifth(rows),
        "shown_at_submission": errors(
            [(wait, began[submission.id] - at) for submission, at, wait in at_first], scale
        ),
        "shown_later": errors([(wait, began[submission.id] - at) for submission, at, wait in later], scale),
    }


def turns(rows: dict[str, SubmissionRow]) -> dict[str, int]:
    """The how-manieth of its author each is."""
    found: dict[str, int] = {}
    counts: dict[int, int] = {}
    for row in sorted(rows.values(), key=lambda submission: (submission.created_at, submission.id)):
        counts[row.user_id] = counts.get(row.user_id, 0) + 1
        found[row.public_id] = counts[row.user_id]
    return found


def waits_of(everything: list[Sent], rows: dict[str, SubmissionRow], turn: int) -> list[float]:
    number = turns(rows)
    return [
        (row.claimed_at - row.created_at).total_seconds()
        for submission in everything
        if (row := rows[submission.id]).claimed_at and number[submission.id] == turn
    ]


def behind_a_fifth(rows: dict[str, SubmissionRow]) -> int:
    """How many firsts saw somebody's fifth begin while they waited."""
    number = turns(rows)
    fifths = [row.claimed_at for id, row in rows.items() if number[id] >= 5 and row.claimed_at]
    return sum(
        any(row.created_at < other < row.claimed_at for other in fifths)
        for id, row in rows.items()
        if number[id] == 1 and row.claimed_at
    )


def errors(pairs: list[tuple[float, float]], scale: float) -> dict[str, Any]:
    """Of (shown, real) waits: the share that they differ by, and of short waits the seconds."""
    real = [(shown * scale, wait * scale) for shown, wait in pairs if wait > 0]
    long = [abs(shown - wait) / wait for shown, wait in real if wait >= SHORT_S]
    short = [abs(shown - wait) for shown, wait in real if wait < SHORT_S]
    found: dict[str, Any] = {"looks": len(real)}
    if long:
        leaning = statistics.median((shown - wait) / wait for shown, wait in real if wait >= SHORT_S)
        within = sum(error <= 0.25 for error in long) / len(long)
        near = sum(wait / 1.5 <= shown <= wait * 1.5 for shown, wait in real if wait >= SHORT_S) / len(long)
        found["share_off"] = {
            **quantiles(long, 3),
            "within_a_quarter": round(within, 3),
            "within_1.5_times": round(near, 3),
            "leaning": round(leaning, 3),
        }
    if short:
        found["seconds_off_of_short_waits"] = quantiles(short)
    return found


def quantiles(values: list[float], digits: int = 1) -> dict[str, float]:
    values = sorted(values)
    return {
        "count": len(values),
        "median": round(statistics.median(values), digits),
        "90%": round(values[int(0.9 * (len(values) - 1))], digits),
        "longest": round(values[-1], digits),
    }


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--window", type=float, default=WINDOW_S, help="seconds until the deadline")
    parser.add_argument("--students", type=int, default=500)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--loops", type=int, default=4)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    scale_times(options.scale)
    with tempfile.TemporaryDirectory(prefix="gr", dir="/tmp") as folder:
        settings = Settings(data_dir=Path(folder) / "data", devices=DEVICE, device=DEVICE, log_level="error")
        with (
            start_redis(settings),
            closing(open_platform(settings)) as platform,
            workers(settings, platform, options.scale, options.workers),
        ):
            began = time.time() + 3.0
            due = utcnow() + timedelta(seconds=3.0 + options.window / options.scale)
            users = enter(platform, options.students + 1, due)
            everything = [
                Sent(users[student], at / options.scale, source)
                for at, student, source in plan(options.students, options.loops, options.window)
            ]
            run(platform, everything, began, options.scale)
            figures = figures_of(platform, everything, options.scale)
    setup = {
        "scale": options.scale,
        "window_s": options.window,
        "workers": options.workers,
        "service_s": SERVICE_S,
        "loops": options.loops,
    }
    figures = {**setup, **figures}
    print(json.dumps(figures, indent=2))
    if options.json:
        scaled = [f"scaled_{options.scale:g}"] if options.scale != 1 else []
        changed = [*scaled, f"{options.window:g}_s"] if options.window != WINDOW_S else scaled
        keep("_".join(["deadline", *changed]), figures)
    held = not figures["lost"] and not figures["judged_twice"] and not figures["firsts_behind_a_fifth"]
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
