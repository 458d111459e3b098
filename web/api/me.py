"""GET /me: who the caller is."""

from __future__ import annotations

from flask import Response

from grader.schemas.submission import Me
from grader.web.answers import answer
from grader.web.api.resource import resource
from grader.web.auth.identity import current_user

api = resource("me", "The caller", signed_in=True)


@api.get("/me", responses={200: Me})
def get_me() -> Response:
    """Name and role of the account that the token or session belongs to."""
    user = current_user()
    return answer(Me(name=user.name, role=user.role))
