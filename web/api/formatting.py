from __future__ import annotations

from flask import Response

from grader.schemas.formatting import FormatBody, FormatView
from grader.service.submissions import formatting
from grader.web import throttle
from grader.web.access import SIGNED_IN, open_to
from grader.web.answers import answer
from grader.web.api.resource import resource

api = resource("formatting", "Formatting sources")


@api.post("/format", responses={200: FormatView})
@open_to(SIGNED_IN)
@throttle.costly_limit
def format_source(body: FormatBody) -> Response:
    """The source as clang-format or ruff lays it out. 400 with the reason if it cannot be read, or if this server has
    no formatter for the language."""
    return answer(formatting.formatted(body))
