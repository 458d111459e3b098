from __future__ import annotations

from typing import Any

from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag
from pydantic import BaseModel

from grader.schemas.submission import ErrorEnvelope

PREFIX = "/api/v1"
# By name: for a model, the library would make the same schema nine hundred times at each start.
_ERROR = {"$ref": f"#/components/schemas/{ErrorEnvelope.__name__}"}


def resource(name: str, description: str) -> APIBlueprint:
    # Every call checks a given token.
    errors: dict[str | int, type[BaseModel] | dict[Any, Any] | None] = {
        code: {"content": {"application/json": {"schema": _ERROR}}} for code in (400, 401, 403, 404, 429)
    }
    return APIBlueprint(
        f"api_{name}",
        __name__,
        url_prefix=PREFIX,
        abp_tags=[Tag(name=name, description=description)],
        abp_responses=errors,
    )
