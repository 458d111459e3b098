"""The HTTP API, version 1: one file per resource. Each view calls one use case and answers with its model."""

from __future__ import annotations

import sys

from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.openapi import OpenAPI

from grader.web.blueprints import blueprints


def register(app: OpenAPI) -> None:
    """Put every resource under /api/v1."""
    for blueprint in blueprints(sys.modules[__name__]):
        assert isinstance(blueprint, APIBlueprint)
        app.register_api(blueprint)
