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
            "Sign in to see leaderboards and profiles.",
            "Sign in, or send an API token: `grader login` stores one.",
        )
    raise NotAllowed(
        "Only staff can see leaderboards and profiles on this server.",
        lacking(viewer) or "You can still see your own submissions and progress.",
    )
