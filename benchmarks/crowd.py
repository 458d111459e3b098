"""Hundreds of people at browsers and terminals in one process: HTTP/1.1 by hand.

Run by itself: a class signs in behind one address. Half use the form, in a browser with six connections, half ask for
a token as a program does and for a code as `grader login` does. Meanwhile somebody at that address guesses passwords
of 50 other accounts.

Target: everybody signs in at once, no connection is dropped, and the guesses that are checked stay within the limits.

Usage: python benchmarks/crowd.py [--json] [--people N] [--seconds S] [--server NAME ... [--rounds N]]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from records import quantiles
from results import keep
from serving import add_servers, compare, serving
from sqlalchemy import insert

from grader import limits
from grader.queue.embedded import start_redis
from grader.records.models import UserRow
from grader.schemas.pace import pace_s, spread
from grader.schemas.submission import SubmissionView
from grader.service.accounts.accounts import hash_password
from grader.service.platform import Platform, open_platform
from grader.settings import Settings

# As in live.js: a request without an answer after this is repeated later.
PATIENCE_SECONDS = 30.0
_PACE = re.compile(rb'data-pace="(\d+)"')
_CSRF = re.compile(rb'name="csrf_token"[^>]*value="([^"]+)"')
PASSWORD = "correct horse battery"
# Of a browser to one server.
CONNECTIONS = 6
GUESSED_ACCOUNTS = 50


@dataclass(frozen=True)
class Answer:
    """``at`` is when it was asked for (monotonic); a status of 0 means that no answer came."""

    status: int
    ms: float
    at: float
    etag: str = ""
    body: bytes = b""
    cookie: str = ""


@dataclass(frozen=True)
class Post:
    token: str
    body: bytes
    key: str


class Connection:
    """One connection; opened again where the server has closed it meanwhile."""

    def __init__(self, host: str, port: int) -> None:
        self._at = (host, port)
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, head: str, body: bytes = b"") -> Answer:
        """One request and its answer, timed from the first byte (or the connecting) to the last."""
        at = time.monotonic()
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                status, headers, answer = await self._ask(head.encode() + body)
        except (OSError, asyncio.IncompleteReadError, TimeoutError):
            self.close()
            return Answer(0, (time.monotonic() - at) * 1e3, at)
        return Answer(
            status,
            (time.monotonic() - at) * 1e3,
            at,
            headers.get("etag", ""),
            answer,
            headers.get("set-cookie", ""),
        )

    async def _ask(self, request: bytes) -> tuple[int, dict[str, str], bytes]:
        fresh = self._streams is None
        if self._streams is None:
            self._streams = await asyncio.open_connection(*self._at)
        reader, writer = self._streams
        try:
            writer.write(request)
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        except (OSError, asyncio.IncompleteReadError):
            self.close()
            if fresh:
                raise
            return await self._ask(request)  # an idle connection ends after a while: browsers do the same
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:])}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        if headers.get("connection", "").lower() == "close":
            self.close()
        return int(head[0].split(" ")[1]), headers, body

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


class Line:
    """Where the server is, and the ways to ask it."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port

    def connection(self) -> Connection:
        return Connection(self.host, self.port)

    async def post(self, post: Post) -> Answer:
        """Send a submission over a new connection."""
        connection = self.connection()
        head = (
            f"POST /api/v1/submissions HTTP/1.1\r\nHost: {self.host}\r\nAuthorization: Bearer {post.token}\r\n"
            f"Idempotency-Key: {post.key}\r\nContent-Type: application/json\r\nConnection: close\r\n"
            f"Content-Length: {len(post.body)}\r\n\r\n"
        )
        answer = await connection.ask(head, post.body)
        connection.close()
        return answer


class Watcher:
    """Follows one submission to its end: by the page's panel with a ``cookie``, else as the command line does."""

    def __init__(
        self, line: Line, submission: str, token: str, cookie: str | None, note: Callable[[str, Answer], None]
    ) -> None:
        self._line, self._submission, self._token, self._cookie = line, submission, token, cookie
        self._note = note
        self._etag = ""
        self._pace = 1.0

    async def watch(self, stop: asyncio.Event) -> None:
        """Polls until ``stop``, after the end at an open page's pace, so that the number of pollers is constant."""
        connection = self._line.connection()
        pause = 0.0
        while not stop.is_set():
            try:
                await asyncio.wait_for(stop.wait(), pause)
                break
            except TimeoutError:
                pass
            if self._cookie:
                await self._look_at_panel(connection)
            else:
                await self._look_by_command()
            pause = spread(self._pace)
        connection.close()

    async def _look_at_panel(self, connection: Connection) -> None:
        known = f"If-None-Match: {self._etag}\r\n" if self._etag else ""
        answer = await connection.ask(
            f"GET /submissions/{self._submission}/panel HTTP/1.1\r\nHost: {self._line.host}\r\n"
            f"Cookie: {self._cookie}\r\n{known}\r\n"
        )
        self._note("panel", answer)
        self._etag = answer.etag or self._etag
        if named := _PACE.search(answer.body):
            self._pace = int(named[1]) / 1e3

    async def _look_by_command(self) -> None:
        connection = self._line.connection()
        answer = await connection.ask(
            f"GET /api/v1/submissions/{self._submission} HTTP/1.1\r\nHost: {self._line.host}\r\n"
            f"Authorization: Bearer {self._token}\r\nConnection: close\r\n\r\n"
        )
        connection.close()
        self._note("status", answer)
        if answer.status == 200:
            self._pace = pace_s(SubmissionView.model_validate(json.loads(answer.body)))


@dataclass
class Heard:
    """Answers by kind of request."""

    answers: dict[str, list[Answer]] = field(default_factory=dict)
    posted: list[str] = field(default_factory=list)

    def note(self, kind: str, answer: Answer) -> None:
        self.answers.setdefault(kind, []).append(answer)

    def summary(self) -> dict[str, Any]:
        every = [answer for answers in self.answers.values() for answer in answers]
        return {
            kind: {
                "count": len(answers),
                "per_s": round(
                    len(answers) / (max(answer.at for answer in every) - min(answer.at for answer in every)),
                    1,
                ),
                "status": dict(Counter(str(answer.status) for answer in answers)),
                "ms": quantiles([answer.ms for answer in answers]),
            }
            for kind, answers in {**self.answers, "all": every}.items()
        }


class Pupil:
    """Somebody of the class."""

    def __init__(self, line: Line, name: str, heard: Heard) -> None:
        self._line, self._name, self._heard = line, name, heard

    async def sign_in_by_form(self) -> None:
        connections = [self._line.connection() for _ in range(CONNECTIONS)]
        opened = await asyncio.gather(*(self._get(connection, "/sign-in") for connection in connections))
        for answer in opened:
            self._heard.note("open the form", answer)
        found = _CSRF.search(opened[0].body)
        form = {"name": self._name, "password": PASSWORD, "csrf_token": found[1].decode() if found else ""}
        cookie = opened[0].cookie.partition(";")[0]
        kind = "application/x-www-form-urlencoded"
        sent = await self._post(connections[0], "/sign-in", urlencode(form), kind, f"Cookie: {cookie}\r\n")
        self._heard.note("sign in by the form", sent)
        for connection in connections:
            connection.close()

    async def sign_in_by_program(self) -> None:
        connection = self._line.connection()
        for kind, path, body in (
            ("ask for a code", "/api/v1/device-codes", {}),
            ("ask for a token", "/api/v1/tokens", {"name": self._name, "password": PASSWORD}),
        ):
            answer = await self._post(connection, path, json.dumps(body), "application/json")
            self._heard.note(kind, answer)
        connection.close()

    async def guess(self, stop: asyncio.Event) -> None:
        """Until ``stop``, as fast as answers come."""
        connection, number = self._line.connection(), 0
        while not stop.is_set():
            body = {"name": f"guessed{number % GUESSED_ACCOUNTS}", "password": f"guess {number}"}
            answer = await self._post(connection, "/api/v1/tokens", json.dumps(body), "application/json")
            self._heard.note("guess", answer)
            number += 1
        connection.close()

    async def _get(self, connection: Connection, path: str) -> Answer:
        return await connection.ask(f"GET {path} HTTP/1.1\r\nHost: {self._line.host}\r\n\r\n")

    async def _post(
        self, connection: Connection, path: str, body: str, kind: str, headers: str = ""
    ) -> Answer:
        head = (
            f"POST {path} HTTP/1.1\r\nHost: {self._line.host}\r\n{headers}Content-Type: {kind}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        return await connection.ask(head, body.encode())


async def lesson(line: Line, people: int, seconds: float) -> Heard:
    """All of them sign in within that time, evenly."""
    heard, stop = Heard(), asyncio.Event()
    neighbour = asyncio.create_task(Pupil(line, "", heard).guess(stop))
    signing_in = []
    began = time.monotonic()
    for number in range(people):
        await asyncio.sleep(max(0.0, began + number * seconds / people - time.monotonic()))
        pupil = Pupil(line, f"pupil{number}", heard)
        work = pupil.sign_in_by_program() if number % 2 else pupil.sign_in_by_form()
        signing_in.append(asyncio.create_task(work))
    await asyncio.gather(*signing_in)
    stop.set()
    await neighbour
    return heard


def enrol(platform: Platform, people: int) -> None:
    """Accounts with one password, which is hashed once."""
    hashed = hash_password(PASSWORD)
    names = [f"pupil{n}" for n in range(people)] + [f"guessed{n}" for n in range(GUESSED_ACCOUNTS)]
    rows = [{"name": name, "name_key": name, "password_hash": hashed, "role": "student"} for name in names]
    with platform.sessions() as session, session.begin():
        session.execute(insert(UserRow), rows)


def run(options: argparse.Namespace, server: str) -> tuple[dict[str, Any], bool]:
    with ExitStack() as stack:
        made = tempfile.TemporaryDirectory(prefix="gr", dir="/tmp", ignore_cleanup_errors=True)
        data = Path(stack.enter_context(made)) / "data"
        redis = stack.enter_context(start_redis(Settings(data_dir=data, redis_url="")))
        settings = Settings(data_dir=data, redis_url=redis.url, devices="cpu", box="local")
        platform = open_platform(settings)
        stack.callback(platform.close)
        enrol(platform, options.people)
        host, port, _ = stack.enter_context(serving(settings, server))
        print(f"{server}: ready, load {os.getloadavg()[0]:.1f}", flush=True)
        heard = asyncio.run(lesson(Line(host, port), options.people, options.seconds))
    answers = heard.summary()
    for kind, told in answers.items():
        print(f"{kind:<20} {told['count']:>6}, {told['status']}, ms {told['ms']}")
    half = options.people // 2
    wanted = {
        "open the form": {"200": CONNECTIONS * (options.people - half)},
        "sign in by the form": {"303": options.people - half},
        "ask for a code": {"201": half},
        "ask for a token": {"201": half},
    }
    checked = answers["guess"]["status"].get("401", 0)
    most = limits.WRONG_PASSWORDS_PER_HOUR + GUESSED_ACCOUNTS * limits.WRONG_PASSWORDS_REGARDLESS
    met = all(answers[kind]["status"] == statuses for kind, statuses in wanted.items()) and checked <= most
    print(f"guesses that were checked: {checked}; target: {'met' if met else 'MISSED'}")
    figures = {"people": options.people, "seconds": options.seconds, "answers": answers, "checked": checked}
    return figures, met


def main() -> None:
    parser = argparse.ArgumentParser(
        description="A class signs in behind one address, where somebody guesses."
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--people", type=int, default=150)
    parser.add_argument("--seconds", type=float, default=20.0)
    add_servers(parser)
    options = parser.parse_args()
    if options.server:
        compare("crowd", options, lambda server: run(options, server))
    figures, met = run(options, "ours")
    if options.json:
        keep("crowd", figures)
    sys.exit(not met)


if __name__ == "__main__":
    main()
