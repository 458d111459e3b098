"""RQ's loop in a process of ours: takes tickets until a signal comes, and again when Redis was away.

The process never forks: the judge is a process of its own, and RQ's jobs run in here.
"""

from __future__ import annotations

import secrets
import signal
import threading
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from redis import Redis, RedisError
from redis.backoff import NoBackoff
from redis.retry import Retry
from rq import Queue, SimpleWorker
from rq.exceptions import DequeueTimeout, StopRequested
from rq.serializers import JSONSerializer
from rq.timeouts import BaseDeathPenalty
from rq.worker import WorkerStatus

from grader.logs import get_logger
from grader.queue.asked import Asked

if TYPE_CHECKING:
    from types import FrameType

    from rq.job import Job

log = get_logger(__name__)

# Between two tries to reach a Redis that is away.
_RECONNECT_SECONDS = 1.0
# So long does an idle worker wait for a ticket before it looks again whether it shall stop.
_WAIT_SECONDS = 1
# A Redis that does not answer for so long beyond that is away.
_ANSWER_SECONDS = 2


class _NoDeathPenalty(BaseDeathPenalty):
    """RQ's own time limit, switched off: every part of judging has its own, and an alarm would hit the wrong
    one.
    """

    def setup_death_penalty(self) -> None:
        pass

    def cancel_death_penalty(self) -> None:
        pass


class _TicketWorker(SimpleWorker):
    """RQ's loop, in this process, with our way to stop.

    A signal only leaves word. An exception raised from a handler comes up wherever Python is just then: it is lost in
    a finalizer, and in every "except Exception: pass" of the clients below us, or it drops a ticket between Redis and
    the job. So nothing here waits for long, and who waits looks for that word in between.
    """

    death_penalty_class = _NoDeathPenalty

    @property
    def dequeue_timeout(self) -> int:
        return _WAIT_SECONDS

    @property
    def connection_timeout(self) -> int:
        return _WAIT_SECONDS + _ANSWER_SECONDS

    def dequeue_job_and_maintain_ttl(
        self, timeout: int | None, max_idle_time: int | None = None
    ) -> tuple[Job, Queue] | None:
        """The next ticket, which is served in any case; None where the worker shall stop, and without ``timeout``
        where there is no ticket.

        RQ's own waits on through a stop, and within itself for a Redis that is away. ``max_idle_time`` is not used.
        """
        try:
            self.set_state(WorkerStatus.IDLE)
            while not self._stop_requested:
                self.heartbeat()
                if self.should_run_maintenance_tasks:
                    self.run_maintenance_tasks()  # type: ignore[no-untyped-call]
                with suppress(DequeueTimeout):
                    return self._dequeue(timeout)
        except RedisError as error:
            log.warning("redis_away", error=str(error))
            raise StopRequested from error  # of this loop: the one around it comes back
        return None

    def _dequeue(self, timeout: int | None) -> tuple[Job, Queue] | None:
        found = Queue.dequeue_any(
            self._ordered_queues, timeout, connection=self.connection, serializer=self.serializer
        )
        if found is not None:
            found[0].redis_server_version = self.get_redis_server_version()  # type: ignore[no-untyped-call]
        return found

    def stop_soon(self) -> None:
        """Leave the loop after the present job (which ends at once), or within about a second when idle. A signal
        handler may call it.
        """
        self._stop_requested = True

    def go_on(self) -> None:
        """Do not leave it after all."""
        self._stop_requested = False

    def _install_signal_handlers(self) -> None:
        """A worker of ours has its own."""

    def subscribe(self) -> None:
        """No commands over Redis: who can write there must not be able to stop or kill anything."""


class Stopper:
    """Turns SIGTERM and SIGINT into a clean end. ``event``: what is at hand is let go of, and that is the end.
    ``draining``: staff want the worker to finish what it has at hand, and to end then.
    """

    def __init__(self) -> None:
        self.event = Asked()
        self.draining = False
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

    def drain(self, wanted: bool) -> None:
        """End the worker after the present submission; or, where it has not ended yet, do not."""
        changed, self.draining = wanted is not self.draining, wanted
        worker = self.rq_worker
        if worker is None or not changed:
            return
        if not wanted:
            worker.go_on()
        # Looked at after that: a signal may have come in between, and it counts.
        if self.ends:
            worker.stop_soon()

    @property
    def ends(self) -> bool:
        return self.event.is_set() or self.draining


def take_tickets(url: str, queues: Sequence[str], name: str, burst: bool, stopper: Stopper) -> None:
    """Serve the ``queues`` of the Redis at ``url``, an earlier one first, until stopped, or with ``burst`` until they
    are empty.
    """
    while not stopper.ends:
        try:
            # Its own retries would wait, unasked, before we look again.
            connection = Redis.from_url(url, retry=Retry(NoBackoff(), 1))
            stopper.rq_worker = _TicketWorker(
                [Queue(it, connection=connection, serializer=JSONSerializer) for it in queues],
                # RQ refuses a name that Redis still lists; ours may come back faster than Redis forgets.
                name=f"{name}-{secrets.token_hex(4)}",
                connection=connection,
                serializer=JSONSerializer,
            )
            # A signal before the line above found no worker to stop.
            if not stopper.ends:
                stopper.rq_worker.work(burst=burst, logging_level="WARNING")
        except (RedisError, OSError) as error:
            log.warning("redis_away", error=str(error))
        finally:
            stopper.rq_worker = None
        if burst or stopper.ends:
            return
        stopper.event.wait(_RECONNECT_SECONDS)
