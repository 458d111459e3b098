"""A Redis server by its URL: password, database number, TLS; the URL's password is shown nowhere."""

from __future__ import annotations

import logging
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from redis import Redis
from structlog.testing import capture_logs

from grader.cli import machine_checks
from grader.cli.checks import Level
from grader.cli.config import load_settings
from grader.errors import BadRequest
from grader.queue.embedded import server_program
from grader.queue.worker import run_worker
from grader.schemas.report import Verdict
from grader.service.accounts.accounts import create_user
from grader.service.operation.health import health
from grader.service.platform import open_platform
from grader.service.submissions.submissions import get_submission
from grader.service.submissions.submit import submit
from grader.settings import Settings
from grader.wakeups import WakeUps
from tests.queue.fakes import FakeJudge, NoBoxes
from tests.records.postgres import certificate, free_port
from tests.service.world import body, make_settings, until

PASSWORD = "hunter2/:@"  # made up, with every character that a URL must encode
QUOTED = "hunter2%2F%3A%40"


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    port = free_port()
    options = ["--bind", "127.0.0.1", "--port", str(port), "--requirepass", PASSWORD, "--save", ""]
    server = subprocess.Popen([server_program(), *options], stdout=subprocess.DEVNULL)
    try:
        until(lambda: _listens(port), "Redis listens")
        yield port
    finally:
        server.kill()
        server.wait()


def _listens(port: int) -> bool:
    with suppress(OSError):
        socket.create_connection(("127.0.0.1", port), 1.0).close()
        return True
    return False


class TlsProxy:
    """Adds TLS in front of a port, like a server built with TLS (the one here is not)."""

    def __init__(self, behind: int, folder: Path) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.certificate, key = certificate(folder, "localhost")
        context.load_cert_chain(self.certificate, key)
        self._behind = behind
        self._stack = ExitStack()
        plain = self._stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        self.port = plain.getsockname()[1]
        self._listener = self._stack.enter_context(
            context.wrap_socket(plain, server_side=True, do_handshake_on_connect=False)
        )
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def _accept(self) -> None:
        while True:
            try:
                taken, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(taken,), daemon=True).start()

    def _serve(self, taken: ssl.SSLSocket) -> None:
        # One direction at a time: these clients wait for each answer.
        with suppress(OSError), taken, socket.create_connection(("127.0.0.1", self._behind)) as server:
            taken.do_handshake()
            while asked := taken.recv(65536):
                server.sendall(asked)
                taken.sendall(server.recv(1 << 20))

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._stack.close()
        self._accepting.join()


@pytest.fixture
def url(port: int, database: str) -> str:
    return f"redis://:{QUOTED}@127.0.0.1:{port}/3"


def test_wakeups_use_the_urls_database_number(url: str, port: int) -> None:
    wakeups = WakeUps(url)
    assert wakeups.enqueue("run:cpu", 2)
    assert wakeups.waiting("run:cpu") == 2
    with Redis(port=port, password=PASSWORD, db=3) as third, Redis(port=port, password=PASSWORD) as first:
        assert (third.dbsize() > 0, first.dbsize()) == (True, 0)
        third.flushdb()
    wakeups.close()


def test_a_worker_uses_the_url_without_logging_its_password(
    url: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    settings = make_settings(tmp_path, url)
    platform = open_platform(settings)
    student = create_user(platform, "ada", "correct horse")
    sent = submit(platform, student, body()).id
    with capture_logs() as said:
        run_worker(settings, burst=True, judge=FakeJudge(), boxes=NoBoxes())
    assert get_submission(platform, student, sent).verdict is Verdict.ACCEPTED
    assert health(platform).parts["queue"].ok
    platform.close()
    out, err = capfd.readouterr()
    for text in (str(said), out, err, caplog.text, repr(settings)):
        assert "hunter2" not in text


def test_a_wrong_password_counts_as_an_outage(port: int, tmp_path: Path, database: str) -> None:
    platform = open_platform(make_settings(tmp_path, f"redis://:wr0ng@127.0.0.1:{port}/0"))
    student = create_user(platform, "ada", "correct horse")
    with capture_logs() as said:
        assert submit(platform, student, body()).id
        assert not platform.wakeups.ping()
    platform.close()
    assert said
    assert "wr0ng" not in str(said)


def test_redis_works_over_tls_with_a_known_certificate(port: int, tmp_path: Path) -> None:
    proxy = TlsProxy(port, tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    stranger, _ = certificate(other, "localhost")
    address = f"rediss://:{QUOTED}@localhost:{proxy.port}/3?ssl_ca_certs="
    for known, answers in ((proxy.certificate, True), (stranger, False)):
        wakeups = WakeUps(f"{address}{known}")
        assert wakeups.ping() is answers
        assert wakeups.enqueue("run:cpu") is answers
        wakeups.close()
    proxy.close()


@pytest.mark.parametrize(
    ("variable", "url"),
    [
        ("GRADER_REDIS_URL", "redis://:hunter2/@127.0.0.1:6379/0"),
        ("GRADER_REDIS_URL", "127.0.0.1:hunter2"),
        ("GRADER_REDIS_URL", "http://:hunter2@127.0.0.1"),
        ("GRADER_DATABASE_URL", "postgresql:/grader:hunter2@host/grader"),
        ("GRADER_DATABASE_URL", "mysql://grader:hunter2@host/grader"),
    ],
)
def test_a_malformed_url_is_refused_without_showing_it(
    variable: str, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, url)
    with pytest.raises(BadRequest, match=variable) as refused:
        load_settings()
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - pydantic's, which is one
        Settings()
    found = machine_checks.redis() if "REDIS" in variable else machine_checks.database()
    assert found.level is Level.MISSING
    for text in (f"{refused.value.message} {refused.value.hint}", str(raised.value), str(found)):
        assert "hunter2" not in text


def test_the_doctor_names_no_password(url: str, port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADER_REDIS_URL", url)
    assert machine_checks.redis().level is Level.OK
    assert machine_checks.database().level is Level.OK
    closed = free_port()
    monkeypatch.setenv("GRADER_REDIS_URL", f"redis://:hunter2@127.0.0.1:{closed}/0")
    monkeypatch.setenv("GRADER_DATABASE_URL", f"postgresql://grader:hunter2@127.0.0.1:{closed}/grader")
    for found in (machine_checks.redis(), machine_checks.database()):
        assert found.level is Level.MISSING
        assert "does not answer" in found.message
        assert "hunter2" not in str(found)
