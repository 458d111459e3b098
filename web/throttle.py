"""How often one may try to sign in, and submit. Counted in Redis where it answers, so that all processes share the
count; else in memory."""

from __future__ import annotations

from flask import g
from flask_limiter import Limiter
from flask_limiter.util import get_remote_address
from redis import Redis
from redis.exceptions import RedisError

from grader import limits
from grader.settings import Settings

# The ping decides at start; a Redis that does not answer at once is treated as absent.
_PING_SECONDS = 0.5


def storage_uri(settings: Settings) -> str:
    """Where counts are kept, as an address of the library ``limits``."""
    url = settings.queue_url
    try:
        client = Redis.from_url(url, socket_connect_timeout=_PING_SECONDS, socket_timeout=_PING_SECONDS)
        try:
            client.ping()
        finally:
            client.close()
    except (RedisError, OSError):
        return "memory://"
    return f"redis+{url}" if url.startswith("unix://") else url


def _who() -> str:
    user = getattr(g, "user", None)
    return f"user {user.id}" if user is not None else f"address {get_remote_address()}"


# A Redis that dies later must not stop the web: counting goes on in memory.
limiter = Limiter(
    get_remote_address, in_memory_fallback_enabled=True, key_prefix="grader", headers_enabled=True
)
sign_in_limit = limiter.shared_limit(
    f"{limits.SIGN_IN_PER_MINUTE} per minute", scope="sign-in", methods=["POST"]
)
submit_limit = limiter.shared_limit(f"{limits.SUBMIT_PER_MINUTE} per minute", scope="submit", key_func=_who)
