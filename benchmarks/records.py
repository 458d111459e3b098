"""How long reads take with a million submissions in the database.

A leaderboard, a page of a user's history and a place in the queue, through the functions that the web and the API
call, and over HTTP; also whatever else reads the table: progress, claims, sweeps, posting. Half of the draws fall on
the largest board and the most diligent user, half anywhere.

Targets: those three under 50 ms (95 of 100) in PostgreSQL and under 100 ms in SQLite.

Usage: python benchmarks/records.py [--json] [--database sqlite|postgresql] [--submissions N] [--calls N] [--plans]
       [--keep FOLDER]

``--keep`` leaves the database in that folder, and takes it from there the next time. ``--plans`` prints how the
database executes each statement.
"""

from __future__ import annotations

import argparse
import http.client
import logging
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import structlog
from million import WAITING, Crowd, crowd_of, fill
from results import keep
from serving import database, serving
from sqlalchemy import event, text

from grader.challenge.catalogue import find_catalogue
from grader.languages import Language
from grader.queue.sweeper import sweep
from grader.records import claims
from grader.records.engine import writing
from grader.records.models import utcnow
from grader.schemas.account import Role
from grader.schemas.submission import SubmitBody
from grader.service.accounts.accounts import User
from grader.service.boards.leaderboard import leaderboard
from grader.service.challenges.catalogue import get_challenge
from grader.service.operation.health import health
from grader.service.platform import Platform, open_platform
from grader.service.submissions.progress import progress
from grader.service.submissions.submissions import get_submission, list_submissions
from grader.service.submissions.submit import submit
from grader.settings import Settings
from grader.wakeups import WakeUps

TARGET_MS = {"postgresql": 50.0, "sqlite": 100.0}
# As our pages ask for them.
PAGE, BOARD = 50, 200
# Names that the targets are about.
JUDGED = ("leaderboard", "history", "position")


@dataclass(frozen=True)
class Draws:
    """The user and the challenge of the next call."""

    chance: random.Random
    crowd: Crowd

    def user(self) -> User:
        number = 0 if self.chance.random() < 0.5 else self.chance.randrange(len(self.crowd.users) - 1)
        return User(number + 1, self.crowd.users[number], Role.STUDENT)

    def slug(self) -> str:
        return (
            self.crowd.challenges[0] if self.chance.random() < 0.5 else self.chance.choice(self.crowd.served)
        )

    def waiting(self) -> str:
        return self.chance.choice(self.crowd.waiting)


def calls(platform: Platform, draws: Draws) -> dict[str, Callable[[], object]]:
    staff = User(len(draws.crowd.users), draws.crowd.users[-1], Role.STAFF)
    body = SubmitBody(challenge=draws.crowd.challenges[0], source="pass", filename="a.py")
    return {
        "leaderboard": lambda: leaderboard(platform, draws.slug(), device="h200", limit=BOARD),
        "leaderboard, whole": lambda: leaderboard(platform, draws.slug(), device="h200"),
        "leaderboard, one language": lambda: leaderboard(
            platform, draws.slug(), device="h200", language="cuda", limit=BOARD
        ),
        "history": lambda: list_submissions(platform, draws.user(), limit=PAGE),
        "history, one challenge": lambda: list_submissions(platform, draws.user(), draws.slug(), limit=PAGE),
        "history, tenth page": lambda: list_submissions(platform, draws.user(), limit=PAGE, offset=9 * PAGE),
        "history, everyone's": lambda: list_submissions(platform, staff, everyone=True, limit=PAGE),
        "position": lambda: get_submission(platform, staff, draws.waiting()),
        "progress": lambda: progress(platform, draws.user()),
        "challenge": lambda: get_challenge(platform, draws.slug()),
        "health": lambda: health(platform),
        "claim": lambda: _claim(platform),
        "sweep": lambda: sweep(platform),
        "submit": lambda: submit(platform, User(1001 + draws.chance.randrange(900), "-", Role.STUDENT), body),
    }


class _Undo(Exception):
    """Undoes a claim."""


def _claim(platform: Platform) -> None:
    try:
        with writing(platform.sessions) as session:
            taken = claims.claim(
                session, claims.ClaimRequest("cpu", list(Language), "benchmark", utcnow(), 30.0)
            ).held
            assert taken is not None
            raise _Undo
    except _Undo:
        pass


class NoWakeUps(WakeUps):
    """A queue that accepts everything, because only the record is measured."""

    def enqueue(self, queue: str, count: int = 1) -> bool:
        return True

    def waiting(self, queue: str) -> int:
        return WAITING

    def ping(self) -> bool:
        return True


def measure(
    named: dict[str, Callable[[], object]], times: int, before: Callable[[], object] = lambda: None
) -> dict[str, dict[str, float]]:
    """``before`` is called before each call, and is no part of its time."""
    found = {}
    for name, call in named.items():
        call()
        spent, used = [], time.process_time()
        for _ in range(times):
            before()
            began = time.perf_counter()
            call()
            spent.append((time.perf_counter() - began) * 1e3)
        # On a busy machine this tells more: what this process computed itself.
        found[name] = quantiles(spent) | {"own_cpu": round((time.process_time() - used) / times * 1e3, 2)}
        print(f"  {name:<28} {_told(found[name])}", flush=True)
    return found


def quantiles(spent: list[float]) -> dict[str, float]:
    """Of milliseconds: the middle, 95 and 99 of 100, and the longest."""
    spent = sorted(spent)
    at = {name: spent[min(len(spent) - 1, int(len(spent) * share))] for name, share in _QUANTILES.items()}
    return {name: round(value, 2) for name, value in at.items()} | {"longest": round(spent[-1], 2)}


_QUANTILES = {"p50": 0.50, "p95": 0.95, "p99": 0.99}


def _told(found: dict[str, float]) -> str:
    return "  ".join(f"{name} {value:8.2f} ms" for name, value in found.items())


def over_http(settings: Settings, draws: Draws, times: int) -> dict[str, dict[str, float]]:
    with serving(settings) as (host, port, _):
        connection = http.client.HTTPConnection(host, port, timeout=60)

        def get(path: str, number: int) -> None:
            connection.request("GET", path, headers={"Authorization": f"Bearer {draws.crowd.tokens[number]}"})
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                raise SystemExit(f"{path}: {answer.status}")

        staff = len(draws.crowd.users) - 1
        api = "/api/v1"
        return measure(
            {
                "leaderboard": lambda: get(f"{api}/leaderboards/{draws.slug()}?device=h200&limit={BOARD}", 0),
                "history": lambda: get(f"{api}/submissions?limit={PAGE}", draws.user().id - 1),
                "position": lambda: get(f"{api}/submissions/{draws.waiting()}", staff),
                "progress": lambda: get(f"{api}/progress", draws.user().id - 1),
            },
            times,
        )


def print_plans(platform: Platform, named: dict[str, Callable[[], object]]) -> None:
    """How the database executes each statement of each call."""
    said: list[tuple[str, Any]] = []

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if "submissions" in statement and statement.lstrip().startswith(("SELECT", "WITH", "UPDATE")):
            said.append((statement, parameters))

    event.listen(platform.engine, "before_cursor_execute", note)
    explain = (
        "EXPLAIN QUERY PLAN " if platform.engine.dialect.name == "sqlite" else "EXPLAIN (ANALYZE, BUFFERS) "
    )
    for name, call in named.items():
        said.clear()
        call()
        for statement, parameters in list(said):
            print(f"--- {name}: {' '.join(statement.split())[:4000]}")
            with platform.engine.connect() as connection:
                rows = connection.exec_driver_sql(explain + statement, parameters).all()
                connection.rollback()
            print("\n".join(f"      {row[-1]}" for row in rows))
    event.remove(platform.engine, "before_cursor_execute", note)


@contextmanager
def prepared(options: argparse.Namespace) -> Iterator[tuple[Platform, Crowd]]:
    """The platform over a full database."""
    with ExitStack() as stack:
        folder = options.keep or Path(
            stack.enter_context(
                tempfile.TemporaryDirectory(prefix="gr", dir="/tmp", ignore_cleanup_errors=True)
            )
        )
        url = stack.enter_context(database(options.database, folder))
        settings = Settings(
            data_dir=folder / "data",
            database_url=url,
            devices="cpu,h200,t4",
            redis_url="",
            board_readers="everybody",
        )
        platform = replace(open_platform(settings), wakeups=NoWakeUps(""))
        stack.callback(platform.close)
        structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
        slugs = find_catalogue(None).slugs()
        slugs.sort(key=lambda slug: slug != "vector_add")
        crowd = crowd_of(slugs, options.submissions)
        with platform.sessions() as session:
            full = session.scalar(text("SELECT 1 FROM submissions LIMIT 1"))
        if not full:
            began = time.monotonic()
            fill(platform.engine, options.submissions, crowd)
            print(f"{options.submissions:,} submissions made in {time.monotonic() - began:.0f} s", flush=True)
        if options.database == "postgresql":
            with platform.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.execute(text("VACUUM ANALYZE"))  # as its autovacuum would have done meanwhile
        yield platform, crowd


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--submissions", type=int, default=1_000_000)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--plans", action="store_true")
    parser.add_argument("--only", default="", help="only calls whose name begins with this")
    parser.add_argument("--keep", type=Path, default=None)
    options = parser.parse_args()
    target = TARGET_MS[options.database]
    with prepared(options) as (platform, crowd):
        draws = Draws(random.Random(1), crowd)
        named = {name: call for name, call in calls(platform, draws).items() if name.startswith(options.only)}
        if options.plans:
            print_plans(platform, named)
        print(f"{options.database}, in this process, load {os.getloadavg()[0]:.1f}:", flush=True)
        direct = measure(named, options.calls)
        print("over HTTP:", flush=True)
        remote = over_http(platform.settings, draws, options.calls)
    missed = [name for name in direct if name.startswith(JUDGED) and direct[name]["p95"] > target]
    print(f"target: p95 under {target:g} ms: {'MISSED by ' + ', '.join(missed) if missed else 'met'}")
    if options.json:
        figures = {"database": options.database, "submissions": options.submissions, "calls": options.calls}
        keep(
            f"records_{options.database}",
            {**figures, "target_p95_ms": target, "unit": "ms", "direct": direct, "http": remote},
        )
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
