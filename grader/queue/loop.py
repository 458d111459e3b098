"""RQ's loop in a process of ours: takes tickets until a signal comes, and again when Redis was away.

The process never forks: the judge is a process of its own, and RQ's jobs run in here.
"""

from __future__ import annotations

import secrets
import signal
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import structlog
from redis import Redis, RedisError
from rq import Queue, SimpleWorker
from rq.exceptions import StopRequested
from rq.serializers import JSONSerializer
from rq.timeouts import BaseDeathPenalty

if TYPE_CHECKING:
    from types import FrameType

log = structlog.get_logger(__name__)

# Between two tries to reach a Redis that is away.
_RECONNECT_SECONDS = 1.0
# So long does an idle worker wait for a ticket before it looks again whether it shall stop.
_WAIT_SECONDS = 5


class _NoDeathPenalty(BaseDeathPenalty):
    """RQ's own time limit, switched off: every part of judging has its own, and an alarm would hit the wrong
    one.
    """

    def setup_death_penalty(self) -> None:
        pass

    def cancel_death_penalty(self) -> None:
        pass


class _TicketWorker(SimpleWorker):
    """RQ's loop, in this process, with our way to stop."""

    death_penalty_class = _NoDeathPenalty
    max_connection_wait_time = 5.0
    in_job = False

    @property
    def dequeue_timeout(self) -> int:
        return _WAIT_SECONDS

    def heartbeat(self, timeout: int | None = None, pipeline: Any = None) -> None:
        """Called before each wait for a ticket. The exception by which a signal ends an idle worker can get lost where
        Python raises it, in a finalizer for one: then it ends here.
        """
        if self._stop_requested and not self.in_job:
            raise StopRequested
        super().heartbeat(timeout, pipeline)

    def execute_job(self, job: Any, queue: Any) -> None:
        self.in_job = True
        try:
            super().execute_job(job, queue)
        finally:
            self.in_job = False

    def stop_soon(self) -> None:
        """From a signal handler: leave the loop now when idle, else after the present job (which ends at
        once).
        """
        self._stop_requested = True
        if not self.in_job:
            raise StopRequested

    def _install_signal_handlers(self) -> None:
        """A worker of ours has its own."""

    def subscribe(self) -> None:
        """No commands over Redis: who can write there must not be able to stop or kill anything."""


class Stopper:
    """Turns SIGTERM and SIGINT into a clean end."""

    def __init__(self) -> None:
        self.event = threading.Event()
        self.rq_worker: _TicketWorker | None = None

    def install(self, stack: ExitStack) -> None:
        """From now until ``stack`` ends. Only a main thread gets signals; elsewhere this does nothing."""
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                stack.callback(signal.signal, number, signal.signal(number, self._on_signal))

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self.stop()

    def stop(self) -> None:
        """End the worker, like a signal."""
        self.event.set()
        if self.rq_worker is not None:
            self.rq_worker.stop_soon()


def take_tickets(url: str, queues: Sequence[str], name: str, burst: bool, stopper: Stopper) -> None:
    """Serve the ``queues`` of the Redis at ``url``, an earlier one first, until stopped, or with ``burst`` until they
    are empty. Raises StopRequested where a signal met it idle.
    """
    while not stopper.event.is_set():
        try:
            connection = Redis.from_url(url)
            stopper.rq_worker = _TicketWorker(
                [Queue(it, connection=connection, serializer=JSONSerializer) for it in queues],
                # RQ refuses a name that Redis still lists; ours may come back faster than Redis forgets.
                name=f"{name}-{secrets.token_hex(4)}",
                connection=connection,
                serializer=JSONSerializer,
            )
            # A signal before the line above found no worker to stop.
            if not stopper.event.is_set():
                stopper.rq_worker.work(burst=burst, logging_level="WARNING")
        except (RedisError, OSError) as error:
            log.warning("redis_away", error=str(error))
        finally:
            stopper.rq_worker = None
        if burst:
            return
        stopper.event.wait(_RECONNECT_SECONDS)
