"""What of each challenge's board somebody sees, as the platform's staff set it: all of it, with made-up names, as it
stood at a moment, or nothing but one's own entry.

Whatever shows a name, a time or a rank of others asks here: boards, records, tracks, leaders, profiles and badges.
The platform's staff see everything. The staff of a course see all of the boards of what it assigns, and its students by
their names; others as they want to be named.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, aliased

from grader.errors import BadRequest, Conflict
from grader.records import publications, taught
from grader.records.engine import clock, writing
from grader.records.models import AssignmentPartRow, AssignmentRow, ChallengeStateRow, MemberRow, utcnow
from grader.schemas.course import STAFF_OF_COURSE, CourseRole
from grader.schemas.publication import BoardAudience, BoardBody, BoardSettings, PublicationState
from grader.schemas.token import Scope
from grader.service import audit
from grader.service.accounts.accounts import User
from grader.service.challenges import publication
from grader.service.courses import permissions
from grader.service.courses.permissions import Action
from grader.service.platform import Platform


@dataclass(frozen=True)
class BoardAccess:
    """What one viewer sees of one board. ``full``: the entries of others, else one's own alone and no rank.
    ``made_up``: others by made-up names. ``until``: as it stood then; None: as it is now. ``taught``: a course of the
    viewer's assigns the challenge, so they see all of it, and their own students by name."""

    audience: BoardAudience
    staff: bool
    full: bool
    made_up: bool
    until: datetime | None
    taught: bool = False

    def tells_rank_of(self, own: bool, student: bool = False) -> bool:
        """Whether the rank that somebody has now may be told beside their name; ``own``: to themselves; ``student``: a
        student of the viewer's."""
        named = own or not self.made_up or (self.taught and student)
        return self.staff or (self.full and self.until is None and named)


@dataclass(frozen=True)
class BoardAccesses:
    """Of all boards for one viewer. ``member_of``: the challenges of the viewer's courses, ``taught`` those of courses
    that they teach."""

    rows: Mapping[str, ChallengeStateRow]
    staff: bool
    member_of: frozenset[str]
    taught: frozenset[str]
    now: datetime

    def of(self, challenge: str) -> BoardAccess:
        row = self.rows.get(challenge)
        audience = row.board if row is not None else BoardAudience.PUBLIC
        if self.staff:
            return BoardAccess(audience, staff=True, full=True, made_up=False, until=None)
        if challenge in self.taught:
            made_up = audience is BoardAudience.PSEUDONYMOUS
            return BoardAccess(audience, staff=False, full=True, made_up=made_up, until=None, taught=True)
        frozen = row is not None and row.frozen_at is not None and row.frozen_at <= self.now
        return BoardAccess(
            audience,
            staff=False,
            full=audience in (BoardAudience.PUBLIC, BoardAudience.PSEUDONYMOUS)
            or (audience is BoardAudience.COURSE and challenge in self.member_of),
            made_up=audience is BoardAudience.PSEUDONYMOUS,
            until=row.frozen_at if row is not None and frozen else None,
        )


def accesses(session: Session, viewer: User | None) -> BoardAccesses:
    """``viewer`` None: who is not signed in."""
    staff = viewer is not None and viewer.staff
    rows = publications.states(session)
    member_of: set[str] = set()
    taught: set[str] = set()
    if (
        viewer is not None
        and not staff
        and any(it.board is not BoardAudience.PUBLIC or it.frozen_at for it in rows.values())
    ):
        part, row, member = AssignmentPartRow, AssignmentRow, MemberRow
        found = session.execute(
            select(part.challenge, member.role)
            .join(row, row.id == part.assignment_id)
            .join(member, member.course_id == row.course_id)
            .where(member.user_id == viewer.id, member.left_at.is_(None), row.published_at.is_not(None))
        )
        for it in found:
            teaches = Scope.STAFF in viewer.scopes and CourseRole(it.role) in STAFF_OF_COURSE
            (taught if teaches else member_of).add(it.challenge)
    return BoardAccesses(rows, staff, frozenset(member_of), frozenset(taught), utcnow())


def students_of(session: Session, viewer: User, users: Collection[int]) -> frozenset[int]:
    """Which of these (ids) are students of a course that ``viewer`` teaches."""
    if Scope.STAFF not in viewer.scopes or not viewer.teaches:
        return frozenset()
    theirs, mine = MemberRow, aliased(MemberRow)
    query = (
        select(theirs.user_id)
        .join(mine, mine.course_id == theirs.course_id)
        .where(mine.user_id == viewer.id, mine.left_at.is_(None))
        .where(mine.role.in_([it.value for it in STAFF_OF_COURSE]))
        .where(theirs.role == CourseRole.STUDENT.value, theirs.left_at.is_(None), taught.accepted(theirs))
    )
    return frozenset(session.scalars(query)) & frozenset(users)


def set_board(platform: Platform, user: User, slug: str, body: BoardBody) -> BoardSettings:
    """Say who sees whom on a challenge's board, and whether it is frozen. Raises NotAllowed, UnknownChallenge,
    BadRequest (a moment that is still to come)."""
    with writing(platform.sessions) as session:
        permissions.check(user, permissions.standings(session, user), Action.CHALLENGE_BOARD)
        publication.check_exists(platform, session, slug)
        now = clock(session)
        if body.frozen_at is not None and body.frozen_at > now:
            raise BadRequest("A board is frozen as it stands, or as it stood.", "Name a moment that is past.")
        row = session.get(ChallengeStateRow, slug, with_for_update=True)
        if row is None:
            row = ChallengeStateRow(challenge=slug, state=PublicationState.DRAFT, board=BoardAudience.PUBLIC)
            session.add(row)
        before = _facts(row)
        row.board, row.frozen_at = body.board, body.frozen_at
        row.changed_at, row.changed_by = now, user.id
        path = f"/challenges/{slug}/board"
        audit.note(session, user, Action.CHALLENGE_BOARD, path, before=before, after=_facts(row))
        try:
            session.flush()
        except IntegrityError as error:
            raise Conflict(
                f"Somebody else changed {slug} at the same moment.", "Load it again and repeat your change."
            ) from error
        return BoardSettings(challenge=slug, board=row.board, frozen_at=row.frozen_at)


def _facts(row: ChallengeStateRow) -> dict[str, str | None]:
    at = row.frozen_at
    return {"board": row.board.value, "frozen_at": at.isoformat() if at is not None else None}
