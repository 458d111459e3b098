"""Who may read boards and profiles: names, ranks, records, and the days on which somebody worked."""

from __future__ import annotations

from grader.errors import NotAllowed, NotSignedIn
from grader.service.accounts import User, lacking
from grader.service.platform import Platform


def may_read(platform: Platform, viewer: User | None) -> bool:
    """By the platform's setting; ``viewer`` is None for who is not signed in."""
    readers = platform.settings.board_readers
    if readers == "everybody":
        return True
    return viewer is not None and (viewer.staff or readers == "members")


def check_reader(platform: Platform, viewer: User | None) -> None:
    """Raises NotSignedIn, and NotAllowed where boards and profiles are for staff alone."""
    if may_read(platform, viewer):
        return
    if viewer is None:
        raise NotSignedIn(
            "Leaderboards and profiles are shown to who is signed in.",
            "Sign in, or send an API token: `grader login` stores one.",
        )
    raise NotAllowed(
        "Leaderboards and profiles are shown to staff alone here.",
        lacking(viewer) or "Your own results stay yours to read: see your submissions and progress.",
    )
