"""How long pages take while people read: 20 requests a second over 200 challenges, 2,000 users, 200,000 submissions.

The web as `grader up` starts it. Requests come at fixed times, whether or not earlier ones were answered, over kept
connections, by users of very different diligence, to each page in turn. Also shown: the processor time of a request.

Target: of each page 95 of 100 answers under 100 ms.

Usage: python benchmarks/pages.py [--json] [--database sqlite|postgresql] [--submissions N] [--rate R] [--seconds S]
       [--only PAGE] [--keep FOLDER]

``--keep`` leaves catalogue and database in that folder, and takes them from there the next time.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from itertools import cycle
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from courses import make_catalogue
from crowd import Answer, Connection, Line
from load import cookies_of
from million import CHALLENGES, Crowd, crowd_of, fill
from records import NoWakeUps, quantiles
from results import keep
from serving import cpu_seconds, database, serving
from sqlalchemy import select, text, update

from grader.records.models import ReportRow, SubmissionRow
from grader.service.platform import Platform, open_platform
from grader.settings import Settings
from tests.web import builders

TARGET_MS = 100.0
# Reports as students have them; the others of the database are never read.
_REPORTS = 200
# Requests for each page before timing, so that both processes have read the catalogue.
_WARM = 8


@dataclass(frozen=True)
class Reader:
    """Draws who asks for what. Half of the draws fall on the largest."""

    chance: random.Random
    crowd: Crowd
    cookies: list[str]
    results: list[tuple[int, str]]
    """user's number and submission's id"""

    def number(self) -> int:
        return 0 if self.chance.random() < 0.5 else self.chance.randrange(len(self.cookies) - 1)

    def slug(self) -> str:
        served = self.crowd.served
        return served[0] if self.chance.random() < 0.5 else self.chance.choice(served)


Draw = Callable[[], tuple[str, int]]


def pages(reader: Reader, known: set[str]) -> dict[str, Draw]:
    """Path and who asks for it, by the name of the page; of those only that the application has."""

    def result() -> tuple[str, int]:
        number, submission = reader.chance.choice(reader.results)
        return f"/submissions/{submission}", number

    drawn: dict[str, tuple[str, Draw]] = {
        "home": ("home.index", lambda: ("/", reader.number())),
        "challenge": ("challenges.show", lambda: (f"/challenges/{reader.slug()}", reader.number())),
        "submissions": ("submissions.index", lambda: ("/submissions", reader.number())),
        "result": ("submissions.show", result),
        "leaderboard": (
            "leaderboards.show",
            lambda: (f"/leaderboards/{reader.slug()}?device=h200", reader.number()),
        ),
        "all leaders": ("leaderboards.index", lambda: ("/leaderboards?device=h200", reader.number())),
        "progress": ("progress.show", lambda: ("/progress", reader.number())),
        "profile": (
            "profile.show",
            lambda: (f"/users/{reader.crowd.users[reader.number()]}", reader.number()),
        ),
        "docs": ("docs.index", lambda: ("/docs", reader.number())),
    }
    if "home.index" not in known:
        drawn["home"] = ("challenges.index", drawn["home"][1])
    return {name: draw for name, (endpoint, draw) in drawn.items() if endpoint in known}


@dataclass
class Pool:
    """Connections that nobody uses at the moment: as many are open as requests were ever under way at once."""

    line: Line
    idle: list[Connection] = field(default_factory=list)

    async def ask(self, path: str, cookie: str) -> Answer:
        connection = self.idle.pop() if self.idle else self.line.connection()
        answer = await connection.ask(
            f"GET {path} HTTP/1.1\r\nHost: {self.line.host}\r\nCookie: {cookie}\r\n"
            "Accept-Encoding: gzip\r\n\r\n"
        )
        self.idle.append(connection)
        return answer


async def read(
    line: Line, reader: Reader, named: dict[str, Draw], rate: float, seconds: float
) -> dict[str, list[Answer]]:
    """Open loop: a request each ``1 / rate`` seconds, the pages in turn."""
    heard: dict[str, list[Answer]] = {name: [] for name in named}
    pool = Pool(line)

    async def one(name: str) -> None:
        path, number = named[name]()
        answer = await pool.ask(path, reader.cookies[number])
        if answer.status != 200:
            raise SystemExit(f"{path}: {answer.status}")
        heard[name].append(replace(answer, body=b""))

    for name in named:
        for _ in range(_WARM):
            await one(name)
        heard[name].clear()
    began = time.monotonic()
    names, asked = cycle(named), []
    for number in range(int(rate * seconds)):
        await asyncio.sleep(max(0.0, began + number / rate - time.monotonic()))
        asked.append(asyncio.create_task(one(next(names))))
    await asyncio.gather(*asked)
    return heard


def give_reports(platform: Platform) -> list[tuple[int, str]]:
    """Some accepted submissions get reports of the size that they have in life: two dozen cases, two workloads."""
    report = builders.accepted()
    cases = [
        case.model_copy(update={"name": f"case {number}"})
        for number, case in enumerate((report.cases * 8)[:24])
    ]
    body = report.model_copy(update={"cases": cases}).model_dump_json()
    row = SubmissionRow
    with platform.sessions() as session, session.begin():
        reported = select(ReportRow.submission_id)
        found = session.execute(
            select(row.id, row.user_id, row.public_id)
            .where(row.verdict == "accepted", row.id.in_(reported))
            .limit(_REPORTS)
        ).all()
        # A page may read that of anyone's newest: short ones are enough there, but none may be empty.
        session.execute(update(ReportRow).values(body=builders.not_compiled("error").model_dump_json()))
        session.execute(
            update(ReportRow)
            .where(ReportRow.submission_id.in_([submission.id for submission in found]))
            .values(body=body)
        )
    return [(submission.user_id - 1, submission.public_id) for submission in found]


@contextmanager
def prepared(options: argparse.Namespace) -> Iterator[tuple[Platform, Reader]]:
    """The platform over a full database, and who reads."""
    with ExitStack() as stack:
        folder = options.keep or Path(
            stack.enter_context(
                tempfile.TemporaryDirectory(prefix="gr", dir="/tmp", ignore_cleanup_errors=True)
            )
        )
        url = stack.enter_context(database(options.database, folder))
        catalogue = folder / "catalogue"
        slugs = make_catalogue(catalogue, CHALLENGES) if not catalogue.exists() else _slugs(catalogue)
        slugs.sort(key=lambda slug: slug != "vector_add")
        settings = Settings(
            data_dir=folder / "data",
            database_url=url,
            devices="cpu,h200,t4",
            redis_url="",
            challenges=catalogue,
        )
        platform = replace(open_platform(settings), wakeups=NoWakeUps(""))
        stack.callback(platform.close)
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
        results = give_reports(platform)
        yield platform, Reader(random.Random(1), crowd, cookies_of(platform, crowd.tokens), results)


def _slugs(catalogue: Path) -> list[str]:
    return sorted(path.name for path in (catalogue / "challenges").iterdir() if path.is_dir())


def measure(platform: Platform, reader: Reader, options: argparse.Namespace) -> dict[str, Any]:
    from grader.web.app import create_app

    known = {rule.endpoint for rule in create_app(platform).url_map.iter_rules()}
    named = {name: path for name, path in pages(reader, known).items() if name.startswith(options.only)}
    with serving(platform.settings) as (host, port, web):
        used = cpu_seconds(web)
        heard = asyncio.run(read(Line(host, port), reader, named, options.rate, options.seconds))
        spent = cpu_seconds(web) - used
    count = sum(map(len, heard.values())) + _WARM * len(named)
    return {
        "pages": {name: quantiles([answer.ms for answer in answers]) for name, answers in heard.items()},
        "count": dict(Counter({name: len(answers) for name, answers in heard.items()})),
        "web_cpu_ms_per_request": round(spent / count * 1e3, 2),
        "load_average": round(os.getloadavg()[0], 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--submissions", type=int, default=200_000)
    parser.add_argument("--rate", type=float, default=20.0)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--only", default="", help="only pages whose name begins with this")
    parser.add_argument("--keep", type=Path, default=None)
    options = parser.parse_args()
    with prepared(options) as (platform, reader):
        found = measure(platform, reader, options)
    for name, told in found["pages"].items():
        print(f"  {name:<14} " + "  ".join(f"{key} {value:8.2f} ms" for key, value in told.items()))
    print(
        f"the web computed {found['web_cpu_ms_per_request']} ms for a request; load {found['load_average']}"
    )
    missed = [name for name, told in found["pages"].items() if told["p95"] >= TARGET_MS]
    print(f"target: p95 under {TARGET_MS:g} ms: {'MISSED by ' + ', '.join(missed) if missed else 'met'}")
    if options.json:
        made = {name: getattr(options, name) for name in ("database", "submissions", "rate", "seconds")}
        sizes = {"challenges": len(reader.crowd.served), "users": len(reader.crowd.users)}
        keep(
            f"pages_{options.database}", {**made, **sizes, "target_p95_ms": TARGET_MS, "unit": "ms", **found}
        )
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
