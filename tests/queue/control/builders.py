"""Helpers for tests of workers."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from grader.records import workers
from grader.records.engine import writing
from grader.records.models import utcnow
from grader.schemas.queue import WorkerState
from grader.schemas.submission import State, SubmissionView
from grader.service.accounts.accounts import User
from grader.service.operation import queues
from grader.service.platform import Platform
from grader.service.submissions.submissions import get_submission
from tests.service.world import until

ROOT = Path(__file__).resolve().parents[3]
BOARD = "h200"
Start = Callable[..., "subprocess.Popen[bytes]"]


def see(platform: Platform, user: User, sent: str) -> SubmissionView:
    return get_submission(platform, user, sent)


def until_state(platform: Platform, user: User, sent: str, state: State) -> SubmissionView:
    until(lambda: see(platform, user, sent).state is state, f"{sent} is {state}", 60)
    return see(platform, user, sent)


def states(platform: Platform, staff: User) -> dict[str, WorkerState]:
    return {worker.name: worker.state for worker in queues.list_workers(platform, staff).workers}


def end(process: subprocess.Popen[bytes]) -> str:
    _, log = process.communicate(timeout=60)
    return log.decode()


@contextmanager
def worker(run: Callable[[], None], platform: Platform, name: str, staff: User) -> Iterator[None]:
    """A worker in a thread of this process; drained at the end."""
    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        with writing(platform.sessions) as session:
            workers.drain(session, name, utcnow())
        thread.join(60)
        assert not thread.is_alive()
