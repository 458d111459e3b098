"""A server for tests of the client, with prepared answers; it records the requests."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from grader.schemas.report import Report
from grader.schemas.submission import State
from tests.cli.reports import view


@dataclass
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Stub:
    """``answers`` maps "METHOD /path" (without the query) to (status, body, headers). The next ``hang_ups``
    calls get no answer.
    """

    url: str = ""
    answers: dict[str, tuple[int, bytes, dict[str, str]]] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    hang_ups: int = 0

    def answer(
        self, what: str, body: object, status: int = 200, headers: dict[str, str] | None = None
    ) -> None:
        """Answer ``what`` ("GET /health") with ``body`` (bytes as they are, else as JSON)."""
        method, path = what.split()
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        kind = {} if isinstance(body, bytes) else {"Content-Type": "application/json"}
        self.answers[f"{method} /api/v1{path}"] = (status, raw, {**kind, **(headers or {})})


@contextmanager
def serving() -> Iterator[Stub]:
    stub = Stub()

    class Handler(BaseHTTPRequestHandler):
        def _respond(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            stub.asked.append(Asked(self.command, self.path, dict(self.headers.items()), body))
            if stub.hang_ups:
                stub.hang_ups -= 1
                self.close_connection = True
                return
            missing = (404, b'{"error": {"code": "not_found", "message": "no such page"}}', {})
            status, raw, headers = stub.answers.get(f"{self.command} {self.path.partition('?')[0]}", missing)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        do_GET = do_POST = do_PUT = do_DELETE = _respond  # noqa: N815 - http.server's names

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    stub.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield stub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def done(server: Stub, report: Report) -> None:
    ended = view(State.DONE, verdict=report.verdict, score=report.score)
    server.answer("POST /submissions", view(State.QUEUED).model_dump(mode="json"), 201)
    server.answer("GET /submissions/abc123", ended.model_dump(mode="json"))
    server.answer("GET /submissions/abc123/report", report.model_dump(mode="json"))
