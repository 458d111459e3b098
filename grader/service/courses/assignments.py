"""What a course assigns: challenges with deadlines, extensions, and limits on what students submit for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import delete, func, or_, select
from sqlalchemy.orm import Session

from grader.challenge.catalogue import near
from grader.challenge.loader import Challenge
from grader.deadlines import Phase, Window, day_begins, parse_moment
from grader.errors import (
    BadRequest,
    ChallengeInvalid,
    Conflict,
    NotAllowed,
    NotFound,
    TooMany,
    UnknownChallenge,
)
from grader.languages import Language
from grader.records import competitions, publications, taught
from grader.records.engine import clock
from grader.records.models import (
    AskedRow,
    AssignmentPartRow,
    AssignmentRow,
    CourseInvitationRow,
    CourseRow,
    ExtensionRow,
    FeedbackRow,
    MemberRow,
    SubmissionRow,
    UserRow,
    utcnow,
)
from grader.schemas.assignment import (
    AssignmentBody,
    AssignmentList,
    AssignmentView,
    AttemptLimits,
    AttemptsLeft,
    Counts,
    ExtensionBody,
    ExtensionList,
    ExtensionView,
    PartBody,
    PartView,
)
from grader.schemas.course import CourseRole
from grader.schemas.feedback import Shown
from grader.schemas.submission import State
from grader.service import audit
from grader.service.accounts.accounts import User, find_row
from grader.service.courses import courses, permissions
from grader.service.courses.courses import OpenCourse
from grader.service.courses.permissions import Action
from grader.service.devices import served_devices
from grader.service.platform import Platform


def put_assignment(
    platform: Platform, user: User, course_slug: str, slug: str, body: AssignmentBody
) -> AssignmentView:
    """Make or change an assignment; a new one is a draft. Raises NotFound, NotAllowed, BadRequest (times, challenges,
    devices), Conflict (somebody else changed it meanwhile)."""
    served = served_devices(platform)
    with courses.changing(platform, user, course_slug, Action.ASSIGNMENT_EDIT) as course:
        session = course.session
        row = _find(course, slug)
        # What is wrong with them names challenges that are no student's to know.
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
        row.revision += 1
        session.flush()
        session.execute(delete(AssignmentPartRow).where(AssignmentPartRow.assignment_id == row.id))
        session.add_all(
            AssignmentPartRow(
                assignment_id=row.id, challenge=it.challenge, weight=float(it.weight), place=place
            )
            for place, it in enumerate(body.parts)
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
    """Raises BadRequest for one that is not there, is named twice, or is new to ``row`` and kept for a competition that
    has not begun: who teaches a course may take part in that."""
    slugs = [part.challenge for part in parts]
    if twins := sorted({it for it in slugs if slugs.count(it) > 1}):
        raise BadRequest(f"The challenge {twins[0]} stands there twice.", "Name each once, with its weight.")
    if not course.user.staff:
        now = clock(course.session)
        kept = competitions.to_be_asked(course.session, now) - publications.published(course.session, now)
        kept -= set(_slugs(course.session, row)) if row is not None else set()
        known = sorted(set(platform.catalogue.slugs()) - kept)
        if unknown := [it for it in slugs if it not in known]:
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
                f"{challenge.slug} takes {taken} alone.", "Allow one of them, or leave languages out."
            )
    return sorted({language.value for language in chosen})


def _devices(served: Sequence[str], present: Sequence[str], chosen: Sequence[str]) -> list[str]:
    """``present`` may stay, also where no worker serves them any more. Raises BadRequest."""
    if odd := sorted({*chosen} - {*served, *present}):
        raise BadRequest(f"There is no device '{odd[0][:32]}' here.", f"Devices: {', '.join(served)}.")
    return sorted(set(chosen))


def _times(course: OpenCourse, body: AssignmentBody) -> tuple[datetime, datetime, datetime | None]:
    zone = ZoneInfo(course.row.time_zone)
    open_at = parse_moment(body.open_at, zone, end=False)
    due_at = parse_moment(body.due_at, zone, end=True)
    if open_at >= due_at:
        raise BadRequest("It would be due before it opens.", "`open_at` comes before `due_at`.")
    return open_at, due_at, _late_until(body.late_until, due_at, zone)


def _late_until(text: str | None, due_at: datetime, zone: ZoneInfo) -> datetime | None:
    if text is None:
        return None
    late_until = parse_moment(text, zone, end=True)
    if late_until < due_at:
        raise BadRequest("Late submissions would end before it is due.", "`late_until` comes after `due_at`.")
    return late_until


def publish_assignment(
    platform: Platform, user: User, course_slug: str, slug: str, published: bool = True
) -> AssignmentView:
    """Show it to students, or hide it again. Doing so twice is no error. Raises NotFound, NotAllowed, Conflict (it is
    hidden once somebody submitted for it)."""
    with courses.changing(platform, user, course_slug, Action.ASSIGNMENT_EDIT) as course:
        row = _found(course, slug)
        if not published and row.published_at is not None and _was_used(course.session, row):
            raise Conflict("Students submitted for it already.", "Move its times instead.")
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
    """Note since when a published assignment asks for its challenges: what was handed in before is not for it, whatever
    its opening is moved to."""
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
    """Remove a draft, with its extensions. Raises NotFound, NotAllowed, Conflict (it is published)."""
    with courses.changing(platform, user, course_slug, Action.ASSIGNMENT_EDIT) as course:
        row = _found(course, slug)
        if row.published_at is not None:
            raise Conflict(f"{slug} is published.", "Only drafts can be removed: hide it first.")
        course.note(
            Action.ASSIGNMENT_EDIT, f"/assignments/{slug}", before=_facts(course.session, row), after={}
        )
        course.session.delete(row)


def _was_used(session: Session, row: AssignmentRow) -> bool:
    """Whether something was handed in for it."""
    query = (
        select(SubmissionRow.id)
        .where(SubmissionRow.challenge.in_(_slugs(session, row)), SubmissionRow.created_at >= row.open_at)
        .where(taught.belongs(AssignmentRow.id == row.id))
    )
    return session.scalar(query.limit(1)) is not None


def _slugs(session: Session, row: AssignmentRow) -> list[str]:
    return [part.challenge for part in parts_of(session, [row.id]).get(row.id, [])]


def list_assignments(platform: Platform, user: User, course_slug: str) -> AssignmentList:
    """By their deadlines; drafts for staff alone. Raises NotFound, NotAllowed."""
    with courses.reading(platform, user, course_slug, Action.ASSIGNMENT_READ) as course:
        query = select(AssignmentRow).where(AssignmentRow.course_id == course.row.id)
        if not course.may(Action.ASSIGNMENT_READ_DRAFT):
            query = query.where(AssignmentRow.published_at.is_not(None))
        rows = course.session.scalars(query.order_by(AssignmentRow.due_at, AssignmentRow.id)).all()
        return AssignmentList(course=course_slug, assignments=[_view(platform, course, row) for row in rows])


def get_assignment(platform: Platform, user: User, course_slug: str, slug: str) -> AssignmentView:
    """Raises NotFound, NotAllowed."""
    with courses.reading(platform, user, course_slug, Action.ASSIGNMENT_READ) as course:
        return _view(platform, course, _found(course, slug))


def read_by(platform: Platform, user: User, action: Action = Action.SUBMISSIONS_READ) -> list[str]:
    """The courses in which ``user`` may do that, read submissions if nothing else is said, each followed by its
    assignments as ``COURSE/ASSIGNMENT``; the newest course first."""
    with platform.sessions() as session:
        found = session.execute(
            select(CourseRow.id, CourseRow.slug, AssignmentRow.slug)
            .outerjoin(AssignmentRow, AssignmentRow.course_id == CourseRow.id)
            .order_by(CourseRow.id.desc(), AssignmentRow.due_at, AssignmentRow.id)
        ).all()
        standings = {it: permissions.standings(session, user, it) for it in {row[0] for row in found}}
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
    """The assignment of that slug that the caller may see. Raises NotFound."""
    return _found(course, slug)


def _found(course: OpenCourse, slug: str) -> AssignmentRow:
    row = _find(course, slug)
    if row is None or (row.published_at is None and not course.may(Action.ASSIGNMENT_READ_DRAFT)):
        raise NotFound(
            f"There is no assignment '{slug[:64]}' in {course.row.slug}.",
            "`grader assignment list` lists them.",
        )
    return row


def _find(course: OpenCourse, slug: str) -> AssignmentRow | None:
    return course.session.scalar(
        select(AssignmentRow).where(AssignmentRow.course_id == course.row.id, AssignmentRow.slug == slug)
    )


def challenges_of(course: OpenCourse) -> set[str]:
    """What the course assigns: a draft assigns nothing."""
    query = (
        select(AssignmentPartRow.challenge)
        .join(AssignmentRow, AssignmentRow.id == AssignmentPartRow.assignment_id)
        .where(AssignmentRow.course_id == course.row.id, AssignmentRow.published_at.is_not(None))
    )
    return set(course.session.scalars(query))


def assigned_by(session: Session, row: AssignmentRow) -> list[str]:
    """The challenges that an assignment has students hand something in for: none, while it is a draft."""
    return _slugs(session, row) if row.published_at is not None else []


def parts_of(session: Session, assignments: Sequence[int]) -> dict[int, list[AssignmentPartRow]]:
    """The parts of each assignment, in their order."""
    row = AssignmentPartRow
    query = select(row).where(row.assignment_id.in_(assignments)).order_by(row.assignment_id, row.place)
    found: dict[int, list[AssignmentPartRow]] = {}
    for part in session.scalars(query):
        found.setdefault(part.assignment_id, []).append(part)
    return found


def known_parts(session: Session, row: AssignmentRow, now: datetime) -> list[AssignmentPartRow]:
    """Those that students know of: before it opens, drafts are not among them."""
    parts = parts_of(session, [row.id]).get(row.id, [])
    if now >= row.open_at:
        return parts
    published = publications.published(session, now)
    return [it for it in parts if it.challenge in published]


def _facts(session: Session, row: AssignmentRow) -> dict[str, Any]:
    """What the audit log keeps of it."""
    plain = ("title", "late_percent", "grace_days", "attempts_day", "attempts_total", "attempts_pending")
    times = ("open_at", "due_at", "late_until")
    parts = parts_of(session, [row.id]).get(row.id, [])
    return (
        {name: getattr(row, name) for name in (*plain, "languages", "devices", "counts", "reveal_hidden")}
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
        [_left(session, row, course.row, part.challenge, course.user.id, now) for part in parts]
        if student and window.phase(now) in (Phase.OPEN, Phase.LATE)
        else []
    )
    return AssignmentView(
        course=course.row.slug,
        slug=row.slug,
        title=row.title,
        parts=[_part(platform, part) for part in parts],
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
        reveal_hidden=row.reveal_hidden,
        published_at=row.published_at,
        revision=row.revision,
    )


def _part(platform: Platform, part: AssignmentPartRow) -> PartView:
    try:
        manifest = platform.catalogue.load(part.challenge).manifest
    except (UnknownChallenge, ChallengeInvalid):
        return PartView(challenge=part.challenge, title=part.challenge, weight=part.weight, points=None)
    grading = manifest.grading
    most = part.weight * (grading.correctness_points + sum(tier.points for tier in grading.tiers))
    return PartView(challenge=part.challenge, title=manifest.title, weight=part.weight, points=most)


# ----------------------------------------------------------------------------------------------- extensions


def window_of(session: Session, course: CourseRow, row: AssignmentRow, user: int) -> tuple[Window, bool]:
    """The times that hold for a user, and whether they are extended."""
    windows = Windows.read(session, course, [row])
    return windows.of(row, user, section_of(session, course.id, user))


def section_of(session: Session, course: int, user: int) -> str:
    member = MemberRow
    return (
        session.scalar(select(member.section).where(member.course_id == course, member.user_id == user)) or ""
    )


@dataclass(frozen=True)
class Windows:
    """The times of several assignments of a course, for everyone in it."""

    zone: ZoneInfo
    of_users: Mapping[tuple[int, int], ExtensionRow]
    of_sections: Mapping[tuple[int, str], ExtensionRow]

    @classmethod
    def read(cls, session: Session, course: CourseRow, rows: Sequence[AssignmentRow]) -> Windows:
        given = ExtensionRow
        found = session.scalars(select(given).where(given.assignment_id.in_([row.id for row in rows]))).all()
        return cls(
            ZoneInfo(course.time_zone),
            {(it.assignment_id, it.user_id): it for it in found if it.user_id is not None},
            {(it.assignment_id, it.section): it for it in found if it.section is not None},
        )

    def of(self, row: AssignmentRow, user: int, section: str) -> tuple[Window, bool]:
        """The latest of everyone's times, their section's and their own: nobody loses time by an extension, also
        where everyone's deadline was moved since."""
        everyone = self.of_everyone(row)
        found = self.of_users.get((row.id, user)), self.of_sections.get((row.id, section))
        given = [it for it in found if it is not None]
        due_at = max([everyone.due_at, *(it.due_at for it in given)])
        closes_at = max([everyone.closes_at, *(it.late_until or it.due_at for it in given)])
        if (due_at, closes_at) == (everyone.due_at, everyone.closes_at):
            return everyone, False
        return Window(row.open_at, due_at, closes_at if closes_at > due_at else None, self.zone), True

    def of_everyone(self, row: AssignmentRow) -> Window:
        """The assignment's own times."""
        return Window(row.open_at, row.due_at, row.late_until, self.zone)

    def is_extended(self, row: AssignmentRow, user: int, section: str) -> bool:
        return (row.id, user) in self.of_users or (row.id, section) in self.of_sections

    def last_end(self, row: AssignmentRow) -> datetime:
        """When nobody can submit for points any more."""
        given = [it for key, it in [*self.of_users.items(), *self.of_sections.items()] if key[0] == row.id]
        return max([row.late_until or row.due_at, *(it.late_until or it.due_at for it in given)])


def extend(platform: Platform, user: User, course_slug: str, slug: str, body: ExtensionBody) -> ExtensionList:
    """Later times for a student or a section, in place of any that they had; also after the deadline. Without
    ``late_until`` lateness is allowed for as long after the new deadline as after the old one.

    Raises NotFound, NotAllowed, BadRequest.
    """
    if (body.student is None) == (body.section is None):
        raise BadRequest("An extension is for one student or one section.", "Name one of them.")
    reason = audit.tidy_reason(body.reason)
    with courses.changing(platform, user, course_slug, Action.EXTENSION_GRANT) as course:
        session, row = course.session, _found(course, slug)
        zone = ZoneInfo(course.row.time_zone)
        due_at = parse_moment(body.due_at, zone, end=True)
        if due_at <= row.open_at:
            raise BadRequest("It would be due before it opens.", "Extend it to a later time.")
        late_until = _late_until(body.late_until, due_at, zone)
        if body.late_until is None and row.late_until is not None:
            late_until = due_at + (row.late_until - row.due_at)
        if due_at <= row.due_at and (late_until or due_at) <= (row.late_until or row.due_at):
            raise BadRequest(
                "That is no later than everyone's deadline.",
                "Extend to a later time, or change the assignment's.",
            )
        whom = student_of(course, body.student) if body.student is not None else None
        if body.section is not None and body.section not in (known := sections_of(course)):
            raise BadRequest(f"Nobody is in a section '{body.section[:64]}'.", near(body.section, known))
        given = _extension(session, row, whom, body.section)
        before = _extension_facts(given) if given is not None else None
        if given is None:
            given = ExtensionRow(assignment_id=row.id, user_id=whom, section=body.section)
            session.add(given)
        given.due_at, given.late_until, given.reason = due_at, late_until, reason
        given.made_by, given.created_at = user.id, utcnow()
        session.flush()
        subject = f"/assignments/{slug}/extensions/{body.student or f'section {body.section}'}"
        course.note(
            Action.EXTENSION_GRANT, subject, before=before or {}, after=_extension_facts(given), reason=reason
        )
        return _extensions(course, row)


def sections_of(course: OpenCourse) -> list[str]:
    """In which sections members are, and who is invited will be."""
    found: set[str] = set()
    for row in (MemberRow, CourseInvitationRow):
        found |= set(course.session.scalars(select(row.section).where(row.course_id == course.row.id)))
    return sorted(found - {""})


def student_of(course: OpenCourse, name: str) -> int:
    """Raises NotFound."""
    person = find_row(course.session, name)
    row = MemberRow
    of_both = (row.course_id == course.row.id, row.user_id == person.id, row.left_at.is_(None))
    if course.session.scalar(select(row.id).where(*of_both, row.role == CourseRole.STUDENT.value)) is None:
        raise NotFound(
            f"'{person.name}' is no student of {course.row.slug}.", "`grader roster show` lists them."
        )
    return person.id


def _extension(
    session: Session, row: AssignmentRow, user: int | None, section: str | None
) -> ExtensionRow | None:
    given = ExtensionRow
    whose = given.user_id == user if user is not None else given.section == section
    return session.scalar(select(given).where(given.assignment_id == row.id, whose))


def _extension_facts(row: ExtensionRow) -> dict[str, Any]:
    late = row.late_until.isoformat() if row.late_until else None
    return {"due_at": row.due_at.isoformat(), "late_until": late}


def list_extensions(platform: Platform, user: User, course_slug: str, slug: str) -> ExtensionList:
    """The newest first. Raises NotFound, NotAllowed."""
    with courses.reading(platform, user, course_slug, Action.EXTENSION_GRANT) as course:
        return _extensions(course, _found(course, slug))


def take_back_extension(
    platform: Platform, user: User, course_slug: str, slug: str, number: int
) -> ExtensionList:
    """The assignment's own times hold again. Raises NotFound, NotAllowed."""
    with courses.changing(platform, user, course_slug, Action.EXTENSION_GRANT) as course:
        row = _found(course, slug)
        given = course.session.get(ExtensionRow, number) if number < 2**31 else None
        if given is None or given.assignment_id != row.id:
            raise NotFound(
                f"There is no extension {number} of {slug}.", "`grader assignment extensions` lists them."
            )
        subject = f"/assignments/{slug}/extensions/{number}"
        course.note(Action.EXTENSION_GRANT, subject, before=_extension_facts(given), after={})
        course.session.delete(given)
        course.session.flush()
        return _extensions(course, row)


def _extensions(course: OpenCourse, row: AssignmentRow) -> ExtensionList:
    given = ExtensionRow
    rows = course.session.scalars(
        select(given).where(given.assignment_id == row.id).order_by(given.id.desc())
    ).all()
    people = {it for found in rows for it in (found.user_id, found.made_by) if it is not None}
    names = {
        it.id: it.name
        for it in course.session.execute(select(UserRow.id, UserRow.name).where(UserRow.id.in_(people)))
    }
    return ExtensionList(
        assignment=row.slug,
        extensions=[
            ExtensionView(
                id=it.id,
                student=names.get(it.user_id) if it.user_id is not None else None,
                section=it.section,
                due_at=it.due_at,
                late_until=it.late_until,
                reason=it.reason,
                made_by=names.get(it.made_by) if it.made_by is not None else None,
                created_at=it.created_at,
            )
            for it in rows
        ],
    )


# ---------------------------------------------------------------------- what students submit for an assignment


@dataclass(frozen=True)
class Running:
    """An assignment for which what a student submits at ``at`` for a challenge counts."""

    row: AssignmentRow
    course: CourseRow
    window: Window
    at: datetime

    @property
    def name(self) -> str:
        return f"{self.course.slug}/{self.row.slug}"


def running(session: Session, user: int, challenge: str, at: datetime) -> list[Running]:
    """Published assignments, open for that student at that time, that have the challenge."""
    member, part, row = MemberRow, AssignmentPartRow, AssignmentRow
    found = session.execute(
        select(row, CourseRow, member.section)
        .join(part, part.assignment_id == row.id)
        .join(CourseRow, CourseRow.id == row.course_id)
        .join(member, member.course_id == row.course_id)
        .where(member.user_id == user, member.role == CourseRole.STUDENT.value, member.left_at.is_(None))
        .where(part.challenge == challenge, row.published_at.is_not(None), taught.accepted())
        .where(CourseRow.archived_at.is_(None))
        .order_by(row.due_at)
    ).all()
    all_of_them = [
        Running(
            assignment,
            course,
            Windows.read(session, course, [assignment]).of(assignment, user, section)[0],
            at,
        )
        for assignment, course, section in found
    ]
    return [it for it in all_of_them if it.window.phase(at) in (Phase.OPEN, Phase.LATE)]


def admit(session: Session, user: User, row: SubmissionRow) -> int | None:
    """Whether an assignment lets ``user`` submit ``row`` now; how many more it takes for the challenge, none where
    none limits it. Call it in the transaction that stores the submission, in which those of one user take turns.

    Raises TooMany, NotAllowed (a language or device that the assignment does not take).
    """
    remaining: list[int] = []
    for it in running(session, user.id, row.challenge, row.created_at):
        _check_means(it, row)
        left = _left(session, it.row, it.course, row.challenge, user.id, row.created_at)
        for kind, most in (("pending", left.pending), ("day", left.day), ("total", left.total)):
            if most is not None and most < 1:
                raise TooMany(*_refusal(it, kind))
        remaining += [most - 1 for most in (left.day, left.total) if most is not None]
    return min(remaining, default=None)


def _check_means(it: Running, row: SubmissionRow) -> None:
    if it.row.languages and row.language.value not in it.row.languages:
        raise NotAllowed(
            f"The assignment {it.name} does not take {row.language.display_name}.",
            f"It takes: {', '.join(it.row.languages)}.",
        )
    if it.row.devices and row.device not in it.row.devices:
        raise NotAllowed(
            f"The assignment {it.name} does not take results of the device '{row.device}'.",
            f"It takes: {', '.join(it.row.devices)}.",
        )


def _refusal(it: Running, kind: str) -> tuple[str, str]:
    if kind == "pending":
        return (
            f"{it.row.attempts_pending} of your submissions for {it.name} wait or run; more are not taken at once.",
            "Wait for one to end, or cancel one.",
        )
    if kind == "day":
        midnight = it.course.time_zone
        return (
            f"You have used today's {it.row.attempts_day} attempts for this challenge of {it.name}.",
            f"The next day begins at midnight in {midnight}. Runs are not counted.",
        )
    return (
        f"You have used all {it.row.attempts_total} attempts for this challenge of {it.name}.",
        "Runs are not counted. Your teacher can change the limit.",
    )


def attempts_left(
    session: Session, user: int, challenge: str, at: datetime
) -> list[tuple[Running, AttemptsLeft]]:
    """What is left for a student of each running assignment that has the challenge."""
    return [
        (it, _left(session, it.row, it.course, challenge, user, at))
        for it in running(session, user, challenge, at)
    ]


def _left(
    session: Session, row: AssignmentRow, course: CourseRow, challenge: str, user: int, at: datetime
) -> AttemptsLeft:
    """Attempts are what was handed in for it, without failures of ours, what was cancelled unjudged, and
    what is in a language that it does not take."""
    done = SubmissionRow
    own = [done.user_id == user, done.challenge == challenge, done.created_at >= row.open_at]
    own += [done.rejudge_of.is_(None), done.state != State.FAILED, taught.belongs(AssignmentRow.id == row.id)]
    own += [done.language.in_(row.languages)] if row.languages else []
    counted = or_(done.state != State.CANCELLED, done.claimed_at.is_not(None))

    def count(*more: Any) -> int:
        return session.scalar(select(func.count()).select_from(done).where(*own, counted, *more)) or 0

    def left(most: int | None, used: Callable[[], int]) -> int | None:
        return None if most is None else max(0, most - used())

    midnight = day_begins(at, ZoneInfo(course.time_zone))
    return AttemptsLeft(
        challenge=challenge,
        day=left(row.attempts_day, lambda: count(done.created_at >= midnight)),
        total=left(row.attempts_total, count),
        pending=left(row.attempts_pending, lambda: count(done.finished_at.is_(None))),
    )


def feedback_held(session: Session, row: SubmissionRow) -> bool:
    """Whether an assignment that the submission counts for keeps its feedback back until it is released: whoever left
    the course, and whether it is archived or not."""
    query = select(AssignmentRow.id).where(SubmissionRow.id == row.id, *taught.handed_in())
    within = session.scalars(query.distinct()).all()
    return bool(within) and bool(unreleased(session, within))


def unreleased(session: Session, assignments: Sequence[int]) -> set[int]:
    """Those of the assignments (ids) whose feedback students do not read yet."""
    settings = FeedbackRow
    query = select(settings.assignment_id).where(
        settings.assignment_id.in_(assignments),
        settings.shown == Shown.ON_RELEASE,
        settings.released_at.is_(None),
    )
    return set(session.scalars(query))


def hidden_revealed(session: Session, user: int, challenge: str, at: datetime) -> bool:
    """Whether a student may read the hidden cases of a challenge: an assignment of theirs says so once it has ended for
    everyone, and no other assignment and no competition has the challenge that has not."""
    part, row = AssignmentPartRow, AssignmentRow
    found = session.execute(
        select(row, CourseRow)
        .join(part, part.assignment_id == row.id)
        .join(CourseRow, CourseRow.id == row.course_id)
        .where(part.challenge == challenge, row.published_at.is_not(None))
    ).all()
    if any(Windows.read(session, course, [it]).last_end(it) >= at for it, course in found):
        return False
    if competitions.to_end(session, challenge, at):
        return False
    mine = set(
        session.scalars(
            select(MemberRow.course_id).where(MemberRow.user_id == user, MemberRow.left_at.is_(None))
        )
    )
    return any(it.reveal_hidden and it.course_id in mine for it, _ in found)
