"""How often one may try to sign in, show a wrong token, and submit. Counted in Redis where it answers, so that all
processes share the count; else in memory.

Tries at an account are counted three times: from one address, at the account from one address, and at the account
from everywhere. The last is what stops many addresses, and what a stranger could shut an account with; so a browser
in which its owner has signed in before (``auth.devices``) is counted by itself instead, and one who is signed in,
too.

No key is read from the raw request: views call ``count_try`` and ``count_code_guess`` with what they parsed and are
about to use, so that nothing in a request can make the limit see another account than the view does.
"""

from __future__ import annotations

from typing import Any

from flask import Response, g, request
from flask_limiter import Limiter
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from grader import limits
from grader.service.accounts.keys import digest
from grader.service.courses import joining
from grader.settings import Settings
from grader.web.auth import devices
from grader.web.proxies import client_of

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


def _address() -> str:
    return f"address {client_of(request.remote_addr)}"


def _who() -> str:
    user = getattr(g, "user", None)
    return f"user {user.id}" if user is not None else _address()


def _inside() -> str:
    """What is counted by itself: a browser known for the account that it tries, or who is signed in to that account.
    At another's account they are strangers.
    """
    user, tried = getattr(g, "user", None), g.tried
    if user is not None and devices.account(tried) == devices.account(user.name):
        return f"user {user.id}"
    nonce = devices.known(tried)
    return f"device {nonce}" if nonce else ""


def _from() -> str:
    return _inside() or _address()


def _account() -> str:
    return _inside() or f"account {devices.account(g.tried)}"


def _account_from() -> str:
    return _inside() or f"account {devices.account(g.tried)} {_address()}"


def _shows_no_token() -> bool:
    return "Authorization" not in request.headers


def _was_refused(response: Response) -> bool:
    return response.status_code == 401


# A Redis that dies later must not stop the web: counting goes on in memory. A moving window, because in a fixed one
# twice as many fit around its end.
limiter = Limiter(
    _address,
    # Also where there is no such page: a token is looked up there, too.
    request_identifier=lambda: request.endpoint or "none",
    strategy="moving-window",
    in_memory_fallback_enabled=True,
    # Of several requests that find Redis dead at once, the first begins to count in memory; the others, and the headers
    # of those that were counted before, must not fail by it.
    swallow_errors=True,
    storage_options=_IMPATIENT,
    key_prefix="grader",
    headers_enabled=True,
)
_SIGN_IN = f"{limits.SIGN_IN_PER_MINUTE} per minute"
_WINDOW = f"per {limits.SIGN_IN_WINDOW_MINUTES} minutes"
# Of forms and calls without a password that is tried: sign-up, mailed links and their keys.
sign_in_limit = limiter.shared_limit(_SIGN_IN, scope="sign-in", methods=["POST"])


def count_sign_up(key: str) -> None:
    """Count somebody who makes an account with such a key, just before it is made. A class does so within a minute from
    one address: a personal link, which nobody guesses, counts by itself, and a join code as joining does. Raises
    RateLimitExceeded (429)."""
    if joining.is_personal(key):
        g.key = key
        _count_personal()
    elif joining.is_key(key):
        count_join()
    else:
        _count_sign_up()


@limiter.shared_limit(_SIGN_IN, scope="sign-in")
def _count_sign_up() -> None:
    pass


# Each try hashes a password.
@limiter.shared_limit(_SIGN_IN, scope="sign-up-link", key_func=lambda: f"link {digest(g.key)}")
def _count_personal() -> None:
    pass


@limiter.shared_limit(f"{limits.JOINS_PER_MINUTE} per minute", scope="join", key_func=_who)
def count_join() -> None:
    """Count a join code that is looked up. Raises RateLimitExceeded (429)."""


@limiter.shared_limit(f"{limits.JOINS_PER_MINUTE} per minute", scope="sign-on")
def count_sign_on() -> None:
    """Count a step of a sign-in by another site: a class signs in within a minute, and each step asks that site. Raises
    RateLimitExceeded (429)."""


def count_try(name: str) -> None:
    """Count a try at the account ``name``, just before its password is weighed. Raises RateLimitExceeded (429)."""
    g.tried = name
    _count_try()


# The innermost is counted first, and what it refuses is not counted by those around it: so one address alone never uses
# up what an account takes.
@limiter.shared_limit(f"{limits.SIGN_IN_PER_ACCOUNT} {_WINDOW}", scope="account", key_func=_account)
@limiter.shared_limit(
    f"{limits.SIGN_IN_PER_ADDRESS_AND_ACCOUNT} {_WINDOW}", scope="account-address", key_func=_account_from
)
@limiter.shared_limit(_SIGN_IN, scope="sign-in", key_func=_from)
def _count_try() -> None:
    pass


@limiter.shared_limit(f"{limits.BAD_TOKENS_PER_MINUTE} per minute", scope="bad-token")
def count_bad_token() -> None:
    """Count a token that nobody has. Raises RateLimitExceeded (429). A token that is good is never refused for others'
    bad ones from its address: of 256 random bits none is guessed, so this only bounds what a broken program costs.
    """


# The token for the figures is the operator's choice and may be short. So after as many wrong ones an address gets no
# answer, or the right one would still be found.
metrics_limit = limiter.shared_limit(
    f"{limits.BAD_TOKENS_PER_MINUTE} per minute",
    scope="metrics",
    exempt_when=_shows_no_token,
    deduct_when=_was_refused,
)
submit_limit = limiter.shared_limit(f"{limits.SUBMIT_PER_MINUTE} per minute", scope="submit", key_func=_who)
run_limit = limiter.shared_limit(f"{limits.RUN_PER_MINUTE} per minute", scope="run", key_func=_who)
# Of the editor's form, whose buttons do one or the other.
editor_limit = limiter.shared_limit(
    f"{limits.SUBMIT_PER_MINUTE} per minute",
    scope=lambda _: "run" if request.form.get("action") == "run" else "submit",
    key_func=_who,
)
upload_limit = limiter.shared_limit(
    f"{limits.UPLOADS_PER_MINUTE} per minute", scope="upload", key_func=_who, methods=["POST", "PUT"]
)
costly_limit = limiter.shared_limit(f"{limits.COSTLY_PER_MINUTE} per minute", scope="costly", key_func=_who)
draft_limit = limiter.shared_limit(f"{limits.DRAFTS_PER_MINUTE} per minute", scope="draft", key_func=_who)
device_limit = limiter.shared_limit(f"{limits.DEVICE_CODES_PER_MINUTE} per minute", scope="device")


@limiter.shared_limit(f"{limits.DEVICE_GUESSES_PER_MINUTE} per minute", scope="device-code", key_func=_who)
def count_code_guess() -> None:
    """Count a code of a command line that somebody types. Raises RateLimitExceeded (429)."""
