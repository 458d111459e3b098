from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from grader.challenge.catalogue import near
from grader.challenge.loader import Challenge
from grader.deadlines import WindowPhase, parse_moment
from grader.errors import BadRequest, ChallengeInvalid, Conflict, NotFound, UnknownChallenge
from grader.languages import Language
from grader.records import competitions, groups, names, owners, publications, taught
from grader.records.engine import clock
from grader.records.models import AskedRow, AssignmentPartRow, AssignmentRow, CourseRow, SubmissionRow, utcnow
from grader.schemas.assignment import (
    AssignmentBody,
    AssignmentList,
    AssignmentView,
    AttemptLimits,
    Counts,
    GroupView,
    PartBody,
    PartView,
)
from grader.service.accounts.accounts import User
from grader.service.courses import courses, permissions
from grader.service.courses.admission import left_of
from grader.service.courses.courses import OpenCourse
from grader.service.courses.permissions import Action
from grader.service.courses.windows import late_until_of, window_of
from grader.service.devices import served_devices
from grader.service.platform import Platform


def put_assignment(
    platform: Platform, user: User, course_slug: str, slug: str, body: AssignmentBody
) -> AssignmentView:
    """A new one is a draft. Raises NotFound, NotAllowed, BadRequest, Conflict (changed meanwhile)."""
    served = served_devices(platform)
    with courses.changing(platform, user, course_slug, Action.ASSIGNMENT_EDIT) as course:
        session = course.session
        row = _find(course, slug)
        # Not before the right is checked: errors may name secret challenges.
        challenges = _challenges(platform, course, row, body.parts)
        times = _times(course, body)
        before = _facts(session, row) if row is not None else None
        if row is None:
            row = AssignmentRow(course_id=course.row.id, slug=slug, revision=0)
            session.add(row)
        else:
            courses.check_revision(row.revision, body.revision)
        row.title = body.title.strip()
        row.open_at, row.due_at, row.late_until = times
        row.late_percent, row.grace_days = float(body.late_percent), body.grace_days
        row.attempts_day, row.attempts_total = body.attempts.day, body.attempts.total
        row.attempts_pending = body.attempts.pending
        row.languages = _languages(challenges, body.languages)
        row.devices = _devices(served, row.devices or [], body.devices)
        row.counts, row.reveal_hidden = body.counts.value, body.reveal_hidden
        row.partial_credit = body.partial_credit
        row.open_solutions = body.open_solutions
        row.question_points = float(body.question_points)
        row.group_size, row.groups_until = body.group_size, _groups_until(course, body)
        row.category = " ".join(body.category.split())
        row.out_of = float(body.out_of) if body.out_of is not None else None
        row.revision += 1
        session.flush()
        session.execute(delete(AssignmentPartRow).where(AssignmentPartRow.assignment_id == row.id))
        session.add_all(
            AssignmentPartRow(
                assignment_id=row.id, challenge=part.challenge, weight=float(part.weight), place=place
            )
            for place, part in enumerate(body.parts)
        )
        session.flush()
        if row.published_at is not None:
            _ask(session, row)
        course.note(
            Action.ASSIGNMENT_EDIT, f"/assignments/{slug}", before=before or {}, after=_facts(session, row)
        )
        return _view(platform, course, row)


def _challenges(
    platform: Platform, course: OpenCourse, row: AssignmentRow | None, parts: Sequence[PartBody]
) -> list[Challenge]:
    """Raises BadRequest (unknown, twice, or newly added and reserved for a competition)."""
    slugs = [part.challenge for part in parts]
    if twins := sorted({slug for slug in slugs if slugs.count(slug) > 1}):
        raise BadRequest(
            f"The challenge {twins[0]} appears twice.", "List each challenge once, with its weight."
        )
    # The course's students cannot see other courses' challenges.
    owned = owners.everything(course.session)
    kept = frozenset(slug for slug, owner in owned.items() if owner != course.row.id)
    if not course.user.staff:
        now = clock(course.session)
        kept |= competitions.to_be_asked(course.session, now) - publications.published(course.session, now)
        kept -= set(_slugs(course.session, row)) if row is not None else set()
    if kept or not course.user.staff:
        known = sorted(set(platform.catalogue.slugs()) - kept)
        if unknown := [slug for slug in slugs if slug not in known]:
            raise BadRequest(f"There is no challenge '{unknown[0]}'.", near(unknown[0], known))
    try:
        return [platform.catalogue.load(slug) for slug in slugs]
    except (UnknownChallenge, ChallengeInvalid) as error:
        raise BadRequest(error.message, error.hint) from error


def _languages(challenges: Sequence[Challenge], chosen: Sequence[Language]) -> list[str]:
    for challenge in challenges:
        if chosen and not set(chosen) & set(challenge.manifest.languages):
            taken = ", ".join(challenge.manifest.languages)
            raise BadRequest(
                f"{challenge.slug} takes only {taken}.",
                "Allow one of these languages, or leave out languages.",
            )
    return sorted({language.value for language in chosen})


def _devices(served: Sequence[str], present: Sequence[str], chosen: Sequence[str]) -> list[str]:
    """Raises BadRequest. Devices in ``present`` need no worker."""
    if odd := sorted({*chosen} - {*served, *present}):
        raise BadRequest(f"This platform has no device '{odd[0][:32]}'.", f"Devices: {', '.join(served)}.")
    return sorted(set(chosen))


def _times(course: OpenCourse, body: AssignmentBody) -> tuple[datetime, datetime, datetime | None]:
    zone = ZoneInfo(course.row.time_zone)
    open_at = parse_moment(body.open_at, zone, end=False)
    due_at = parse_moment(body.due_at, zone, end=True)
    if open_at >= due_at:
        raise BadRequest("The assignment would be due before it opens.", "Set `open_at` before `due_at`.")
    return open_at, due_at, late_until_of(body.late_until, due_at, zone)


def _groups_until(course: OpenCourse, body: AssignmentBody) -> datetime | None:
    if body.groups_until is None or body.group_size == 1:
        return None
    return parse_moment(body.groups_until, ZoneInfo(course.row.time_zone), end=True)


def publish_assignment(
    platform: Platform, user: User, course_slug: str, slug: str, published: bool = True
) -> AssignmentView:
    """Idempotent. Raises NotFound, NotAllowed, Conflict (with submissions it cannot be hidden)."""
    with courses.changing(platform, user, course_slug, Action.ASSIGNMENT_EDIT) as course:
        row = find(course, slug)
        if not published and row.published_at is not None and _was_used(course.session, row):
            raise Conflict(
                "Students have already submitted for this assignment.", "Change its times instead."
            )
        before = {"published": row.published_at is not None}
        row.published_at = (row.published_at or utcnow()) if published else None
        if published:
            _ask(course.session, row)
        else:
            course.session.execute(delete(AskedRow).where(AskedRow.assignment_id == row.id))
        course.note(
            Action.ASSIGNMENT_EDIT, f"/assignments/{slug}", before=before, after={"published": published}
        )
        course.session.flush()
        return _view(platform, course, row)


def _ask(session: Session, row: AssignmentRow) -> None:
    """Since when it asks for each challenge: earlier submissions never count."""
    asked = AskedRow
    known = set(session.scalars(select(asked.challenge).where(asked.assignment_id == row.id)))
    now = clock(session)
    session.add_all(
        asked(assignment_id=row.id, challenge=slug, asked_at=now)
        for slug in _slugs(session, row)
        if slug not in known
    )
    session.flush()


def delete_assignment(platform: Platform, user: User, course_slug: str, slug: str) -> None:
    """With its extensions. Raises NotFound, NotAllowed, Conflict (published)."""
    with courses.changing(platform, user, course_slug, Action.ASSIGNMENT_EDIT) as course:
        row = find(course, slug)
        if row.published_at is not None:
            raise Conflict(f"{slug} is published.", "Only drafts can be deleted: hide it first.")
        course.note(
            Action.ASSIGNMENT_EDIT, f"/assignments/{slug}", before=_facts(course.session, row), after={}
        )
        course.session.delete(row)


def _was_used(session: Session, row: AssignmentRow) -> bool:
    query = (
        select(SubmissionRow.id)
        .where(SubmissionRow.challenge.in_(_slugs(session, row)), SubmissionRow.created_at >= row.open_at)
        .where(taught.belongs(AssignmentRow.id == row.id))
    )
    return session.scalar(query.limit(1)) is not None


def _slugs(session: Session, row: AssignmentRow) -> list[str]:
    return [part.challenge for part in parts_of(session, [row.id]).get(row.id, [])]


def list_assignments(platform: Platform, user: User, course_slug: str) -> AssignmentList:
    """By deadline; staff also drafts. Raises NotFound, NotAllowed."""
    with courses.reading(platform, user, course_slug, Action.ASSIGNMENT_READ) as course:
        query = select(AssignmentRow).where(AssignmentRow.course_id == course.row.id)
        if not course.may(Action.ASSIGNMENT_READ_DRAFT):
            query = query.where(AssignmentRow.published_at.is_not(None))
        rows = course.session.scalars(query.order_by(AssignmentRow.due_at, AssignmentRow.id)).all()
        return AssignmentList(course=course_slug, assignments=[_view(platform, course, row) for row in rows])


def get_assignment(platform: Platform, user: User, course_slug: str, slug: str) -> AssignmentView:
    """Raises NotFound, NotAllowed."""
    with courses.reading(platform, user, course_slug, Action.ASSIGNMENT_READ) as course:
        return _view(platform, course, find(course, slug))


def read_by(platform: Platform, user: User, action: Action = Action.SUBMISSIONS_READ) -> list[str]:
    """Courses, newest first, each followed by its assignments as ``COURSE/ASSIGNMENT``."""
    with platform.sessions() as session:
        found = session.execute(
            select(CourseRow.id, CourseRow.slug, AssignmentRow.slug)
            .outerjoin(AssignmentRow, AssignmentRow.course_id == CourseRow.id)
            .order_by(CourseRow.id.desc(), AssignmentRow.due_at, AssignmentRow.id)
        ).all()
        standings = {
            course_id: permissions.standings(session, user, course_id)
            for course_id in {row[0] for row in found}
        }
    names: dict[str, None] = {}
    for number, course, slug in found:
        if permissions.may(standings[number], action):
            names[course] = None
            if slug is not None:
                names[f"{course}/{slug}"] = None
    return list(names)


def exists(course: OpenCourse, slug: str) -> bool:
    return _find(course, slug) is not None


def find(course: OpenCourse, slug: str) -> AssignmentRow:
    """Raises NotFound."""
    row = _find(course, slug)
    if row is None or (row.published_at is None and not course.may(Action.ASSIGNMENT_READ_DRAFT)):
        raise NotFound(
            f"There is no assignment '{slug[:64]}' in {course.row.slug}.",
            "`grader assignment list` lists its assignments.",
        )
    return row


def _find(course: OpenCourse, slug: str) -> AssignmentRow | None:
    return course.session.scalar(
        select(AssignmentRow).where(AssignmentRow.course_id == course.row.id, AssignmentRow.slug == slug)
    )


def challenges_of(course: OpenCourse) -> set[str]:
    query = (
        select(AssignmentPartRow.challenge)
        .join(AssignmentRow, AssignmentRow.id == AssignmentPartRow.assignment_id)
        .where(AssignmentRow.course_id == course.row.id, AssignmentRow.published_at.is_not(None))
    )
    return set(course.session.scalars(query))


def assigned_by(session: Session, row: AssignmentRow) -> list[str]:
    """None while it is a draft."""
    return _slugs(session, row) if row.published_at is not None else []


def parts_of(session: Session, assignments: Sequence[int]) -> dict[int, list[AssignmentPartRow]]:
    query = (
        select(AssignmentPartRow)
        .where(AssignmentPartRow.assignment_id.in_(assignments))
        .order_by(AssignmentPartRow.assignment_id, AssignmentPartRow.place)
    )
    found: dict[int, list[AssignmentPartRow]] = {}
    for part in session.scalars(query):
        found.setdefault(part.assignment_id, []).append(part)
    return found


def known_parts(session: Session, row: AssignmentRow, now: datetime) -> list[AssignmentPartRow]:
    """Without drafts before the opening."""
    parts = parts_of(session, [row.id]).get(row.id, [])
    if now >= row.open_at:
        return parts
    published = publications.published(session, now)
    return [part for part in parts if part.challenge in published]


def _facts(session: Session, row: AssignmentRow) -> dict[str, Any]:
    plain: tuple[str, ...] = (
        "title",
        "late_percent",
        "grace_days",
        "attempts_day",
        "attempts_total",
        "attempts_pending",
    )
    plain += ("group_size", "category", "out_of")
    times = ("open_at", "due_at", "late_until", "groups_until")
    flags = ("reveal_hidden", "partial_credit", "open_solutions")
    parts = parts_of(session, [row.id]).get(row.id, [])
    return (
        {
            name: getattr(row, name)
            for name in (*plain, "languages", "devices", "counts", "question_points", *flags)
        }
        | {name: at.isoformat() if (at := getattr(row, name)) else None for name in times}
        | {"parts": {part.challenge: part.weight for part in parts}}
    )


def _view(platform: Platform, course: OpenCourse, row: AssignmentRow) -> AssignmentView:
    session = course.session
    window, extended = window_of(session, course.row, row, course.user.id)
    now = clock(session)
    student = not course.may(Action.GRADES_READ)
    parts = known_parts(session, row, now) if student else parts_of(session, [row.id]).get(row.id, [])
    left = (
        [left_of(session, row, course.row, part.challenge, course.user.id, now) for part in parts]
        if student and window.phase(now) in (WindowPhase.OPEN, WindowPhase.LATE)
        else []
    )
    return AssignmentView(
        course=course.row.slug,
        slug=row.slug,
        title=row.title,
        parts=[_part(platform, part, row) for part in parts],
        open_at=window.open_at,
        due_at=window.due_at,
        late_until=window.late_until,
        extended=extended,
        time_zone=course.row.time_zone,
        phase=window.phase(now),
        late_percent=row.late_percent,
        grace_days=row.grace_days,
        attempts=AttemptLimits(day=row.attempts_day, total=row.attempts_total, pending=row.attempts_pending),
        left=left,
        languages=[Language.named(name) for name in row.languages],
        devices=list(row.devices),
        counts=Counts(row.counts),
        question_points=row.question_points,
        reveal_hidden=row.reveal_hidden,
        partial_credit=row.partial_credit,
        open_solutions=row.open_solutions,
        group_size=row.group_size,
        groups_until=row.groups_until,
        group=_group(course, row) if student else [],
        category=row.category,
        out_of=row.out_of,
        published_at=row.published_at,
        revision=row.revision,
    )


def _group(course: OpenCourse, row: AssignmentRow) -> list[str]:
    if row.group_size == 1:
        return []
    members = groups.members_with(course.session, course.row.id, course.user.id)
    known = names.people(course.session, members)
    return [known[member].name for member in members]


def _part(platform: Platform, part: AssignmentPartRow, assignment: AssignmentRow) -> PartView:
    try:
        manifest = platform.catalogue.load(part.challenge).manifest
    except (UnknownChallenge, ChallengeInvalid):
        return PartView(challenge=part.challenge, title=part.challenge, weight=part.weight, points=None)
    grading = manifest.grading
    most = part.weight * (grading.correctness_points + sum(tier.points for tier in grading.tiers))
    most += assignment.question_points
    groups = [
        GroupView(name=group.name, points=part.weight * group.points, needs=group.needs)
        for group in (grading.groups if assignment.partial_credit else ())
    ]
    return PartView(
        challenge=part.challenge, title=manifest.title, weight=part.weight, points=most, groups=groups
    )
