"""A void result does not count until staff restore it: everywhere by the platform's staff, in a course by its."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader.errors import Conflict, NotAllowed, NotFound
from grader.records import groups, voids
from grader.records.engine import writing
from grader.records.models import (
    CompetitionRow,
    CourseRow,
    CourseVoidRow,
    SubmissionRow,
    VoidRow,
    utcnow,
)
from grader.schemas.notice import NoticeKind
from grader.schemas.submission import JudgingReason, State, SubmissionView, VoidBody
from grader.service import audit
from grader.service.accounts.accounts import User
from grader.service.competitions import corrections
from grader.service.courses import courses, permissions
from grader.service.courses.permissions import Action
from grader.service.messages import notices
from grader.service.platform import Platform
from grader.service.review import authority
from grader.service.submissions.submissions import find, get_submission


def void(platform: Platform, user: User, submission: str, body: VoidBody) -> SubmissionView:
    """Repeating it changes the reason. The attempt stays used. Raises NotFound, NotAllowed, BadRequest, Conflict (no
    result)."""
    with writing(platform.sessions) as session:
        void_in(platform, session, user, submission, body.reason, body.course)
    return get_submission(platform, user, submission)


def void_in(
    platform: Platform, session: Session, user: User, submission: str, reason: str, course: str | None = None
) -> None:
    """In the caller's transaction."""
    row = _locked(session, user, submission)
    where = _where(session, user, row, course)
    if row.kind is JudgingReason.RUN or row.state is not State.DONE:
        raise Conflict(
            f"Submission {row.public_id} has no result to void.", "Only finished submissions have one."
        )
    reason = audit.tidy_reason(reason, needed=True)
    if where is None:
        _void_everywhere(platform, session, user, row, reason)
        return
    for taught_in in where:
        known = session.get(CourseVoidRow, (taught_in.id, row.id))
        before = known.reason if known is not None else None
        if known is None:
            known = CourseVoidRow(course_id=taught_in.id, submission_id=row.id)
            session.add(known)
        known.reason, known.made_by, known.created_at = reason, user.id, utcnow()
        _note(session, user, row, before, reason, taught_in)
        _tell(session, row, f"result for {row.challenge} is void in {taught_in.name}: {reason}")


def _void_everywhere(
    platform: Platform, session: Session, user: User, row: SubmissionRow, reason: str
) -> None:
    known = session.get(VoidRow, row.id)
    before = known.reason if known is not None else None
    if known is None:
        known = VoidRow(submission_id=row.id, reason=reason)
        session.add(known)
        with corrections.noted(platform, session, user, row, Action.VOID, reason):
            voids.set_aside(session, row.id)
    known.reason, known.made_by, known.created_at = reason, user.id, utcnow()
    _note(session, user, row, before, reason)
    _tell(session, row, f"result for {row.challenge} is void: {reason}")


def restore(platform: Platform, user: User, submission: str, course: str | None = None) -> SubmissionView:
    """Raises NotFound (also if it is not void), NotAllowed."""
    with writing(platform.sessions) as session:
        row = _locked(session, user, submission)
        where = _where(session, user, row, course)
        if where is None:
            _restore_everywhere(platform, session, user, row)
        else:
            _restore_in(session, user, row, where)
    return get_submission(platform, user, submission)


def _restore_everywhere(platform: Platform, session: Session, user: User, row: SubmissionRow) -> None:
    known = session.get(VoidRow, row.id)
    if known is None:
        slugs = [slug for slug, _ in voids.of_courses(session, [row.id]).get(row.id, [])]
        hint = f"It is void in course {slugs[0]} only: name the course." if slugs else ""
        raise NotFound(f"The result of {row.public_id} is not void.", hint)
    _note(session, user, row, known.reason, None)
    session.delete(known)
    with corrections.noted(platform, session, user, row, Action.VOID, ""):
        voids.restore(session, row.id)
    _tell(session, row, f"result for {row.challenge} counts again")


def _restore_in(session: Session, user: User, row: SubmissionRow, where: Sequence[CourseRow]) -> None:
    known = [(taught_in, session.get(CourseVoidRow, (taught_in.id, row.id))) for taught_in in where]
    present = [(course, found) for course, found in known if found is not None]
    if not present:
        everywhere = session.get(VoidRow, row.id) is not None
        hint = "The platform's staff voided it everywhere. Ask them." if everywhere else ""
        raise NotFound(f"The result of {row.public_id} is not void in course {where[0].slug}.", hint)
    for voided_in, found in present:
        _note(session, user, row, found.reason, None, voided_in)
        session.delete(found)
        _tell(session, row, f"result for {row.challenge} counts again in {voided_in.name}")


def _where(
    session: Session, user: User, row: SubmissionRow, course: str | None
) -> Sequence[CourseRow] | None:
    """Courses in which ``user`` decides; None: everywhere. Raises NotFound, NotAllowed."""
    found = authority.courses_of(session, row)
    if course is not None:
        opened = courses.open_in(session, user, course, Action.VOID)
        if opened.row.id not in {course.id for course in found}:
            raise NotFound(f"{row.public_id} was not handed in for course {opened.row.slug}.")
        return [opened.row]
    if permissions.may(permissions.standings(session, user), Action.VOID_ANY):
        return None
    authority.check(session, user, row, Action.VOID, Action.VOID_ANY)
    return [
        course
        for course in found
        if permissions.may(permissions.standings(session, user, course.id), Action.VOID)
    ]


def _note(
    session: Session,
    user: User,
    row: SubmissionRow,
    before: str | None,
    after: str | None,
    course: CourseRow | None = None,
) -> None:
    """Of every course in which it counts, else the platform's."""
    only = {"course": course.slug} if course is not None else {}
    numbers: list[int | None] = [course.id for course in authority.courses_of(session, row)]
    for number in numbers or [None]:
        audit.note(
            session,
            user,
            Action.VOID,
            f"/submissions/{row.public_id}/void",
            course=number,
            before={"reason": before},
            after={"reason": after} | only,
            reason=after or "",
        )


def _tell(session: Session, row: SubmissionRow, text: str) -> None:
    """Its author, and in a competition the team."""
    whose = {row.user_id, *groups.partners_of(session, row.id)}
    notices.notify(session, whose, NoticeKind.RESULT, f"Your {text}", f"/submissions/{row.public_id}")
    if row.competition_id is not None and (mates := corrections.team_mates(session, row)):
        slug = session.get_one(CompetitionRow, row.competition_id).slug
        notices.notify(session, mates, NoticeKind.RESULT, f"Your team's {text}", f"/competitions/{slug}")


@dataclass(frozen=True)
class Power:
    """``courses``: slugs; ``everywhere``: also on boards; ``void``: whether it is void where they decide by default."""

    everywhere: bool
    courses: Sequence[str]
    void: bool


def power(platform: Platform, user: User, submission: str) -> Power | None:
    """None without such a right. Raises NotFound."""
    with platform.sessions() as session:
        row = _first(session, user, submission)
        try:
            where = _where(session, user, row, None)
        except NotAllowed:
            return None
        mine = [
            course
            for course in authority.courses_of(session, row)
            if permissions.may(permissions.standings(session, user, course.id), Action.VOID)
        ]
        if where is None:
            void = session.get(VoidRow, row.id) is not None
        else:
            void = any(session.get(CourseVoidRow, (taught_in.id, row.id)) is not None for taught_in in where)
        return Power(where is None, [course.slug for course in mine], void)


def _first(session: Session, user: User, submission: str) -> SubmissionRow:
    """The submission, also by a judgement's id. Raises NotFound."""
    row = find(session, user, submission)
    return row if row.rejudge_of is None else session.get_one(SubmissionRow, row.rejudge_of)


def _locked(session: Session, user: User, submission: str) -> SubmissionRow:
    first = _first(session, user, submission)
    return session.scalars(
        select(SubmissionRow)
        .where(SubmissionRow.id == first.id)
        .with_for_update()
        .execution_options(populate_existing=True)
    ).one()
