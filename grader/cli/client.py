"""Talks to a server's API. Standard library only: the command line must start quickly.

Errors of the API come back as the same class of ``grader.errors`` that the server raised, found by its code, so that
message, hint and exit code are the server's own.
"""

from __future__ import annotations

import http.client
import json
import socket
from typing import Any
from urllib.parse import SplitResult, quote, urlencode, urlsplit

from grader import errors
from grader.cli import login

PREFIX = "/api/v1"
# Far above what any answer of the API takes; a server that needs longer is in trouble.
SECONDS = 30.0


class Client:
    """One server. ``token`` None means anonymous."""

    def __init__(self, server: str, token: str | None = None, seconds: float = SECONDS) -> None:
        self.server = server.rstrip("/")
        self._token = token
        self._seconds = seconds
        self._at = _parse(self.server)

    def get(self, path: str, **query: object) -> Any:
        """The JSON at ``path``. Raises Unreachable, or the GraderError that the server answered with."""
        wanted = {key: value for key, value in query.items() if value is not None}
        return self._call("GET", f"{path}?{urlencode(wanted)}" if wanted else path)

    def post(self, path: str, body: object = None, headers: dict[str, str] | None = None) -> Any:
        return self._call("POST", path, body, headers)

    def delete(self, path: str) -> Any:
        return self._call("DELETE", path)

    def _call(self, method: str, path: str, body: object = None, extra: dict[str, str] | None = None) -> Any:
        headers = {"Accept": "application/json", **(extra or {})}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body).encode()
        connection = self._connection()
        try:
            connection.request(method, f"{self._at.path.rstrip('/')}{PREFIX}{path}", data, headers)
            answer = connection.getresponse()
            return self._read(answer.status, dict(answer.getheaders()), answer.read())
        except TimeoutError as error:
            raise errors.Unreachable(
                f"{self.server} did not answer within {self._seconds:g} s.", _MEND
            ) from error
        except (OSError, http.client.HTTPException) as error:
            raise errors.Unreachable(f"{self.server} cannot be reached: {_why(error)}.", _MEND) from error
        finally:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        host = self._at.hostname or ""
        if self._at.scheme == "https":
            return http.client.HTTPSConnection(host, self._at.port, timeout=self._seconds)
        return http.client.HTTPConnection(host, self._at.port, timeout=self._seconds)

    def _read(self, status: int, headers: dict[str, str], raw: bytes) -> Any:
        if status == 204:
            return None
        try:
            answer = json.loads(raw)
        except ValueError as error:
            raise self._stranger(status, headers) from error
        # Health answers 503 with its whole body where a part is away: the body says which.
        if 200 <= status < 300 or (status == 503 and isinstance(answer, dict) and "parts" in answer):
            return answer
        told = answer.get("error") if isinstance(answer, dict) else None
        if not isinstance(told, dict):
            raise self._stranger(status, headers)
        raise _as_error(status, told)

    def _stranger(self, status: int, headers: dict[str, str]) -> errors.Unreachable:
        if 300 <= status < 400:
            to = headers.get("Location", "elsewhere")
            return errors.Unreachable(
                f"{self.server} sends us to {to}.", "Name that address: grader login --server ..."
            )
        return errors.Unreachable(
            f"{self.server} answered (status {status}), but not as a grader server does.",
            "Check the address: grader doctor",
        )


_MEND = "`grader up` starts a server here; `grader login --server URL` or GRADER_SERVER names another."


def connect() -> Client:
    """The client of the server that environment or login name."""
    return Client(login.server(), login.token())


def segment(text: str) -> str:
    """``text`` as one segment of a path."""
    return quote(text, safe="")


def _parse(server: str) -> SplitResult:
    try:
        at = urlsplit(server)
        usable = at.scheme in ("http", "https") and bool(at.hostname) and at.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise errors.BadRequest(f"'{server}' is no server address.", "One looks like http://127.0.0.1:8000.")
    return at


def _why(error: Exception) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "nothing listens there"
    if isinstance(error, socket.gaierror):
        return "there is no such host"
    return str(error) or type(error).__name__


def _kinds(base: type[errors.GraderError]) -> dict[str, type[errors.GraderError]]:
    found = {base.code: base}
    for kind in base.__subclasses__():
        found.update(_kinds(kind))
    return found


def _as_error(status: int, told: dict[str, object]) -> errors.GraderError:
    """The error class with the answered code; for a code we do not know, one that fits the status."""
    known = _kinds(errors.GraderError)
    by_status = {401: errors.NotSignedIn, 403: errors.NotAllowed, 404: errors.NotFound, 429: errors.TooMany}
    fallback = by_status.get(status, errors.BadRequest if status < 500 else errors.Unreachable)
    kind = known.get(str(told.get("code")), fallback)
    return kind(str(told.get("message", "The server gave no reason.")), str(told.get("hint") or ""))
