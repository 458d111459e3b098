"""Tickets: RQ jobs that say "serve one submission of this queue". Which one is decided in SQL, by who takes
the ticket.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from grader.logs import get_logger
from grader.schemas.report import Language

if TYPE_CHECKING:
    from redis import Redis
    from rq import Queue

log = get_logger(__name__)

# A submit must not hang on a Redis that is gone: it succeeds without, and the sweeper issues the ticket
# later.
_CONNECT_SECONDS = 2.0
# Redis is no record: a ticket that failed is of interest for an hour at most.
_FAILURE_SECONDS = 3600


COMPILE = "compile"


def run_queue(device: str) -> str:
    return f"run:{device}"


def first_queue(device: str, language: Language) -> str:
    """Where a submission stands that no worker has taken yet."""
    return COMPILE if language is Language.CUDA else run_queue(device)


class Tickets:
    """The queues of one Redis, by name. Nothing is connected before it is needed."""

    def __init__(self, url: str) -> None:
        self.url = url

    @functools.cached_property
    def connection(self) -> Redis:
        from redis import Redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        return Redis.from_url(
            self.url,
            socket_connect_timeout=_CONNECT_SECONDS,
            socket_timeout=_CONNECT_SECONDS,
            # Once more at once, for a connection that Redis closed meanwhile; the client's default waits
            # seconds.
            retry=Retry(NoBackoff(), 1),
        )

    def _queue(self, name: str) -> Queue:
        from rq import Queue
        from rq.serializers import JSONSerializer

        return Queue(name, connection=self.connection, serializer=JSONSerializer)

    def enqueue(self, queue: str, count: int = 1) -> bool:
        """Issue tickets of ``queue``; False where Redis does not answer (never an error: SQL knows what waits)."""
        from redis import RedisError

        try:
            for _ in range(count):
                self._queue(queue).enqueue(
                    "grader.queue.worker.serve",
                    queue,
                    job_timeout=-1,
                    result_ttl=0,
                    failure_ttl=_FAILURE_SECONDS,
                    description=f"serve one submission of {queue}",
                )
        except (RedisError, OSError) as error:
            log.warning("ticket_not_issued", queue=queue, error=str(error))
            return False
        return True

    def waiting(self, queue: str) -> int:
        """Tickets that nobody took yet. Raises redis.RedisError where Redis does not answer."""
        return int(self._queue(queue).count)

    def ping(self) -> bool:
        from redis import RedisError

        try:
            return bool(self.connection.ping())
        except (RedisError, OSError):
            return False

    def close(self) -> None:
        if "connection" in self.__dict__:
            self.connection.close()
