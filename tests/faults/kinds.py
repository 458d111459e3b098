"""The faults. Each does its harm at once and returns a function that repairs the machine (never the platform)
after its time.
"""

from __future__ import annotations

import random
import signal
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass

from redis import Redis
from sqlalchemy import text

from grader.schemas.submission import State
from tests.faults import processes
from tests.faults.harness import Harness, Member
from tests.faults.sight import Seen

ANY = tuple(state for state in State if not state.final)
HELD = (State.COMPILING, State.TESTING, State.TIMING)
JUDGED = (State.TESTING, State.TIMING)
WAITS = (State.QUEUED, State.WAITING)
# Summer time mistaken for UTC.
_STEP_SECONDS = 3600


@dataclass(frozen=True)
class Scene:
    """``target``: a submission in the wanted state, if one was seen."""

    harness: Harness
    target: Seen | None
    draw: random.Random

    def worker(self) -> Member:
        """The worker of the target; any worker if it has none."""
        if self.target is not None and (found := self.harness.worker_of(self.target.worker)):
            return found
        return self.draw.choice(self.harness.workers())


Undo = Callable[[], None]


@dataclass(frozen=True)
class Kind:
    """``holds``: least and most seconds from harm to repair; ``part``: two faults of one part never overlap;
    ``states``: to strike in.
    """

    name: str
    strike: Callable[[Scene], Undo | None]
    states: tuple[State, ...] = ANY
    holds: tuple[float, float] = (0.0, 0.0)
    part: str = ""
    fits: Callable[[Harness], bool] = lambda _: True


def _kill_worker(scene: Scene) -> None:
    member = scene.worker()
    processes.send(member.process.pid, signal.SIGKILL)


def _judge_of(scene: Scene) -> tuple[int, list[int]] | None:
    """The judge process of the target's worker, or of any, and its local boxes."""
    judges = [member for member in scene.harness.workers() if "judge" in member.name]
    for member in sorted(judges, key=lambda member: member is not scene.worker()):
        for child in processes.children(member.process.pid):
            if "grader.judge.child" in processes.words(child):
                return child, processes.children(child)
    return None


def _kill_judge(scene: Scene) -> None:
    if found := _judge_of(scene):
        processes.send(found[0], signal.SIGKILL)


def _kill_box(scene: Scene) -> None:
    if (found := _judge_of(scene)) and found[1]:
        # The submission's box is among the youngest.
        processes.send(scene.draw.choice(found[1]), signal.SIGKILL)


def _kill_container(scene: Scene) -> None:
    assert scene.harness.docker is not None
    if running := scene.harness.docker.containers():
        scene.harness.docker.kill_container(scene.draw.choice(running))


def _freeze_worker(scene: Scene) -> Undo:
    member = scene.worker()
    member.freeze()
    return member.thaw


def _kill_web_worker(scene: Scene) -> None:
    if found := processes.children(scene.harness.members["web"].process.pid):
        processes.send(scene.draw.choice(found), signal.SIGKILL)


def _kill_web(scene: Scene) -> None:
    processes.send(scene.harness.members["web"].process.pid, signal.SIGKILL)


def _kill_redis(scene: Scene) -> Undo:
    processes.send(scene.harness.redis.process.pid, signal.SIGKILL)
    scene.harness.redis.process.wait()
    return scene.harness.start_redis


def _wipe_redis(scene: Scene) -> None:
    with Redis.from_url(scene.harness.redis.url) as client:
        client.flushall()


def _freeze_redis(scene: Scene) -> Undo:
    pid = scene.harness.redis.process.pid
    processes.send(pid, signal.SIGSTOP)

    def undo() -> None:
        processes.send(pid, signal.SIGCONT)

    return undo


def _lock_sqlite(scene: Scene) -> Undo:
    path = scene.harness.folder / "data" / "grader.sqlite3"
    let_go, locked = threading.Event(), threading.Event()

    def hold() -> None:
        holder = sqlite3.connect(path, timeout=60.0, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        locked.set()
        let_go.wait()
        holder.execute("ROLLBACK")
        holder.close()

    thread = threading.Thread(target=hold)
    thread.start()
    locked.wait(60.0)

    def undo() -> None:
        let_go.set()
        thread.join()

    return undo


def _lock_postgres(scene: Scene) -> Undo:
    engine = scene.harness.engine()
    connection = engine.connect()
    connection.execute(text("SET lock_timeout = '50s'"))
    connection.execute(text("SET statement_timeout = '60s'"))
    connection.execute(text("LOCK TABLE submissions IN ACCESS EXCLUSIVE MODE"))

    def undo() -> None:
        connection.close()
        engine.dispose()

    return undo


def _kill_backend(scene: Scene) -> None:
    assert scene.harness.postgres is not None
    if found := scene.harness.postgres.backends():
        processes.send(scene.draw.choice(found), signal.SIGKILL)


def _kill_postgres(scene: Scene) -> Undo:
    assert scene.harness.postgres is not None
    scene.harness.postgres.kill()
    return scene.harness.postgres.start


def _fill_data(scene: Scene) -> Undo:
    harness = scene.harness
    disk = harness.disks["postgres" if harness.postgres else "data"]
    disk.fill()

    def undo() -> None:
        disk.free()
        if harness.postgres is not None and harness.postgres.process.poll() is not None:
            harness.postgres.start()  # it ends if it cannot write its log

    return undo


def _fill_tmp(scene: Scene) -> Undo:
    disk = scene.harness.disks["tmp"]
    disk.fill()
    return disk.free


def _stop_docker(number: signal.Signals) -> Callable[[Scene], Undo]:
    def strike(scene: Scene) -> Undo:
        assert scene.harness.docker is not None
        scene.harness.docker.stop(number)
        return scene.harness.docker.start

    return strike


def _step_clock(seconds: int, everywhere: bool) -> Callable[[Scene], Undo]:
    def strike(scene: Scene) -> Undo:
        members = list(scene.harness.members.values()) if everywhere else [scene.worker()]
        clocks = [member.clock for member in members if member.clock is not None]
        for clock in clocks:
            clock.step(seconds)

        def undo() -> None:
            for clock in clocks:
                clock.step(0)

        return undo

    return strike


def _order(*orders: str) -> Callable[[Scene], None]:
    """Of the next calls of workers."""

    def strike(scene: Scene) -> None:
        assert scene.harness.proxy is not None
        scene.harness.proxy.orders.extend(orders)

    return strike


def _refuse_all(scene: Scene) -> Undo:
    assert scene.harness.proxy is not None
    scene.harness.proxy.down.set()
    return scene.harness.proxy.down.clear


def _revoke_token(scene: Scene) -> None:
    scene.harness.change_token()


def _https(harness: Harness) -> bool:
    return harness.proxy is not None


def _sqlite(harness: Harness) -> bool:
    return harness.postgres is None


def _postgres(harness: Harness) -> bool:
    return harness.postgres is not None


def _docker(harness: Harness) -> bool:
    return harness.docker is not None


def _clock(harness: Harness) -> bool:
    return all(member.clock is not None for member in harness.members.values())


def _clocks_apart(harness: Harness) -> bool:
    return _postgres(harness) and _clock(harness)


def _disk(harness: Harness) -> bool:
    return all(disk.real for disk in harness.disks.values())


KINDS = [
    Kind("worker killed", _kill_worker, ANY),
    Kind("judge killed", _kill_judge, HELD),
    Kind("box killed", _kill_box, JUDGED),
    Kind("container killed", _kill_container, JUDGED, fits=_docker),
    # Longer than its lease of 3 s, and shorter.
    Kind("worker frozen", _freeze_worker, HELD, (1.0, 6.0), "frozen"),
    Kind("web worker killed", _kill_web_worker, ANY),
    Kind("web killed", _kill_web, ANY),
    Kind("Redis killed", _kill_redis, ANY, (0.0, 3.0), "redis"),
    Kind("Redis wiped", _wipe_redis, WAITS, (0.0, 0.0), "redis"),
    Kind("Redis frozen", _freeze_redis, ANY, (2.0, 4.0), "redis"),
    Kind("database locked", _lock_sqlite, ANY, (2.0, 5.0), "database", _sqlite),
    Kind("database locked", _lock_postgres, ANY, (2.0, 5.0), "database", _postgres),
    Kind("backend killed", _kill_backend, ANY, (0.0, 0.0), "database", _postgres),
    Kind("database killed", _kill_postgres, ANY, (0.5, 4.0), "database", _postgres),
    Kind("database full", _fill_data, ANY, (2.0, 5.0), "database", _disk),
    Kind("temp full", _fill_tmp, JUDGED, (2.0, 4.0), "tmp", _disk),
    Kind("Docker restarted", _stop_docker(signal.SIGTERM), JUDGED, (0.5, 2.0), "docker", _docker),
    Kind("Docker killed", _stop_docker(signal.SIGKILL), JUDGED, (0.5, 2.0), "docker", _docker),
    # Only one host's: with SQLite there is only one.
    Kind("clock on", _step_clock(_STEP_SECONDS, False), HELD, (2.0, 4.0), "clock", _clocks_apart),
    Kind("clock back", _step_clock(-_STEP_SECONDS, False), HELD, (2.0, 4.0), "clock", _clocks_apart),
    Kind("all clocks on", _step_clock(_STEP_SECONDS, True), HELD, (2.0, 4.0), "clock", _clock),
    Kind("all clocks back", _step_clock(-_STEP_SECONDS, True), HELD, (2.0, 4.0), "clock", _clock),
    Kind("answers lost", _order("lost", "lost", "lost"), ANY, fits=_https),
    Kind("calls repeated", _order("twice", "twice", "twice"), ANY, fits=_https),
    Kind("calls refused", _order("refused", "refused", "refused"), ANY, fits=_https),
    Kind("server errors", _refuse_all, ANY, (0.5, 5.0), "proxy", _https),
    Kind("token revoked", _revoke_token, HELD, fits=_https),
]


def longer(kinds: list[Kind]) -> list[Kind]:
    """Faults that outlast all our waits, for runs with enough time."""
    stretched = {"database locked": (16.0, 18.0), "worker frozen": (6.0, 12.0), "Redis killed": (5.0, 10.0)}
    return [
        Kind(kind.name, kind.strike, kind.states, stretched[kind.name], kind.part, kind.fits)
        for kind in kinds
        if kind.name in stretched
    ]
