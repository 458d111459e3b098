"""Outside the API, without sign-in."""

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
    """This process answers. Checks nothing else: a restart would not repair a database."""
    return answer(Probe(ok=True))


@probes.get("/ready")
@open_to(ANYONE)
def ready() -> Response:
    """200 if requests can be served; 503 if the database is down or has other tables than this release knows."""
    found = health.ready(platform())
    return answer(found, 200 if found.ok else 503)


@probes.get("/metrics")
@open_to(ANYONE)
@throttle.metrics_limit
def metrics() -> Response:
    """Metrics for Prometheus, for addresses and tokens in the settings."""
    try:
        check_scraper(platform().settings, request.remote_addr, bearer_token())
    except NotSignedIn as error:  # elsewhere it redirects to the sign-in page
        return Response(f"{error.message}\n", 401, mimetype="text/plain")
    return Response(figures.exposition(platform()), content_type=_FORMAT)
