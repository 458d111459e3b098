"""The HTTP API, version 1. Each view calls one use case and answers with its model."""

from __future__ import annotations

import re
import sys

from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.operation import Operation
from flask_openapi3.openapi import OpenAPI

from grader.web.access import access_of
from grader.web.blueprints import blueprints

_SECURITY: list[dict[str, list[str]]] = [{"token": []}, {"session": []}]


def register(app: OpenAPI) -> None:
    """Under /api/v1, with each route's access in the API document."""
    for blueprint in blueprints(sys.modules[__name__]):
        assert isinstance(blueprint, APIBlueprint)
        app.register_api(blueprint)
    for rule in app.url_map.iter_rules():
        path = app.paths.get(re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule))
        access = access_of(app.view_functions[rule.endpoint])
        if path is None or access is None:
            continue
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}:
            operation: Operation = getattr(path, method.lower())
            if access.signed_in:
                operation.security = _SECURITY
            setattr(operation, "x-open-to", access.who.value)
