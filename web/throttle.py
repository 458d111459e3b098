"""Limits on passwords, codes, bad tokens and submissions, counted in Redis, or in memory without it. Only failures
count, because a class signs in from one address within a minute.

Wrong passwords count for the account from one address, for the account from anywhere, and for the address. The second
stops guesses from many addresses; signed-in owners and browsers in which the owner signed in before
(``auth.devices``) are counted separately, so strangers cannot lock them out. The third stops guesses at many
accounts; accounts without a failure from there within an hour are exempt, so one guesser cannot lock out a network.

Views pass the keys, so the limit sees the account that the view does.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from flask import Response, g, request
from flask_limiter import Limiter, RateLimitExceeded
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from grader import limits
from grader.errors import GraderError, NotAllowed, NotFound, NotSignedIn
from grader.service.accounts.keys import digest
from grader.service.accounts.links import LinkUseless
from grader.service.courses import joining
from grader.settings import Settings
from grader.web.auth import devices
from grader.web.proxies import client_of

# A slower Redis counts as absent.
_PING_SECONDS = 0.5
# The defaults hang a request for several times five seconds.
_SHORT_TIMEOUTS: dict[str, Any] = {
    "socket_connect_timeout": _PING_SECONDS,
    "socket_timeout": _PING_SECONDS,
    "retry": Retry(NoBackoff(), 1),
}


def storage_uri(settings: Settings) -> str:
    """A URI of the library ``limits``."""
    url = settings.queue_url
    try:
        client = Redis.from_url(url, **_SHORT_TIMEOUTS)
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


def _own_browser() -> str:
    """A browser known for the tried account, or its signed-in owner; "" for strangers."""
    user, tried = getattr(g, "user", None), g.tried
    if user is not None and devices.account(tried) == devices.account(user.name):
        return f"user {user.id}"
    nonce = devices.known(tried)
    return f"device {nonce}" if nonce else ""


def _account() -> str:
    return f"account {devices.account(g.tried)}"


def _account_from() -> str:
    return _own_browser() or f"{_account()} {_address()}"


def _never(_: Response) -> bool:
    return False


def _shows_no_token() -> bool:
    return "Authorization" not in request.headers


def _was_refused(response: Response) -> bool:
    return response.status_code == 401


# Memory counts if Redis dies. Moving, because twice as many pass around a fixed window's end.
limiter = Limiter(
    _address,
    # Tokens are looked up for unknown pages, too.
    request_identifier=lambda: request.endpoint or "none",
    strategy="moving-window",
    in_memory_fallback_enabled=True,
    # Of requests that find Redis dead at once, only the first switches to memory.
    swallow_errors=True,
    storage_options=_SHORT_TIMEOUTS,
    key_prefix="grader",
    headers_enabled=True,
)
_HASHES_PASSWORDS = frozenset({"/sign-in", "/sign-up", "/api/v1/tokens"})
_checking = threading.BoundedSemaphore(limits.PASSWORDS_AT_ONCE)


def hashes_password(method: str, path: str) -> bool:
    """For somebody who is not signed in."""
    return method == "POST" and path in _HASHES_PASSWORDS


class _Failures:
    """After ``most`` failures per ``key``, ``check`` and ``count`` raise RateLimitExceeded (429)."""

    def __init__(self, scope: str, most: Callable[[], str], key: Callable[[], str]) -> None:
        def check() -> None:
            pass

        def count() -> None:
            pass

        for act in (check, count):  # the limiter identifies functions by name
            act.__qualname__ = f"{scope}.{act.__name__}"
        limit = functools.partial(limiter.shared_limit, most, scope=scope, key_func=key)
        self.check = limit(deduct_when=_never)(check)
        self.count = limit()(count)

    def left(self) -> bool:
        return _passes(self.check)

    def take(self) -> bool:
        """Counts one if any is left."""
        return _passes(self.count)


def _passes(act: Callable[[], None]) -> bool:
    try:
        act()
    except RateLimitExceeded:
        return False
    return True


_at_account_from_here = _Failures(
    "account-address",
    lambda: f"{limits.SIGN_IN_PER_ADDRESS_AND_ACCOUNT} per {limits.SIGN_IN_WINDOW_MINUTES} minutes",
    _account_from,
)
_at_account = _Failures(
    "account",
    lambda: f"{limits.SIGN_IN_PER_ACCOUNT} per {limits.SIGN_IN_WINDOW_MINUTES} minutes",
    _account,
)
_from_here = _Failures(
    "sign-in",
    lambda: f"{limits.WRONG_PASSWORDS_PER_MINUTE} per minute; {limits.WRONG_PASSWORDS_PER_HOUR} per hour",
    _address,
)
_regardless = _Failures("regardless", lambda: f"{limits.WRONG_PASSWORDS_REGARDLESS} per hour", _account_from)
_join_codes = _Failures("join", lambda: f"{limits.WRONG_JOIN_CODES_PER_MINUTE} per minute", _who)
_team_codes = _Failures("team", lambda: f"{limits.WRONG_TEAM_CODES_PER_MINUTE} per minute", _who)


@contextmanager
def password_try(name: str) -> Iterator[None]:
    """NotSignedIn and NotAllowed count. Raises RateLimitExceeded (429)."""
    g.tried = name
    with _checking:
        _check_password_try()
        try:
            yield
        except (NotSignedIn, NotAllowed):
            _count_wrong_password()
            raise


def _check_password_try() -> None:
    _at_account_from_here.check()
    if not _own_browser():
        _at_account.check()
        if not _regardless.left():
            _from_here.check()


def _count_wrong_password() -> None:
    """Raises RateLimitExceeded (429) if parallel guesses used up a limit: the answer must not reveal if this was
    right."""
    _at_account_from_here.count()
    if _own_browser():
        return
    _at_account.count()
    regardless = _regardless.take()
    if not _from_here.take() and not regardless:
        _from_here.check()


@contextmanager
def join_code(key: str) -> Iterator[None]:
    """``key``: a join code or link's key, or "". Personal keys cannot be guessed: exempt. Raises RateLimitExceeded
    (429)."""
    if not key or joining.is_personal(key):
        yield
        return
    with _code(_join_codes, LinkUseless):
        yield


@contextmanager
def team_code(code: str) -> Iterator[None]:
    """``code``: of a team or an invitation, or "". Raises RateLimitExceeded (429)."""
    if not code:
        yield
        return
    with _code(_team_codes, NotFound, NotAllowed):
        yield


@contextmanager
def _code(failures: _Failures, *wrong: type[GraderError]) -> Iterator[None]:
    failures.check()
    try:
        yield
    except wrong:
        failures.count()
        raise


def _sign_ups() -> str:
    return f"{limits.SIGN_UPS_PER_MINUTE} per minute; {limits.SIGN_UPS_PER_HOUR} per hour"


# For asking for a mailed link, or using it.
mailed_link_limit = limiter.shared_limit(_sign_ups, scope="mailed-link", methods=["POST"])


def count_sign_up(key: str) -> None:
    """Before the account is created; personal links separately. Raises RateLimitExceeded (429)."""
    if joining.is_personal(key):
        g.key = key
        _count_personal()
    else:
        _count_sign_up()


@limiter.shared_limit(_sign_ups, scope="sign-up")
def _count_sign_up() -> None:
    pass


@limiter.shared_limit(
    f"{limits.LINK_TRIES_PER_MINUTE} per minute",
    scope="sign-up-link",
    key_func=lambda: f"link {digest(g.key)}",
)
def _count_personal() -> None:
    pass


@limiter.shared_limit(f"{limits.SIGN_ON_STEPS_PER_MINUTE} per minute", scope="sign-on")
def count_sign_on() -> None:
    """Each step calls the other site. Raises RateLimitExceeded (429)."""


@limiter.shared_limit(f"{limits.BAD_TOKENS_PER_MINUTE} per minute", scope="bad-token")
def count_bad_token() -> None:
    """Good tokens are never refused: 256 random bits cannot be guessed. Raises RateLimitExceeded (429)."""


# The operator's token may be short.
metrics_limit = limiter.shared_limit(
    f"{limits.METRICS_TOKENS_PER_MINUTE} per minute",
    scope="metrics",
    exempt_when=_shows_no_token,
    deduct_when=_was_refused,
)
submit_limit = limiter.shared_limit(f"{limits.SUBMIT_PER_MINUTE} per minute", scope="submit", key_func=_who)
run_limit = limiter.shared_limit(f"{limits.RUN_PER_MINUTE} per minute", scope="run", key_func=_who)
batch_limit = limiter.shared_limit(
    f"{limits.BATCH_CALLS_PER_MINUTE} per minute", scope="batch", key_func=_who
)
# Buttons of the editor's form; these are runs.
RUNS = ("run", "run-case")
editor_limit = limiter.shared_limit(
    f"{limits.SUBMIT_PER_MINUTE} per minute",
    scope=lambda _: "run" if request.form.get("action") in RUNS else "submit",
    key_func=_who,
)
upload_limit = limiter.shared_limit(
    f"{limits.UPLOADS_PER_MINUTE} per minute", scope="upload", key_func=_who, methods=["POST", "PUT"]
)
# By key; unknown keys together, by address.
hook_limit = limiter.shared_limit(
    f"{limits.HOOKS_PER_MINUTE} per minute",
    scope="hook",
    key_func=lambda: f"{_address()} {digest(str((request.view_args or {}).get('key')))}",
)
costly_limit = limiter.shared_limit(f"{limits.COSTLY_PER_MINUTE} per minute", scope="costly", key_func=_who)
draft_limit = limiter.shared_limit(f"{limits.DRAFTS_PER_MINUTE} per minute", scope="draft", key_func=_who)
device_limit = limiter.shared_limit(f"{limits.DEVICE_CODES_PER_MINUTE} per minute", scope="device")


@limiter.shared_limit(f"{limits.DEVICE_GUESSES_PER_MINUTE} per minute", scope="device-code", key_func=_who)
def count_code_guess() -> None:
    """Raises RateLimitExceeded (429)."""
