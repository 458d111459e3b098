"""The proxy that leads to a server, by the variables that every program knows: HTTP_PROXY, HTTPS_PROXY, NO_PROXY."""

from __future__ import annotations

import base64
import os
from typing import NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

from grader.errors import BadRequest

_VARIABLES = ("http_proxy", "https_proxy", "all_proxy")
_HERE = ("localhost", "127.0.0.1", "::1")
_USUAL_PORT = 8080


class Proxy(NamedTuple):
    host: str
    port: int
    headers: dict[str, str]

    @property
    def name(self) -> str:
        return f"{self.host}:{self.port}"


def proxy_for(at: SplitResult) -> Proxy | None:
    """The proxy on the way to ``at``; None for this machine, and where none is named. Raises BadRequest for one that
    is no address."""
    host = at.hostname or ""
    if host in _HERE or not any(name.lower() in _VARIABLES for name in os.environ):
        return None  # most name none, and pay nothing for those that do
    # Documented nowhere and known to no stub, but what all of Python's own clients go by.
    from urllib.request import getproxies_environment, proxy_bypass_environment  # type: ignore[attr-defined]

    found = getproxies_environment()
    address = found.get(at.scheme) or found.get("all")
    if not address or proxy_bypass_environment(host, found):
        return None
    return _parsed(address)


def _parsed(address: str) -> Proxy:
    try:
        parts = urlsplit(address if "://" in address else f"http://{address}")
        host, port = parts.hostname, parts.port or _USUAL_PORT
    except ValueError:
        host, port = None, 0
    if not host or parts.scheme != "http":
        raise BadRequest("The proxy that HTTP_PROXY or HTTPS_PROXY names is no address.", "http://HOST:PORT")
    headers = {}
    if parts.username:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
        headers["Proxy-Authorization"] = f"Basic {base64.b64encode(pair).decode()}"
    return Proxy(host, port, headers)
