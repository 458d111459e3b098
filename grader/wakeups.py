"""Wake-ups: RQ jobs that mean "serve one submission of this queue". The worker that takes one picks the submission in
SQL.

A wake-up is only data. Nothing in Redis is called, imported or unpickled: anyone who can write there can only wake a
worker for nothing. RQ's own worker would call any function, callback or webhook that a job names, so it is not used.
"""

from __future__ import annotations

import contextlib
import functools
import json
import re
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from grader import limits
from grader.device_kinds import compiled_ahead
from grader.languages import Language
from grader.logs import get_logger

if TYPE_CHECKING:
    from redis import Redis
    from rq import Queue

log = get_logger(__name__)

# A submit must not hang if Redis is gone: it succeeds without it, and the sweeper issues the wake-up later.
_CONNECT_SECONDS = 2.0
# The function that every wake-up names. It is compared, never called, and must not change: workers and webs of
# different releases understand each other by it.
_FUNCTION = "grader.queue.worker.serve"
# The form of RQ's own ids.
_JOB_ID = re.compile(rb"[A-Za-z0-9_-]{1,64}")

COMPILE = "compile"
# Kernels that can be compiled before their submission's turn. Only workers that do nothing but compile serve it, and
# nothing waits for them.
KERNELS = "kernels"
CHECK = "check"


def run_queue(device: str) -> str:
    return f"run:{device}"


def first_queue(device: str, language: Language) -> str:
    return COMPILE if language.compiled else run_queue(device)


class WakeUps:
    """The queues of one Redis, by name. Connects on first use."""

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
            # One immediate retry, for a connection that Redis closed; the client's default waits seconds.
            retry=Retry(NoBackoff(), 1),
        )

    def _queue(self, name: str) -> Queue:
        return _queue(name, self.connection)

    def enqueue(self, queue: str, count: int = 1) -> bool:
        """Issue wake-ups. False if Redis does not answer; not an error, as SQL knows what waits."""
        from redis import RedisError

        try:
            for _ in range(count):
                self._queue(queue).enqueue(
                    _FUNCTION,
                    queue,
                    job_timeout=-1,
                    result_ttl=0,
                    description=f"serve one submission of {queue}",
                )
        except (RedisError, OSError) as error:
            log.warning("wakeup_not_issued", queue=queue, error=str(error))
            return False
        return True

    def announce(self, device: str, language: Language, count: int = 1) -> None:
        self.enqueue(first_queue(device, language), count)
        if compiled_ahead(device, language):
            self.hint(KERNELS)

    def hint(self, queue: str) -> None:
        """Issue a wake-up unless one waits: for a queue that perhaps nobody serves, and whose workers do all pending
        work at each wake-up."""
        from redis import RedisError

        try:
            if self.waiting(queue):
                return
        except (RedisError, OSError) as error:
            log.warning("wakeup_not_issued", queue=queue, error=str(error))
            return
        self.enqueue(queue)

    def waiting(self, queue: str) -> int:
        """Number of wake-ups that no worker has taken. Raises redis.RedisError if Redis does not answer."""
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


def take(connection: Redis, queues: Sequence[str], wait_s: int | None) -> tuple[str, bytes] | None:
    """Queue and id of the next job, earlier queues first; None if none comes within ``wait_s`` seconds (None: no wait).
    The caller must redeem it.

    Raises redis.RedisError if Redis does not answer.
    """
    from redis import ResponseError
    from rq import Queue
    from rq.exceptions import DequeueTimeout

    names = {_queue(name, connection).key.encode(): name for name in queues}
    try:
        found = Queue.lpop([key.decode() for key in names], wait_s, connection=connection)
    except DequeueTimeout:
        return None
    except ResponseError:
        if not _remove_other_types(connection, list(names)):
            raise
        return None
    if found is None:
        return None
    key, job = found
    return names[key if isinstance(key, bytes) else key.encode()], job


def redeem(connection: Redis, queue: str, job: bytes) -> bool:
    """True if the job taken from ``queue`` is a wake-up. Its record is removed in any case.

    If a submission's wake-up was lost this way, the sweeper issues another. Raises redis.RedisError if Redis does not
    answer.
    """
    from rq.job import Job

    if not _JOB_ID.fullmatch(job):
        log.warning("wakeup_refused", queue=queue, reason="its id does not have RQ's form")
        return False
    key = Job.key_for(job.decode())
    reason = _refusal(connection, key, queue)
    connection.unlink(key)
    if reason:
        log.warning("wakeup_refused", queue=queue, job=job.decode(), reason=reason)
    return not reason


def _queue(name: str, connection: Redis) -> Queue:
    from rq import Queue
    from rq.serializers import JSONSerializer

    return Queue(name, connection=connection, serializer=JSONSerializer)


def _refusal(connection: Redis, key: bytes | str, queue: str) -> str:
    """Why it is not a wake-up; empty if it is one."""
    from redis import ResponseError

    try:
        size = connection.hstrlen(key, "data")
        data = connection.hget(key, "data") if size <= limits.WAKEUP_BYTES else None
    except ResponseError:
        return "its record is not a hash"
    if not isinstance(data, bytes):
        return "its record is gone" if not size else f"its content has {size} bytes"
    with contextlib.suppress(zlib.error):  # RQ compresses it, but also accepts plain data
        # More than the limit is cut, and then not JSON.
        data = zlib.decompressobj().decompress(data, limits.WAKEUP_BYTES)
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return "its content is not JSON"
    return "" if content == [_FUNCTION, None, [queue], {}] else "it asks for something else"


def _remove_other_types(connection: Redis, keys: Sequence[bytes]) -> bool:
    """Remove other types of values under queues' names, which would block them forever. True if there were any."""
    wrong = [key for key in keys if connection.type(key) not in (b"list", b"none")]
    for key in wrong:
        log.warning("queue_removed", key=key.decode(), reason="it was not a list")
        connection.unlink(key)
    return bool(wrong)
