"""Which ``X-Forwarded-*`` headers are trusted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from flask import Flask, request
from pydantic import ValidationError

from grader.service.platform import open_platform
from grader.web import proxies
from grader.web.app import create_app
from grader.web.proxies import is_proxy
from tests.web import builders

CLIENT, PROXY, OUTER = "203.0.113.9", "10.0.0.5", "10.0.1.6"


def seen(
    folder: Path, headers: dict[str, str], peer: str = PROXY, **values: Any
) -> tuple[str | None, str, str]:
    app = Flask(__name__)
    proxies.init_app(app, builders.make_settings(folder, **values))
    found: list[tuple[str | None, str, str]] = []

    @app.get("/")
    def look() -> str:
        found.append((request.remote_addr, request.scheme, request.host))
        return ""

    assert app.test_client().get("/", headers=headers, environ_base={"REMOTE_ADDR": peer}).status_code == 200
    return found[0]


FULL = {"X-Forwarded-For": CLIENT, "X-Forwarded-Proto": "https", "X-Forwarded-Host": "grader.example"}


def test_a_named_proxy_is_trusted(tmp_path: Path) -> None:
    assert seen(tmp_path, FULL, trusted_proxies="10.0.0.0/24") == (CLIENT, "https", "grader.example")


@pytest.mark.parametrize("peer", ["198.51.100.1", "10.0.1.5", "", "nonsense", "::1"])
def test_a_direct_connection_cannot_forge_headers(tmp_path: Path, peer: str) -> None:
    found = seen(tmp_path, FULL | {"Forwarded": f"for={CLIENT}"}, peer, trusted_proxies="10.0.0.0/24")
    assert found == (peer, "http", "localhost")


def test_a_direct_connection_cannot_forge_headers_with_a_hop_count(tmp_path: Path) -> None:
    found = seen(tmp_path, FULL, "198.51.100.1", trusted_proxies="10.0.0.5", proxies=1)
    assert found == ("198.51.100.1", "http", "localhost")


@pytest.mark.parametrize(
    ("chain", "client"),
    [
        (f"{CLIENT}, {OUTER}", CLIENT),
        (f"192.0.2.66, {CLIENT}, {OUTER}", CLIENT),  # the client's own values are left of its address
        (f"{OUTER}, {CLIENT}, {OUTER}", CLIENT),
        (f"{CLIENT}:4711, [{'::ffff:' + OUTER}]:443", CLIENT),
        (f"{OUTER}, {OUTER}", OUTER),
        ("unknown", PROXY),
        ("", PROXY),
        (",,,", PROXY),
    ],
)
def test_the_rightmost_address_that_is_no_proxy_is_the_client(
    tmp_path: Path, chain: str, client: str
) -> None:
    headers = {"X-Forwarded-For": chain, "X-Forwarded-Proto": "https"}
    found = seen(tmp_path, headers, trusted_proxies=f"{PROXY}, 10.0.1.0/24")
    assert found == (client, "https", "localhost")


def test_a_hop_count_bounds_how_far_is_read(tmp_path: Path) -> None:
    headers = {"X-Forwarded-For": f"{CLIENT}, {OUTER}"}
    found = seen(tmp_path, headers, trusted_proxies="10.0.0.0/8", proxies=1)
    assert found[0] == OUTER


@pytest.mark.parametrize(
    ("values", "proxies", "others"),
    [
        ({}, [], [PROXY]),
        ({"proxies": 1}, [PROXY, CLIENT], []),
        ({"proxies": 1, "trusted_proxies": "10.0.0.0/24"}, [PROXY, f"::ffff:{PROXY}"], [CLIENT, OUTER, ""]),
    ],
)
def test_connections_of_proxies_are_recognised(
    tmp_path: Path, values: dict[str, Any], proxies: list[str], others: list[str]
) -> None:
    settings = builders.make_settings(tmp_path, **values)
    assert all(is_proxy(settings, proxy) for proxy in proxies)
    assert not any(is_proxy(settings, other) for other in others)


@pytest.mark.parametrize("scheme", ["gopher", "https, http", "javascript"])
def test_odd_schemes_do_not_count_as_tls(tmp_path: Path, scheme: str) -> None:
    headers = {"X-Forwarded-For": CLIENT, "X-Forwarded-Proto": scheme}
    assert seen(tmp_path, headers, trusted_proxies=PROXY)[1] == "http"


def test_only_addresses_can_be_named(tmp_path: Path) -> None:
    with pytest.raises(ValidationError):
        builders.make_settings(tmp_path, trusted_proxies="10.0.0.5, proxy.example")


def test_the_application_uses_the_proxy_headers(tmp_path: Path) -> None:
    platform = open_platform(builders.make_settings(tmp_path, trusted_proxies=PROXY))
    client = create_app(platform).test_client()
    for peer, secure in ((PROXY, True), ("198.51.100.1", False)):
        answer = client.get("/sign-in", headers=FULL, environ_base={"REMOTE_ADDR": peer})
        assert ("Strict-Transport-Security" in answer.headers) is secure
    platform.close()
