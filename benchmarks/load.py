"""An hour before the deadline: 500 users post 1,000 submissions in 60 s, 300 people follow theirs, two workers judge.

Web by gunicorn, Redis and workers as `grader up` starts them, all on this machine, with rate limits on. Half of the
watchers ask for the page's panel as ``live.js`` does (a kept connection, the ETag, the pace that the answer names),
half for the submission as ``grader watch`` does; each has a submission in the queue before the minute begins. Posts
and looks are timed from this process, which has priority over all others if it may (as root). Afterwards the queue
runs empty, and SQL shows whether each submission ended once, with its true verdict.

Target: none lost, none judged twice, 99 of 100 answers of the API under 300 ms.

Usage: python benchmarks/load.py [--json] [--database sqlite|postgresql] [--judge real|stand-in] [--box auto|local|...]
       [--users N] [--posts N] [--watchers N] [--seconds S] [--drain-s S] [--server NAME ... [--rounds N]]

``--judge stand-in`` accepts everything at once, for a quick look. ``--drain-s 0`` does not wait for the queue, and
checks only what has ended.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from crowd import Heard, Line, Post, Watcher
from results import keep
from serving import add_servers, compare, cpu_seconds, database, memory_mib, serving
from sqlalchemy import func, insert, select

from grader.cli.config import environment
from grader.queue.embedded import start_redis
from grader.records.models import ReportRow, SubmissionRow, TokenRow, UserRow, utcnow
from grader.schemas.report import Verdict
from grader.schemas.submission import State
from grader.service.operation.health import health
from grader.service.platform import Platform, open_platform
from grader.settings import Settings
from grader.web.app import create_app
from grader.web.auth.sessions import COOKIE, TOKEN_KEY

SLUG = "vector_add"
# A student's slip that Python tells at once: judged for real, in a box, and sooner than anything that runs.
SOURCE = "import triton\n\n\ndef solve(a, b, out, n)\n    pass  # {number}\n"
EXPECTED = {"real": Verdict.COMPILE_ERROR, "stand-in": Verdict.ACCEPTED}
TARGET_MS = 300.0
READY_SECONDS = 300.0
WORKERS = 2
# For submissions before the minute begins.
AT_ONCE = 8


async def crowd(options: argparse.Namespace, line: Line, tokens: list[str], cookies: list[str]) -> Heard:
    """Those who wait submit, and look from then on; then the minute itself."""
    heard, stop = Heard(), asyncio.Event()
    few, watching = asyncio.Semaphore(AT_ONCE), []

    async def hand_in(number: int) -> None:
        own = options.users + number
        async with few:
            submission = await _post(heard, line, tokens[own], 10**6 + number)
        if submission:
            cookie = cookies[number] if number % 2 else None
            watcher = Watcher(line, submission, tokens[own], cookie, heard.note)
            watching.append(asyncio.create_task(watcher.watch(stop)))

    await asyncio.gather(*(hand_in(number) for number in range(options.watchers)))
    heard.answers.clear()
    began = time.monotonic()
    posting = []
    for number in range(options.posts):
        await asyncio.sleep(max(0.0, began + number * options.seconds / options.posts - time.monotonic()))
        posting.append(asyncio.create_task(_post(heard, line, tokens[number % options.users], number)))
    await asyncio.gather(*posting)
    await asyncio.sleep(max(0.0, began + options.seconds - time.monotonic()))
    stop.set()
    await asyncio.gather(*watching)
    return heard


async def _post(heard: Heard, line: Line, token: str, number: int) -> str:
    """Its id, or empty if it was refused."""
    body = {"challenge": SLUG, "source": SOURCE.format(number=number), "filename": "solution.py"}
    answer = await line.post(Post(token, json.dumps(body).encode(), f"load-{number}"))
    heard.note("post", answer)
    if answer.status != 201:
        return ""
    heard.posted.append(str(json.loads(answer.body)["id"]))
    return heard.posted[-1]


def people(platform: Platform, count: int) -> list[str]:
    """Users and their tokens. Made here: hashing passwords is no part of the minute."""
    tokens = [f"grd_load-{number}" for number in range(count)]
    ends, now = utcnow() + timedelta(days=1), utcnow()
    with platform.sessions() as session, session.begin():
        session.execute(
            insert(UserRow),
            [
                {
                    "id": 1000 + n,
                    "name": f"student{n}",
                    "name_key": f"student{n}",
                    "password_hash": "-",
                    "role": "student",
                }
                for n in range(count)
            ],
        )
        session.execute(
            insert(TokenRow),
            [
                {
                    "user_id": 1000 + n,
                    "sha256": hashlib.sha256(token.encode()).hexdigest(),
                    "label": "load",
                    "expires_at": ends,
                    "last_used_at": now,
                }
                for n, token in enumerate(tokens)
            ],
        )
    return tokens


def cookies_of(platform: Platform, tokens: list[str]) -> list[str]:
    """Session cookies, as signing in makes them."""
    app = create_app(platform)
    signer = app.session_interface.get_signing_serializer(app)  # type: ignore[attr-defined]
    return [
        f"{COOKIE}={signer.dumps({TOKEN_KEY: token, '_permanent': True, 'csrf_token': '0' * 40})}"
        for token in tokens
    ]


@contextmanager
def workers(settings: Settings, platform: Platform, kind: str) -> Iterator[None]:
    own = [sys.executable, __file__, "--stand-in-worker"]
    command = (
        own if kind == "stand-in" else [sys.executable, "-m", "grader.cli.main", "worker", "--device", "cpu"]
    )
    with ExitStack() as stack:
        for _ in range(WORKERS):
            process = subprocess.Popen(command, env=environment(settings), stderr=subprocess.DEVNULL)
            stack.callback(process.wait)
            stack.callback(process.terminate)
        deadline = time.monotonic() + READY_SECONDS
        while f"cpu: {WORKERS} alive" not in health(platform).parts["workers"].detail:
            if time.monotonic() > deadline:
                raise SystemExit(f"the workers did not start: {health(platform)}")
            time.sleep(0.2)
        yield


def stand_in() -> None:
    """A worker whose judge accepts everything."""
    from grader.queue.worker import run_worker
    from tests.queue.fakes import FakeCompiler, FakeJudge, NoBoxes

    run_worker(Settings(device="cpu"), judge=FakeJudge(), boxes=NoBoxes(), compiler=FakeCompiler())


def unfinished(platform: Platform) -> int:
    row = SubmissionRow
    with platform.sessions() as session:
        return session.scalar(select(func.count()).where(row.finished_at.is_(None))) or 0


def drain(platform: Platform, seconds: float) -> float:
    began = time.monotonic()
    while unfinished(platform) and time.monotonic() - began < seconds:
        time.sleep(0.5)
    return time.monotonic() - began


def audit(platform: Platform, posted: list[str], expected: Verdict) -> dict[str, int]:
    """What SQL says of everything that was answered with 201."""
    row = SubmissionRow
    with platform.sessions() as session:
        rows = {
            found.public_id: found
            for found in session.execute(
                select(row.id, row.public_id, row.state, row.verdict, row.attempt, row.failures)
            )
        }
        reports = Counter(session.scalars(select(ReportRow.submission_id)))
    mine = [rows[public_id] for public_id in posted if public_id in rows]
    done = [submission for submission in mine if submission.state is State.DONE]
    return {
        "posted": len(posted),
        "posted_twice": len(posted) - len(set(posted)),
        "lost": len(set(posted) - set(rows)),
        "never_asked_for": len(set(rows) - set(posted)),
        "done": len(done),
        "waiting": sum(not submission.state.final for submission in mine),
        "ended_otherwise": sum(
            submission.state.final and submission.state is not State.DONE for submission in mine
        ),
        "other_verdict": sum(submission.verdict is not expected for submission in done),
        "judged_twice": sum(submission.attempt != 1 or reports[submission.id] != 1 for submission in done),
        "our_failures": sum(submission.failures for submission in mine),
    }


def run(options: argparse.Namespace, server: str = "ours") -> tuple[dict[str, Any], bool]:
    with ExitStack() as stack:
        folder = Path(
            stack.enter_context(
                tempfile.TemporaryDirectory(prefix="gr", dir="/tmp", ignore_cleanup_errors=True)
            )
        )
        url = stack.enter_context(database(options.database, folder))
        data = folder / "data"
        redis = stack.enter_context(start_redis(Settings(data_dir=data, redis_url="")))
        settings = Settings(
            data_dir=data, database_url=url, redis_url=redis.url, devices="cpu", box=options.box
        )
        platform = open_platform(settings)
        stack.callback(platform.close)
        tokens = people(platform, options.users + options.watchers)
        cookies = cookies_of(platform, tokens[options.users :])
        # Before the workers, as a person would start them later on other hosts: nothing is judged before it is there.
        host, port, web = stack.enter_context(serving(settings, server))
        stack.enter_context(workers(settings, platform, options.judge))
        print(f"{server}: ready, load {os.getloadavg()[0]:.1f}", flush=True)
        # In reality the crowd is on other machines: it must not wait for the judges here.
        with suppress(PermissionError):
            os.nice(-10)
        used, used_by_web = os.times(), cpu_seconds(web)
        heard = asyncio.run(crowd(options, Line(host, port), tokens, cookies))
        spent, spent_by_web = os.times(), cpu_seconds(web)
        memory = memory_mib(web)
        waited = drain(platform, options.drain_s)
        checked = audit(platform, heard.posted, EXPECTED[options.judge])
    answers = heard.summary()
    figures = {
        **{
            name: getattr(options, name)
            for name in ("database", "judge", "box", "users", "posts", "watchers", "seconds")
        },
        "workers": WORKERS,
        "answers": answers,
        "generator_cpu_s": round(spent.user + spent.system - used.user - used.system, 2),
        "web_cpu_s": round(spent_by_web - used_by_web, 2),
        "web_memory_mib": memory,
        "load_average": round(os.getloadavg()[0], 1),
        "drained_s": round(waited, 1),
        "audit": checked,
        "target_p99_ms": TARGET_MS,
    }
    wrong = ("posted_twice", "lost", "never_asked_for", "ended_otherwise", "other_verdict", "judged_twice")
    complete = checked["posted"] == options.posts + options.watchers and (
        not checked["waiting"] or not options.drain_s
    )
    met = complete and not any(checked[name] for name in wrong) and answers["all"]["ms"]["p99"] < TARGET_MS
    return figures, met


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--judge", choices=["real", "stand-in"], default="real")
    parser.add_argument("--box", default="auto")
    parser.add_argument("--users", type=int, default=500)
    parser.add_argument("--posts", type=int, default=1000)
    parser.add_argument("--watchers", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--drain-s", type=float, default=7200.0)
    parser.add_argument("--stand-in-worker", action="store_true", help=argparse.SUPPRESS)
    add_servers(parser)
    options = parser.parse_args()
    if options.stand_in_worker:
        stand_in()
        return
    if options.server:
        compare(f"load_{options.database}", options, lambda server: run(options, server))
    figures, met = run(options)
    for kind, told in figures["answers"].items():
        print(f"{kind:<8} {told['count']:>6}, {told['per_s']:>6} a second, {told['status']}, ms {told['ms']}")
    print(f"in SQL: {figures['audit']}; the queue was empty {figures['drained_s']} s after the minute")
    print(
        f"of processor the web used {figures['web_cpu_s']} s, the generator {figures['generator_cpu_s']} s; "
        f"load {figures['load_average']}"
    )
    print(f"target: {'met' if met else 'MISSED'}")
    if options.json:
        keep(f"load_{options.database}", figures)
    sys.exit(not met)


if __name__ == "__main__":
    main()
