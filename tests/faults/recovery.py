"""How soon a platform with the settings' defaults recovers, in seconds."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from redis import Redis
from sqlalchemy import Engine

from grader.queue.tickets import Tickets, run_queue
from grader.schemas.submission import State, SubmitBody
from grader.service.accounts import create_user
from grader.service.platform import Platform, open_platform
from grader.service.submit import submit
from tests.faults import aftermath, processes, sight
from tests.faults.sources import GPU
from tests.faults.stand import Layout, Stand
from tests.service.world import until

# Long enough that it is still running whenever its worker is killed; nobody waits for its end.
_SOURCE = "# judge: accepted 600 600\n"
_PATIENCE_SECONDS = 120.0


def measure(times: int = 3) -> dict[str, list[float]]:
    """``times`` figures each: from a worker's kill to another's taking of its submission; from the wiping of Redis to
    a ticket for each of nine submissions that wait."""
    with _platform() as (stand, platform, engine):
        user = create_user(platform, "ada", "correct horse")
        for number in range(9):
            body = SubmitBody(challenge="twice", source=f"# {number}\n{_SOURCE}", filename="a.py", device=GPU)
            submit(platform, user, body)
        killed, wiped = [], []
        for number in range(times):
            until(lambda: len(_running(engine)) == 2, "two that run", _PATIENCE_SECONDS)
            time.sleep(number * stand.settings.heartbeat_s / times)  # at another moment between two beats
            killed.append(_after_kill(stand, engine))
            wiped.append(_after_wipe(stand, platform.tickets, engine))
        return {"killed_worker": killed, "wiped_redis": wiped}


@contextmanager
def _platform() -> Iterator[tuple[Stand, Platform, Engine]]:
    stand = Stand(Layout("sqlite", short=False, judges=0))
    platform, engine = open_platform(stand.settings), stand.engine()
    try:
        stand.start()
        until(lambda: aftermath.alive(stand) == len(stand.workers()), "workers", _PATIENCE_SECONDS)
        yield stand, platform, engine
    finally:
        engine.dispose()
        platform.close()
        stand.close()


def _running(engine: Engine) -> dict[str, int]:
    """Who runs what: worker -> row."""
    return {it.worker: it.id for it in sight.look(engine) or [] if it.state is State.TESTING and it.worker}


def _after_kill(stand: Stand, engine: Engine) -> float:
    """The other worker lets go of its own, as it would by ending it, and takes what the killed one had."""
    name, row = next(iter(_running(engine).items()))
    processes.send(stand.members[name].process.pid, signal.SIGKILL)
    return _seconds(
        lambda: (found := sight.look(engine)) is not None and _taken_anew(found, row, name, stand)
    )


def _taken_anew(found: list[sight.Seen], row: int, dead: str, stand: Stand) -> bool:
    """A supervisor starts the worker again, and whoever is free takes it."""
    stand.tend()
    return any(it.id == row and it.state is State.TESTING and it.worker == dead for it in found)


def _after_wipe(stand: Stand, tickets: Tickets, engine: Engine) -> float:
    with Redis.from_url(stand.redis.url) as client:
        client.flushall()
    waiting = [it for it in sight.look(engine) or [] if it.state is State.QUEUED]
    return _seconds(lambda: tickets.waiting(run_queue(GPU)) >= len(waiting))


def _seconds(look: Callable[[], bool]) -> float:
    began = time.monotonic()
    until(look, "recovery", _PATIENCE_SECONDS)
    return round(time.monotonic() - began, 1)
