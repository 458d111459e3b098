from __future__ import annotations

from flask import Response

from grader.schemas.submission import Alert, Health
from grader.service.operation import health
from grader.web.access import ANYONE, open_to
from grader.web.answers import answer
from grader.web.api.resource import resource
from grader.web.auth.identity import is_staff
from grader.web.current import platform

api = resource("health", "The state of the platform")

_FOR_STAFF = Alert(
    text="Something needs staff.",
    hint="Staff see it with `grader doctor`, signed in by `grader login --scope read,submit,staff`.",
)


@api.get("/health", responses={200: Health, 503: Health})
@open_to(ANYONE)
def get_health() -> Response:
    """The state of database, queue and workers. Alerts name hosts and GPUs, so only staff get their text."""
    found = health.health(platform())
    if found.alerts and not is_staff():
        found = found.model_copy(update={"alerts": [_FOR_STAFF]})
    return answer(found, 200 if found.ok else 503)
