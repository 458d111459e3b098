from __future__ import annotations

from grader.records.engine import writing
from grader.records.models import UserRow
from grader.schemas.preferences import Preferences, PreferencesBody, of_stored
from grader.service.accounts.accounts import User
from grader.service.platform import Platform


def change(platform: Platform, user: User, body: PreferencesBody) -> Preferences:
    """Fields that ``body`` leaves out stay."""
    with writing(platform.sessions) as session:
        row = session.get_one(UserRow, user.id, with_for_update=True)
        made = of_stored(row.preferences).model_copy(update=body.model_dump(exclude_none=True))
        row.preferences = made.model_dump(mode="json")
    return made
