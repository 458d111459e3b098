"""People at their browsers and terminals, cheaply: HTTP/1.1 by hand, so that hundreds fit into one process."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from records import quantiles

from grader.schemas.pace import pace_s, spread
from grader.schemas.submission import SubmissionView

# As live.js: what does not answer for so long is asked again later.
PATIENCE_SECONDS = 30.0
_PACE = re.compile(rb'data-pace="(\d+)"')


@dataclass(frozen=True)
class Answer:
    """``at`` is when it was asked for (monotonic); a status of 0 means that no answer came."""

    status: int
    ms: float
    at: float
    etag: str = ""
    body: bytes = b""


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
        return Answer(status, (time.monotonic() - at) * 1e3, at, headers.get("etag", ""), answer)

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
        """Send a submission, over a connection of its own."""
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
    """Follows one submission to its end: by the page's panel where there is a ``cookie``, else as the command line."""

    def __init__(
        self, line: Line, submission: str, token: str, cookie: str | None, note: Callable[[str, Answer], None]
    ) -> None:
        self._line, self._submission, self._token, self._cookie = line, submission, token, cookie
        self._note = note
        self._etag = ""
        self._pace = 1.0

    async def watch(self, stop: asyncio.Event) -> None:
        """Until ``stop``, from now on. Who has seen the end looks on, at an open page's pace: the number of those who
        poll stays."""
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
    """Answers, by what was asked for."""

    answers: dict[str, list[Answer]] = field(default_factory=dict)
    posted: list[str] = field(default_factory=list)

    def note(self, kind: str, answer: Answer) -> None:
        self.answers.setdefault(kind, []).append(answer)

    def summary(self) -> dict[str, Any]:
        every = [it for answers in self.answers.values() for it in answers]
        return {
            kind: {
                "count": len(answers),
                "per_s": round(len(answers) / (max(it.at for it in every) - min(it.at for it in every)), 1),
                "status": dict(Counter(str(it.status) for it in answers)),
                "ms": quantiles([it.ms for it in answers]),
            }
            for kind, answers in {**self.answers, "all": every}.items()
        }
