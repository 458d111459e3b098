"""A request's id, in log lines and the answer, and its duration."""

from __future__ import annotations

import logging
import re
import time

import structlog
from flask import Flask, Response, g, request

from grader import logs, metrics
from grader.records.models import PUBLIC_ID_CHARS
from grader.web.current import platform

log = logging.getLogger("grader.web")

HEADER = "X-Request-ID"
_SUBMISSION = re.compile(rf"[0-9a-z]{{{PUBLIC_ID_CHARS}}}")
_ASKED_BY_MACHINES = {"probes.live", "probes.ready", "probes.metrics", "static", "language_colours"}


def init_app(app: Flask) -> None:
    """First, so refused requests are logged and counted."""
    app.before_request(_begin)
    app.after_request(_end)
    app.teardown_request(_forget)


def _begin() -> None:
    g.began = time.perf_counter()
    structlog.contextvars.clear_contextvars()
    bound = {"request": logs.new_request_id(request.headers.get(HEADER))}
    values = request.view_args or {}
    named = str(values.get("submission", values.get("id", "")))
    if _SUBMISSION.fullmatch(named):
        bound["submission"] = named
    structlog.contextvars.bind_contextvars(**bound)


def _forget(_error: BaseException | None) -> None:
    structlog.contextvars.clear_contextvars()  # the thread may do other things before its next request


def _end(response: Response) -> Response:
    if "began" not in g:  # failed before any of our code ran
        return response
    seconds = time.perf_counter() - g.began
    # Addresses may contain secrets and have unlimited values.
    route = request.url_rule.rule if request.url_rule else "none"
    method = request.method if request.method in _METHODS else "OTHER"
    metrics.http_served(method, route, response.status_code, seconds)
    if _is_logged(response):
        user = getattr(g, "user", None)
        facts = {
            "method": method,
            "route": route,
            "status": response.status_code,
            "seconds": round(seconds, 4),
        }
        log.info("request_served", extra=facts | ({"user": user.id} if user is not None else {}))
    if request_id := logs.request_id():
        response.headers[HEADER] = request_id
    return response


_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


def _is_logged(response: Response) -> bool:
    """Changes and failures; with ``GRADER_ACCESS_LOG`` all but machines' requests."""
    if response.status_code >= 500:
        return True
    if request.method not in ("GET", "HEAD"):
        # Workers log themselves what they do, and ask every second.
        return getattr(g, "worker", None) is None or platform().settings.access_log
    return platform().settings.access_log and request.endpoint not in _ASKED_BY_MACHINES
