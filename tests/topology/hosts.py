"""A platform spread over hosts: ``data`` has PostgreSQL, ``queue`` Redis, ``web`` the web; workers can be on any host.
No host sees another's files, and each knows the others only from its settings.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from grader.queue.embedded import server_program
from tests.records.postgres import cluster, new_database
from tests.service.world import remove, short_folder, until
from tests.topology import enter
from tests.topology.network import Network

T = TypeVar("T")

_ROOT = Path(__file__).parent.parent.parent
_WEB_PORT, _SQL_PORT, _REDIS_PORT = 8000, 5432, 6379
REDIS_PASSWORD = "a:b/c@d"  # characters that an address must escape
_REDIS_IN_URL = "a%3Ab%2Fc%40d"
# Nothing here takes half as long on an idle machine.
PATIENCE = 120.0
# A request without an answer in this time hangs.
_ANSWER_SECONDS = 45.0
_TIMES = {"GRADER_LEASE_S": "6", "GRADER_HEARTBEAT_S": "1", "GRADER_SWEEP_S": "1"}


class Process:
    def __init__(self, host: str, process: subprocess.Popen[bytes], folder: str, log: Path) -> None:
        self.host = host
        self.process = process
        self._folder = folder
        self._log = log

    @property
    def own_files(self) -> Path:
        return Path(f"/proc/{self.process.pid}/root{self._folder}")

    def said(self) -> str:
        return self._log.read_text(errors="replace")

    def says(self, words: str, times: int = 1) -> None:
        def look() -> bool:
            # In this order: its last output may be the awaited line.
            running = self.process.poll() is None
            if self.said().count(words) >= times:
                return True
            assert running, "it has ended"
            return False

        try:
            until(look, f"{self.host} says {words}", PATIENCE)
        except AssertionError as error:
            raise AssertionError(f"{error}; it said {self.said()}") from None

    def open_gate(self) -> None:
        (self.own_files / "data" / "gate").touch()

    def end(self, number: signal.Signals = signal.SIGTERM) -> None:
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.process.wait(PATIENCE)


class Hosts:
    """``sql_url`` reaches the database from the test, past every network."""

    def __init__(self, network: Network, folder: Path, sql_url: str, stack: ExitStack) -> None:
        self.network = network
        self.folder = folder
        self.sql_url = sql_url
        self._stack = stack
        self.started: list[Process] = []

    def settings(self, catalogue: Path | None = None) -> dict[str, str]:
        sql = f"postgresql+psycopg://grader@{self.network.address('data')}:{_SQL_PORT}/platform"
        redis = f"redis://:{_REDIS_IN_URL}@{self.network.address('queue')}:{_REDIS_PORT}/3"
        found = {"GRADER_DATABASE_URL": sql, "GRADER_REDIS_URL": redis, "GRADER_DEVICE": "cpu"}
        return found | ({"GRADER_CHALLENGES": str(catalogue)} if catalogue else {})

    def start(self, host: str, command: list[str], **env: str) -> Process:
        """Start ``command`` there, in a new empty folder; it is killed at the end."""
        own = self.folder / "own"
        log = self.folder / f"{host}-{os.urandom(3).hex()}.log"
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("GRADER_", "XDG_"))}
        given = kept | _TIMES | {"GRADER_DATA_DIR": str(own / "data"), "GRADER_BOX": "local"} | env
        # Folders in which libraries make files are the host's own too.
        given |= {"HOME": str(own), "TMPDIR": str(own), "GRADER_LOCK_DIR": str(own / "locks")}
        own.mkdir(exist_ok=True)
        with log.open("wb") as said:
            process = subprocess.Popen(
                [
                    sys.executable,
                    enter.__file__,
                    self.network.namespace(host),
                    host,
                    str(own),
                    "--",
                    *command,
                ],
                env=given,
                cwd=_ROOT,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,
            )
        started = Process(host, process, str(own), log)
        self._stack.callback(started.end, signal.SIGKILL)
        self.started.append(started)
        return started

    def start_worker(self, host: str, what: str, catalogue: Path) -> Process:
        command = [sys.executable, "-m", "tests.topology.worker", f"{host}-{what}", what]
        started = self.start(host, command, **self.settings(catalogue))
        started.says('"event": "worker_started"')
        return started

    def start_web(self, **settings: str) -> Process:
        """Its address is on its own host: a proxy there would end TLS."""
        web = self.start("web", [sys.executable, "-m", "grader.web.server"], **settings)
        web.says("Listening on")
        until(lambda: _quietly(lambda: self.ask("GET", "/challenges")[0] == 200), "the web answers", PATIENCE)
        return web

    def ask(
        self, method: str, path: str, body: dict[str, Any] | None = None, token: str = ""
    ) -> tuple[int, Any]:
        """A request from the web's own host. Returns status and answer. Fails if it hangs."""
        headers = {"Content-Type": "application/json"} | (
            {"Authorization": f"Bearer {token}"} if token else {}
        )

        def request() -> tuple[int, Any]:
            client = http.client.HTTPConnection("127.0.0.1", _WEB_PORT, timeout=_ANSWER_SECONDS)
            try:
                client.request(method, f"/api/v1{path}", json.dumps(body) if body else None, headers)
                answer = client.getresponse()
                return answer.status, json.loads(answer.read() or b"null")
            finally:
                client.close()

        return self.on("web", request)

    def reaches(self, host: str, other: str, port: int) -> bool:
        def connect() -> bool:
            try:
                socket.create_connection((self.network.address(other), port), timeout=2.0).close()
            except OSError:
                return False
            return True

        return self.on(host, connect)

    def on(self, host: str, work: Callable[[], T]) -> T:
        """Do ``work`` in the network of ``host``, in a thread that ends with it."""
        done: list[T] = []
        failed: list[BaseException] = []

        def run() -> None:
            try:
                enter.enter_network(self.network.namespace(host))
                done.append(work())
            except BaseException as error:
                failed.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        if failed:
            raise failed[0]
        return done[0]


def _quietly(look: Callable[[], bool]) -> bool:
    try:
        return look()
    except OSError:
        return False


@contextmanager
def hosts(*workers: str) -> Iterator[Hosts]:
    """The hosts ``data``, ``queue`` and ``web``, and those for ``workers``, with PostgreSQL and Redis running."""
    folder = short_folder()
    with ExitStack() as stack:
        stack.callback(remove, folder)
        network = Network("data", "queue", "web", *workers)
        stack.callback(network.close)
        prefix = [sys.executable, enter.__file__, network.namespace("data"), "data", "", "--"]
        url = stack.enter_context(cluster(_SQL_PORT, listen=network.address("data"), prefix=prefix))
        made = Hosts(network, folder, new_database(url, "platform"), stack)
        made.start("queue", _redis(network.address("queue")))
        until(lambda: made.reaches("web", "queue", _REDIS_PORT), "Redis", PATIENCE)
        yield made


def _redis(address: str) -> list[str]:
    options = {"bind": address, "port": str(_REDIS_PORT), "requirepass": REDIS_PASSWORD}
    options |= {"save": "", "appendonly": "no", "loglevel": "warning"}
    return [server_program(), *(part for name, value in options.items() for part in (f"--{name}", value))]
