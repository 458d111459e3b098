"""How often one may try a password or a code, show a wrong token, and submit. Counted in Redis if it answers, so that
all processes share the count; else in memory.

What is right does not count against guessing: a class signs in behind one address within a minute. Only failures
count, after the password was checked; ``PASSWORDS_AT_ONCE`` bounds what is checked at the same time.

Wrong passwords are counted for the account from one address, for the account from everywhere, and for the address. The
second stops many addresses, and a stranger could lock an account with it; so a browser in which its owner has signed
in before (``auth.devices``) is counted by itself, and so is one who is signed in. The third stops somebody who tries
many accounts. It would let them lock out their whole network, so an account at which nothing failed from there within
an hour may be tried regardless.

No key is read from the raw request: views call ``password_try``, ``join_code`` and ``team_code`` with what they parsed
and are about to use, so that nothing in a request can make the limit see another account than the view does.
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


def _account() -> str:
    return f"account {devices.account(g.tried)}"


def _account_from() -> str:
    return _inside() or f"{_account()} {_address()}"


def _never(_: Response) -> bool:
    return False


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
_HASHES_PASSWORDS = frozenset({"/sign-in", "/sign-up", "/api/v1/tokens", "/api/v1/accounts"})
_checking = threading.BoundedSemaphore(limits.PASSWORDS_AT_ONCE)


def hashes_password(method: str, path: str) -> bool:
    """Whether such a request hashes a password for somebody who is not signed in."""
    return method == "POST" and path in _HASHES_PASSWORDS


class _Failures:
    """Lets ``most`` failures of each ``key`` pass; then ``check`` and ``count`` raise RateLimitExceeded (429)."""

    def __init__(self, scope: str, most: Callable[[], str], key: Callable[[], str]) -> None:
        def check() -> None:
            pass

        def count() -> None:
            pass

        for act in (check, count):  # the limiter knows functions by their names
            act.__qualname__ = f"{scope}.{act.__name__}"
        limit = functools.partial(limiter.shared_limit, most, scope=scope, key_func=key)
        self.check = limit(deduct_when=_never)(check)
        self.count = limit()(count)

    def left(self) -> bool:
        return _passes(self.check)

    def take(self) -> bool:
        """Counts one if there is one left."""
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
    """Within, a password is tried at the account ``name``; NotSignedIn and NotAllowed say that it is wrong. Raises
    RateLimitExceeded (429)."""
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
    if not _inside():
        _at_account.check()
        if not _regardless.left():
            _from_here.check()


def _count_wrong_password() -> None:
    """Raises RateLimitExceeded (429) if parallel guesses have used up a limit meanwhile: then no answer says whether
    this one was right."""
    _at_account_from_here.count()
    if _inside():
        return
    _at_account.count()
    regardless = _regardless.take()
    if not _from_here.take() and not regardless:
        _from_here.check()


@contextmanager
def join_code(key: str) -> Iterator[None]:
    """Within, a join code or the key of a link is looked up; empty: neither is given. Raises RateLimitExceeded (429).
    The key of a personal link cannot be guessed, so its owner gets in beside somebody who guesses codes."""
    if not key or joining.is_personal(key):
        yield
        return
    with _code(_join_codes, LinkUseless):
        yield


@contextmanager
def team_code(code: str) -> Iterator[None]:
    """Within, a team's code or an invitation to a competition is looked up; empty: neither is given. Raises
    RateLimitExceeded (429)."""
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


# Of forms and calls that ask for a mailed link or use one.
mailed_link_limit = limiter.shared_limit(_sign_ups, scope="mailed-link", methods=["POST"])


def count_sign_up(key: str) -> None:
    """Count somebody who makes an account with such a key, just before it is made. A personal link, which nobody
    guesses, counts by itself. Raises RateLimitExceeded (429)."""
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
    """Count a step of a sign-in by another site: each step asks that site. Raises RateLimitExceeded (429)."""


@limiter.shared_limit(f"{limits.BAD_TOKENS_PER_MINUTE} per minute", scope="bad-token")
def count_bad_token() -> None:
    """Count a token that nobody has. Raises RateLimitExceeded (429). A token that is good is never refused for others'
    bad ones from its address: of 256 random bits none is guessed, so this only bounds what a broken program costs.
    """


# The token for the figures is the operator's choice and may be short. So after as many wrong ones an address gets no
# answer, or the right one would still be found.
metrics_limit = limiter.shared_limit(
    f"{limits.METRICS_TOKENS_PER_MINUTE} per minute",
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
