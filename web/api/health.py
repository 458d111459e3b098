"""GET /health: 200 when every part answers, else 503, with the same body."""

from __future__ import annotations

from flask import Response

from grader.schemas.submission import Health
from grader.service import health
from grader.web.answers import answer
from grader.web.api.resource import resource
from grader.web.current import platform

api = resource("health", "Is it all up?", signed_in=False)


@api.get("/health", responses={200: Health, 503: Health})
def get_health() -> Response:
    """The state of database, queue and workers."""
    found = health.health(platform())
    return answer(found, 200 if found.ok else 503)
