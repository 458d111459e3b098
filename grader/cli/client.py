"""Client of a server's API, with the standard library only.

Raises API errors as the class of ``grader.errors`` with their code.
"""

from __future__ import annotations

import base64
import errno
import http.client
import json
import os
import shutil
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar
from urllib.parse import SplitResult, quote, unquote, urlencode, urlsplit

from pydantic import BaseModel, ValidationError

from grader import __version__, errors
from grader.cli import login
from grader.errors import BadRequest, GraderError, Unreachable

PREFIX = "/api/v1"
SECONDS = 30.0
# For a longer wait, only the time of day is given.
_SHORT_SECONDS = 600


class Client:
    """``token`` None: anonymous."""

    def __init__(self, server: str, token: str | None = None, seconds: float = SECONDS) -> None:
        self.server = server.rstrip("/")
        self._token = token
        self._seconds = seconds
        self._at = _parse(self.server)

    def get(self, path: str, **query: object) -> Any:
        """Raises Unreachable, or the server's GraderError."""
        wanted = {key: value for key, value in query.items() if value is not None}
        return self._call("GET", f"{path}?{urlencode(wanted)}" if wanted else path)

    def post(self, path: str, body: object = None, headers: dict[str, str] | None = None) -> Any:
        return self._call("POST", path, body, headers)

    def post_text(self, path: str, text: bytes, kind: str, **query: object) -> Any:
        """``kind``: its media type. Raises as ``get``."""
        headers = {"Accept": "application/json", "Content-Type": kind}
        with self._answer("POST", f"{path}?{urlencode(query)}", text, headers) as answer:
            return self._read(answer.status, dict(answer.getheaders()), answer.read())

    def lines(self, path: str, **query: object) -> list[str]:
        """Of an answer that is not one JSON value. Raises as ``get``."""
        with self._answer("GET", f"{path}?{urlencode(query)}", None, {}) as answer:
            raw = answer.read()
            if answer.status != 200:
                self._read(answer.status, dict(answer.getheaders()), raw)
            return [line for line in raw.decode("utf-8", "replace").split("\n") if line]

    def put(self, path: str, body: object) -> Any:
        return self._call("PUT", path, body)

    def patch(self, path: str, body: object) -> Any:
        return self._call("PATCH", path, body)

    def delete(self, path: str) -> Any:
        return self._call("DELETE", path)

    def download(self, path: str, output: Path, **query: object) -> int:
        """The file appears only when complete. Returns bytes. Raises as ``get``."""
        wanted = {key: value for key, value in query.items() if value is not None}
        partial = output.with_name(f"{output.name}.part")
        target = f"{path}?{urlencode(wanted)}" if wanted else path
        with self._answer("GET", target, None, {}) as answer:
            if answer.status != 200:
                self._read(answer.status, dict(answer.getheaders()), answer.read())
            with _opened(partial) as file:
                shutil.copyfileobj(answer, file)
        size = partial.stat().st_size
        partial.replace(output)
        return size

    def _call(self, method: str, path: str, body: object = None, extra: dict[str, str] | None = None) -> Any:
        headers = {"Accept": "application/json", **(extra or {})}
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body).encode()
        with self._answer(method, path, data, headers) as answer:
            return self._read(answer.status, dict(answer.getheaders()), answer.read())

    @contextmanager
    def _answer(
        self, method: str, path: str, data: bytes | None, headers: dict[str, str]
    ) -> Iterator[http.client.HTTPResponse]:
        """Raises Unreachable."""
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        proxy = proxy_for(self._at)
        target = f"{self._at.path.rstrip('/')}{PREFIX}{path}"
        if proxy is not None and self._at.scheme == "http":
            target = f"http://{self._at.netloc}{target}"
            headers |= proxy.headers
        connection = self._connection(proxy)
        try:
            connection.request(method, target, data, headers)
            yield connection.getresponse()
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
            raise self._no_grader(status, headers) from error
        # Health names the part that is down in a 503.
        if 200 <= status < 300 or (status == 503 and isinstance(answer, dict) and "parts" in answer):
            return answer
        problem = answer.get("error") if isinstance(answer, dict) else None
        if not isinstance(problem, dict):
            raise self._no_grader(status, headers)
        raise self._as_error(status, problem, headers)

    def _no_grader(self, status: int, headers: dict[str, str]) -> Unreachable:
        if 300 <= status < 400:
            to = headers.get("Location", "another address")
            return Unreachable(
                f"{self.server} redirects to {to}.", "Use that address: grader login --server ..."
            )
        wants_tls = status == 400 and self._at.scheme == "http"
        return Unreachable(
            f"{self.server} answered with status {status}, but not as a grader server does.",
            "Does it want https://?" if wants_tls else "Check the address: grader doctor",
        )

    def _as_error(self, status: int, problem: dict[str, object], headers: dict[str, str]) -> GraderError:
        """For an unknown code, a class that fits the status."""
        known = errors.kinds()
        by_status = {
            401: errors.NotSignedIn,
            403: errors.NotAllowed,
            404: errors.NotFound,
            429: errors.TooMany,
        }
        fallback = by_status.get(status, errors.BadRequest if status < 500 else errors.Unreachable)
        kind = known.get(str(problem.get("code")), fallback)
        hint = str(problem.get("hint") or "")
        if status == 401 and self._token:
            hint = self._how_to_sign_in_again()
        elif status == 429 and (when := _when_again(headers.get("Retry-After", ""))):
            hint = f"Try again {when}."
        return kind(str(problem.get("message", "The server gave no reason.")), hint)

    def _how_to_sign_in_again(self) -> str:
        if os.environ.get("GRADER_TOKEN") == self._token:
            return "The token comes from GRADER_TOKEN. Unset it, then: grader login"
        return f"Sign in again: grader login --server {self.server}"


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("wb")
    except OSError as error:
        raise BadRequest(f"{path} cannot be written: {error.strerror}.") from error


def connect() -> Client:
    return Client(login.server(), login.token())


def segment(text: str) -> str:
    return quote(text, safe="")


def _parse(server: str) -> SplitResult:
    try:
        at = urlsplit(server)
        usable = at.scheme in ("http", "https") and bool(at.hostname) and at.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise BadRequest(f"'{server}' is not a server address.", "One looks like http://127.0.0.1:8000.")
    return at


def _when_again(seconds: str) -> str:
    """``in 34 s, at 14:03:20``, or ""."""
    if not seconds.isdecimal():
        return ""
    wait = int(seconds)
    at = datetime.now() + timedelta(seconds=wait)
    return f"in {wait} s, at {at:%H:%M:%S}" if wait < _SHORT_SECONDS else f"at {at:%Y-%m-%d %H:%M}"


_VERSION_SECONDS = 5.0

Model = TypeVar("Model", bound=BaseModel)


def understood(model: type[Model], answer: Any) -> Model:
    """Raises Unreachable for another version or another program."""
    try:
        return model.model_validate(answer)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise Unreachable(
            f"The server's answer has an unexpected form ({model.__name__}.{where}: {first['msg']}).",
            _hint_by_version(),
        ) from error


def _hint_by_version() -> str:
    version = server_version()
    if version is None or version == __version__:
        return f"This is grader {__version__}. Check that the address is a grader server's: grader doctor"
    return f"The server is grader {version}, this is {__version__}: pip install 'kernel-grader=={version}'"


def server_version() -> str | None:
    try:
        health = Client(login.server(), seconds=_VERSION_SECONDS).get("/health")
    except GraderError:
        return None
    return str(health["version"]) if isinstance(health, dict) and "version" in health else None


_NAME_A_SERVER = (
    "`grader up` starts a server here; `grader login --server URL` or GRADER_SERVER names another."
)
_PLAIN = "Does that port speak plain http://? Check the scheme and port of the address."
_NO_NETWORK = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN)
# OpenSSL's error numbers (X509_V_ERR_*).
_EXPIRED, _OTHER_NAME = (10,), (62, 64)


def unreachable(server: str, error: Exception, seconds: float, proxy: str | None) -> Unreachable:
    """``proxy``: ``host:port``."""
    if isinstance(error, TimeoutError):
        return Unreachable(
            f"{server} did not answer within {seconds:g} s.",
            "It may be busy, or a firewall drops the request; try again. "
            f"{_PLAIN if server.startswith('https:') else _NAME_A_SERVER}",
        )
    why, hint = _by_proxy(error, proxy) if proxy else ("", "")
    if not why:
        why, hint = _reason(error)
    return Unreachable(f"{server} cannot be reached: {why}.", hint)


def _by_proxy(error: Exception, proxy: str) -> tuple[str, str]:
    hint = "HTTPS_PROXY and HTTP_PROXY name it; NO_PROXY lists hosts that need none, separated by commas."
    if "Tunnel connection failed" in str(error):
        return f"the proxy {proxy} refused ({str(error).partition(': ')[2]})", hint
    if isinstance(error, (ConnectionError, socket.gaierror)):
        return f"the proxy {proxy} does not answer ({_reason(error)[0]})", hint
    return "", ""


def _reason(error: Exception) -> tuple[str, str]:
    if isinstance(error, ssl.SSLCertVerificationError):
        return _of_certificate(error)
    if isinstance(error, ssl.SSLError):
        return (
            f"the TLS connection failed ({_words(error.reason)})",
            _PLAIN,
        )
    if isinstance(error, ConnectionRefusedError):
        return "nothing listens there", _NAME_A_SERVER
    if isinstance(error, socket.gaierror):
        return (
            "the host name is unknown",
            f"Check the name, your network, and your VPN if it needs one. {_NAME_A_SERVER}",
        )
    if isinstance(error, (ConnectionResetError, http.client.RemoteDisconnected)):
        return (
            "it closed the connection without an answer",
            "It may be restarting, or want https://; try again in a moment.",
        )
    if isinstance(error, OSError) and error.errno in _NO_NETWORK:
        return "no network route leads there", "Check your network, and your VPN if it needs one."
    return str(error) or type(error).__name__, _NAME_A_SERVER


def _of_certificate(error: ssl.SSLCertVerificationError) -> tuple[str, str]:
    why = f"its certificate is not trusted ({error.verify_message.rstrip('.')})"
    if error.verify_code in _EXPIRED:
        return why, "Its staff must renew it; check this machine's date, too."
    if error.verify_code in _OTHER_NAME:
        return why, "Use the name that the certificate is for, or ask its staff to add this one."
    return why, "If its staff gave you a certificate authority's file: set SSL_CERT_FILE to it."


def _words(reason: str | None) -> str:
    return (reason or "unknown").replace("_", " ").lower()


_PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy")
_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")
_PROXY_PORT = 8080


class Proxy(NamedTuple):
    host: str
    port: int
    headers: dict[str, str]

    @property
    def name(self) -> str:
        return f"{self.host}:{self.port}"


def proxy_for(at: SplitResult) -> Proxy | None:
    """None for this machine. Raises BadRequest for a proxy that is not an address."""
    host = at.hostname or ""
    if host in _THIS_MACHINE or not any(name.lower() in _PROXY_VARIABLES for name in os.environ):
        return None  # without the import below
    # Python's own clients use it, too.
    from urllib.request import getproxies_environment, proxy_bypass_environment  # type: ignore[attr-defined]

    found = getproxies_environment()
    address = found.get(at.scheme) or found.get("all")
    if not address or proxy_bypass_environment(host, found):
        return None
    return _parse_proxy(address)


def _parse_proxy(address: str) -> Proxy:
    try:
        parts = urlsplit(address if "://" in address else f"http://{address}")
        host, port = parts.hostname, parts.port or _PROXY_PORT
    except ValueError:
        host, port = None, 0
    if not host or parts.scheme != "http":
        raise BadRequest("HTTP_PROXY or HTTPS_PROXY is not an address.", "One looks like http://HOST:PORT.")
    headers = {}
    if parts.username:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
        headers["Proxy-Authorization"] = f"Basic {base64.b64encode(pair).decode()}"
    return Proxy(host, port, headers)
