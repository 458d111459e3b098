from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

from redis import Redis, RedisError
from redis.backoff import NoBackoff
from redis.retry import Retry

from grader.logs import get_logger
from grader.queue.stop_flag import StopFlag
from grader.wakeups import consume_wakeup, take

if TYPE_CHECKING:
    from types import FrameType

    from grader.queue.pilot import Pilot

log = get_logger(__name__)

_RECONNECT_SECONDS = 1.0
_WAIT_SECONDS = 1
_ANSWER_SECONDS = 2


class Stopper:
    """``event``: give the current submission back and end. ``draining``: finish it and end.

    The signal handler only sets a flag: a finalizer or an "except Exception: pass" could swallow an
    exception. So no call may block for long, and every wait checks the flag.
    """

    def __init__(self) -> None:
        self.event = StopFlag()
        self.draining = False
        self.signalled = False
        self.pilot: Pilot | None = None
        self.still_draining: Callable[[], bool] | None = None

    def install(self, stack: ExitStack) -> None:
        """Until ``stack`` ends. Only the main thread gets signals."""
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                stack.callback(signal.signal, number, signal.signal(number, self._on_signal))

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self.signalled = True
        self.stop()

    def stop(self) -> None:
        self.event.set()

    def drain(self, wanted: bool) -> None:
        """``wanted=False`` revokes it."""
        self.draining = wanted

    def expired(self) -> bool:
        return self.pilot is not None and bool(self.pilot.over)

    def must_end(self) -> bool:
        """Staff may have resumed the worker since the last heartbeat."""
        if self.event.is_set() or self.expired():
            return True
        if self.draining and self.still_draining is not None:
            self.draining = self.still_draining()
        return self.draining


def take_wakeups(
    url: str,
    handlers: Mapping[str, Callable[[], object]],
    burst: bool,
    stopper: Stopper,
    deferred: Callable[[], Collection[str]] = tuple,
) -> None:
    """Serve the queues at ``url``, earlier ones first, until stopped, or with ``burst`` until they are empty.
    ``deferred``: queues served only if nothing else comes for a while.
    """
    while not stopper.must_end():
        try:
            with closing(_connect(url)) as connection:
                _serve(connection, handlers, burst, stopper, deferred)
        except (RedisError, OSError) as error:
            log.warning("redis_away", error=str(error))
        if burst or stopper.must_end():
            return
        stopper.event.wait(_RECONNECT_SECONDS)


def next_wakeup(
    url: str, queues: Sequence[str], deferred: Sequence[str], seconds: float, ended: Callable[[], bool]
) -> str | None:
    """The queue of the next wake-up, which is consumed; None if none comes within ``seconds``, or ``ended``. Raises
    redis.RedisError.
    """
    until = time.monotonic() + seconds
    queues, deferred = (queues, deferred) if queues else (deferred, queues)
    with closing(_connect(url)) as connection:
        while True:
            waits = min(_WAIT_SECONDS, math.ceil(until - time.monotonic()))
            taken = take(connection, queues, waits if waits > 0 else None)
            if taken is None and deferred:
                taken = take(connection, deferred, None)
            if taken is not None and consume_wakeup(connection, *taken):
                return taken[0]
            if ended() or time.monotonic() >= until:
                return None


def _connect(url: str) -> Redis:
    # redis-py's retries would delay our next check.
    connection = Redis.from_url(url, retry=Retry(NoBackoff(), 1))
    # A shorter timeout in the URL would end our waits, and ids may not be text.
    connection.connection_pool.connection_kwargs.update(
        socket_timeout=_WAIT_SECONDS + _ANSWER_SECONDS, decode_responses=False
    )
    return connection


def _serve(
    connection: Redis,
    handlers: Mapping[str, Callable[[], object]],
    burst: bool,
    stopper: Stopper,
    deferred: Callable[[], Collection[str]],
) -> None:
    """Raises redis.RedisError if Redis goes away."""
    while not stopper.must_end():
        others = () if burst else deferred()
        taken = take(
            connection, [queue for queue in handlers if queue not in others], None if burst else _WAIT_SECONDS
        )
        if taken is None and others and not stopper.must_end():
            taken = take(connection, list(others), None)
        if taken is None:
            if burst:
                return
            continue
        queue, job = taken
        if consume_wakeup(connection, queue, job):
            # Even after a stop: the executor gives the wake-up back.
            serve_one(queue, handlers[queue])


def serve_one(queue: str, handler: Callable[[], object]) -> None:
    try:
        handler()
    except Exception:
        # The sweeper finds its expired lease.
        log.exception("wakeup_failed", queue=queue)
