"""Time that a platform with default settings takes to recover, in seconds."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from redis import Redis
from sqlalchemy import Engine

from grader.schemas.submission import State, SubmitBody
from grader.service.accounts.accounts import create_user
from grader.service.platform import Platform
from grader.service.submissions.submit import submit
from grader.wakeups import WakeUps, run_queue
from tests.faults import aftermath, processes, sight
from tests.faults.harness import Harness, Layout
from tests.faults.sources import GPU
from tests.service.world import until

# Long enough to still run when its worker is killed; nobody waits for its end.
_SOURCE = "# judge: accepted 600 600\n"
_PATIENCE_SECONDS = 120.0


def measure(times: int = 3) -> dict[str, list[float]]:
    """``times`` figures each: from a worker's kill until another claims its submission; from wiping Redis
    until each of eight waiting submissions has a wake-up again.
    """
    with _platform() as (harness, platform, engine):
        _send(platform, 1)
        killed, wiped = [], []
        for number in range(times):
            until(lambda: len(_running(engine)) == 1, "one that runs", _PATIENCE_SECONDS)
            time.sleep(
                number * harness.settings.heartbeat_s / times
            )  # at another moment between two heartbeats
            killed.append(_after_kill(harness, engine))
            until(
                lambda: aftermath.alive(harness) == len(harness.workers()), "all workers", _PATIENCE_SECONDS
            )
        _send(platform, 9)
        until(lambda: len(_running(engine)) == 2, "two that run", _PATIENCE_SECONDS)
        for number in range(times):
            time.sleep(number * harness.settings.sweep_s / times)
            wiped.append(_after_wipe(harness, platform.wakeups, engine))
        return {"killed_worker": killed, "wiped_redis": wiped}


def _send(platform: Platform, count: int) -> None:
    sender = create_user(platform, f"user{count}", "correct horse")
    for number in range(count):
        body = SubmitBody(challenge="twice", source=f"# {number}\n{_SOURCE}", filename="a.py", device=GPU)
        submit(platform, sender, body)


@contextmanager
def _platform() -> Iterator[tuple[Harness, Platform, Engine]]:
    harness = Harness(Layout("sqlite", short=False, judges=0))
    try:
        platform, engine = harness.open(), harness.engine()
        harness.start()
        until(lambda: aftermath.alive(harness) == len(harness.workers()), "workers", _PATIENCE_SECONDS)
        yield harness, platform, engine
        engine.dispose()
        platform.close()
    finally:
        harness.close()


def _running(engine: Engine) -> dict[str, sight.Seen]:
    return {
        seen.worker: seen for seen in sight.look(engine) or [] if seen.state is State.TESTING and seen.worker
    }


def _after_kill(harness: Harness, engine: Engine) -> float:
    """Another worker is free; a supervisor restarts the killed one."""
    name, held = next(iter(_running(engine).items()))
    processes.send(harness.members[name].process.pid, signal.SIGKILL)

    def runs_again() -> bool:
        harness.tend()
        return any(seen.id == held.id and seen.attempt > held.attempt for seen in _running(engine).values())

    return _seconds(runs_again)


def _after_wipe(harness: Harness, wakeups: WakeUps, engine: Engine) -> float:
    with Redis.from_url(harness.redis.url) as client:
        client.flushall()
    waiting = [seen for seen in sight.look(engine) or [] if seen.state is State.QUEUED]
    return _seconds(lambda: wakeups.waiting(run_queue(GPU)) >= len(waiting))


def _seconds(look: Callable[[], bool]) -> float:
    began = time.monotonic()
    until(look, "recovery", _PATIENCE_SECONDS)
    return round(time.monotonic() - began, 1)
