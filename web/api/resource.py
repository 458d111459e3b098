"""What all resources of the API share: prefix, errors in the document, ways to sign in."""

from __future__ import annotations

from typing import Any

from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag
from pydantic import BaseModel

from grader.schemas.submission import ErrorEnvelope

PREFIX = "/api/v1"
SIGNED_IN: list[dict[str, list[str]]] = [{"token": []}, {"session": []}]


def resource(name: str, description: str, *, signed_in: bool) -> APIBlueprint:
    """A blueprint for one resource. ``signed_in`` documents that its calls need a token or a session."""
    errors: dict[str | int, type[BaseModel] | dict[Any, Any] | None] = {
        400: ErrorEnvelope,
        404: ErrorEnvelope,
    }
    if signed_in:
        errors |= {401: ErrorEnvelope, 403: ErrorEnvelope}
    return APIBlueprint(
        f"api_{name}",
        __name__,
        url_prefix=PREFIX,
        abp_tags=[Tag(name=name, description=description)],
        abp_security=SIGNED_IN if signed_in else [],
        abp_responses=errors,
    )
