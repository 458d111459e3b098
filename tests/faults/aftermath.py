"""Checks that must hold after a campaign of faults."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from grader.cli.client import Client
from grader.errors import GraderError
from grader.queue.gpu_lock import holder, lock_folder
from grader.records import quotas, workers
from grader.records.engine import make_engine
from grader.records.models import QuotaRow, ReportRow, SubmissionRow, UserRow, utcnow
from grader.records.states import UNFINISHED
from grader.schemas.submission import State
from tests.faults import processes
from tests.faults.harness import Harness
from tests.faults.scripted import GPUS
from tests.faults.users import Heard, User

# A sweep, or the process itself, removes leftovers of a recent end.
_TIDY_SECONDS = 60.0


def wait_for_the_end(harness: Harness, users: Sequence[User], seconds: float) -> list[str]:
    """Wait until everybody has all their verdicts. Returns submissions still open at the deadline."""
    deadline = time.monotonic() + seconds
    while any(user.open for user in users) and time.monotonic() < deadline:
        harness.tend()
        time.sleep(0.1)
    return [
        f"{sent.id} never ended: {sent.view.state if sent.view else 'unseen'}, {sent.view}"
        for user in users
        for sent in user.open
    ]


def check_records(harness: Harness, heard: Heard) -> list[str]:
    """Each post is one row; each row ended once, with its true verdict and one report, that of its last attempt."""
    engine = make_engine(harness.settings.sql_url)
    try:
        with Session(engine) as session:
            rows = {row.idempotency_key: row for row in session.scalars(select(SubmissionRow))}
            reports = session.execute(select(ReportRow.submission_id, ReportRow.attempt)).all()
            counters = {
                (quota.name, quota.scope): quota.used
                for quota in session.execute(
                    select(UserRow.name, QuotaRow.scope, QuotaRow.used).join(
                        UserRow, QuotaRow.user_id == UserRow.id
                    )
                )
            }
            total = session.scalar(select(func.count()).select_from(SubmissionRow)) or 0
            unfinished = session.scalar(select(func.count()).where(SubmissionRow.state.in_(UNFINISHED)))
    finally:
        engine.dispose()
    wrong = [f"{unfinished} have not ended"] if unfinished else []
    posted = [sent for sent in heard.sent if sent.id]
    if total != len(posted):
        wrong.append(f"{len(posted)} were posted and {total} are there")
    for sent in posted:
        row = rows.get(sent.key)
        if row is None or row.public_id != sent.id:
            wrong.append(f"{sent.id} is lost")
        elif (row.state, row.verdict) != (State.DONE, sent.source.expected):
            wrong.append(f"{sent.id} is {row.state} {row.verdict}, not {sent.source.expected}: {row.error}")
    of_report = Counter(report.submission_id for report in reports)
    last = {(row.id, row.attempt) for row in rows.values()}
    wrong += [f"row {row} has {count} reports" for row, count in of_report.items() if count != 1]
    wrong += _quotas(counters, Counter(sent.user for sent in posted))
    wrong += [
        f"a report of {tuple(report)}, which is no last attempt"
        for report in reports
        if tuple(report) not in last
    ]
    return wrong


def _quotas(counters: dict[tuple[str, str], int], posted: Counter[str]) -> list[str]:
    """Nothing waits any more, and each submission was counted once, however often it was judged."""
    wanted = {(user, quotas.WAITING): 0 for user in posted}
    wanted |= {(user, quotas.of_challenge("twice")): count for user, count in posted.items()}
    return [
        f"{user} has used {counters.get((user, scope))} of {scope}, not {count}"
        for (user, scope), count in wanted.items()
        if counters.get((user, scope)) != count
    ]


# containerd outlives its engine. So does a container in the making, which a new engine does not know, but
# which runs nothing of ours yet.
_OF_A_KILLED_ENGINE = ("containerd", "runc init")


def check_leftovers(harness: Harness) -> list[str]:
    servers = {harness.redis.process.pid}
    servers |= {harness.postgres.process.pid} if harness.postgres else set()
    servers |= {harness.docker.process.pid} if harness.docker else set()
    servers |= {child for pid in servers for child in processes.below(pid)}
    deadline = time.monotonic() + _TIDY_SECONDS
    while True:
        found = [
            f"process {pid} is left: {words}"
            for pid, words in processes.in_folder(harness.folder).items()
            if pid not in servers and not any(part in words for part in _OF_A_KILLED_ENGINE)
        ]
        if harness.docker is not None:
            found += [f"container {name} is left" for name in harness.docker.containers(everything=True)]
        found += [f"{path} is left" for path in (harness.folder / "tmp").iterdir()]
        locks = lock_folder(harness.settings)
        found += [f"{gpu.uuid} is locked" for gpu in GPUS if holder(gpu.uuid, locks) is not None]
        if not found or time.monotonic() > deadline:
            return found
        time.sleep(0.1)


def attempts(harness: Harness) -> int:
    engine = make_engine(harness.settings.sql_url)
    try:
        with Session(engine) as session:
            return int(session.scalar(select(func.sum(SubmissionRow.attempt))) or 0)
    finally:
        engine.dispose()


def alive(harness: Harness) -> int:
    engine = make_engine(harness.settings.sql_url)
    try:
        with Session(engine) as session:
            silent = harness.settings.lease_s
            found = {worker.name for worker in workers.alive(session, utcnow(), silent)}
            return len(found | {worker.name for worker in workers.compiling(session, utcnow(), silent)})
    finally:
        engine.dispose()


def answers(harness: Harness) -> bool:
    try:
        Client(harness.url, seconds=5.0).get("/health")
    except GraderError:
        return False
    return True
