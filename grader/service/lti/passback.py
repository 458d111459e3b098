"""Grades for learning platforms: compares those that they should have with those that they have, and sends the
differences.

The comparison uses the gradebook, so every change is sent, whatever made it: a submission, an override, an extension, a
late day, a regrade. Staff release a link's grades once; afterwards they are sent automatically. Sending is safe to
repeat: a platform keeps a student's latest grade in a column, by its timestamp.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlsplit, urlunsplit

from joserfc import jwt
from sqlalchemy import ColumnElement, case, func, select, update
from sqlalchemy.orm import Session

from grader import limits
from grader.errors import Conflict, NotFound, Unreachable
from grader.logs import get_logger
from grader.records.engine import changed, writing
from grader.records.models import (
    AssignmentRow,
    CourseRow,
    IdentityRow,
    LtiContextRow,
    LtiLinkRow,
    LtiPlatformRow,
    LtiScoreRow,
    MemberRow,
    UserRow,
    utcnow,
)
from grader.schemas.course import CourseRole
from grader.schemas.gradebook import AssignmentGrade
from grader.schemas.lti import LtiContextView, LtiCourse, LtiLinkView, LtiScoreState, LtiScoreView, Teachers
from grader.service import outbound
from grader.service.accounts.accounts import User
from grader.service.courses import courses, gradebook
from grader.service.courses.courses import OpenCourse
from grader.service.courses.permissions import Action
from grader.service.lti import platforms as lti_platforms
from grader.service.lti.platforms import SCORE_SCOPE
from grader.service.operation import chores
from grader.service.outbound import Refused
from grader.service.platform import Platform

log = get_logger(__name__)

_CHORE = "lti_scores"
_SCORE_TYPE = "application/vnd.ims.lis.v1.score+json"
_ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_ASSERTION_SECONDS = 60
# A token is not used in its last seconds.
_TOKEN_MARGIN_SECONDS = 30
# Answers that another try may change. 409: the platform has a later timestamp, as after a clock was corrected.
_AGAIN = frozenset({408, 409, 425, 429})
_GONE = frozenset({404, 410})
_DIGITS = 6


def compare_now_and_then(platform: Platform) -> int:
    """Compare if it is this process's turn. Returns the number of changed grades."""
    every = timedelta(seconds=limits.SCORES_COMPARED_SECONDS)
    return compare(platform) if chores.may_begin(platform, _CHORE, every, utcnow()) else 0


def compare(platform: Platform) -> int:
    """Record the grades that platforms should have for released links. Returns how many changed."""
    with platform.sessions() as session:
        found = session.scalars(
            select(LtiContextRow.course_id)
            .join(LtiLinkRow, LtiLinkRow.context_id == LtiContextRow.id)
            .where(LtiLinkRow.released_at.is_not(None), LtiLinkRow.line_item != "")
            .distinct()
        ).all()
    return sum(_compare_course(platform, course) for course in found)


def _compare_course(platform: Platform, course: int) -> int:
    now = utcnow()
    with platform.sessions() as session:
        row = session.get(CourseRow, course)
        if row is None:
            return 0
        grades, unknown = gradebook.of_everyone(platform, session, row)
        links = session.execute(
            select(LtiLinkRow, AssignmentRow.slug, LtiPlatformRow)
            .join(LtiContextRow, LtiContextRow.id == LtiLinkRow.context_id)
            .join(LtiPlatformRow, LtiPlatformRow.id == LtiContextRow.platform_id)
            .join(AssignmentRow, AssignmentRow.id == LtiLinkRow.assignment_id)
            .where(
                LtiContextRow.course_id == course,
                LtiLinkRow.released_at.is_not(None),
                LtiLinkRow.line_item != "",
            )
        ).all()
        known = {
            registered.id: {
                user: subject_digest(registered, own) for user, own in _subjects(session, registered).items()
            }
            for registered in {known.id: known for _, _, known in links}.values()
        }
    counted = 0
    for link, slug, learning in links:
        if slug in unknown:  # a folder that is broken for an hour must not lower grades there
            continue
        wanted = {
            student.id: given
            for student in grades
            if student.id in known[learning.id]
            for given in student.assignments
            if given.assignment == slug
        }
        counted += _note(platform, link.id, wanted, known[learning.id], now)
    return counted


def _subjects(session: Session, known: LtiPlatformRow) -> dict[int, str]:
    """The platform's ids for its people, by their accounts here."""
    authority = lti_platforms.authority(known)
    rows = select(IdentityRow.user_id, IdentityRow.subject).where(IdentityRow.authority == authority)
    return dict(session.execute(rows.order_by(IdentityRow.id.desc())).all())


def subject_digest(known: LtiPlatformRow, subject: str) -> str:
    """The stored hash of a person for whom a platform got a grade."""
    return hashlib.sha256(f"{lti_platforms.authority(known)}\n{subject}".encode()).hexdigest()


def _note(
    platform: Platform,
    link: int,
    wanted: dict[int, AssignmentGrade],
    digests: dict[int, str],
    now: datetime,
) -> int:
    """A student who has not begun gets no zero before the deadline, unless they had points before; and later none over
    a grade that was sent for another account of theirs."""
    counted = 0
    with platform.sessions() as session:
        rows = session.scalars(select(LtiScoreRow).where(LtiScoreRow.link_id == link)).all()
    known = {row.user_id: row for row in rows}
    sent = {row.subject_sha256 for row in rows if row.sent_at is not None}
    changes = []
    for user, given in wanted.items():
        points, most = round(given.points, _DIGITS), round(given.most, _DIGITS)
        row = known.get(user)
        begun = any(part.attempts or part.overridden for part in given.parts)
        known_to_differ = row is not None and (row.points, row.most) != (points, most)
        due = given.closes_at < now and digests[user] not in sent
        if known_to_differ or (row is None and (begun or due)):
            changes.append((user, points, most))
    if not changes:
        return 0
    with writing(platform.sessions) as session:
        # Locked against a second comparison, and against a worker that records what it sent.
        fresh = {
            row.user_id: row
            for row in session.scalars(
                select(LtiScoreRow).where(LtiScoreRow.link_id == link).with_for_update()
            )
        }
        for user, points, most in changes:
            row = fresh.get(user)
            if row is None:
                row = LtiScoreRow(link_id=link, user_id=user, points=points, most=most)
                row.state = LtiScoreState.PENDING.value
                session.add(row)
            elif (row.points, row.most) == (points, most):
                continue
            row.points, row.most, row.changed_at = points, most, now
            _again(row, now)
            counted += 1
    return counted


def _again(row: LtiScoreRow, now: datetime) -> None:
    row.state, row.tries, row.next_at, row.error = LtiScoreState.PENDING.value, 0, now, ""


@dataclass(frozen=True)
class _Score:
    """A grade that this process holds and may send."""

    id: int
    user: int
    points: float
    most: float
    tries: int
    sent_at: datetime | None
    line_item: str
    learning: LtiPlatformRow
    subject: str | None


def deliver(platform: Platform) -> int:
    """Send grades that are due. Returns how many were taken. Any number of processes may do so at once. If a platform
    does not answer, its other grades wait for the next turn."""
    taken, away = 0, set()
    for number, learning in _due(platform):
        if learning in away:
            continue
        score = _hold(platform, number)
        if score is None:
            continue
        error: Unreachable | None = None
        sent_at = _timestamp(score)
        try:
            _send(platform, score, sent_at)
        except Unreachable as failure:
            error = failure
            if not isinstance(failure, Refused):
                away.add(learning)
        _settle(platform, score, sent_at, error)
        taken += error is None
    return taken


def _due(platform: Platform) -> Sequence[tuple[int, int]]:
    now = utcnow()
    query = (
        select(LtiScoreRow.id, LtiContextRow.platform_id)
        .join(LtiLinkRow, LtiLinkRow.id == LtiScoreRow.link_id)
        .join(LtiContextRow, LtiContextRow.id == LtiLinkRow.context_id)
        .where(
            LtiScoreRow.state == LtiScoreState.PENDING.value,
            LtiScoreRow.next_at <= now,
            LtiScoreRow.held_until.is_(None) | (LtiScoreRow.held_until < now),
            LtiLinkRow.released_at.is_not(None),
            LtiLinkRow.line_item != "",
        )
        .order_by(LtiScoreRow.next_at, LtiScoreRow.id)
        .limit(limits.SCORES_AT_ONCE)
    )
    with platform.sessions() as session:
        return [(number, learning) for number, learning in session.execute(query)]


def _hold(platform: Platform, number: int) -> _Score | None:
    """None if another process holds it."""
    now = utcnow()
    free = (
        LtiScoreRow.id == number,
        LtiScoreRow.state == LtiScoreState.PENDING.value,
        LtiScoreRow.held_until.is_(None) | (LtiScoreRow.held_until < now),
    )
    held = now + timedelta(seconds=limits.SCORE_HELD_SECONDS)
    with writing(platform.sessions) as session:
        take = update(LtiScoreRow).where(*free).values(held_until=held)
        if not changed(session, take.execution_options(synchronize_session=False)):
            return None
        found = session.get_one(LtiScoreRow, number)
        link = session.get_one(LtiLinkRow, found.link_id)
        context = session.get_one(LtiContextRow, link.context_id)
        learning = session.get_one(LtiPlatformRow, context.platform_id)
        return _Score(
            found.id,
            found.user_id,
            found.points,
            found.most,
            found.tries,
            found.sent_at,
            link.line_item,
            learning,
            _subjects(session, learning).get(found.user_id),
        )


def _timestamp(score: _Score) -> datetime:
    """Later than the last one, whatever clocks do."""
    now = utcnow()
    return now if score.sent_at is None else max(now, score.sent_at + timedelta(milliseconds=1))


class _Hopeless(Refused):
    """Another try would not help."""


def _send(platform: Platform, score: _Score, at: datetime) -> None:
    """Raises Unreachable, Refused."""
    name = score.learning.name
    if score.subject is None:
        raise _Hopeless(
            f"{name} does not know this student. They have to follow its link to this course once.", 0
        )
    if score.most <= 0:
        raise _Hopeless("The assignment has no points, so no grade can be sent.", 0)
    if not lti_platforms.is_its_own(score.learning, score.line_item):
        raise _Hopeless(
            f"{urlsplit(score.line_item).netloc} is no longer among the hosts that admins named for {name}.",
            0,
        )
    body = {
        "userId": score.subject,
        "scoreGiven": score.points,
        "scoreMaximum": score.most,
        "timestamp": at.isoformat(timespec="milliseconds"),
        "activityProgress": "Completed",
        "gradingProgress": "FullyGraded",
    }
    for last in (False, True):
        token = TOKENS.of(platform, score.learning, fresh=last)
        headers = {"Authorization": f"Bearer {token}", "Content-Type": _SCORE_TYPE}
        try:
            outbound.post(_scores_url(score.line_item), json.dumps(body).encode(), headers)
        except Refused as error:
            if error.answered == 401 and not last:  # it ended early
                continue
            raise
        return


def _scores_url(line_item: str) -> str:
    """Moodle's line items end in a query, which stays at the end."""
    parts = urlsplit(line_item)
    return urlunsplit(parts._replace(path=parts.path.rstrip("/") + "/scores"))


class _Tokens:
    """Access tokens of platforms, cached for their lifetime."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[tuple[str, str], tuple[float, str]] = {}

    def of(self, platform: Platform, known: LtiPlatformRow, fresh: bool = False) -> str:
        """Raises Unreachable, Refused."""
        at = (known.token_url, known.client_id)
        with self._lock:
            kept = self._kept.get(at)
        if kept is not None and not fresh and time.monotonic() < kept[0]:
            return kept[1]
        answer = outbound.send("POST", known.token_url, form=_asked(platform, known))
        token = answer.get("access_token")
        lives = answer.get("expires_in", 0)
        if not isinstance(token, str) or not isinstance(lives, int | float):
            raise Unreachable(f"{known.name} did not issue an access token.")
        with self._lock:
            self._kept[at] = (time.monotonic() + lives - _TOKEN_MARGIN_SECONDS, token)
        return token

    def forget(self) -> None:
        with self._lock:
            self._kept.clear()


def _asked(platform: Platform, known: LtiPlatformRow) -> dict[str, str]:
    key, now = lti_platforms.signing_key(platform), int(time.time())
    claims = {
        "iss": known.client_id,
        "sub": known.client_id,
        "aud": known.token_audience or known.token_url,
        "iat": now,
        "exp": now + _ASSERTION_SECONDS,
        "jti": secrets.token_urlsafe(24),
    }
    return {
        "grant_type": "client_credentials",
        "client_assertion_type": _ASSERTION_TYPE,
        "client_assertion": jwt.encode({"alg": "RS256", "kid": str(key.kid)}, claims, key),
        "scope": SCORE_SCOPE,
    }


# Shared by the process.
TOKENS = _Tokens()


def _settle(platform: Platform, score: _Score, sent_at: datetime, error: Unreachable | None) -> None:
    """Record the outcome. A grade that changed meanwhile is sent again."""
    now = utcnow()
    with writing(platform.sessions) as session:
        row = session.scalar(select(LtiScoreRow).where(LtiScoreRow.id == score.id).with_for_update())
        if row is None:
            return
        row.held_until = None
        same = (row.points, row.most) == (score.points, score.most)
        if error is None:
            row.sent_points, row.sent_most, row.sent_at = score.points, score.most, sent_at
            if score.subject is not None:
                row.subject_sha256 = subject_digest(score.learning, score.subject)
            if same:
                row.state, row.error, row.tries = LtiScoreState.SENT.value, "", 0
        elif same:
            row.tries = score.tries + 1
            row.error = _explained(score, error)
            lost = _hopeless(error) or row.tries >= limits.SCORE_TRIES
            row.state = LtiScoreState.FAILED.value if lost else LtiScoreState.PENDING.value
            row.next_at = now + _pause(row.tries)
    if error is not None:
        log.warning("score_not_sent", score=score.id, platform=score.learning.name, error=error.message)


def _hopeless(error: Unreachable) -> bool:
    if isinstance(error, _Hopeless):
        return True
    return isinstance(error, Refused) and error.answered < 500 and error.answered not in _AGAIN


def _explained(score: _Score, error: Unreachable) -> str:
    if isinstance(error, Refused) and not isinstance(error, _Hopeless) and error.answered in _GONE:
        name = score.learning.name
        return (
            f"The gradebook column no longer exists in {name} ({error.answered}). Follow the "
            "link there, or make a new one."
        )
    said = f" Its answer: {error.text}" if isinstance(error, Refused) and error.text.strip() else ""
    return f"{error.message}{said}"[:500]


def _pause(tries: int) -> timedelta:
    seconds = limits.SCORE_RETRY_SECONDS * 2 ** min(tries - 1, 30)
    return timedelta(seconds=min(seconds, limits.SCORE_RETRY_MOST_SECONDS))


def read(platform: Platform, user: User, slug: str) -> LtiCourse:
    """Raises NotFound, NotAllowed."""
    with courses.reading(platform, user, slug, Action.LTI_READ) as course:
        return _view(course)


@dataclass(frozen=True)
class Counted:
    """The number of a link's grades that were sent, wait, or failed."""

    assignment: str
    platform: str
    released: bool
    sent: int
    pending: int
    failed: int
    sent_at: datetime | None


def counted(platform: Platform, user: User, slug: str) -> list[Counted]:
    """By link, for the gradebook. Raises NotFound, NotAllowed."""

    def many(state: LtiScoreState) -> ColumnElement[int]:
        return func.coalesce(func.sum(case((LtiScoreRow.state == state.value, 1), else_=0)), 0)

    with courses.reading(platform, user, slug, Action.LTI_READ) as course:
        query = (
            select(
                AssignmentRow.slug,
                LtiPlatformRow.name,
                LtiLinkRow.released_at,
                many(LtiScoreState.SENT),
                many(LtiScoreState.PENDING),
                many(LtiScoreState.FAILED),
                func.max(LtiScoreRow.sent_at),
            )
            .select_from(LtiLinkRow)
            .join(LtiContextRow, LtiContextRow.id == LtiLinkRow.context_id)
            .join(LtiPlatformRow, LtiPlatformRow.id == LtiContextRow.platform_id)
            .join(AssignmentRow, AssignmentRow.id == LtiLinkRow.assignment_id)
            .outerjoin(LtiScoreRow, LtiScoreRow.link_id == LtiLinkRow.id)
            .where(LtiContextRow.course_id == course.row.id)
            .group_by(
                LtiLinkRow.id,
                AssignmentRow.slug,
                AssignmentRow.due_at,
                LtiPlatformRow.name,
                LtiLinkRow.released_at,
            )
            .order_by(AssignmentRow.due_at, LtiLinkRow.id)
        )
        found = course.session.execute(query).all()
    return [
        Counted(assignment, name, released is not None, int(sent), int(pending), int(failed), sent_at)
        for assignment, name, released, sent, pending, failed, sent_at in found
    ]


def release(platform: Platform, user: User, slug: str, number: int, released: bool) -> LtiCourse:
    """Start or stop sending the link's grades; sent ones stay at the platform.

    Raises NotFound, NotAllowed, Conflict (the platform has no column for it).
    """
    with courses.changing(platform, user, slug, Action.LTI_SEND) as course:
        link = _link(course, number)
        if released and not link.line_item:
            raise Conflict(
                "The platform has no gradebook column for this link.",
                link.why_not or "Follow the link there once, then release again.",
            )
        before = {"released": link.released_at is not None}
        link.released_at = (link.released_at or utcnow()) if released else None
        course.note(Action.LTI_SEND, f"/lti/links/{number}", before=before, after={"released": released})
        course.session.flush()
        course_id = course.row.id
    if released:
        _compare_course(platform, course_id)
    return read(platform, user, slug)


def send_again(
    platform: Platform, user: User, slug: str, number: int, student: str | None = None
) -> LtiCourse:
    """Send failed and waiting grades now: one student's, or all. Raises NotFound, NotAllowed."""
    now = utcnow()
    with courses.changing(platform, user, slug, Action.LTI_SEND) as course:
        link = _link(course, number)
        query = select(LtiScoreRow).join(UserRow, UserRow.id == LtiScoreRow.user_id)
        query = query.where(LtiScoreRow.link_id == link.id)
        if student is None:
            query = query.where(LtiScoreRow.state != LtiScoreState.SENT.value)
        else:
            query = query.where(UserRow.name_key == student.lower())
        rows = course.session.scalars(query).all()
        if student is not None and not rows:
            raise NotFound(
                f"There is no grade of '{student}' for this link.", "The course's page lists the grades."
            )
        for row in rows:
            _again(row, now)
        course.note(Action.LTI_SEND, f"/lti/links/{number}/send", after={"grades": len(rows)})
        course.session.flush()
        return _view(course)


def unlink(platform: Platform, user: User, slug: str, number: int) -> LtiCourse:
    """End the link between the courses; members and sent grades stay. Raises NotFound, NotAllowed."""
    with courses.changing(platform, user, slug, Action.LTI_LINK) as course:
        row = course.session.get(LtiContextRow, number) if number < 2**31 else None
        if row is None or row.course_id != course.row.id:
            raise NotFound(
                f"There is no linked course {number} in {slug}.",
                "The course's page lists its linked courses.",
            )
        course.note(Action.LTI_LINK, f"/lti/{number}", before={"context": row.title}, after={"context": None})
        course.session.delete(row)
        course.session.flush()
        return _view(course)


def _link(course: OpenCourse, number: int) -> LtiLinkRow:
    row = course.session.get(LtiLinkRow, number) if number < 2**31 else None
    context = course.session.get(LtiContextRow, row.context_id) if row is not None else None
    if row is None or context is None or context.course_id != course.row.id:
        raise NotFound(
            f"There is no link {number} in {course.row.slug}.", "The course's page lists its links."
        )
    return row


def _view(course: OpenCourse) -> LtiCourse:
    session = course.session
    contexts = session.execute(
        select(LtiContextRow, LtiPlatformRow, UserRow.name)
        .join(LtiPlatformRow, LtiPlatformRow.id == LtiContextRow.platform_id)
        .outerjoin(UserRow, UserRow.id == LtiContextRow.linked_by)
        .where(LtiContextRow.course_id == course.row.id)
        .order_by(LtiContextRow.id)
    ).all()
    students = session.execute(
        select(UserRow.id, UserRow.name)
        .join(MemberRow, MemberRow.user_id == UserRow.id)
        .where(
            MemberRow.course_id == course.row.id,
            MemberRow.left_at.is_(None),
            MemberRow.role == CourseRole.STUDENT.value,
        )
        .order_by(UserRow.name_key)
    ).all()
    found = []
    for context, learning, linked_by in contexts:
        known = _subjects(session, learning)
        unknown = [name for user, name in students if user not in known]
        rows = session.execute(
            select(LtiLinkRow, AssignmentRow.slug)
            .join(AssignmentRow, AssignmentRow.id == LtiLinkRow.assignment_id)
            .where(LtiLinkRow.context_id == context.id)
            .order_by(AssignmentRow.due_at, LtiLinkRow.id)
        ).all()
        found.append(
            LtiContextView(
                id=context.id,
                platform=learning.name,
                title=context.title,
                teachers=Teachers(context.teachers),
                linked_by=linked_by,
                created_at=context.created_at,
                links=[_link_view(session, course.row.id, row, slug, unknown) for row, slug in rows],
            )
        )
    return LtiCourse(course=course.row.slug, contexts=found)


def _link_view(
    session: Session, course: int, row: LtiLinkRow, slug: str, unknown: Iterable[str]
) -> LtiLinkView:
    scores = session.execute(
        select(LtiScoreRow, UserRow.name, MemberRow.full_name)
        .join(UserRow, UserRow.id == LtiScoreRow.user_id)
        .outerjoin(MemberRow, (MemberRow.user_id == UserRow.id) & (MemberRow.course_id == course))
        .where(LtiScoreRow.link_id == row.id)
        .order_by(UserRow.name_key)
    ).all()
    return LtiLinkView(
        id=row.id,
        assignment=slug,
        title=row.title,
        graded=bool(row.line_item),
        why_not=row.why_not,
        released_at=row.released_at,
        unknown=list(unknown),
        scores=[
            LtiScoreView(
                student=name,
                full_name=full_name or "",
                points=score.points,
                most=score.most,
                state=LtiScoreState(score.state),
                tries=score.tries,
                error=score.error,
                changed_at=score.changed_at,
                next_at=score.next_at if score.state == LtiScoreState.PENDING.value else None,
                sent_points=score.sent_points,
                sent_at=score.sent_at,
            )
            for score, name, full_name in scores
        ],
    )
