"""Talks to a server's API. Standard library only: the command line must start quickly.

Errors of the API come back as the same class of ``grader.errors`` that the server raised, found by its code, so that
message, hint and exit code are the server's own.
"""

from __future__ import annotations

import http.client
import json
import os
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import SplitResult, quote, urlencode, urlsplit

from grader import errors
from grader.cli import login
from grader.cli.proxy import Proxy, proxy_for
from grader.cli.reasons import unreachable

PREFIX = "/api/v1"
# Far above what any answer of the API takes; a server that needs longer is in trouble.
SECONDS = 30.0
# A wait that is told in seconds, too; a longer one by the clock alone.
_SHORT_SECONDS = 600


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
        proxy = proxy_for(self._at)
        target = f"{self._at.path.rstrip('/')}{PREFIX}{path}"
        if proxy is not None and self._at.scheme == "http":
            target = f"http://{self._at.netloc}{target}"
            headers |= proxy.headers
        connection = self._connection(proxy)
        try:
            connection.request(method, target, data, headers)
            answer = connection.getresponse()
            return self._read(answer.status, dict(answer.getheaders()), answer.read())
        except (OSError, http.client.HTTPException) as error:
            raise unreachable(self.server, error, self._seconds, proxy.name if proxy else None) from error
        finally:
            connection.close()

    def _connection(self, proxy: Proxy | None) -> http.client.HTTPConnection:
        host, port = self._at.hostname or "", self._at.port
        secure = self._at.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        if proxy is None:
            return kind(host, port, timeout=self._seconds)
        connection = kind(proxy.host, proxy.port, timeout=self._seconds)
        if secure:
            connection.set_tunnel(host, port, proxy.headers)
        return connection

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
        raise self._as_error(status, told, headers)

    def _stranger(self, status: int, headers: dict[str, str]) -> errors.Unreachable:
        if 300 <= status < 400:
            to = headers.get("Location", "elsewhere")
            return errors.Unreachable(
                f"{self.server} sends us to {to}.", "Name that address: grader login --server ..."
            )
        wants_tls = status == 400 and self._at.scheme == "http"
        return errors.Unreachable(
            f"{self.server} answered (status {status}), but not as a grader server does.",
            "Does it want https://?" if wants_tls else "Check the address: grader doctor",
        )

    def _as_error(self, status: int, told: dict[str, object], headers: dict[str, str]) -> errors.GraderError:
        """The error class with the answered code; for a code we do not know, one that fits the status."""
        known = _kinds(errors.GraderError)
        by_status = {
            401: errors.NotSignedIn,
            403: errors.NotAllowed,
            404: errors.NotFound,
            429: errors.TooMany,
        }
        fallback = by_status.get(status, errors.BadRequest if status < 500 else errors.Unreachable)
        kind = known.get(str(told.get("code")), fallback)
        hint = str(told.get("hint") or "")
        if status == 401 and self._token:
            hint = self._how_to_sign_in_again()
        elif status == 429 and (when := _when_again(headers.get("Retry-After", ""))):
            hint = f"Try again {when}."
        return kind(str(told.get("message", "The server gave no reason.")), hint)

    def _how_to_sign_in_again(self) -> str:
        if os.environ.get("GRADER_TOKEN") == self._token:
            return "It is that of GRADER_TOKEN. Unset it, then: grader login"
        return f"Sign in again: grader login --server {self.server}"


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


def _kinds(base: type[errors.GraderError]) -> dict[str, type[errors.GraderError]]:
    found = {base.code: base}
    for kind in base.__subclasses__():
        found.update(_kinds(kind))
    return found


def _when_again(seconds: str) -> str:
    """``in 34 s, at 14:03:20``; empty where the server does not say."""
    if not seconds.isdecimal():
        return ""
    wait = int(seconds)
    at = datetime.now() + timedelta(seconds=wait)
    return f"in {wait} s, at {at:%H:%M:%S}" if wait < _SHORT_SECONDS else f"at {at:%Y-%m-%d %H:%M}"
