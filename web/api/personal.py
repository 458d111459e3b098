from __future__ import annotations

from http import HTTPStatus
from typing import Any

from flask import Response
from pydantic import BaseModel, Field

from grader import limits
from grader.schemas.personal import DeletionBody, DeletionView
from grader.schemas.submission import ErrorEnvelope
from grader.service.accounts import deletion, personal_data
from grader.web import throttle
from grader.web.access import SIGNED_IN, STAFF, open_to
from grader.web.answers import answer, zip_answer
from grader.web.api.resource import resource
from grader.web.auth.identity import current_user
from grader.web.current import platform

api = resource("personal", "Personal data")

_ZIP: dict[str | int | HTTPStatus, type[BaseModel] | dict[Any, Any] | None] = {
    200: {"description": "a ZIP of JSON, sources and reports", "content": {"application/zip": {}}}
}


class PersonPath(BaseModel):
    name: str = Field(max_length=limits.NAME_CHARS)


@api.get("/me/export", responses=_ZIP)
@open_to(SIGNED_IN)
@throttle.costly_limit
def export_own() -> Response:
    """All data about the caller."""
    return _export(current_user().name)


@api.get("/me/deletion", responses={200: DeletionView})
@open_to(SIGNED_IN)
def preview_own() -> Response:
    """What deleting your account would remove and keep, and when it is due."""
    user = current_user()
    return answer(deletion.preview(platform(), user, user.name))


@api.post("/me/deletion", responses={200: DeletionView, 409: ErrorEnvelope})
@open_to(SIGNED_IN)
def delete_own(body: DeletionBody) -> Response:
    """Request the deletion of your account after the grace period."""
    user = current_user()
    return answer(deletion.request(platform(), user, user.name, body))


@api.delete("/me/deletion", responses={200: DeletionView})
@open_to(SIGNED_IN)
def keep_own() -> Response:
    """Cancel the deletion of your account."""
    user = current_user()
    return answer(deletion.take_back(platform(), user, user.name))


@api.get("/people/<name>/export", responses=_ZIP)
@open_to(STAFF)
@throttle.costly_limit
def export_person(path: PersonPath) -> Response:
    """All data about a person (staff only; for staff's: admins only)."""
    return _export(path.name)


@api.get("/people/<name>/deletion", responses={200: DeletionView})
@open_to(STAFF)
def preview_person(path: PersonPath) -> Response:
    """What deleting an account would remove and keep (staff only)."""
    return answer(deletion.preview(platform(), current_user(), path.name))


@api.post("/people/<name>/deletion", responses={200: DeletionView, 409: ErrorEnvelope})
@open_to(STAFF)
def delete_person(path: PersonPath, body: DeletionBody) -> Response:
    """Request the deletion of an account after the grace period (staff only; for staff's: admins only)."""
    return answer(deletion.request(platform(), current_user(), path.name, body))


@api.delete("/people/<name>/deletion", responses={200: DeletionView})
@open_to(STAFF)
def keep_person(path: PersonPath) -> Response:
    """Cancel the deletion of an account (staff only)."""
    return answer(deletion.take_back(platform(), current_user(), path.name))


def _export(name: str) -> Response:
    return zip_answer(personal_data.export(platform(), current_user(), name), name)
