"""Answers of the engine that a real one rarely gives."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import docker.errors
import pytest
import requests

from grader.errors import BoxUnavailable
from grader.sandbox.docker_engine import Engine, Frames


def framed(*parts: bytes) -> bytes:
    return b"".join(b"\x01\0\0\0" + len(part).to_bytes(4, "big") + part for part in parts)


@pytest.mark.parametrize("size", [1, 3, 8, 9, 1000])
def test_frames_are_parsed_in_pieces_of_any_size(size: int) -> None:
    stream = framed(b"hello ", b"", b"x" * 300, b"end")
    frames = Frames()
    pieces = [stream[at : at + size] for at in range(0, len(stream), size)]
    assert (
        b"".join(part for piece in pieces for part in frames.feed(piece)) == b"hello " + b"x" * 300 + b"end"
    )


def test_an_endless_header_uses_no_memory() -> None:
    frames = Frames()
    assert b"".join(frames.feed(b"\x01\0\0\0\xff\xff\xff\xff")) == b""
    assert sum(len(part) for _ in range(100) for part in frames.feed(b"x" * 1000)) == 100_000
    assert not frames._held


class Client:
    """Answers a kill as set up. The container is over after ``waits`` waits, or never."""

    def __init__(self, status: int, over: bool) -> None:
        self._status, self._over = status, over

    def kill(self, _container: str) -> None:
        response = requests.Response()
        response.status_code = self._status
        raise docker.errors.APIError("tried to kill container", response)

    def wait(self, _container: str, timeout: float) -> dict[str, Any]:
        if not self._over:
            raise requests.ReadTimeout
        return {"StatusCode": 137}


def engine_with(client: Client) -> Engine:
    made = object.__new__(Engine)
    made.client = client
    return made


def test_a_slowly_dying_box_counts_as_killed() -> None:
    assert engine_with(Client(500, over=True)).kill("box") is True
    with pytest.raises(BoxUnavailable, match="could not kill a box"):
        engine_with(Client(500, over=False)).kill("box")


@pytest.mark.parametrize("status", [404, 409])
def test_an_already_ended_box_does_not_count_as_killed(status: int) -> None:
    assert engine_with(Client(status, over=True)).kill("box") is False


class _Answers(BaseHTTPRequestHandler):
    """An engine that can only report its version."""

    def do_GET(self) -> None:
        body = b'{"Version": "20.10", "ApiVersion": "1.41"}'
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def test_the_environments_engine_is_used_without_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment is read once: reading it in a call fails if another thread is changing it."""
    for name in ("DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with ThreadingHTTPServer(("127.0.0.1", 0), _Answers) as server:
        monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{server.server_port}")
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        try:
            made = Engine()
            assert made.version() == "20.10"
            made.client.close()
        finally:
            server.shutdown()
            serving.join()
