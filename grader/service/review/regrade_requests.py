"""Students ask staff to look again. A request changes no points: staff override them, change rubric points, or order
a regrade."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import case, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from grader.errors import BadRequest, Conflict, NotFound, TooMany
from grader.records import groups, taught
from grader.records.engine import clock
from grader.records.models import (
    AssignmentRow,
    MemberRow,
    RegradeRequestRow,
    SubmissionRow,
    UserRow,
    utcnow,
)
from grader.schemas.course import STAFF_OF_COURSE
from grader.schemas.feedback import AnswerBody, RequestBody, RequestList, RequestState, RequestView
from grader.schemas.notice import NoticeKind
from grader.service.accounts.accounts import User
from grader.service.courses import assignments, courses, feedback
from grader.service.courses.courses import OpenCourse
from grader.service.courses.permissions import Action
from grader.service.messages import notices
from grader.service.platform import Platform

_LISTED = 500


def ask(platform: Platform, user: User, course_slug: str, body: RequestBody) -> RequestList:
    """Notifies staff. Raises NotFound, NotAllowed, BadRequest, Conflict (one is open, or too late), TooMany."""
    try:
        with courses.changing(platform, user, course_slug, Action.REGRADE_ASK) as course:
            _ask(course, body)
            return _list(course)
    except IntegrityError as error:
        raise Conflict("You sent this request twice at once.", "The first one was stored.") from error


def _ask(course: OpenCourse, body: RequestBody) -> None:
    session, user = course.session, course.user
    row = assignments.find(course, body.assignment)
    if body.challenge not in {
        part.challenge for part in assignments.known_parts(session, row, clock(session))
    }:
        raise BadRequest(f"{row.slug} has no challenge '{body.challenge}'.", "Name one of its challenges.")
    settings = feedback.settings_of(session, row.id)
    if settings.regrade_until is not None and utcnow() > settings.regrade_until:
        raise Conflict(
            f"Regrade requests for {row.slug} were possible until {settings.regrade_until:%Y-%m-%d %H:%M} UTC.",
            "Talk to your teacher.",
        )
    left = feedback.requests_left(session, settings, user.id)
    if left == 0:
        raise TooMany(
            f"You have used all {settings.regrade_limit} regrade requests for {row.slug}.",
            "Withdrawn requests do not count.",
        )
    if body.submission is not None:
        _check_submission(session, user, row, body)
    requests = RegradeRequestRow
    own = (
        requests.assignment_id == row.id,
        requests.challenge == body.challenge,
        requests.user_id == user.id,
    )
    if session.scalar(select(requests.id).where(*own, requests.state == RequestState.OPEN)) is not None:
        raise Conflict(
            f"You already have an open request for that part of {row.slug}.",
            "Wait for the answer, or withdraw it.",
        )
    text = body.text.strip()
    if not text:
        raise BadRequest("The request is empty.", "Say what should be looked at, and why.")
    session.add(
        RegradeRequestRow(
            course_id=course.row.id,
            assignment_id=row.id,
            challenge=body.challenge,
            submission=body.submission.lower() if body.submission is not None else None,
            user_id=user.id,
            turn=1 + (session.scalar(select(func.max(requests.turn)).where(*own)) or 0),
            text=text,
            created_at=utcnow(),
        )
    )
    session.flush()
    notices.notify(
        session,
        staff_of(session, course.row.id),
        NoticeKind.REGRADE,
        f"{user.name} asks for a regrade of {body.challenge} in {row.title}",
        _path(course),
    )


def _check_submission(session: Session, user: User, assignment: AssignmentRow, body: RequestBody) -> None:
    own = (
        SubmissionRow.public_id == (body.submission or "").lower(),
        groups.made_by(assignment.id, [user.id]),
    )
    of_it = taught.belongs(AssignmentRow.id == assignment.id)
    if (
        session.scalar(select(SubmissionRow.id).where(*own, SubmissionRow.challenge == body.challenge, of_it))
        is None
    ):
        raise BadRequest(
            f"You have no submission '{body.submission}' for {body.challenge} of {assignment.slug}.",
            "The course's staff can only read submissions that you made for an open assignment as a "
            "member of the course.",
        )


def _path(course: OpenCourse) -> str:
    return f"/courses/{course.row.slug}/regrade-requests"


def staff_of(session: Session, course: int) -> set[int]:
    roles = [role.value for role in STAFF_OF_COURSE]
    return set(
        session.scalars(
            select(MemberRow.user_id).where(
                MemberRow.course_id == course, MemberRow.left_at.is_(None), MemberRow.role.in_(roles)
            )
        )
    )


def list_requests(platform: Platform, user: User, course_slug: str) -> RequestList:
    """All for staff. Raises NotFound, NotAllowed."""
    with courses.reading(platform, user, course_slug, Action.REGRADE_READ) as course:
        return _list(course)


def _list(course: OpenCourse) -> RequestList:
    query = select(RegradeRequestRow).where(RegradeRequestRow.course_id == course.row.id)
    if not course.may(Action.GRADES_READ):
        query = query.where(RegradeRequestRow.user_id == course.user.id)
    is_open = RegradeRequestRow.state == RequestState.OPEN
    order = (is_open.desc(), case((is_open, RegradeRequestRow.id)), RegradeRequestRow.id.desc())
    rows = course.session.scalars(query.order_by(*order).limit(_LISTED)).all()
    return RequestList(course=course.row.slug, requests=views(course.session, rows))


def open_requests(session: Session, course: int) -> list[RequestView]:
    """Oldest first. The caller checks permission."""
    query = (
        select(RegradeRequestRow)
        .where(RegradeRequestRow.course_id == course, RegradeRequestRow.state == RequestState.OPEN)
        .order_by(RegradeRequestRow.id)
    )
    return views(session, session.scalars(query).all())


def views(session: Session, rows: Sequence[RegradeRequestRow]) -> list[RequestView]:
    people = {row.user_id for row in rows} | {row.answered_by for row in rows if row.answered_by is not None}
    names = dict(session.execute(select(UserRow.id, UserRow.name).where(UserRow.id.in_(people))).all())
    member = MemberRow
    of_courses = member.course_id.in_({row.course_id for row in rows})
    full = {
        (course, user): name
        for course, user, name in session.execute(
            select(member.course_id, member.user_id, member.full_name).where(
                of_courses, member.user_id.in_(people)
            )
        )
    }
    slugs = dict(
        session.execute(
            select(AssignmentRow.id, AssignmentRow.slug).where(
                AssignmentRow.id.in_({row.assignment_id for row in rows})
            )
        ).all()
    )
    return [
        RequestView(
            number=row.id,
            assignment=slugs[row.assignment_id],
            challenge=row.challenge,
            submission=row.submission,
            student=names[row.user_id],
            full_name=full.get((row.course_id, row.user_id), ""),
            text=row.text,
            state=row.state,
            answer=row.answer,
            answered_by=names.get(row.answered_by) if row.answered_by is not None else None,
            answered_at=row.answered_at,
            created_at=row.created_at,
        )
        for row in rows
    ]


def answer(platform: Platform, user: User, course_slug: str, number: int, body: AnswerBody) -> RequestList:
    """Raises NotFound, NotAllowed, BadRequest, Conflict (not open)."""
    if body.state not in (RequestState.GRANTED, RequestState.DECLINED):
        raise BadRequest("Staff can only grant or decline a request.", "Only its student can withdraw it.")
    reason = body.reason.strip()
    if not reason:
        raise BadRequest("Give a reason.", "The student reads it.")
    with courses.changing(platform, user, course_slug, Action.REGRADE_ANSWER) as course:
        row = _open_request(course, number)
        row.state, row.answer = body.state, reason
        row.answered_by, row.answered_at = user.id, utcnow()
        course.note(
            Action.REGRADE_ANSWER,
            f"/regrade-requests/{number}",
            before={"state": RequestState.OPEN.value},
            after={"state": body.state.value},
            reason=reason[:500],
        )
        course.session.flush()
        text = f"Your regrade request for {row.challenge} was {body.state.value}"
        notices.notify(course.session, [row.user_id], NoticeKind.REGRADE, text, _path(course))
        return _list(course)


def withdraw(platform: Platform, user: User, course_slug: str, number: int) -> RequestList:
    """Raises NotFound, NotAllowed, Conflict (not open)."""
    with courses.changing(platform, user, course_slug, Action.REGRADE_ASK) as course:
        row = _open_request(course, number, user.id)
        row.state = RequestState.WITHDRAWN
        course.session.flush()
        return _list(course)


def _open_request(course: OpenCourse, number: int, whose: int | None = None) -> RegradeRequestRow:
    row = course.session.get(RegradeRequestRow, number) if number < 2**31 else None
    if row is None or row.course_id != course.row.id or (whose is not None and row.user_id != whose):
        raise NotFound(f"Course {course.row.slug} has no regrade request {number}.")
    if row.state is not RequestState.OPEN:
        raise Conflict(
            f"Request {number} is already {row.state.value}.",
            "Only open requests can be answered or withdrawn.",
        )
    return row
