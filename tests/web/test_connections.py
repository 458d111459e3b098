"""Slow, too many and ambiguous client connections. The tests run the server's loop themselves, with a fake clock."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from flask import Flask, request

from grader import limits
from grader.web import connections
from grader.web.connections import Server
from grader.web.proxies import client_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from _typeshed.wsgi import StartResponse, WSGIEnvironment

HOST = "127.0.0.1"
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
HALF_HEAD = b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "
HALF_BODY = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345"
WAIT = b"POST /wait HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"
SLOW = b"POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"
THREADS = 2


class Harness:
    def __init__(self, stack: ExitStack) -> None:
        self.stack = stack
        self.now = 1000.0
        self.seen: list[str] = []
        self.body = b"hello"
        self.goes_on = threading.Event()
        self.goes_on.set()
        self.proxies: set[str] = set()
        self.application: Any = self.answer
        listener = stack.enter_context(socket.create_server((HOST, 0)))
        self.port = listener.getsockname()[1]
        self.server = Server(
            lambda environ, start: self.application(environ, start),
            listener,
            THREADS,
            self._is_proxy,
            lambda method, path: (method, path) == ("POST", "/slow"),
            lambda method, path: (method, path) == ("POST", "/wait"),
        )

    def _is_proxy(self, address: str) -> bool:
        return address in self.proxies

    def answer(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        self.seen.append(f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']}")
        assert self.goes_on.wait(60)
        start_response("200 OK", [("Content-Length", str(len(self.body)))])
        return [self.body]

    def client(self, text: bytes, address: str = HOST, buffer: int = 0) -> socket.socket:
        """Sends ``text`` and waits until the server has the connection."""
        client = self.stack.enter_context(socket.socket())
        if buffer:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        client.bind((address, 0))
        client.connect((HOST, self.port))
        client.sendall(text)
        client.setblocking(False)
        name = client.getsockname()
        self.until(lambda: any(channel.addr == name for channel in self.server.channels) or is_closed(client))
        self.turns()
        return client

    def turns(self) -> None:
        for _ in range(3):
            self.server.turn(0.01)

    def until(self, done: Callable[[], bool]) -> None:
        for _ in range(6000):
            if done():
                return
            self.server.turn(0.01)
        raise AssertionError("it never came to that")

    def later(self, seconds: float) -> None:
        """Wait until the threads are idle or wait for the test."""
        pool = self.server.task_dispatcher
        self.until(lambda: not self.goes_on.is_set() or not (pool.queue or pool.active_count))
        self.turns()
        self.now += seconds
        self.turns()

    def send(self, client: socket.socket, size: int) -> None:
        def send_all() -> None:
            with suppress(OSError):
                client.sendall(bytes(size))

        client.setblocking(True)
        sender = threading.Thread(target=send_all)
        sender.start()
        self.until(lambda: not sender.is_alive())
        client.setblocking(False)
        self.turns()

    def answered(self, client: socket.socket) -> bytes:
        told = bytearray()

        def whole() -> bool:
            try:
                while piece := client.recv(65536):
                    told.extend(piece)
            except BlockingIOError:
                return told.endswith(self.body)
            return True

        self.until(whole)
        return bytes(told)


def is_closed(client: socket.socket) -> bool:
    """The server closed it, and sent nothing else."""
    try:
        return client.recv(1, socket.MSG_PEEK) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


@pytest.fixture
def harness(monkeypatch: pytest.MonkeyPatch) -> Iterator[Harness]:
    with ExitStack() as stack:
        made = Harness(stack)
        monkeypatch.setattr(connections, "time", SimpleNamespace(monotonic=lambda: made.now))
        yield made
        made.goes_on.set()
        monkeypatch.undo()
        made.server.drain(10)


def test_incomplete_requests_occupy_no_thread(harness: Harness) -> None:
    held = [harness.client(half) for half in (HALF_HEAD, HALF_BODY) for _ in range(3 * THREADS)]
    assert harness.answered(harness.client(GET)).endswith(b"hello")
    assert harness.seen == ["GET /"]
    assert not any(map(is_closed, held))
    held[-1].sendall(b"67890")  # and they are requests as soon as they are whole
    assert harness.answered(held[-1]).endswith(b"hello")


@pytest.mark.parametrize("half", [HALF_HEAD, HALF_BODY])
def test_slow_bytes_do_not_extend_the_deadline(harness: Harness, half: bytes) -> None:
    client = harness.client(half)
    for _ in range(3):
        harness.later(limits.REQUEST_SECONDS / 4)
        client.sendall(b"x")
        harness.turns()
    assert not is_closed(client)
    harness.later(limits.REQUEST_SECONDS / 4 + 1)
    assert is_closed(client)
    assert not harness.seen


def test_an_idle_connection_is_closed(harness: Harness) -> None:
    silent, kept = harness.client(b""), harness.client(GET)
    harness.answered(kept)
    harness.later(limits.IDLE_SECONDS - 1)
    kept.sendall(GET)
    harness.answered(kept)
    harness.later(2)
    assert (is_closed(silent), is_closed(kept)) == (True, False)
    harness.later(limits.IDLE_SECONDS)
    assert is_closed(kept)


def test_an_unread_answer_is_dropped(harness: Harness) -> None:
    harness.body = b"x" * (8 * limits.MIB)
    client = harness.client(GET, buffer=4096)
    harness.until(
        lambda: all(channel.waits for channel in harness.server.channels)
    )  # no thread waits for the client
    harness.later(2)
    harness.later(limits.ANSWER_SECONDS - 2)
    assert harness.server.channels
    harness.later(4)
    assert not harness.server.channels
    client.close()


def test_long_processing_has_no_deadline(harness: Harness) -> None:
    harness.goes_on.clear()
    client = harness.client(GET)
    harness.later(10 * limits.REQUEST_SECONDS)
    harness.goes_on.set()
    assert harness.answered(client).endswith(b"hello")


def test_password_requests_have_a_separate_queue(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SIGN_INS_WAITING", 3)
    harness.goes_on.clear()
    slow = harness.server.task_dispatcher.slow
    signing_in = []
    for count in range(1, limits.PASSWORDS_AT_ONCE + 3 + 1):
        signing_in.append(harness.client(SLOW))
        harness.until(lambda count=count: slow.active_count == min(count, limits.PASSWORDS_AT_ONCE))
    assert len(slow.queue) == 3
    refused = harness.answered(harness.client(SLOW))
    assert refused.startswith(b"HTTP/1.1 503 ")
    assert b"Retry-After: 5\r\n" in refused
    others = [harness.client(GET) for _ in range(THREADS)]
    harness.until(lambda: harness.seen.count("GET /") == THREADS)  # all threads for other requests are free
    harness.goes_on.set()
    assert all(harness.answered(other).endswith(b"hello") for other in [*others, *signing_in])


def test_one_address_cannot_fill_the_sign_in_queue(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SIGN_INS_WAITING_PER_ADDRESS", 1)
    harness.goes_on.clear()
    slow = harness.server.task_dispatcher.slow
    for count in range(limits.PASSWORDS_AT_ONCE + 1):
        harness.client(SLOW)
        harness.until(lambda count=count: slow.active_count == min(count + 1, limits.PASSWORDS_AT_ONCE))
    assert harness.answered(harness.client(SLOW)).startswith(b"HTTP/1.1 503 ")
    other = harness.client(SLOW, address="127.0.0.2")
    harness.proxies.add(HOST)
    proxied = harness.client(SLOW)
    harness.goes_on.set()
    assert all(harness.answered(each).endswith(b"hello") for each in (other, proxied))


def test_requests_that_wait_delay_nobody(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects against a web that answers no person because workers wait for work."""
    monkeypatch.setattr(limits, "WORK_WAITING", THREADS + 3)

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ["PATH_INFO"] == "/wait":
            return harness.answer(environ, start_response)
        start_response("200 OK", [("Content-Length", "5")])
        return [b"hello"]

    harness.application = answer
    harness.goes_on.clear()
    workers = [harness.client(WAIT) for _ in range(2 * (THREADS + 3))]
    harness.until(lambda: len(harness.seen) == THREADS + 3)
    assert harness.answered(harness.client(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")).endswith(b"hello")
    refused = harness.client(WAIT)
    harness.until(lambda: refused_with(refused))
    harness.goes_on.set()
    assert all(harness.answered(worker).endswith(b"hello") for worker in workers)


def refused_with(client: socket.socket) -> bool:
    try:
        return client.recv(65536).startswith(b"HTTP/1.1 503 ")
    except BlockingIOError:
        return False


def test_a_class_behind_one_address_keeps_connections() -> None:
    """150 browsers with six connections each may all reach one of the two processes."""
    assert limits.CONNECTIONS_PER_ADDRESS >= 150 * 6
    assert limits.CONNECTIONS >= 2 * limits.CONNECTIONS_PER_ADDRESS  # and others are not affected


def test_the_longest_waiting_connection_of_an_address_is_closed(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "CONNECTIONS_PER_ADDRESS", 3)
    other = harness.client(HALF_HEAD, address="127.0.0.2")
    harness.goes_on.clear()
    working = harness.client(GET)
    held = []
    for _ in range(4):
        held.append(harness.client(HALF_BODY))
        harness.later(1)
    assert [is_closed(each) for each in [other, working, *held]] == [False, False, True, True, False, False]
    harness.goes_on.set()
    assert harness.answered(harness.client(GET)).endswith(b"hello")
    assert harness.answered(working).endswith(b"hello")


def test_a_proxy_may_use_all_connections(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CONNECTIONS_PER_ADDRESS", 1)
    monkeypatch.setattr(limits, "CONNECTIONS", 3)
    harness.proxies.add(HOST)
    held = []
    for _ in range(4):
        held.append(harness.client(HALF_HEAD))
        harness.later(1)
    assert [is_closed(each) for each in held] == [True, False, False, False]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8::1", "2001:db8::ffff:2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("fe80::1%eth0", "fe80::2%eth0", True),
    ],
)
def test_addresses_are_grouped_into_clients(one: str, other: str, same: bool) -> None:
    assert (client_of(one) == client_of(other)) is same


def test_memory_for_incomplete_bodies_is_bounded(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BODIES_BYTES", 3 * limits.MIB)
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % limits.REQUEST_BYTES
    for _ in range(4):
        harness.send(harness.client(head), limits.REQUEST_BYTES - 1)
        assert (
            sum(channel.buffered for channel in harness.server.channels)
            <= 3 * limits.MIB + connections._COUNTED_BYTES
        )
    assert 0 < len(harness.server.channels) < 4


@pytest.mark.parametrize("chunked", [False, True])
def test_a_too_large_body_gets_the_applications_error_while_sending(harness: Harness, chunked: bool) -> None:
    app = Flask(__name__)
    app.config["MAX_CONTENT_LENGTH"] = limits.REQUEST_BYTES
    app.post("/")(lambda: request.get_data())
    app.register_error_handler(413, lambda _: ("in our own words", 413))
    harness.application, harness.body = app, b"in our own words"
    size = limits.REQUEST_BYTES + 1
    head = b"POST / HTTP/1.1\r\nHost: x\r\n"
    head += (
        b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % size
        if chunked
        else b"Content-Length: %d\r\n\r\n" % size
    )
    client = harness.client(head)
    harness.send(client, size)
    told = harness.answered(client)
    assert told.startswith(b"HTTP/1.1 413 ")
    assert told.endswith(b"in our own words")
    harness.later(limits.LINGER_SECONDS + 1)
    assert not harness.server.channels


@pytest.mark.parametrize(
    "headers",
    [
        b"Content-Length: 4\r\nTransfer-Encoding: chunked",
        b"Transfer-Encoding: chunked\r\nContent-Length: 4",
        b"Content-Length: 4\r\nContent-Length: 5",
        b"Content-Length: +4",
        b"Content-Length: 4\r\n Transfer-Encoding: chunked",
        b"Transfer-Encoding: xchunked",
        b"Transfer-Encoding: chunked, identity",
        b"Transfer-Encoding : chunked",
        b"Transfer-Encoding: \x0bchunked",
        b"Bad\nTransfer-Encoding: chunked",
    ],
)
@pytest.mark.parametrize("version", [b"1.0", b"1.1"])
def test_a_request_with_ambiguous_length_is_refused(harness: Harness, headers: bytes, version: bytes) -> None:
    hidden = b"0\r\n\r\nGET /hidden HTTP/1.1\r\nHost: x\r\n\r\n"
    client = harness.client(b"POST /plain HTTP/%s\r\nHost: x\r\n%s\r\n\r\n%s" % (version, headers, hidden))
    harness.body = b"never"
    told = harness.answered(client)
    assert len(re.findall(rb"^HTTP/1\.[01] ", told, re.M)) == 1
    assert told.split()[1] in (b"400", b"501")
    assert harness.seen == []


def test_shutdown_waits_only_for_running_requests(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    harness.goes_on.clear()
    idle, working = harness.client(b""), harness.client(GET)
    monkeypatch.undo()  # by the real clock from here
    ending = threading.Thread(target=harness.server.drain, args=(60,))
    ending.start()
    idle.settimeout(60)
    assert idle.recv(1) == b""
    harness.goes_on.set()
    working.settimeout(60)
    told = b""
    while piece := working.recv(65536):
        told += piece
    assert told.endswith(b"hello")
    ending.join(60)
    assert not ending.is_alive()
    assert not harness.server.channels
