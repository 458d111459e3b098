"""Errors are JSON below /api, pages elsewhere. Internal causes only go to the log."""

from __future__ import annotations

import logging

from flask import Flask, Response, redirect, render_template, request, url_for
from flask_wtf.csrf import CSRFError  # type: ignore[import-untyped]
from pydantic import ValidationError
from sqlalchemy.exc import DataError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response as BaseResponse

from grader import errors, limits
from grader.errors import GraderError
from grader.schemas.course import SLUG_PATTERN
from grader.schemas.submission import ErrorBody, ErrorEnvelope
from grader.web.answers import answer
from grader.web.auth.identity import is_staff

log = logging.getLogger("grader.web")

# HTTP status -> code, message, hint.
_HTTP: dict[int, tuple[str, str, str]] = {
    400: (
        "bad_request",
        "The request is malformed.",
        "Send a JSON object, as the OpenAPI document describes.",
    ),
    404: ("not_found", "There is nothing at this address.", "GET /api/v1/openapi.json lists every address."),
    405: (
        "method_not_allowed",
        "This address does not support that method.",
        "The header Allow lists those it supports.",
    ),
    413: (
        "too_large",
        "The request is too large.",
        f"At most {limits.REQUEST_BYTES // limits.MIB} MiB are accepted.",
    ),
    429: ("too_many", "Too many requests in a short time.", "Wait a minute and try again."),
}
# JSON nested too deep; lone surrogates; NUL.
_UNREADABLE = (RecursionError, UnicodeError, DataError)
# Down, locked for too long, or out of connections.
_AWAY = (OperationalError, InterfaceError, PoolTimeout)
_UNREACHABLE = (
    "unreachable",
    "The database does not answer.",
    "Nothing is lost; try again in a moment.",
)
# The cause names files: for staff only.
_BROKEN = (
    "This challenge cannot be used now: its folder on the server is broken.",
    "Nothing is lost, and its boards stay. Staff see an alert; try again later.",
)
_FAILED = (
    "internal",
    "Something failed on our side.",
    "Try again; if it fails again, tell the staff when it happened.",
)


def init_app(app: Flask) -> None:
    app.register_error_handler(GraderError, _of_ours)
    app.register_error_handler(CSRFError, _forged)
    app.register_error_handler(HTTPException, _of_http)
    for kind in _UNREADABLE:
        app.register_error_handler(kind, _unreadable)
    for away in _AWAY:
        app.register_error_handler(away, _unreachable)
    app.register_error_handler(Exception, _unforeseen)


def in_api() -> bool:
    return request.path.startswith("/api/")


def _rule() -> str:
    """The rule, because a shared page's address is a secret."""
    return request.url_rule.rule if request.url_rule else "an unknown address"


def invalid_request(error: ValidationError) -> Response:
    """Repeats field names, never values."""
    if request.get_json(silent=True) is None and request.method in ("POST", "PUT", "PATCH"):
        return _json(
            400,
            "bad_request",
            "The body is not JSON.",
            "Send a JSON object with Content-Type: application/json.",
        )
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    where = ".".join(str(part)[:60] for part in first["loc"]) or "body"
    said = first["msg"].removeprefix("Value error, ")
    if first["type"] == "string_pattern_mismatch" and SLUG_PATTERN in said:
        said = "It consists of small letters, digits, '_' and '-', and begins with a letter or a digit"
    return _json(400, "bad_request", f"{where}: {said}.", "GET /api/v1/openapi.json describes every request.")


def _of_ours(error: GraderError) -> BaseResponse:
    if error.status >= 500:
        log.error("%s %s: %s", request.method, _rule(), error.message)
    if isinstance(error, errors.ChallengeInvalid) and not is_staff():
        return _answer(error.status, error.code, *_BROKEN)
    if isinstance(error, errors.NotSignedIn) and not in_api():
        wanted = request.path if request.method == "GET" else request.form.get("back", "/")
        return redirect(url_for("sign_in.form", next=wanted))
    return _answer(error.status, error.code, error.message, error.hint)


def _forged(error: CSRFError) -> BaseResponse:
    return _answer(
        403,
        "csrf",
        "This request could not be verified as coming from this site.",
        "Load the page again and repeat it. A program should send an API token instead of a cookie.",
    )


def _of_http(error: HTTPException) -> BaseResponse:
    if error.response is not None:  # abort() with a finished answer
        return error.response  # type: ignore[return-value]
    status = error.code or 500
    if 300 <= status < 400:
        return error.get_response()
    if status >= 500:
        return _answer(status, *_FAILED)
    code, message, hint = _HTTP.get(status, ("bad_request", error.name + ".", ""))
    response = _answer(status, code, message, hint)
    for name, value in error.get_headers():
        if name in ("Allow", "Retry-After"):
            response.headers[name] = value
    return response


def _unreadable(error: Exception) -> BaseResponse:
    log.warning("%s %s: %s", request.method, _rule(), type(error).__name__)
    return _answer(400, *_HTTP[400])


def _unreachable(error: Exception) -> BaseResponse:
    log.error("%s %s: %s", request.method, _rule(), error)
    response = _answer(503, *_UNREACHABLE)
    response.headers["Retry-After"] = str(limits.RETRY_SECONDS)
    return response


def _unforeseen(error: Exception) -> BaseResponse:
    log.exception("%s %s failed", request.method, _rule(), exc_info=error)
    return _answer(500, *_FAILED)


def _answer(status: int, code: str, message: str, hint: str) -> Response:
    if in_api():
        return _json(status, code, message, hint)
    page = render_template("error.html", status=status, message=message, hint=_for_people(hint))
    return Response(page, status)


def _for_people(hint: str) -> str:
    return "" if "openapi.json" in hint or hint.startswith("See the header") else hint


def _json(status: int, code: str, message: str, hint: str) -> Response:
    return answer(ErrorEnvelope(error=ErrorBody(code=code, message=message, hint=hint)), status)
