"""Wake-ups: RQ jobs that say "serve one submission of this queue". The worker asks SQL which.

Nothing in Redis is called, imported or unpickled, so anyone who can write there can only wake a worker in
vain. RQ's worker would call any function, callback or webhook that a job names.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from grader import limits
from grader.device_kinds import compiled_ahead
from grader.languages import Language
from grader.logs import get_logger

if TYPE_CHECKING:
    from redis import Redis
    from rq import Queue
    from rq.job import Job

log = get_logger(__name__)

# A submit must not hang without Redis: the sweeper issues the wake-up later.
_CONNECT_SECONDS = 2.0
# Compared, never called, and never changes, so releases understand each other.
_FUNCTION = "grader.queue.worker.serve"
_LOGGED_ID_CHARS = 64

COMPILE = "compile"
# Kernels to compile before their submission's turn. Only compile workers serve it.
KERNELS = "kernels"
CHECK = "check"


def run_queue(device: str) -> str:
    return f"run:{device}"


def first_queue(device: str, language: Language) -> str:
    return COMPILE if language.compiled else run_queue(device)


class WakeUps:
    """Connects on first use."""

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
            # For a connection that Redis closed; the client's default waits seconds.
            retry=Retry(NoBackoff(), 1),
        )

    def _queue(self, name: str) -> Queue:
        return _queue(name, self.connection)

    def enqueue(self, queue: str, count: int = 1) -> bool:
        """False, not an error, without Redis: SQL knows what waits."""
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
        """One is enough: its workers look at all the work."""
        from redis import RedisError

        try:
            if self.waiting(queue):
                return
        except (RedisError, OSError) as error:
            log.warning("wakeup_not_issued", queue=queue, error=str(error))
            return
        self.enqueue(queue)

    def waiting(self, queue: str) -> int:
        """Not taken yet. Raises redis.RedisError."""
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
    """The next job, of earlier queues first; redeem it. None if none comes within ``wait_s`` seconds (None:
    do not wait). Raises redis.RedisError.
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


def consume_wakeup(connection: Redis, queue: str, job_id: bytes) -> bool:
    """Whether a taken job is a wake-up; its record is removed in any case. The sweeper replaces a lost
    wake-up. Raises redis.RedisError.
    """
    from rq.job import Job
    from rq.serializers import JSONSerializer

    try:
        job = Job(job_id.decode(), connection=connection, serializer=JSONSerializer)
    except ValueError:
        log.warning("wakeup_refused", queue=queue, reason="its id is not one of RQ's")
        return False
    reason = _why_no_wakeup(connection, job, queue)
    # Job.delete also touches queue, group and registries that the record names.
    connection.unlink(job.key)
    if reason:
        log.warning("wakeup_refused", queue=queue, job=job.id[:_LOGGED_ID_CHARS], reason=reason)
    return not reason


def _queue(name: str, connection: Redis) -> Queue:
    from rq import Queue
    from rq.serializers import JSONSerializer

    return Queue(name, connection=connection, serializer=JSONSerializer)


def _why_no_wakeup(connection: Redis, job: Job, queue: str) -> str:
    """Empty if it is one.

    Job.fetch unpacks a record of any size, so it is measured first: zlib gives at most 1,032 times as much.
    RQ reads the fields as JSON and keeps functions, callbacks and webhooks as names until asked.
    """
    from redis import ResponseError

    # With overhead: 1.7 KB for 500 bytes.
    if (connection.memory_usage(job.key, samples=0) or 0) > 2 * limits.WAKEUP_BYTES:
        return "its record is too large"
    try:
        record = connection.hgetall(job.key)
    except ResponseError:
        return "its record is not a hash"
    if not record:
        return "its record is gone"
    # Somebody may have replaced it meanwhile.
    if sum(len(name) + len(value) for name, value in record.items()) > limits.WAKEUP_BYTES:
        return "its record is too large"
    try:
        job.restore(record)
        content = [job.func_name, job.instance, job.args, job.kwargs]
    except Exception as error:  # RQ raises many kinds for what it cannot read
        return f"RQ cannot read its record ({type(error).__name__})"
    return "" if content == [_FUNCTION, None, [queue], {}] else "it asks for something else"


def _remove_other_types(connection: Redis, keys: Sequence[bytes]) -> bool:
    """They would stop the queue for good. True if there was one."""
    wrong = [key for key in keys if connection.type(key) not in (b"list", b"none")]
    for key in wrong:
        log.warning("queue_removed", key=key.decode(), reason="it was not a list")
        connection.unlink(key)
    return bool(wrong)
