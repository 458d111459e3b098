"""Submissions per second by workers over HTTPS and by workers with the database's password, in one run, as a ratio.

A real web, Redis and worker processes, and a judge that only waits. Rounds of the two take turns. In each, every
worker first holds a submission while the others are sent; the clock runs from the moment that they go on to the last
verdict.

Target: over HTTPS at least 95 % of direct, if a judgement takes a second.

Usage: python benchmarks/workers.py [--json] [--workers 4] [--submissions 40] [--rounds 3] [--seconds 1.0]
       [--database sqlite|postgres]
"""

from __future__ import annotations

import argparse
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from results import keep
from sqlalchemy import func, select

from grader import limits
from grader.cli.client import Client
from grader.cli.config import environment
from grader.errors import GraderError
from grader.judge.job import Job, JudgingProgress, Outcome
from grader.queue import worker
from grader.queue.embedded import start_redis
from grader.records import workers
from grader.records.engine import clock
from grader.records.models import SubmissionRow
from grader.records.states import UNFINISHED
from grader.schemas.account import Role
from grader.schemas.submission import ProgressView, State
from grader.schemas.worker_token import WorkerTokenBody
from grader.service.accounts.accounts import create_user
from grader.service.operation import worker_tokens
from grader.service.platform import Platform, open_platform
from grader.service.submissions.submit import submit
from grader.settings import Settings
from tests.faults.servers import PostgresServer
from tests.queue.fakes import FakeJudge, NoBoxes, report_for
from tests.service.world import body, make_settings, short_folder

ROOT = Path(__file__).resolve().parents[1]
TARGET = 0.95
START_SECONDS, ROUND_SECONDS = 180.0, 600.0
POLL_SECONDS = 0.01


@dataclass(frozen=True)
class Size:
    workers: int
    submissions: int
    rounds: int
    seconds: float


def work(gate: Path, seconds: float) -> None:
    """In a process of its own."""

    def act(
        job: Job, on_progress: Callable[[JudgingProgress], None], cancelled: Callable[[], bool]
    ) -> Outcome:
        while not gate.exists():
            time.sleep(POLL_SECONDS)
        for state in (State.TESTING, State.TIMING):
            on_progress(JudgingProgress(state=state, progress=ProgressView(done=1, total=3, label="waits")))
            time.sleep(seconds / 2)
        return Outcome(report=report_for(job))

    worker.run_worker(Settings(), judge=FakeJudge(act), boxes=NoBoxes())


@contextmanager
def processes(commands: list[list[str]], settings: Settings, log: Path) -> Iterator[None]:
    with ExitStack() as stack, log.open("ab") as out:
        env = {**environment(settings), "PYTHONPATH": str(ROOT)}
        for command in commands:
            process = subprocess.Popen(
                [sys.executable, *command],
                env=env,
                cwd=ROOT,
                stdout=out,
                stderr=out,
                stdin=subprocess.DEVNULL,
            )
            stack.callback(process.wait)
            stack.callback(process.terminate)
        try:
            yield
        except SystemExit:
            print(log.read_text()[-2000:], file=sys.stderr)
            raise


def until(done: Callable[[], bool], what: str, seconds: float) -> None:
    ends = time.monotonic() + seconds
    while not done():
        if time.monotonic() > ends:
            raise SystemExit(f"{what}: not within {seconds:.0f} s")
        time.sleep(POLL_SECONDS)


class Bench:
    def __init__(self, platform: Platform, size: Size, folder: Path) -> None:
        self._platform, self._size, self._folder = platform, size, folder
        count = -(-(size.workers + size.submissions) // limits.WAITING_PER_USER)
        self._users = [create_user(platform, f"student{number}", "correct horse") for number in range(count)]
        self._sent = 0

    def round(self, settings: Settings, name: str) -> float:
        """Submissions per second."""
        gate = self._folder / f"gate-{name}-{self._sent}"
        command = [__file__, "--work", str(gate), "--seconds", str(self._size.seconds)]
        with processes([command] * self._size.workers, settings, self._folder / f"{name}.log"):
            until(lambda: self._alive() == self._size.workers, f"{name} workers", START_SECONDS)
            self._send(self._size.workers)
            until(lambda: self._count(State.QUEUED) == 0, f"{name}: every worker has one", START_SECONDS)
            self._send(self._size.submissions)
            began = time.monotonic()
            gate.touch()
            until(lambda: self._count(*UNFINISHED) == 0, f"{name}: the last verdict", ROUND_SECONDS)
            seconds = time.monotonic() - began
        until(lambda: self._alive() == 0, f"{name} workers' end", START_SECONDS)
        return (self._size.workers + self._size.submissions) / seconds

    def _send(self, count: int) -> None:
        for _ in range(count):
            user = self._users[self._sent % len(self._users)]
            submit(self._platform, user, body(source=f"x = {self._sent}\n"))
            self._sent += 1

    def _count(self, *states: State) -> int:
        with self._platform.sessions() as session:
            found = select(func.count()).select_from(SubmissionRow).where(SubmissionRow.state.in_(states))
            return session.scalar(found) or 0

    def _alive(self) -> int:
        with self._platform.sessions() as session:
            return len(workers.alive(session, clock(session), self._platform.settings.lease_s))


def measure(size: Size, database_url: str) -> dict[str, object]:
    with (
        tempfile.TemporaryDirectory() as held,
        start_redis(Settings(data_dir=short_folder(), redis_url="")) as redis,
    ):
        folder = Path(held)
        direct = make_settings(
            folder,
            redis.url,
            lease_s=limits.LEASE_SECONDS,
            heartbeat_s=limits.HEARTBEAT_SECONDS,
            sweep_s=limits.SWEEP_SECONDS,
            database_url=database_url,
            port=free_port(),
            lock_dir=folder / "locks",
            quota=100_000,
        )
        platform = open_platform(direct)
        staff = create_user(platform, "staff", "correct horse", Role.STAFF)
        token = worker_tokens.issue(platform, staff, WorkerTokenBody(name="bench")).token
        server = f"http://127.0.0.1:{direct.port}"
        https = direct.model_copy(
            update={
                "data_dir": folder / "node",
                "database_url": "",
                "redis_url": "",
                "worker_server": server,
                "worker_token": token,
            }
        )
        bench = Bench(platform, size, folder)
        rates: dict[str, list[float]] = {"direct": [], "https": []}
        with processes([["-m", "grader.web.server"]], direct, folder / "web.log"):
            until(lambda: answers(server), "the web", START_SECONDS)
            for _ in range(size.rounds):
                for name, settings in (("direct", direct), ("https", https)):
                    rates[name].append(bench.round(settings, name))
                    print(f"{name}: {rates[name][-1]:.2f} submissions a second", flush=True)
        platform.close()
    ratio = statistics.median(rates["https"]) / statistics.median(rates["direct"])
    return {
        "workers": size.workers,
        "submissions": size.workers + size.submissions,
        "judged_s": size.seconds,
        **{f"{name}_per_s": [round(rate, 3) for rate in found] for name, found in rates.items()},
        "ratio": round(ratio, 3),
    }


def answers(server: str) -> bool:
    try:
        Client(server, seconds=5.0).get("/health")
    except GraderError:
        return False
    return True


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", 1)[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--submissions", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.0, help="of a judgement")
    parser.add_argument("--database", default="sqlite", choices=["sqlite", "postgres"])
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    said = parser.parse_args()
    if said.work is not None:
        work(said.work, said.seconds)
        return 0
    size = Size(said.workers, said.submissions, said.rounds, said.seconds)
    with ExitStack() as stack:
        url = ""
        if said.database == "postgres":
            postgres = Path(tempfile.mkdtemp(prefix="gb", dir="/tmp"))
            postgres.chmod(0o711)  # PostgreSQL runs as another user
            server = PostgresServer(postgres / "postgres")
            stack.callback(server.close)
            url = server.url
        figures = measure(size, url)
    print(f"over HTTPS: {figures['ratio']:.1%} of direct")
    if said.json:
        keep(f"workers_{said.database}", figures)
    return int(said.seconds >= 1.0 and float(str(figures["ratio"])) < TARGET)


if __name__ == "__main__":
    sys.exit(main())
