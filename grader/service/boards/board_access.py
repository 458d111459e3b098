"""What a viewer sees of each board: all, pseudonyms, an earlier state, or their own entry. Everything that shows
others' names, times or ranks asks here. The platform's staff see everything, a course's staff the boards of its
challenges."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, aliased

from grader.errors import BadRequest, Conflict
from grader.records import owners, publications, taught
from grader.records.engine import clock, writing
from grader.records.models import AssignmentPartRow, AssignmentRow, ChallengeStateRow, MemberRow, utcnow
from grader.schemas.course import STAFF_OF_COURSE, CourseRole
from grader.schemas.publication import BoardAudience, BoardBody, BoardSettings, PublicationState
from grader.schemas.token import Scope
from grader.service import audit
from grader.service.accounts.accounts import User
from grader.service.challenges import ownership, publication
from grader.service.courses import permissions
from grader.service.courses.permissions import Action
from grader.service.platform import Platform


@dataclass(frozen=True)
class BoardAccess:
    """``full``: others' entries, else only their own without rank. ``made_up``: pseudonyms. ``until``: the board's
    time. ``taught``: a course of the viewer assigns it: all, students by name."""

    audience: BoardAudience
    staff: bool
    full: bool
    made_up: bool
    until: datetime | None
    taught: bool = False

    def tells_rank_of(self, own: bool, student: bool = False) -> bool:
        """``own``: to themselves; ``student``: of the viewer."""
        named = own or not self.made_up or (self.taught and student)
        return self.staff or (self.full and self.until is None and named)


@dataclass(frozen=True)
class BoardAccesses:
    """``member_of``: challenges of the viewer's courses; ``taught``: if they teach."""

    rows: Mapping[str, ChallengeStateRow]
    staff: bool
    member_of: frozenset[str]
    taught: frozenset[str]
    now: datetime
    # Challenges of other courses.
    foreign: frozenset[str] = frozenset()

    def of(self, challenge: str) -> BoardAccess:
        row = self.rows.get(challenge)
        audience = row.board if row is not None else BoardAudience.PUBLIC
        if self.staff:
            return BoardAccess(audience, staff=True, full=True, made_up=False, until=None)
        if challenge in self.foreign:
            return BoardAccess(BoardAudience.HIDDEN, staff=False, full=False, made_up=False, until=None)
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
    """``viewer`` None: not signed in."""
    staff = viewer is not None and viewer.staff
    rows = publications.states(session)
    member_of: set[str] = set()
    taught: set[str] = set()
    if (
        viewer is not None
        and not staff
        and any(row.board is not BoardAudience.PUBLIC or row.frozen_at for row in rows.values())
    ):
        part, member = AssignmentPartRow, MemberRow
        found = session.execute(
            select(part.challenge, member.role)
            .join(AssignmentRow, AssignmentRow.id == part.assignment_id)
            .join(member, member.course_id == AssignmentRow.course_id)
            .where(
                member.user_id == viewer.id, member.left_at.is_(None), AssignmentRow.published_at.is_not(None)
            )
        )
        for assigned in found:
            teaches = Scope.STAFF in viewer.scopes and CourseRole(assigned.role) in STAFF_OF_COURSE
            (taught if teaches else member_of).add(assigned.challenge)
    owned = owners.everything(session) if not staff else {}
    mine = owners.courses_of(session, viewer.id) if viewer is not None and owned else frozenset()
    of_mine = permissions.courses_where(session, viewer, Action.CATALOGUE_READ) if viewer and owned else []
    member_of |= {slug for slug, course in owned.items() if course in mine}
    taught |= {slug for slug, course in owned.items() if course in of_mine}
    foreign = frozenset(slug for slug, course in owned.items() if course not in mine)
    return BoardAccesses(rows, staff, frozenset(member_of), frozenset(taught), utcnow(), foreign)


def students_of(session: Session, viewer: User, users: Collection[int]) -> frozenset[int]:
    """Ids of students whom ``viewer`` teaches."""
    if Scope.STAFF not in viewer.scopes or not viewer.teaches:
        return frozenset()
    theirs, mine = MemberRow, aliased(MemberRow)
    query = (
        select(theirs.user_id)
        .join(mine, mine.course_id == theirs.course_id)
        .where(mine.user_id == viewer.id, mine.left_at.is_(None))
        .where(mine.role.in_([role.value for role in STAFF_OF_COURSE]))
        .where(theirs.role == CourseRole.STUDENT.value, theirs.left_at.is_(None), taught.accepted(theirs))
    )
    return frozenset(session.scalars(query)) & frozenset(users)


def set_board(platform: Platform, user: User, slug: str, body: BoardBody) -> BoardSettings:
    """Raises NotAllowed, UnknownChallenge, BadRequest (a future time)."""
    with writing(platform.sessions) as session:
        ownership.check(session, user, slug, Action.CHALLENGE_BOARD)
        publication.check_exists(platform, session, slug)
        now = clock(session)
        if body.frozen_at is not None and body.frozen_at > now:
            raise BadRequest(
                "A board can be frozen only as of now or of a past time.", "Give a time in the past."
            )
        row = session.get(ChallengeStateRow, slug, with_for_update=True)
        if row is None:
            row = ChallengeStateRow(challenge=slug, state=PublicationState.DRAFT, board=BoardAudience.PUBLIC)
            session.add(row)
        before = _facts(row)
        row.board, row.frozen_at = body.board, body.frozen_at
        row.changed_at, row.changed_by = now, user.id
        path = f"/challenges/{slug}/board"
        course = owners.of(session, slug)
        audit.note(
            session, user, Action.CHALLENGE_BOARD, path, course=course, before=before, after=_facts(row)
        )
        try:
            session.flush()
        except IntegrityError as error:
            raise Conflict(
                f"Somebody else has just changed {slug}.", "Reload it and repeat your change."
            ) from error
        return BoardSettings(challenge=slug, board=row.board, frozen_at=row.frozen_at)


def _facts(row: ChallengeStateRow) -> dict[str, str | None]:
    at = row.frozen_at
    return {"board": row.board.value, "frozen_at": at.isoformat() if at is not None else None}
