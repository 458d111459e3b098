"""What the caller chose about how pages look and work."""

from __future__ import annotations

from flask import Response

from grader.schemas.preferences import Preferences, PreferencesBody
from grader.service.accounts import preferences
from grader.web.answers import answer
from grader.web.api.resource import resource
from grader.web.auth.identity import current_user
from grader.web.current import platform

api = resource("preferences", "Look and editor", signed_in=True)


@api.get("/me/preferences", responses={200: Preferences})
def get_preferences() -> Response:
    """One's own."""
    return answer(current_user().preferences)


@api.patch("/me/preferences", responses={200: Preferences})
def change_preferences(body: PreferencesBody) -> Response:
    """Change what the body names; what it leaves out stays."""
    return answer(preferences.change(platform(), current_user(), body))
