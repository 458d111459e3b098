from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session, aliased

from grader.errors import NotAllowed, NotSignedIn
from grader.records import taught
from grader.records.models import MemberRow
from grader.schemas.course import STAFF_OF_COURSE
from grader.schemas.preferences import Preferences, ProfileAudience
from grader.schemas.token import Scope
from grader.service.accounts.accounts import User, lacking
from grader.service.platform import Platform


def may_read(platform: Platform, viewer: User | None) -> bool:
    """``viewer`` None: not signed in."""
    readers = platform.settings.board_readers
    if readers == "everybody":
        return True
    return viewer is not None and (viewer.staff or readers == "members")


def check_reader(platform: Platform, viewer: User | None) -> None:
    """Raises NotSignedIn, NotAllowed (staff only)."""
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


def check_profile_reader(platform: Platform, viewer: User | None) -> None:
    """For others' profiles. Raises as ``check_reader`` does."""
    check_reader(platform, viewer)
    if viewer is None and widest_profile(platform) is not ProfileAudience.PUBLIC:
        raise NotSignedIn(
            "Sign in to see profiles.", "Sign in, or send an API token: `grader login` stores one."
        )


def widest_profile(platform: Platform) -> ProfileAudience:
    return ProfileAudience(platform.settings.profile_readers)


class ProfileReader:
    def __init__(self, platform: Platform, session: Session, viewer: User | None, user: int) -> None:
        self._widest = widest_profile(platform)
        self._session, self._viewer, self._user = session, viewer, user

    def reads(self, chosen: ProfileAudience) -> bool:
        viewer, audience = self._viewer, self._widest.narrowed(chosen)
        if audience is ProfileAudience.PUBLIC or (viewer is not None and self._always(viewer)):
            return True
        if viewer is None or audience is ProfileAudience.PRIVATE:
            return False
        return audience is ProfileAudience.MEMBERS or self._share_course(viewer, teaching=False)

    def reads_profile(self, preferences: Preferences) -> bool:
        narrowest = ProfileAudience.PRIVATE if preferences.anonymous else preferences.profile
        return self.reads(narrowest)

    def reads_kernels(self, chosen: ProfileAudience) -> bool:
        """Without exceptions for staff and teachers."""
        viewer, audience = self._viewer, self._widest.narrowed(chosen)
        if viewer is None or audience is ProfileAudience.PRIVATE:
            return False
        if audience is ProfileAudience.COURSE:
            return self._share_course(viewer, teaching=False)
        return True

    def _always(self, viewer: User) -> bool:
        if viewer.staff or viewer.id == self._user:
            return True
        teaches = viewer.teaches and Scope.STAFF in viewer.scopes
        return teaches and self._share_course(viewer, teaching=True)

    def _share_course(self, viewer: User, teaching: bool) -> bool:
        theirs, mine = MemberRow, aliased(MemberRow)
        both = (
            select(mine.id)
            .join(theirs, theirs.course_id == mine.course_id)
            .where(mine.user_id == viewer.id, mine.left_at.is_(None))
            .where(theirs.user_id == self._user, theirs.left_at.is_(None), taught.accepted(theirs))
        )
        if teaching:
            both = both.where(mine.role.in_([role.value for role in STAFF_OF_COURSE]))
        return self._session.scalar(both.limit(1)) is not None
