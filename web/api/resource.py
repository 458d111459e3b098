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
    # Also where nobody has to sign in: whoever shows a token is asked for a good one (401) with the scope for it (403),
    # and is not answered after too many bad ones (429).
    errors: dict[str | int, type[BaseModel] | dict[Any, Any] | None] = dict.fromkeys(
        (400, 401, 403, 404, 429), ErrorEnvelope
    )
    return APIBlueprint(
        f"api_{name}",
        __name__,
        url_prefix=PREFIX,
        abp_tags=[Tag(name=name, description=description)],
        abp_security=SIGNED_IN if signed_in else [],
        abp_responses=errors,
    )
