"""The server process: listens, serves, refuses exposure, and ends on a signal."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from grader.errors import EXIT_USAGE, NotAllowed
from grader.web.server import main, serve
from tests.web import builders


def start(folder: Path, **values: str) -> subprocess.Popen[str]:
    environment = {
        **os.environ,
        "GRADER_DATA_DIR": str(folder / "data"),
        "GRADER_REDIS_URL": f"unix://{folder}/nobody.sock",
        "GRADER_BOX": "local",
        "GRADER_PORT": "0",
        **values,
    }
    return subprocess.Popen(
        [sys.executable, "-m", "grader.web.server"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_the_server_serves_until_a_signal(tmp_path: Path, ending: signal.Signals) -> None:
    with start(tmp_path) as server:
        try:
            assert server.stdout
            address = server.stdout.readline().split()[-1]
            with urllib.request.urlopen(f"{address}/api/v1/challenges", timeout=30) as answer:
                assert answer.status == 200
        finally:
            server.send_signal(ending)
            rest = server.communicate(timeout=30)
    assert server.returncode == 0, rest
    # The garbage collector may run when gunicorn's handler ends the process: Python reports it and still
    # ends.
    said = re.sub(
        r"Exception ignored in: (?:(?!Exception ignored).)*?SystemExit: 0\n", "", rest[1], flags=re.S
    )
    assert said.count("Traceback") == 0


def _ask_and_stay(host: str, port: int) -> socket.socket:
    """A client that got its answer, wants no second one, and does not close."""
    client = socket.create_connection((host, port), timeout=20)
    client.sendall(f"GET /health HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    assert client.recv(4096).startswith(b"HTTP/1.1 ")
    return client


def _send_half(host: str, port: int) -> socket.socket:
    client = socket.create_connection((host, port), timeout=20)
    head = f"POST /sign-in HTTP/1.1\r\nHost: {host}\r\nContent-Length: 100\r\n"
    client.sendall(f"{head}Content-Type: application/x-www-form-urlencoded\r\n\r\nname=".encode())
    return client


def test_slow_clients_do_not_delay_shutdown(tmp_path: Path) -> None:
    """There are more of them than threads."""
    with start(tmp_path) as server:
        held: list[socket.socket] = []
        try:
            assert server.stdout
            at = urlsplit(server.stdout.readline().split()[-1])
            assert at.hostname
            assert at.port
            with ThreadPoolExecutor(40) as crowd:
                asked = [crowd.submit(_ask_and_stay, at.hostname, at.port) for _ in range(40)]
                held += [each.result(60) for each in asked]
                held += crowd.map(lambda _: _send_half(at.hostname or "", at.port or 0), range(40))
            with urllib.request.urlopen(f"http://{at.netloc}/api/v1/challenges", timeout=20) as answer:
                assert answer.status == 200
        finally:
            for client in held:
                client.close()
            server.terminate()
            server.communicate(timeout=30)


def test_the_server_refuses_to_expose_local_boxes(tmp_path: Path) -> None:
    with pytest.raises(NotAllowed, match="Refusing to listen"):
        serve(builders.make_settings(tmp_path), "0.0.0.0", 0)


def test_a_start_failure_exits_with_3(tmp_path: Path) -> None:
    with start(tmp_path, GRADER_HOST="0.0.0.0") as server:
        out, error = server.communicate(timeout=30)
    assert (server.returncode, out) == (3, "")
    assert "GRADER_BOX=docker" in error


def test_a_setting_of_an_earlier_version_ends_the_start_with_its_new_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GRADER_SMTP_HOST", "mail.uni.example")
    monkeypatch.setenv("GRADER_SMTP_PORT", "465")
    assert main() == EXIT_USAGE
    assert "write GRADER_SMTP_HOST=mail.uni.example:465 instead of both" in capsys.readouterr().err
