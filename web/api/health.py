"""GET /health: 200 when every part answers, else 503, with the same body."""

from __future__ import annotations

from flask import Response

from grader.schemas.submission import Alert, Health
from grader.service.operation import health
from grader.web.access import ANYONE, open_to
from grader.web.answers import answer
from grader.web.api.resource import resource
from grader.web.auth.identity import is_staff
from grader.web.current import platform

api = resource("health", "Is it all up?")

_FOR_STAFF = Alert(
    text="Something must be fixed by staff.",
    hint="Signed in by `grader login --scope read,submit,staff`, staff see what by `grader doctor`.",
)


@api.get("/health", responses={200: Health, 503: Health})
@open_to(ANYONE)
def get_health() -> Response:
    """The state of database, queue and workers. Alerts name hosts and GPUs, so only staff read what they say."""
    found = health.health(platform())
    if found.alerts and not is_staff():
        found = found.model_copy(update={"alerts": [_FOR_STAFF]})
    return answer(found, 200 if found.ok else 503)
