"""Trusted X-Forwarded-* headers: of ``GRADER_TRUSTED_PROXIES``, or ``GRADER_PROXIES`` hops. A number alone trusts
every client; with addresses, other requests lose these headers."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from flask import Flask
from werkzeug.middleware.proxy_fix import ProxyFix

from grader import limits

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

    from grader.settings import Settings

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Networks = list[ipaddress.IPv4Network | ipaddress.IPv6Network]

_CLIENT, _SCHEME, _HOST = "HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO", "HTTP_X_FORWARDED_HOST"
_PREFIX = "HTTP_X_FORWARDED_"
_MOST_HOPS = 16


def init_app(app: Flask, settings: Settings) -> None:
    inner: Any = app.wsgi_app
    if settings.trusted_proxies:
        app.wsgi_app = NamedProxies(inner, settings.networks, settings.proxies or _MOST_HOPS)  # type: ignore[method-assign]
    elif hops := settings.proxies:
        app.wsgi_app = ProxyFix(inner, x_for=hops, x_proto=hops, x_host=hops)  # type: ignore[method-assign]


def is_proxy(settings: Settings, address: str) -> bool:
    """Counted proxies may have any address."""
    if not settings.trusted_proxies:
        return settings.proxies > 0
    found = parse_address(address)
    return found is not None and any(found in network for network in settings.networks)


class NamedProxies:
    """From right to left while our proxies wrote the values, at most ``hops``."""

    def __init__(self, inner: WSGIApplication, networks: Networks, hops: int) -> None:
        self._inner = inner
        self._networks = networks
        self._hops = hops

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if self._ours(environ.get("REMOTE_ADDR", "")):
            self._believe(environ)
        for name in [each for each in environ if each.startswith(_PREFIX)] + ["HTTP_FORWARDED"]:
            environ.pop(name, None)
        return self._inner(environ, start_response)

    def _believe(self, environ: WSGIEnvironment) -> None:
        chain = _values(environ, _CLIENT)
        hops = 1
        while hops < min(self._hops, len(chain)) and self._ours(chain[-hops]):
            hops += 1
        if chain and (client := parse_address(chain[-hops])):
            environ["REMOTE_ADDR"] = str(client)
        # Only our outermost proxy knows how the client connected.
        scheme = _told(_values(environ, _SCHEME), hops)
        if scheme in ("http", "https"):
            environ["wsgi.url_scheme"] = scheme
        if host := _told(_values(environ, _HOST), hops):
            environ["HTTP_HOST"] = host

    def _ours(self, text: str) -> bool:
        found = parse_address(text)
        return found is not None and any(found in network for network in self._networks)


def _values(environ: WSGIEnvironment, name: str) -> list[str]:
    return [part.strip() for part in environ.get(name, "").split(",") if part.strip()]


def _told(values: list[str], hops: int) -> str:
    return values[-min(hops, len(values))] if values else ""


def parse_address(text: str) -> Address | None:
    """With a port, in brackets, or IPv4 within IPv6."""
    bare = text.strip()
    if bare.startswith("["):
        bare = bare[1:].partition("]")[0]
    elif bare.count(":") == 1:
        bare = bare.partition(":")[0]
    try:
        found = ipaddress.ip_address(bare)
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


def client_of(address: str | None) -> str:
    """IPv4, or an IPv6 /64. Anything else is one client."""
    found = parse_address(address or "")
    if isinstance(found, ipaddress.IPv6Address):
        return str(ipaddress.IPv6Network((int(found), limits.IPV6_CLIENT_BITS), strict=False))
    return str(found or "unknown")
