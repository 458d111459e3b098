"""What machines ask of this process: is it alive, may it have requests, what has it counted. Not part of the API, and
nobody signs in for it."""

from __future__ import annotations

from flask import Blueprint, Response, request

from grader.errors import NotSignedIn
from grader.schemas.submission import Probe
from grader.service.operation import figures, health
from grader.service.operation.figures import check_scraper
from grader.web import throttle
from grader.web.access import ANYONE, open_to
from grader.web.answers import answer
from grader.web.auth.identity import bearer_token
from grader.web.current import platform

probes = Blueprint("probes", __name__)

_FORMAT = "text/plain; version=0.0.4; charset=utf-8"


@probes.get("/health")
@open_to(ANYONE)
def live() -> Response:
    """This process answers. Asks nobody else: restarting it would not bring a database back."""
    return answer(Probe(ok=True))


@probes.get("/ready")
@open_to(ANYONE)
def ready() -> Response:
    """200 where requests can be served; 503 while the database is away, or not at the tables that are known here."""
    found = health.ready(platform())
    return answer(found, 200 if found.ok else 503)


@probes.get("/metrics")
@open_to(ANYONE)
@throttle.metrics_limit
def metrics() -> Response:
    """Figures for Prometheus, for whom the settings name."""
    try:
        check_scraper(platform().settings, request.remote_addr, bearer_token())
    except NotSignedIn as error:  # elsewhere people are sent to a page
        return Response(f"{error.message}\n", 401, mimetype="text/plain")
    return Response(figures.exposition(platform()), content_type=_FORMAT)
