"""Every way in which a server is unreachable: message, hint and exit code."""

from __future__ import annotations

import errno
import json
import re
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trustme

from grader import __version__, errors
from grader.cli import config, login
from grader.cli.client import Client
from tests.cli.conftest import Cli
from tests.cli.stub import Stub


def refused(server: str, token: str | None = None) -> errors.GraderError:
    with pytest.raises(errors.GraderError) as caught:
        Client(server, token).get("/health")
    return caught.value


def test_an_unknown_host_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    error = refused("http://grader.example")
    assert "the host name is unknown" in error.message
    assert "VPN" in error.hint


def test_a_missing_network_route_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise OSError(errno.ENETUNREACH, "Network is unreachable")

    monkeypatch.setattr(socket, "create_connection", fail)
    assert "no network route leads there" in refused("http://192.0.2.1").message


def test_a_broken_connection_is_reported(server: Stub) -> None:
    server.hang_ups = 1
    assert "closed the connection without an answer" in refused(server.url).message


@contextmanager
def tls(certificate: trustme.LeafCert) -> Iterator[int]:
    """A port that accepts every handshake, then stays silent."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    certificate.configure_cert(context)
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            try:
                context.wrap_socket(connection, server_side=True).close()
            except OSError:
                connection.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield int(listener.getsockname()[1])
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


def test_an_unknown_certificate_authority_is_reported() -> None:
    with tls(trustme.CA().issue_cert("127.0.0.1")) as port:
        error = refused(f"https://127.0.0.1:{port}")
    assert "its certificate is not trusted" in error.message
    assert "SSL_CERT_FILE" in error.hint


def test_a_certificate_for_another_name_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    with tls(authority.issue_cert("other.example")) as port:
        error = refused(f"https://127.0.0.1:{port}")
    assert "its certificate is not trusted" in error.message
    assert "Use the name" in error.hint


def test_https_to_an_http_server_is_explained(server: Stub) -> None:
    error = refused(server.url.replace("http://", "https://"))
    assert "the TLS connection failed" in error.message
    assert "http://" in error.hint


def test_http_to_an_https_server_is_explained(server: Stub) -> None:
    server.answer("GET /health", b"<html>The plain HTTP request was sent to HTTPS port</html>", 400)
    assert refused(server.url).hint == "Does it want https://?"


def test_a_proxy_is_used(server: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", server.url.replace("http://", "http://ada:p%40ss@"))
    server.answers["GET http://grader.example/api/v1/health"] = (200, b"{}", {})
    assert Client("http://grader.example").get("/health") == {}
    assert server.asked[0].headers["Proxy-Authorization"] == "Basic YWRhOnBAc3M="
    monkeypatch.setenv("NO_PROXY", "grader.example")
    monkeypatch.setattr(
        socket, "create_connection", lambda *_, **__: (_ for _ in ()).throw(OSError("direct"))
    )
    assert "direct" in refused("http://grader.example").message


def test_a_proxy_that_refuses_or_is_away_is_reported(server: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", server.url)
    error = refused("https://grader.example")
    assert re.search(r"the proxy 127\.0\.0\.1:\d+ refused \(501", error.message)
    assert "NO_PROXY" in error.hint
    with socket.create_server(("127.0.0.1", 0)) as probe:
        unused = probe.getsockname()[1]
    monkeypatch.setenv("HTTPS_PROXY", f"127.0.0.1:{unused}")
    error = refused("https://grader.example")
    assert f"the proxy 127.0.0.1:{unused} does not answer (nothing listens there)" in error.message
    monkeypatch.setenv("HTTPS_PROXY", "socks5://[")
    assert refused("https://grader.example").exit_code == errors.EXIT_USAGE


def test_an_expired_token_explains_how_to_sign_in(
    server: Stub, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = errors.NotSignedIn("This token has ended.", "Hm.").as_dict()
    server.answer("GET /submissions", {"error": ended}, 401)
    login.keep(server.url, "ada", "grd_old")
    ran = cli("history")
    assert ran.code == errors.EXIT_NOT_ALLOWED
    assert f"hint:  Sign in again: grader login --server {server.url}" in ran.err
    monkeypatch.setenv("GRADER_TOKEN", "grd_other")
    assert "The token comes from GRADER_TOKEN" in cli("history").err


@pytest.mark.parametrize(
    ("after", "hint"),
    [
        ("34", r"Try again in 34 s, at \d\d:\d\d:\d\d\."),
        ("7200", r"Try again at \d{4}-\d\d-\d\d \d\d:\d\d\."),
        ("soon", r"Wait a minute\."),
    ],
)
def test_too_many_requests_say_when_to_retry(server: Stub, cli: Cli, after: str, hint: str) -> None:
    told = errors.TooMany("Too many requests.", "Wait a minute.").as_dict()
    server.answer("GET /submissions", {"error": told}, 429, {"Retry-After": after})
    ran = cli("history")
    assert ran.code == errors.EXIT_NOT_ALLOWED
    assert re.search(hint, ran.err)


def test_a_server_of_another_version_names_the_version_to_install(server: Stub, cli: Cli) -> None:
    server.answer("GET /submissions", {"submissions": [], "total": "many"})
    server.answer("GET /health", {"ok": True, "version": "9.9.9"})
    ran = cli("history", "--json")
    assert ran.code == errors.EXIT_OUR_FAILURE
    assert json.loads(ran.out)["error"]["code"] == "unreachable"
    assert f"The server is grader 9.9.9, this is {__version__}: pip install 'kernel-grader==9.9.9'" in ran.err
    server.answer("GET /health", {"ok": True, "version": __version__})
    assert "grader doctor" in cli("history").err


def test_an_empty_list_succeeds_and_an_absent_server_fails(
    server: Stub, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answer("GET /submissions", {"submissions": [], "total": 0})
    assert cli("history").code == errors.EXIT_ACCEPTED
    assert cli("watch").code == errors.EXIT_USAGE
    monkeypatch.setenv(config.variable("server"), "http://127.0.0.1:9")
    assert cli("history").code == errors.EXIT_OUR_FAILURE
