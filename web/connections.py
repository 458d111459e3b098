"""Client connections. One thread per process reads and writes; complete requests get worker threads. So a slow client
occupies only a bounded socket and buffer.

Waitress (pinned), with deadlines that dripping bytes do not move, a limit per address, a queue for requests that hash
a password, and a shutdown that keeps answers. Of 500 dripping bodies Waitress alone holds 500 after 40 s, ours none;
Granian and gunicorn's threads then answer hardly anybody (benchmarks/slow_clients.py).
"""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from waitress import wasyncore  # type: ignore[import-untyped]
from waitress.adjustments import Adjustments  # type: ignore[import-untyped]
from waitress.channel import HTTPChannel  # type: ignore[import-untyped]
from waitress.parser import HTTPRequestParser, ParsingError  # type: ignore[import-untyped]
from waitress.server import TcpWSGIServer  # type: ignore[import-untyped]
from waitress.task import ErrorTask, Task, ThreadedTaskDispatcher, WSGITask  # type: ignore[import-untyped]
from waitress.utilities import Error, RequestEntityTooLarge, queue_logger  # type: ignore[import-untyped]

from grader import limits
from grader.web.proxies import client_of

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

# Accepted before open connections are served again.
_ACCEPTED_AT_ONCE = 64
# Between two checks of the deadlines.
_TICK_SECONDS = 1
# For half-received requests and unread answers, before the process ends.
_END_SECONDS = 0.3
# Received bytes after which buffered ones are counted again.
_COUNTED_BYTES = limits.MIB


class Parser(HTTPRequestParser):  # type: ignore[misc]
    """Refuses contradicting body lengths: a proxy may use the other one (request smuggling)."""

    def parse_header(self, header_plus: bytes) -> None:
        super().parse_header(header_plus)
        # Waitress removes Transfer-Encoding from HTTP/1.1 headers.
        if "TRANSFER_ENCODING" in self.headers or (self.chunked and "CONTENT_LENGTH" in self.headers):
            raise ParsingError("Transfer-Encoding needs HTTP/1.1 and no Content-Length.")


class Busy(Error):  # type: ignore[misc]
    code = 503
    reason = "Service Unavailable"

    def to_response(self, ident: str | None = None) -> tuple[str, list[tuple[str, str]], bytes]:
        status, headers, body = super().to_response(ident)
        return status, [*headers, ("Retry-After", str(limits.RETRY_SECONDS))], body


class Dispatcher(ThreadedTaskDispatcher):  # type: ignore[misc]
    """Requests that hash a password (``is_slow``) have a bounded queue and threads, so they delay nobody else. One
    address, unless ``from_proxy``, gets a part of it. Requests that wait (``waits``) have threads of their own, which
    start with the first one."""

    def __init__(
        self,
        is_slow: Callable[[str, str], bool],
        from_proxy: Callable[[str], bool],
        waits: Callable[[str, str], bool],
    ) -> None:
        super().__init__()
        self._is_slow, self._from_proxy, self._waits = is_slow, from_proxy, waits
        self.waiting = ThreadedTaskDispatcher()
        self.slow = ThreadedTaskDispatcher()
        self.slow.set_thread_count(limits.PASSWORDS_AT_ONCE)

    def add_task(self, task: ClientChannel) -> None:
        request = task.requests[0]
        if request.error:
            super().add_task(task)
            return
        # Waitress drops extra leading slashes.
        path = "/" + request.path.lstrip("/")
        if self._waits(request.command, path):
            self._add_waiting(task)
        elif not self._is_slow(request.command, path):
            super().add_task(task)
        elif self._has_room(task):
            self.slow.add_task(task)
        else:
            request.error = Busy("Too many people are signing in right now. Try again in a few seconds.")
            super().add_task(task)

    def _add_waiting(self, task: ClientChannel) -> None:
        if not self.waiting.threads:
            self.waiting.set_thread_count(limits.WORK_WAITING)
        with self.waiting.lock:
            full = len(self.waiting.queue) >= limits.WORK_WAITING  # for a thread
        if full:
            task.requests[0].error = Busy("Too many workers are waiting for work.")
            super().add_task(task)
        else:
            self.waiting.add_task(task)

    def _has_room(self, task: ClientChannel) -> bool:
        with self.slow.lock:
            waiting = list(self.slow.queue)
        if not self._from_proxy(task.addr[0]):
            own = sum(other.client == task.client for other in waiting)
            if own >= limits.SIGN_INS_WAITING_PER_ADDRESS:
                return False
        return len(waiting) < limits.SIGN_INS_WAITING

    def shutdown(self, cancel_pending: bool = True, timeout: float = 5) -> bool:
        self.slow.shutdown(cancel_pending, timeout)
        self.waiting.shutdown(cancel_pending, timeout)
        return bool(super().shutdown(cancel_pending, timeout))


class ClientChannel(HTTPChannel):  # type: ignore[misc]
    """Times are monotonic, in seconds."""

    parser_class = Parser

    def __init__(self, server: Server, sock: socket.socket, addr: Any, adj: Any, map: Any = None) -> None:
        # Opened or last answered; first byte of the last request.
        self.idle_since = self.begun_at = time.monotonic()
        self.sends_since: float | None = None  # since when an answer is incomplete; None: none is
        self.parts_at: float | None = None  # when it closes after its last answer; None: it stays open
        self.evicted = False  # the next turn closes it
        self.client = client_of(addr[0])
        super().__init__(server, sock, addr, adj, map=map)

    @property
    def waits(self) -> bool:
        """True while no request is in progress."""
        return not self.requests

    @property
    def waits_since(self) -> float:
        return self.begun_at if self.request is not None else self.idle_since

    @property
    def buffered(self) -> int:
        """Bytes of an incomplete body."""
        return self.request.body_bytes_received if self.request is not None else 0

    def received(self, data: bytes) -> bool:
        before = self.request
        taken = bool(super().received(data))
        if self.request is not before:
            self.begun_at = time.monotonic()
        self.server.count(len(data))
        return taken

    def service(self) -> None:
        super().service()
        self.idle_since = time.monotonic()

    def error_task_class(self, channel: ClientChannel, request: Any) -> Task:
        """The application refuses large bodies unread."""
        if not isinstance(request.error, RequestEntityTooLarge):
            return ErrorTask(channel, request)
        request.headers["CONTENT_LENGTH"] = str(max(request.content_length, request.body_bytes_received))
        task = WSGITask(channel, request)
        task.set_close_on_finish()
        return task

    def handle_close(self) -> None:
        super().handle_close()
        if self.request is not None:
            self.request.close()  # half a body may be in a file

    def expired(self, now: float) -> bool:
        """Called about once a second."""
        if self.parts_at is not None:
            return now >= self.parts_at
        if not self.waits:
            self.idle_since = now
        if not self.total_outbufs_len:
            self.sends_since = None
        elif self.sends_since is None:
            self.sends_since = now
        elif now - self.sends_since > limits.ANSWER_SECONDS:
            return True
        patience = limits.REQUEST_SECONDS if self.request is not None else limits.IDLE_SECONDS
        return self.waits and not self.total_outbufs_len and now - self.waits_since > patience

    # Closing at once would reset a client that still sends, and lose its answer. So signal the end, and discard what
    # comes.

    def handle_write(self) -> None:
        if not self.close_when_flushed or self.will_close:
            super().handle_write()
            return
        self._flush_exception(self._flush_some)
        if self.will_close:
            self.handle_close()
        elif self.connected and not self.total_outbufs_len:
            self.parts_at = time.monotonic() + limits.LINGER_SECONDS
            try:
                self.socket.shutdown(socket.SHUT_WR)
            except OSError:  # the client was faster
                self.handle_close()

    def writable(self) -> bool:
        return self.parts_at is None and bool(super().writable())

    def readable(self) -> bool:
        return self.parts_at is not None or bool(super().readable())

    def handle_read(self) -> None:
        if self.parts_at is None:
            super().handle_read()
        else:
            self.recv(limits.MIB)  # closes at the end


class Server(TcpWSGIServer):  # type: ignore[misc]
    """``from_proxy``: shared by many people."""

    channel_class = ClientChannel

    def __init__(
        self,
        application: WSGIApplication,
        sock: socket.socket,
        threads: int,
        from_proxy: Callable[[str], bool],
        is_slow: Callable[[str, str], bool],
        waits: Callable[[str, str], bool] = lambda method, path: False,
    ) -> None:
        self._from_proxy = from_proxy
        self._counted = 0
        self._evicted: list[ClientChannel] = []
        self._ticks_at = 0.0
        adjustments = Adjustments(
            threads=threads,
            ident=None,
            clear_untrusted_proxy_headers=False,  # web.proxies decides which are trusted
            recv_bytes=64 * limits.KIB,
            max_request_header_size=limits.HEADER_BYTES,
            max_request_body_size=limits.REQUEST_BYTES + 1,
            inbuf_overflow=limits.BODY_IN_MEMORY_BYTES,
            connection_limit=2 * limits.CONNECTIONS,  # never reached: accept closes others before
            asyncore_use_poll=True,
            log_socket_errors=False,
        )
        # The metrics show a deep queue.
        queue_logger.setLevel(logging.ERROR)
        dispatcher = Dispatcher(is_slow, from_proxy, waits)
        dispatcher.set_thread_count(threads)
        super().__init__(
            application,
            {},
            _sock=sock,
            dispatcher=dispatcher,
            adj=adjustments,
            sockinfo=(sock.family, sock.type, sock.proto, sock.getsockname()),
            bind_socket=False,
        )

    @property
    def channels(self) -> list[ClientChannel]:
        return [channel for channel in self.active_channels.values() if not channel.evicted]

    def turn(self, seconds: float) -> None:
        """Waits at most this long for something to serve."""
        # Before the next poll: a new connection may reuse the descriptor and get old events.
        while self._evicted:
            self._evicted.pop().handle_close()
        now = time.monotonic()
        if now >= self._ticks_at:
            self._ticks_at = now + _TICK_SECONDS
            for channel in self.channels:
                if channel.expired(now):
                    channel.handle_close()
        wasyncore.loop(seconds, use_poll=True, map=self._map, count=1)

    def maintenance(self, now: float) -> None:
        """Disables Waitress's own deadlines."""

    def handle_accept(self) -> None:
        """With too many, in all or from one address, closes the one that waits longest: holding connections keeps
        nobody out."""
        for _ in range(_ACCEPTED_AT_ONCE):
            try:
                accepted = self.accept()
            except OSError:  # such as no file descriptors left: retried
                return
            if accepted is None:
                return
            sock, addr = accepted
            if not self._make_room(addr[0]):
                sock.close()
                continue
            self.set_socket_options(sock)
            self.channel_class(self, sock, addr, self.adj, map=self._map)

    def _make_room(self, address: str) -> bool:
        """False if all have requests in progress."""
        channels = self.channels
        if not self._from_proxy(address):
            client = client_of(address)
            own = [channel for channel in channels if channel.client == client]
            if len(own) >= limits.CONNECTIONS_PER_ADDRESS and self._evict_longest(own):
                return True
        return len(channels) < limits.CONNECTIONS or self._evict_longest(channels)

    def _evict_longest(self, channels: list[ClientChannel]) -> bool:
        # Slow readers have their own limit: close them last.
        waiting = [channel for channel in channels if channel.waits]
        waiting = [channel for channel in waiting if not channel.total_outbufs_len] or waiting
        if waiting:
            self._evict(min(waiting, key=lambda channel: channel.waits_since))
        return bool(waiting)

    def count(self, received: int) -> None:
        """All bodies share one bound; the largest go first."""
        self._counted += received
        if self._counted < _COUNTED_BYTES:
            return
        self._counted = 0
        bodies = sorted(
            (channel for channel in self.channels if channel.buffered), key=lambda channel: channel.buffered
        )
        held = sum(channel.buffered for channel in bodies)
        while held > limits.BODIES_BYTES:
            largest = bodies.pop()
            held -= largest.buffered
            self._evict(largest)

    def _evict(self, channel: ClientChannel) -> None:
        channel.evicted = True
        self._evicted.append(channel)

    def drain(self, seconds: float) -> None:
        """Finishes requests within this time."""
        self.accepting = False
        began = time.monotonic()
        while self.active_channels and (passed := time.monotonic() - began) < seconds:
            for channel in self.channels:
                halfway = channel.request is not None or channel.parts_at is not None
                if channel.waits and not channel.total_outbufs_len and (not halfway or passed > _END_SECONDS):
                    channel.handle_close()
            self.turn(0.05)
        self.task_dispatcher.shutdown(timeout=1)
        wasyncore.close_all(self._map)
