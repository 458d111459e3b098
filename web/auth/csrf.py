"""Forms, and API calls with a cookie, carry a token, and headers must not name another origin. Bearer tokens cannot
be sent by foreign pages."""

from __future__ import annotations

from urllib.parse import urlsplit

from flask import Flask, request
from flask_wtf.csrf import CSRFError, CSRFProtect  # type: ignore[import-untyped]

from grader.errors import NotSignedIn
from grader.web.auth.identity import by_cookie, viewer
from grader.web.errors import in_api

_protect = CSRFProtect()

# "none": by the user, as on reloading. A sibling domain ("same-site") is not ours.
_OWN = ("same-origin", "none")
_TLS_PORT = 443


def init_app(app: Flask) -> None:
    app.config["WTF_CSRF_CHECK_DEFAULT"] = False  # _guard decides
    app.config["WTF_CSRF_TIME_LIMIT"] = None  # as long as the session: an editor stays open for an afternoon
    # Flask-WTF demands a Referer over TLS, but pages with a secret address send none (pages.keys).
    app.config["WTF_CSRF_SSL_STRICT"] = False
    _protect.init_app(app)
    app.before_request(_guard)


# From other sites, without a session: signed, or valid once.
_OF_OTHERS = ("lti.login", "lti.launch", "lti.select")
# For people who are not signed in.
_FOR_ANYONE = (
    "design.choose",
    "lti.connect",
    "lti.link",
    "notices.unsubscribe",
    "resets.ask",
    "resets.reset",
    "resets.set_up",
    "sign_in.submit",
    "sign_up.ask",
    "sign_up.submit",
)


def _guard() -> None:
    if (in_api() and not by_cookie()) or request.endpoint in _OF_OTHERS:
        return
    try:
        _protect.protect()
    except CSRFError:
        # Tokens end with the session.
        if viewer() is None and request.endpoint not in _FOR_ANYONE:
            raise NotSignedIn("You are signed out.", "Sign in again.") from None
        raise
    if request.method in ("POST", "PUT", "PATCH", "DELETE"):
        _check_origin()


def _check_origin() -> None:
    """Raises CSRFError for another origin, such as a page over HTTP that planted a cookie and its token. Scripts
    cannot set Sec-Fetch-Site; browsers send it over TLS and on the loopback. Without it, Origin must name us over
    TLS, else Referer."""
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        if site not in _OWN:
            raise CSRFError("The request comes from another site.")
    elif request.is_secure and _origin(_source()) != _origin(request.host_url):
        raise CSRFError("The request does not name this site as its origin.")


def _source() -> str:
    """For old browsers: `null` or empty if hidden."""
    return request.headers.get("Origin") or request.headers.get("Referer", "")


def _origin(address: str) -> tuple[str, str | None, int] | None:
    """Scheme, host and port; None if it is no address."""
    try:
        parts = urlsplit(address)
        return parts.scheme, parts.hostname, parts.port or _TLS_PORT
    except ValueError:
        return None
