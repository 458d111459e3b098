"""The docs with the HTTP API, which only a running application knows."""

from __future__ import annotations

import json
from typing import Any, cast

from flask import current_app
from flask_openapi3.openapi import OpenAPI

from grader.manual import pages
from grader.manual.api import PAGE, reference
from grader.manual.pages import Manual


def manual() -> Manual:
    made = current_app.extensions.get("manual")
    if made is None:
        document: dict[str, Any] = json.loads(json.dumps(cast(OpenAPI, current_app).api_doc))
        made = pages.manual().extended(PAGE, reference(document))
        current_app.extensions["manual"] = made
    return cast(Manual, made)
