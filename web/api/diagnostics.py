from __future__ import annotations

from flask import Response

from grader.schemas.diagnostic import DiagnosticList
from grader.service.submissions import diagnostics
from grader.web.access import AUTHOR, open_to
from grader.web.answers import cheap
from grader.web.api.resource import resource
from grader.web.api.submissions import SubmissionPath
from grader.web.auth.identity import current_user
from grader.web.current import platform

api = resource("diagnostics", "Errors and warnings by line")


@api.get("/submissions/<id>/diagnostics", responses={200: DiagnosticList})
@open_to(AUTHOR)
def get_diagnostics(path: SubmissionPath) -> Response:
    """Errors and warnings that name a line of the source; empty until there is a report."""
    return cheap(diagnostics.of_submission(platform(), current_user(), path.id))
