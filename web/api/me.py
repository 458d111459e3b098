from __future__ import annotations

from flask import Response
from pydantic import BaseModel, ConfigDict, Field

from grader.schemas.preferences import Preferences, PreferencesBody
from grader.schemas.progress import Progress
from grader.schemas.submission import Me
from grader.service.accounts import preferences
from grader.service.submissions.progress import progress
from grader.web.access import SIGNED_IN, open_to
from grader.web.answers import answer, cheap
from grader.web.api.resource import resource
from grader.web.auth.identity import current_user
from grader.web.current import platform

api = resource("me", "The caller: account, preferences and progress")


@api.get("/me", responses={200: Me})
@open_to(SIGNED_IN)
def get_me() -> Response:
    """Name and role of the account that the token or session belongs to."""
    user = current_user()
    return answer(Me(name=user.name, role=user.role))


@api.get("/me/preferences", responses={200: Preferences})
@open_to(SIGNED_IN)
def get_preferences() -> Response:
    """Your preferences."""
    return answer(current_user().preferences)


@api.patch("/me/preferences", responses={200: Preferences})
@open_to(SIGNED_IN)
def change_preferences(body: PreferencesBody) -> Response:
    """Change the preferences in the body; the others stay."""
    return answer(preferences.change(platform(), current_user(), body))


class ProgressQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    user: str | None = Field(default=None, max_length=64, description="whose (staff only); default: yours")


@api.get("/progress", responses={200: Progress})
@open_to(SIGNED_IN)
def get_progress(query: ProgressQuery) -> Response:
    """Solved, attempted and all challenges of each track, the best speedup, and what to do next."""
    return cheap(progress(platform(), current_user(), query.user))
