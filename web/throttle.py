"""How often one may try to sign in, show a wrong token, and submit. Counted in Redis where it answers, so that all
processes share the count; else in memory."""

from __future__ import annotations

import hashlib
from typing import Any

from flask import Response, g, request
from flask_limiter import Limiter
from flask_limiter.util import get_remote_address
from redis import Redis
from redis.exceptions import RedisError

from grader import limits
from grader.service.accounts import name_key
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


def _account() -> str:
    """The account that is tried, whether or not there is one. Hashed: what was typed is no key for Redis."""
    body: Any = request.get_json(silent=True) if request.is_json else request.form
    name = body.get("name", "") if hasattr(body, "get") else ""
    tried = g.user.name if getattr(g, "user", None) else str(name).strip()
    return "account " + hashlib.sha256(name_key(tried).encode("utf-8", "replace")).hexdigest()


def _shows_no_token() -> bool:
    return "Authorization" not in request.headers


def _was_refused(response: Response) -> bool:
    return response.status_code == 401


# A Redis that dies later must not stop the web: counting goes on in memory. A moving window, because in a fixed one
# twice as many fit around its end.
limiter = Limiter(
    get_remote_address,
    strategy="moving-window",
    in_memory_fallback_enabled=True,
    key_prefix="grader",
    headers_enabled=True,
    application_limits=[f"{limits.BAD_TOKENS_PER_MINUTE} per minute"],
    application_limits_exempt_when=_shows_no_token,
    application_limits_deduct_when=_was_refused,
)
sign_in_limit = limiter.shared_limit(
    f"{limits.SIGN_IN_PER_MINUTE} per minute", scope="sign-in", methods=["POST"]
)
account_limit = limiter.shared_limit(
    f"{limits.SIGN_IN_PER_ACCOUNT} per {limits.SIGN_IN_WINDOW_MINUTES} minutes",
    scope="account",
    key_func=_account,
    methods=["POST"],
)
submit_limit = limiter.shared_limit(f"{limits.SUBMIT_PER_MINUTE} per minute", scope="submit", key_func=_who)
