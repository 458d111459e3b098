"""How often one may try to sign in, show a wrong token, and submit. Counted in Redis where it answers, so that all
processes share the count; else in memory.

Tries at an account are counted three times: from one address, at the account from one address, and at the account
from everywhere. The last is what stops many addresses, and what a stranger could shut an account with; so a browser
in which its owner has signed in before (``auth.devices``) is counted by itself instead, and one who is signed in,
too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from flask import Response, g, request
from flask_limiter import Limiter
from flask_limiter.util import get_remote_address
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from grader import limits
from grader.settings import Settings
from grader.web.auth import devices

View = TypeVar("View", bound=Callable[..., Any])

# The ping decides at start; a Redis that does not answer at once is treated as absent, then and later.
_PING_SECONDS = 0.5
# The client's own patience is several times five seconds, with pauses in between, in which a request would hang.
_IMPATIENT: dict[str, Any] = {
    "socket_connect_timeout": _PING_SECONDS,
    "socket_timeout": _PING_SECONDS,
    "retry": Retry(NoBackoff(), 1),
}


def storage_uri(settings: Settings) -> str:
    """Where counts are kept, as an address of the library ``limits``."""
    url = settings.queue_url
    try:
        client = Redis.from_url(url, **_IMPATIENT)
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


def _tried() -> str:
    """The name of the account that is tried, as it was typed."""
    body: Any = request.get_json(silent=True) if request.is_json else request.form
    return str(body.get("name", "")) if hasattr(body, "get") else ""


def _inside() -> str:
    """What is counted by itself: a browser known for the account that it tries, or who is signed in to that account.
    At another's account they are strangers.
    """
    user, tried = getattr(g, "user", None), _tried()
    if user is not None and (not tried or devices.account(tried) == devices.account(user.name)):
        return f"user {user.id}"
    nonce = devices.known(tried)
    return f"device {nonce}" if nonce else ""


def _from() -> str:
    return _inside() or f"address {get_remote_address()}"


def _account() -> str:
    return _inside() or f"account {devices.account(_tried())}"


def _account_from() -> str:
    return _inside() or f"account {devices.account(_tried())} address {get_remote_address()}"


def _asks_for_no_code() -> bool:
    return not request.values.get("code")


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
    # Of several requests that find Redis dead at once, the first begins to count in memory; the others, and the headers
    # of those that were counted before, must not fail by it.
    swallow_errors=True,
    storage_options=_IMPATIENT,
    key_prefix="grader",
    headers_enabled=True,
    application_limits=[f"{limits.BAD_TOKENS_PER_MINUTE} per minute"],
    application_limits_exempt_when=_shows_no_token,
    application_limits_deduct_when=_was_refused,
)
sign_in_limit = limiter.shared_limit(
    f"{limits.SIGN_IN_PER_MINUTE} per minute", scope="sign-in", key_func=_from, methods=["POST"]
)
_WINDOW = f"per {limits.SIGN_IN_WINDOW_MINUTES} minutes"
account_address_limit = limiter.shared_limit(
    f"{limits.SIGN_IN_PER_ADDRESS_AND_ACCOUNT} {_WINDOW}",
    scope="account-address",
    key_func=_account_from,
    methods=["POST"],
)
account_limit = limiter.shared_limit(
    f"{limits.SIGN_IN_PER_ACCOUNT} {_WINDOW}",
    scope="account",
    key_func=_account,
    methods=["POST"],
)


def password_limits(view: View) -> View:
    """All three for a view that takes a password. The innermost is counted first, and what it refuses is not counted by
    those around it: so one address alone never uses up what an account takes.
    """
    return cast("View", account_limit(account_address_limit(sign_in_limit(view))))


submit_limit = limiter.shared_limit(f"{limits.SUBMIT_PER_MINUTE} per minute", scope="submit", key_func=_who)
run_limit = limiter.shared_limit(f"{limits.RUN_PER_MINUTE} per minute", scope="run", key_func=_who)
# Of the editor's form, whose buttons do one or the other.
editor_limit = limiter.shared_limit(
    f"{limits.SUBMIT_PER_MINUTE} per minute",
    scope=lambda _: "run" if request.form.get("action") == "run" else "submit",
    key_func=_who,
)
draft_limit = limiter.shared_limit(f"{limits.DRAFTS_PER_MINUTE} per minute", scope="draft", key_func=_who)
# Codes that a command line shows: how often one may try one, and how many may be asked for.
code_limit = limiter.shared_limit(
    f"{limits.DEVICE_GUESSES_PER_MINUTE} per minute",
    scope="device-code",
    key_func=_who,
    exempt_when=_asks_for_no_code,
)
device_limit = limiter.shared_limit(f"{limits.DEVICE_CODES_PER_MINUTE} per minute", scope="device")
