"""Release, rubric and staff's points. Rubric points are added to the judge's and belong to a part, whichever
submission counts; weight and lateness do not change them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from grader import formats
from grader.deadlines import parse_moment
from grader.errors import BadRequest, Conflict, NotFound
from grader.records.engine import clock
from grader.records.models import (
    AssignmentRow,
    CriterionRow,
    FeedbackRow,
    MemberRow,
    RegradeRequestRow,
    ScoreRow,
    UserRow,
    utcnow,
)
from grader.schemas.course import CourseRole
from grader.schemas.feedback import (
    CriterionBody,
    CriterionView,
    FeedbackBody,
    FeedbackView,
    RequestState,
    ScoresBody,
    ScoreSheet,
    ScoreView,
    Shown,
)
from grader.schemas.notice import NoticeKind
from grader.service import audit
from grader.service.accounts.accounts import User
from grader.service.courses import assignments, courses, members
from grader.service.courses.courses import OpenCourse
from grader.service.courses.permissions import Action
from grader.service.messages import notices
from grader.service.platform import Platform
from grader.service.review import comments


def settings_of(session: Session, assignment: int) -> FeedbackRow:
    """By the assignment's id."""
    return session.get(FeedbackRow, assignment) or FeedbackRow(
        assignment_id=assignment, shown=Shown.AT_ONCE, regrade_limit=FeedbackBody().regrade_limit
    )


def get_feedback(platform: Platform, user: User, course_slug: str, slug: str) -> FeedbackView:
    """Raises NotFound, NotAllowed."""
    with courses.reading(platform, user, course_slug, Action.ASSIGNMENT_READ) as course:
        return _view(course, assignments.find(course, slug))


def put_feedback(
    platform: Platform, user: User, course_slug: str, slug: str, body: FeedbackBody
) -> FeedbackView:
    """Replaces settings and rubric. Raises NotFound, NotAllowed, BadRequest, Conflict (a criterion with points
    removed, or changed meanwhile)."""
    with courses.changing(platform, user, course_slug, Action.FEEDBACK_EDIT) as course:
        session, row = course.session, assignments.find(course, slug)
        if body.revision not in (None, _revision(session, row)):
            raise Conflict(
                "Somebody else has just changed the settings or the rubric.",
                "Reload them and repeat your change.",
            )
        before = _facts(session, row)
        settings = settings_of(session, row.id)
        settings.shown, settings.regrade_limit = body.shown, body.regrade_limit
        zone = ZoneInfo(course.row.time_zone)
        until = parse_moment(body.regrade_until, zone, end=True) if body.regrade_until else None
        settings.regrade_until = until
        session.add(settings)
        _put_rubric(session, row, body)
        session.flush()
        course.note(
            Action.FEEDBACK_EDIT, f"/assignments/{slug}/feedback", before=before, after=_facts(session, row)
        )
        return _view(course, row)


def _put_rubric(session: Session, row: AssignmentRow, body: FeedbackBody) -> None:
    parts = {part.challenge for part in assignments.parts_of(session, [row.id]).get(row.id, [])}
    if foreign := sorted(body.rubric.keys() - parts):
        raise BadRequest(
            f"{row.slug} has no challenge '{foreign[0][:64]}'.",
            "Rubrics belong to the assignment's challenges.",
        )
    present = {criterion.id: criterion for criterion in rubrics(session, [row.id])}
    kept: set[int] = set()
    for challenge, criteria in body.rubric.items():
        for place, wanted in enumerate(criteria):
            kept.add(_put_criterion(session, row, present, challenge, place, wanted))
    for gone in present.keys() - kept:
        if session.scalar(select(ScoreRow.user_id).where(ScoreRow.criterion_id == gone).limit(1)) is not None:
            raise Conflict(
                f"Students have points for '{present[gone].title}'.",
                "Remove those points first, or keep the criterion.",
            )
        session.delete(present[gone])


def _put_criterion(
    session: Session,
    row: AssignmentRow,
    present: dict[int, CriterionRow],
    challenge: str,
    place: int,
    wanted: CriterionBody,
) -> int:
    if wanted.id is not None and wanted.id not in present:
        raise BadRequest(f"{row.slug} has no criterion {wanted.id}.", "Leave out `id` to add a criterion.")
    criterion = present[wanted.id] if wanted.id is not None else CriterionRow(assignment_id=row.id)
    most = session.scalar(select(func.max(ScoreRow.points)).where(ScoreRow.criterion_id == wanted.id))
    if most is not None and most > wanted.points:
        raise Conflict(
            f"A student has {formats.points(most)} points for '{wanted.title}'.",
            "Give the criterion at least that many, or change the student's points.",
        )
    criterion.challenge, criterion.place = challenge, place
    criterion.title, criterion.about = wanted.title.strip(), wanted.about.strip()
    criterion.points = float(wanted.points)
    session.add(criterion)
    session.flush()
    return criterion.id


def rubrics(session: Session, of: Sequence[int]) -> Sequence[CriterionRow]:
    query = select(CriterionRow).where(CriterionRow.assignment_id.in_(of))
    return session.scalars(
        query.order_by(
            CriterionRow.assignment_id, CriterionRow.challenge, CriterionRow.place, CriterionRow.id
        )
    ).all()


def _facts(session: Session, row: AssignmentRow) -> dict[str, Any]:
    settings = settings_of(session, row.id)
    until = settings.regrade_until
    return {
        "shown": settings.shown.value,
        "regrade_limit": settings.regrade_limit,
        "regrade_until": until.isoformat() if until is not None else None,
        "rubric": {
            f"{criterion.challenge}: {criterion.title}": criterion.points
            for criterion in rubrics(session, [row.id])
        },
    }


def _revision(session: Session, row: AssignmentRow) -> str:
    criteria = [
        (
            criterion.id,
            criterion.challenge,
            criterion.place,
            criterion.title,
            criterion.about,
            criterion.points,
        )
        for criterion in rubrics(session, [row.id])
    ]
    return hashlib.sha256(repr((_facts(session, row), criteria)).encode()).hexdigest()[:16]


def _view(course: OpenCourse, row: AssignmentRow) -> FeedbackView:
    session = course.session
    settings = settings_of(session, row.id)
    student = course.may(Action.REGRADE_ASK)
    known = {part.challenge for part in assignments.known_parts(session, row, clock(session))}
    rubric: dict[str, list[CriterionView]] = {}
    for criterion in rubrics(session, [row.id]):
        if criterion.challenge in known or course.may(Action.GRADES_READ):
            rubric.setdefault(criterion.challenge, []).append(criterion_view(criterion))
    return FeedbackView(
        course=course.row.slug,
        assignment=row.slug,
        shown=settings.shown,
        released_at=settings.released_at,
        regrade_limit=settings.regrade_limit,
        regrade_until=settings.regrade_until,
        requests_left=requests_left(session, settings, course.user.id) if student else None,
        rubric=rubric,
        revision=_revision(session, row),
    )


def criterion_view(row: CriterionRow) -> CriterionView:
    return CriterionView(id=row.id, title=row.title, about=row.about, points=row.points)


def requests_left(session: Session, settings: FeedbackRow, user: int) -> int | None:
    """None: no limit. Withdrawn requests do not count."""
    if settings.regrade_limit is None:
        return None
    own = (RegradeRequestRow.assignment_id == settings.assignment_id, RegradeRequestRow.user_id == user)
    used = (
        select(func.count())
        .select_from(RegradeRequestRow)
        .where(*own, RegradeRequestRow.state != RequestState.WITHDRAWN)
    )
    return max(0, settings.regrade_limit - (session.scalar(used) or 0))


def release(
    platform: Platform, user: User, course_slug: str, slug: str, released: bool = True
) -> FeedbackView:
    """Releasing notifies students. Idempotent. Raises NotFound, NotAllowed, Conflict (shown at once)."""
    with courses.changing(platform, user, course_slug, Action.FEEDBACK_EDIT) as course:
        session, row = course.session, assignments.find(course, slug)
        settings = settings_of(session, row.id)
        if settings.shown is not Shown.ON_RELEASE:
            raise Conflict(f"Feedback on {slug} is shown at once.", "Set it to be shown on release first.")
        before = {"released": settings.released_at is not None}
        if released and settings.released_at is None:
            settings.released_at = utcnow()
            students = _students(session, course.row.id)
            path = f"/courses/{course.row.slug}/grades"
            text = f"The feedback on {row.title} is available"
            notices.notify(session, students, NoticeKind.GRADE, text, path)
            comments.notify_released(session, row, students)
        elif not released:
            settings.released_at = None
        session.add(settings)
        course.note(
            Action.FEEDBACK_EDIT,
            f"/assignments/{slug}/feedback/release",
            before=before,
            after={"released": released},
        )
        session.flush()
        return _view(course, row)


def _students(session: Session, course: int) -> Sequence[int]:
    of_it = (
        MemberRow.course_id == course,
        MemberRow.left_at.is_(None),
        MemberRow.role == CourseRole.STUDENT.value,
    )
    return session.scalars(select(MemberRow.user_id).where(*of_it)).all()


# ---- rubric points


def get_scores(platform: Platform, user: User, course_slug: str, slug: str, student: str) -> ScoreSheet:
    """For staff. Raises NotFound, NotAllowed."""
    with courses.reading(platform, user, course_slug, Action.GRADES_READ) as course:
        row = assignments.find(course, slug)
        return _sheet(course.session, row, members.student_of(course, student), student)


def put_scores(platform: Platform, user: User, course_slug: str, slug: str, body: ScoresBody) -> ScoreSheet:
    """None removes points. Raises NotFound, NotAllowed, BadRequest (no such criterion, too many points), Conflict
    (changed meanwhile)."""
    with courses.changing(platform, user, course_slug, Action.GRADES_SCORE) as course:
        session, row = course.session, assignments.find(course, slug)
        whom = members.student_of(course, body.student)
        criteria = {criterion.id: criterion for criterion in rubrics(session, [row.id])}
        for given in body.scores:
            criterion = criteria.get(given.criterion)
            if criterion is None:
                raise BadRequest(f"{slug} has no criterion {given.criterion}.", "Its rubric lists them.")
            if given.points is not None and given.points > criterion.points:
                raise BadRequest(
                    f"'{criterion.title}' has {formats.points(criterion.points)} points at most.",
                    "Give at most that many.",
                )
            if "seen" in given.model_fields_set:
                _check_seen(session, criterion, whom, given.seen)
            _put_score(course, row, criterion, whom, body.student, given.points, given.reason)
        session.flush()
        return _sheet(session, row, whom, body.student)


def _check_seen(session: Session, criterion: CriterionRow, whom: int, seen: float | None) -> None:
    score = session.get(ScoreRow, (criterion.id, whom))
    stands = score.points if score is not None else None
    if stands != seen:
        raise Conflict(
            f"Somebody else has just graded '{criterion.title}':"
            f" {'no points' if stands is None else f'{formats.points(stands)} points'} now.",
            "Look at their points, and repeat your change.",
        )


def _put_score(
    course: OpenCourse,
    row: AssignmentRow,
    criterion: CriterionRow,
    whom: int,
    name: str,
    points: float | None,
    reason: str,
) -> None:
    session = course.session
    tidy = audit.tidy_reason(reason)
    score = session.get(ScoreRow, (criterion.id, whom))
    before = {"points": score.points if score is not None else None}
    if points is None:
        if score is not None:
            session.delete(score)
    else:
        if score is None:
            score = ScoreRow(criterion_id=criterion.id, user_id=whom)
            session.add(score)
        score.points, score.reason = float(points), tidy
        score.made_by, score.made_at = course.user.id, utcnow()
    course.note(
        Action.GRADES_SCORE,
        f"/assignments/{row.slug}/scores/{criterion.id}/{name}",
        before=before,
        after={"points": float(points) if points is not None else None},
        reason=tidy,
    )


def _sheet(session: Session, row: AssignmentRow, whom: int, name: str) -> ScoreSheet:
    criteria = rubrics(session, [row.id])
    score = ScoreRow
    query = (
        select(score, UserRow.name)
        .outerjoin(UserRow, UserRow.id == score.made_by)
        .where(score.user_id == whom, score.criterion_id.in_([criterion.id for criterion in criteria]))
    )
    given = {row.criterion_id: (row, by) for row, by in session.execute(query)}

    def view(criterion: CriterionRow) -> ScoreView:
        shown = criterion_view(criterion)
        if criterion.id not in given:
            return ScoreView(criterion=shown, challenge=criterion.challenge)
        found, by = given[criterion.id]
        return ScoreView(
            criterion=shown,
            challenge=criterion.challenge,
            points=found.points,
            reason=found.reason,
            made_by=by,
            made_at=found.made_at,
        )

    if not criteria:
        raise NotFound(f"{row.slug} has no rubric.", "Add one on its feedback page.")
    return ScoreSheet(student=name, scores=[view(criterion) for criterion in criteria])
