from __future__ import annotations

from http import HTTPStatus
from typing import Any

from flask import Response
from pydantic import BaseModel, ConfigDict, Field

from grader.schemas.strict import Switch
from grader.service.courses.permissions import Action
from grader.service.review import sources
from grader.service.review.sources import Archive
from grader.web import throttle
from grader.web.access import PARTY, STAFF, open_to
from grader.web.api.assignments import AssignmentPath
from grader.web.api.challenges import ChallengePath
from grader.web.api.competitions import CompetitionPath
from grader.web.api.resource import resource
from grader.web.auth.identity import current_user
from grader.web.current import platform

api = resource("sources", "Sources in bulk (staff only)")

_ZIP: dict[str | int | HTTPStatus, type[BaseModel] | dict[Any, Any] | None] = {
    200: {"content": {"application/zip": {}}}
}


class SourcesQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    counted: Switch = Field(default=False, description="only what points come of")


@api.get("/courses/<course>/assignments/<assignment>/sources.zip", responses=_ZIP)
@open_to(PARTY, action=Action.SOURCES)
@throttle.costly_limit
def export_assignment(path: AssignmentPath, query: SourcesQuery) -> Response:
    """Sources submitted while the assignment was open, with a manifest as CSV and JSON (staff only)."""
    found = sources.of_assignment(platform(), current_user(), path.course, path.assignment, query.counted)
    return sent(found)


@api.get("/competitions/<slug>/sources.zip", responses=_ZIP)
@open_to(PARTY)
@throttle.costly_limit
def export_competition(path: CompetitionPath) -> Response:
    """Sources submitted in a competition, with a manifest (staff only)."""
    return sent(sources.of_competition(platform(), current_user(), path.slug))


@api.get("/challenges/<slug>/sources.zip", responses=_ZIP)
@open_to(STAFF)
@throttle.costly_limit
def export_challenge(path: ChallengePath) -> Response:
    """All sources submitted for a challenge, with a manifest (staff only)."""
    return sent(sources.of_challenge(platform(), current_user(), path.slug))


def sent(found: Archive) -> Response:
    response = Response(found.chunks, mimetype="application/zip")
    response.headers.set("Content-Disposition", "attachment", filename=found.name)
    response.cache_control.private = True
    response.cache_control.no_store = True
    return response
