"""Grades of a course: computed from its assignments and what was judged whenever they are asked for, so they are never
out of date. What staff overrode stands in a table, with its reason.

Late days of an assignment are paid with a student's grace days in the order of the deadlines, as long as there are any.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, and_, or_, select
from sqlalchemy.orm import Session

from grader import formats
from grader.challenge.model import Grading
from grader.deadlines import Window
from grader.device_kinds import resolution_of
from grader.errors import BadRequest, ChallengeInvalid, Conflict, NotFound, UnknownChallenge
from grader.languages import Language
from grader.records import grades, taught, versions, voids
from grader.records.engine import clock
from grader.records.grades import Judgement
from grader.records.models import (
    AskedRow,
    AssignmentPartRow,
    AssignmentRow,
    CourseRow,
    MemberRow,
    OverrideRow,
    ScoreRow,
    SubmissionRow,
    UserRow,
    VoidRow,
    utcnow,
)
from grader.records.taught import Stay
from grader.schemas.assignment import Counts
from grader.schemas.course import CourseRole
from grader.schemas.gradebook import (
    AssignmentGrade,
    AtRisk,
    ExportRow,
    Gradebook,
    GradeLine,
    OverrideBody,
    PartGrade,
    PartProgress,
    PartStatistics,
    StudentGrades,
)
from grader.schemas.report import Verdict
from grader.schemas.submission import SetAside
from grader.service import audit
from grader.service.accounts.accounts import User, find_row
from grader.service.courses import assignments, courses, feedback, members, permissions, released
from grader.service.courses import points as pointing
from grader.service.courses.kept_grades import KeptCourse
from grader.service.courses.permissions import Action
from grader.service.courses.points import Scheme, Tier
from grader.service.courses.windows import Windows
from grader.service.platform import Platform

_ACCEPTED, _OURS = Verdict.ACCEPTED.value, Verdict.INTERNAL_ERROR.value
_VOID, _REPLACED = SetAside.VOID.value, SetAside.REPLACED.value
_COUNTS = (None, _VOID)
# Who has less than this share of the points of what is over may need help.
_LOW_SHARE = 0.5
_SOON = timedelta(days=3)
# So many submissions that do not count are named; how many more there are is a number.
_LISTED = 3


@dataclass(frozen=True)
class _Criterion:
    id: int
    title: str
    points: float


# What a student has for each criterion (by its id), and why.
_Scores = Mapping[int, tuple[float, str]]


@dataclass(frozen=True)
class _Part:
    challenge: str
    title: str
    scheme: Scheme
    broken: bool
    shown: int | None
    """the version whose judgements count, where something was judged again"""
    asked_at: Any
    """since when it is asked for, as the database stores it"""
    rubric: tuple[_Criterion, ...] = ()

    @property
    def most(self) -> float:
        return self.scheme.most + sum(it.points for it in self.rubric)


@dataclass(frozen=True)
class _Assignment:
    row: AssignmentRow
    parts: Sequence[_Part]


@dataclass(frozen=True)
class _Student:
    id: int
    name: str
    full_name: str
    number: str
    section: str
    group: str
    deleted_at: datetime | None
    stays: tuple[Stay, ...]
    """when they took part, as the database stores it"""


@dataclass(frozen=True, slots=True)
class _Timed:
    """A window, and its moments as the database stores them."""

    window: Window
    opens: Any
    due: Any
    closes: Any


@dataclass(slots=True)
class _Choice:
    """The judgement that counts for a part. ``first`` is what was submitted, ``counted`` its judgement now."""

    first: Sequence[Any]
    counted: Sequence[Any]
    raw: float
    late_days: int
    points: float


@dataclass(slots=True)
class _Grade:
    """Of one student for one part. ``voided``: public ids. ``outside``: what does not count for its language."""

    attempts: int = 0
    voided: list[str] = field(default_factory=list)
    outside: list[Sequence[Any]] = field(default_factory=list)
    right: bool = False
    choice: _Choice | None = None
    grace: int = 0


@dataclass
class _Book:
    """What a course's grades are computed from. ``regraded``: rows of a regrade that count here as if it had been
    published."""

    session: Session
    course: CourseRow
    assignments: Sequence[_Assignment]
    students: Sequence[_Student]
    windows: Windows
    overrides: Mapping[tuple[int, str, int], OverrideRow]
    regraded: frozenset[int] = frozenset()
    scores: Mapping[int, _Scores] = field(default_factory=dict)
    """by student"""
    voids: Mapping[int, str] = field(default_factory=dict)
    """by the id of what the course's staff voided in it: why"""

    @property
    def deleted(self) -> set[int]:
        """Students whose account is gone: nobody can help them."""
        return {it.id for it in self.students if it.deleted_at is not None}

    @property
    def rules(self) -> Hashable:
        """All that changes everyone's grades. One extension or override more and all are computed anew: rare enough."""
        extensions = [*self.windows.of_users.values(), *self.windows.of_sections.values()]
        return (
            (self.course.grace_days, self.course.time_zone),
            tuple((it.row.id, it.row.revision, it.row.published_at, it.parts) for it in self.assignments),
            frozenset((it.id, it.due_at, it.late_until) for it in extensions),
            frozenset((it.id, it.points, it.reason) for it in self.overrides.values()),
            frozenset(self.voids),
        )

    def grades(self, kept: KeptCourse | None = None, explained: bool = False) -> list[StudentGrades]:
        """Of every student of the book; what ``kept`` has of them and still holds is taken from there."""
        challenges = {part.challenge for it in self.assignments for part in it.parts}
        stamps = grades.stamps(self.session, challenges) if kept is not None and challenges else {}
        known = kept.students if kept is not None else {}
        facts = {it.id: (it, stamps.get(it.id), self.scores.get(it.id)) for it in self.students}
        missing = [it for it in self.students if it.id not in known or known[it.id][0] != facts[it.id]]
        for student, found in self._compute(missing, explained):
            known[student.id] = facts[student.id], found
        return [known[it.id][1] for it in self.students]

    def _compute(
        self, students: Sequence[_Student], explained: bool
    ) -> Iterator[tuple[_Student, StudentGrades]]:
        by_part, again, voided = self._read({it.id for it in students})
        devices = {row[7] for rows in by_part.values() for row in rows} | {row[7] for row in again.values()}
        resolutions = {device: resolution_of(device) for device in devices}
        of_everyone = [self._timed(it.row) for it in self.assignments]
        for student in students:
            grace = self.course.grace_days
            found = []
            for assignment, timed in zip(self.assignments, of_everyone, strict=True):
                if self.windows.is_extended(assignment.row, student.id, student.section):
                    timed = self._timed(assignment.row, student)
                free = min(grace, assignment.row.grace_days)
                of_parts = []
                for part in assignment.parts:
                    rows = _of_assignment(by_part.get((part.challenge, student.id), ()), student, part, timed)
                    taken, outside = _by_language(assignment.row, rows)
                    grade = _weigh(assignment, part, taken, again, voided, timed, free, resolutions)
                    grade.outside += outside
                    of_parts.append(grade)
                grace -= max((it.grace for it in of_parts), default=0)
                found.append(self._assignment_grade(student, assignment, of_parts, timed.window, explained))
            yield student, _student_grades(student, found, grace)

    def _timed(self, row: AssignmentRow, student: _Student | None = None) -> _Timed:
        own = (student.id, student.section) if student is not None else (0, "")
        window = self.windows.of(row, *own)[0] if student is not None else self.windows.of_everyone(row)
        opens, due, closes = (
            grades.stored(self.session, at) for at in (window.open_at, window.due_at, window.closes_at)
        )
        return _Timed(window, opens, due, closes)

    def _read(
        self, students: set[int]
    ) -> tuple[dict[tuple[str, int], list[Sequence[Any]]], dict[int, Sequence[Any]], set[int]]:
        """What was submitted, by part and student; by its id what it was judged again as, if that counts; and the ids
        of what staff voided, here or everywhere."""
        shown = {part.challenge: part.shown for it in self.assignments for part in it.parts}
        found: dict[tuple[str, int], list[Sequence[Any]]] = {}
        again: dict[int, Sequence[Any]] = {}
        voided = set(self.voids)
        replaced: dict[int, int] = {}
        if not shown or not students:
            return found, again, voided
        last: tuple[str, int] | None = None
        rows: list[Sequence[Any]] = []
        for row in grades.judgements(self.session, shown, students):
            # By number: 60,000 rows are read here, and a name costs as much as all the rest.
            if row[10] == _VOID:
                voided.add(row[9] or row[3])
            elif row[10] == _REPLACED and row[9] is None:
                replaced[row[3]] = row[8]
            if row[9] is not None:
                if row[5] != _OURS and (row[10] in _COUNTS or row[3] in self.regraded):
                    if row[8] == shown[row[0]]:
                        again[row[9]] = row
                    elif replaced.get(row[9]) == row[8]:
                        again.setdefault(row[9], row)
                continue
            key = row[0], row[1]
            if key != last:
                last, rows = key, []
                found[key] = rows
            rows.append(row)
        return found, again, voided

    def _assignment_grade(
        self,
        student: _Student,
        assignment: _Assignment,
        found: Sequence[_Grade],
        window: Window,
        explained: bool,
    ) -> AssignmentGrade:
        parts = []
        voids = self._voids(found) if explained else None
        for part, grade in zip(assignment.parts, found, strict=True):
            given = self.overrides.get((assignment.row.id, part.challenge, student.id))
            scores = self.scores.get(student.id, {})
            parts.append(_part_grade(assignment, part, grade, given, scores, voids))
        # Not validated: of a large course there are tens of thousands, all made here.
        return AssignmentGrade.model_construct(
            assignment=assignment.row.slug,
            title=assignment.row.title,
            due_at=window.due_at,
            closes_at=window.closes_at,
            points=sum(it.points for it in parts),
            most=sum(it.most for it in parts),
            grace_days=max((it.grace_days for it in parts), default=0),
            parts=parts,
        )

    def _voids(self, found: Sequence[_Grade]) -> dict[str, str]:
        """Public id of what was voided -> why."""
        ids = [id_ for it in found for id_ in it.voided]
        if not ids:
            return {}
        query = select(SubmissionRow.id, SubmissionRow.public_id, VoidRow.reason).outerjoin(
            VoidRow, VoidRow.submission_id == SubmissionRow.id
        )
        rows = self.session.execute(query.where(SubmissionRow.public_id.in_(ids)))
        return {it.public_id: it.reason or self.voids.get(it.id, "") for it in rows}


def _of_assignment(
    rows: Sequence[Sequence[Any]], student: _Student, part: _Part, timed: _Timed
) -> Sequence[Sequence[Any]]:
    """What of a student's submissions was handed in for that part."""
    stays, asked_at, opens, closes = student.stays, part.asked_at, timed.opens, timed.closes
    return [it for it in rows if taught.counts(it[2], stays, asked_at, opens, closes)]


def _by_language(
    row: AssignmentRow, found: Sequence[Sequence[Any]]
) -> tuple[Sequence[Sequence[Any]], Sequence[Sequence[Any]]]:
    """What is in a language that the assignment takes, and the rest: before it took those languages alone."""
    if not row.languages:
        return found, ()
    others = [it for it in found if it[11] not in row.languages]
    if not others:
        return found, ()
    taken = [it for it in found if it[11] in row.languages]
    return taken, [it for it in others if it[5] != _OURS]


def _weigh(
    assignment: _Assignment,
    part: _Part,
    rows: Sequence[Sequence[Any]],
    again: Mapping[int, Sequence[Any]],
    voided: Set[int],
    timed: _Timed,
    free: int,
    resolutions: Mapping[str, float],
) -> _Grade:
    """Which of a student's submissions for a part counts, and for how much. ``free``: late days that grace days pay."""
    due = timed.due
    grade = _Grade()
    percent, last = assignment.row.late_percent, assignment.row.counts == Counts.LAST
    best_on_time: Sequence[Any] | None = None
    best_reached = -1.0
    late: list[tuple[Sequence[Any], Sequence[Any]]] = []
    latest: tuple[Sequence[Any], Sequence[Any]] | None = None
    for row in rows:
        at = row[2]
        if row[5] == _OURS:
            continue
        counted = again.get(row[3], row) if again else row
        grade.attempts += 1
        if row[3] in voided:
            grade.voided.append(row[4])
            continue
        latest = row, counted
        if counted[5] != _ACCEPTED:
            continue
        grade.right = True
        if at > due:
            late.append((row, counted))
            continue
        speedup = counted[6]
        reached = 0.0 if speedup is None else speedup * (1 + resolutions[counted[7]])
        if reached > best_reached:
            best_reached, best_on_time = reached, row
    if last:
        candidates = [latest] if latest is not None else []
    else:
        on_time = (
            [(best_on_time, again.get(best_on_time[3], best_on_time))] if best_on_time is not None else []
        )
        candidates = on_time + late
        if not candidates and latest is not None:
            candidates = [latest]  # nothing is right: the latest is shown
    for row, counted in candidates:
        raw = part.scheme.earned(counted[5] == _ACCEPTED, counted[6], resolutions[counted[7]])
        days = timed.window.late_days(grades.moment(row[2])) if row[2] > due else 0
        points = raw * pointing.kept_share(days, free, percent)
        # Of as many points the one that is less late: it spends no grace.
        if grade.choice is None or (points, -days) > (grade.choice.points, -grade.choice.late_days):
            grade.choice = _Choice(row, counted, raw, days, points)
    if grade.choice is not None and grade.choice.raw > 0 and percent > 0:
        grade.grace = min(grade.choice.late_days, free)
    return grade


def _book(
    platform: Platform,
    session: Session,
    course: CourseRow,
    only: Collection[int] | None = None,
    own: bool = False,
) -> _Book:
    """``only`` of some students (ids); ``own``: as they read it, without what is not released."""
    rows = session.scalars(
        select(AssignmentRow)
        .where(AssignmentRow.course_id == course.id, AssignmentRow.published_at.is_not(None))
        .order_by(AssignmentRow.due_at, AssignmentRow.id)
    ).all()
    if own:
        now = clock(session)
        parts = {row.id: assignments.known_parts(session, row, now) for row in rows}
    else:
        parts = assignments.parts_of(session, [row.id for row in rows])
    known = {
        slug: _grading(platform, slug) for slug in {it.challenge for found in parts.values() for it in found}
    }
    shown = {slug: versions.shown(session, slug) for slug in known}
    asked = _asked(session, [row.id for row in rows])

    criteria: dict[tuple[int, str], list[_Criterion]] = {}
    for it in feedback.rubrics(session, [row.id for row in rows]):
        criteria.setdefault((it.assignment_id, it.challenge), []).append(
            _Criterion(it.id, it.title, it.points)
        )
    held = released.unreleased(session, [row.id for row in rows]) if own else set()
    open_criteria = {it.id for key, found in criteria.items() if key[0] not in held for it in found}

    def part(row: AssignmentPartRow) -> _Part:
        title, grading = known[row.challenge]
        points = scheme(grading or _NO_POINTS, row.weight)
        rubric = tuple(criteria.get((row.assignment_id, row.challenge), ()))
        since = asked.get((row.assignment_id, row.challenge))
        return _Part(row.challenge, title, points, grading is None, shown[row.challenge], since, rubric)

    given = session.scalars(
        select(OverrideRow).where(OverrideRow.assignment_id.in_([row.id for row in rows]))
    ).all()
    return _Book(
        session,
        course,
        [_Assignment(row, tuple(part(it) for it in parts.get(row.id, []))) for row in rows],
        _students(session, course.id, only),
        Windows.read(session, course, rows),
        {(it.assignment_id, it.challenge, it.user_id): it for it in given},
        scores=_scores(session, open_criteria, only),
        voids=voids.in_course(session, course.id),
    )


def _asked(session: Session, assignments: Sequence[int]) -> dict[tuple[int, str], Any]:
    """Assignment (id) and challenge -> since when the one asks for the other, as the database stores it."""
    row = AskedRow
    found = session.scalars(select(row).where(row.assignment_id.in_(assignments)))
    return {(it.assignment_id, it.challenge): grades.stored(session, it.asked_at) for it in found}


def _scores(
    session: Session, criteria: Collection[int], only: Collection[int] | None
) -> dict[int, dict[int, tuple[float, str]]]:
    if not criteria:
        return {}
    row = ScoreRow
    query = select(row.user_id, row.criterion_id, row.points, row.reason).where(
        row.criterion_id.in_(sorted(criteria))
    )
    if only is not None:
        query = query.where(row.user_id.in_(only))
    found: dict[int, dict[int, tuple[float, str]]] = {}
    for user, criterion, points, reason in session.execute(query):
        found.setdefault(user, {})[criterion] = points, reason
    return found


# What is given for a challenge whose folder is broken or gone, until it is mended: nothing is known of its points.
_NO_POINTS = Grading(correctness_points=0, tiers=[])


def _grading(platform: Platform, slug: str) -> tuple[str, Grading | None]:
    """Title and points of a challenge; none where its folder is broken or gone."""
    try:
        manifest = platform.catalogue.load(slug).manifest
    except (UnknownChallenge, ChallengeInvalid):
        return slug, None
    return manifest.title, manifest.grading


def scheme(grading: Grading, weight: float = 1.0) -> Scheme:
    """What a challenge's manifest gives, by the weight that an assignment gives it."""
    return Scheme(
        grading.correctness_points, tuple(Tier(it.speedup, it.points) for it in grading.tiers), weight
    )


def _students(session: Session, course: int, only: Collection[int] | None) -> list[_Student]:
    row = MemberRow
    query = (
        select(
            UserRow.id,
            UserRow.name,
            row.full_name,
            row.student_number,
            row.section,
            row.group_name,
            UserRow.deleted_at,
        )
        .join(UserRow, UserRow.id == row.user_id)
        .where(row.course_id == course, _has_grades(), row.role == CourseRole.STUDENT.value)
        .order_by(UserRow.name_key)
    )
    if only is not None:
        query = query.where(row.user_id.in_(only))
    stays = taught.stays(session, course)
    return [_Student(*found, _stored(session, stays.get(found.id, ()))) for found in session.execute(query)]


def _stored(session: Session, stays: Iterable[Stay]) -> tuple[Stay, ...]:
    return tuple(
        (grades.stored(session, since), grades.stored(session, until) if until is not None else None)
        for since, until in stays
    )


def _has_grades() -> ColumnElement[bool]:
    """Whether a member is in the gradebook: who is in the course, and who was until their account was deleted."""
    left = MemberRow.left_at
    return or_(left.is_(None), and_(UserRow.deleted_at.is_not(None), left >= UserRow.deleted_at))


def get_gradebook(platform: Platform, user: User, slug: str) -> Gradebook:
    """Everyone's grades, statistics and who may need help. Raises NotFound, NotAllowed."""
    with courses.reading(platform, user, slug, Action.GRADES_READ) as course:
        book = _book(platform, course.session, course.row)
        found = book.grades(platform.grades.of(course.row.id, book.rules))
        return Gradebook.model_construct(
            course=course.row.slug,
            name=course.row.name,
            students=found,
            statistics=_statistics(book.assignments, found),
            at_risk=_at_risk([it for it in found if it.id not in book.deleted], utcnow()),
            broken=sorted({part.challenge for it in book.assignments for part in it.parts if part.broken}),
        )


def of_everyone(
    platform: Platform, session: Session, course: CourseRow
) -> tuple[list[StudentGrades], set[str]]:
    """For what sends grades elsewhere: every student's, and the assignments of which nothing may be sent now: the
    folder of one of their challenges is broken, so that points are missing, or their feedback is not released."""
    book = _book(platform, session, course)
    held = released.unreleased(session, [it.row.id for it in book.assignments])
    unknown = {
        it.row.slug for it in book.assignments if it.row.id in held or any(part.broken for part in it.parts)
    }
    return book.grades(platform.grades.of(course.id, book.rules)), unknown


def get_grades(platform: Platform, user: User, slug: str, name: str | None = None) -> StudentGrades:
    """One student's grades, each point explained: one's own, or as staff somebody's. Raises NotFound, NotAllowed."""
    own = name is None or name.lower() == user.name.lower()
    action = Action.GRADES_READ_OWN if own else Action.GRADES_READ
    with courses.reading(platform, user, slug, action) as course:
        whose = user.id if own else find_row(course.session, name or "").id
        book = _book(platform, course.session, course.row, [whose], own)
        if not book.students:
            raise NotFound(f"'{name}' is no student of {slug}.", "`grader roster show` lists them.")
        return book.grades(explained=True)[0]


@dataclass(frozen=True)
class Difference:
    """Points of a student for a part of an assignment."""

    course: str
    assignment: str
    challenge: str
    student: str
    before: float
    after: float


def differences(
    platform: Platform,
    session: Session,
    user: User,
    challenges: Collection[str],
    students: Collection[int],
    judgements: frozenset[int],
) -> list[Difference]:
    """Which grades of these students, in whatever course lets ``user`` read them, would change if ``judgements`` (rows
    of a regrade) counted."""
    part, row, member = AssignmentPartRow, AssignmentRow, MemberRow
    taking = session.scalars(
        select(CourseRow)
        .join(row, row.course_id == CourseRow.id)
        .join(part, part.assignment_id == row.id)
        .join(member, member.course_id == CourseRow.id)
        .join(UserRow, UserRow.id == member.user_id)
        .where(part.challenge.in_(challenges), row.published_at.is_not(None), _has_grades())
        .where(member.user_id.in_(students), member.role == CourseRole.STUDENT.value)
        .distinct()
        .order_by(CourseRow.id)
    ).all()
    found = []
    for course in taking:
        if not permissions.may(permissions.standings(session, user, course.id), Action.GRADES_READ):
            continue
        book = _book(platform, session, course, students)
        pairs = zip(book.grades(), replace(book, regraded=judgements).grades(), strict=True)
        found += [
            Difference(course.slug, given.assignment, old.challenge, before.name, old.points, new.points)
            for before, after in pairs
            for given, now in zip(before.assignments, after.assignments, strict=True)
            for old, new in zip(given.parts, now.parts, strict=True)
            if old.points != new.points
        ]
    return found


def export(platform: Platform, user: User, slug: str) -> list[ExportRow]:
    """One row for each student and part: what ``get_gradebook`` says, to be read by programs. Raises NotFound,
    NotAllowed."""
    with courses.reading(platform, user, slug, Action.GRADES_READ) as course:
        return rows_of(platform, course.session, course.row)


def rows_of(platform: Platform, session: Session, course: CourseRow) -> list[ExportRow]:
    """The same; who may read it is asked before."""
    book = _book(platform, session, course)
    return [
        ExportRow.model_construct(
            course=course.slug,
            assignment=given.assignment,
            challenge=part.challenge,
            student_id=student.id,
            student=student.name,
            full_name=student.full_name,
            student_number=student.student_number,
            section=student.section,
            group=student.group,
            **{name: getattr(part, name) for name in _EXPORTED},
        )
        for student in book.grades(platform.grades.of(course.id, book.rules))
        for given in student.assignments
        for part in given.parts
    ]


_EXPORTED = [
    name for name in ExportRow.model_fields if name in PartGrade.model_fields and name != "challenge"
]


def override(
    platform: Platform, user: User, course_slug: str, slug: str, body: OverrideBody
) -> StudentGrades:
    """Give points in place of the computed ones, with a reason that the student reads; or take that back.

    Raises NotFound, NotAllowed, BadRequest (also for more points than the part has, without ``body.extra``), Conflict
    (somebody else changed it since it was read).
    """
    reason = audit.tidy_reason(body.reason, needed=True)
    with courses.changing(platform, user, course_slug, Action.GRADES_OVERRIDE) as course:
        session, row = course.session, assignments.find(course, slug)
        if body.challenge not in {
            it.challenge for it in assignments.parts_of(session, [row.id]).get(row.id, [])
        }:
            raise BadRequest(
                f"'{body.challenge}' is no part of {slug}.", "The assignment's page lists its parts."
            )
        whom = members.student_of(course, body.student)
        key = (
            OverrideRow.assignment_id == row.id,
            OverrideRow.challenge == body.challenge,
            OverrideRow.user_id == whom,
        )
        given = session.scalar(select(OverrideRow).where(*key))
        before = {"points": given.points if given is not None else None}
        if "seen" in body.model_fields_set and body.seen != before["points"]:
            raise Conflict(
                f"Somebody else changed {body.student}'s points for '{body.challenge}' meanwhile.",
                "Look at what they gave, and repeat your change.",
            )
        if body.points is None:
            if given is None:
                raise NotFound("There is no override to take back.", "The points are the computed ones.")
            session.delete(given)
        else:
            if not body.extra:
                _check_most(_book(platform, session, course.row, [whom]), row.id, body)
            if given is None:
                given = OverrideRow(assignment_id=row.id, challenge=body.challenge, user_id=whom)
                session.add(given)
            given.points, given.reason = float(body.points), reason
            given.made_by, given.created_at = user.id, utcnow()
        session.flush()
        subject = f"/assignments/{slug}/{body.challenge}/{body.student}"
        course.note(
            Action.GRADES_OVERRIDE, subject, before=before, after={"points": body.points}, reason=reason
        )
    return get_grades(platform, user, course_slug, body.student)


def _check_most(book: _Book, assignment: int, body: OverrideBody) -> None:
    parts = [part for it in book.assignments if it.row.id == assignment for part in it.parts]
    part = next((it for it in parts if it.challenge == body.challenge and not it.broken), None)
    if (
        part is not None
        and body.points is not None
        and body.points > max(part.most, formats.rounded_points(part.most))
    ):
        raise BadRequest(
            f"'{body.challenge}' has {formats.points(part.most)} points at most, not {formats.points(body.points)}.",
            "Give no more than that, or say that they are extra points: --extra, or the box on the page.",
        )


def _student_grades(student: _Student, found: list[AssignmentGrade], grace: int) -> StudentGrades:
    return StudentGrades.model_construct(
        id=student.id,
        name=student.name,
        full_name=student.full_name,
        student_number=student.number,
        section=student.section,
        group=student.group,
        points=sum(it.points for it in found),
        most=sum(it.most for it in found),
        grace_left=grace,
        assignments=found,
    )


def _part_grade(
    assignment: _Assignment,
    part: _Part,
    grade: _Grade,
    given: OverrideRow | None,
    scores: _Scores,
    voids: Mapping[str, str] | None,
) -> PartGrade:
    choice = grade.choice
    graded = sum((scores[it.id][0] for it in part.rubric if it.id in scores), 0.0)
    computed = graded + (choice.points if choice is not None else 0.0)
    first = Judgement(*choice.first) if choice is not None else None
    counted = Judgement(*choice.counted) if choice is not None else None
    return PartGrade.model_construct(
        challenge=part.challenge,
        points=given.points if given is not None else computed,
        most=part.most,
        rubric=graded,
        ungraded=sum((it.points for it in part.rubric if it.id not in scores), 0.0) if given is None else 0.0,
        progress=_progress(grade),
        attempts=grade.attempts,
        voided=len(grade.voided),
        submission=first.public_id if first else None,
        judged_again=counted.public_id if counted is not None and counted.rejudge_of is not None else None,
        received_at=grades.moment(first.at) if first else None,
        late_days=choice.late_days if choice is not None else 0,
        grace_days=grade.grace,
        verdict=counted.verdict if counted else None,
        speedup=counted.speedup if counted is not None and counted.verdict == _ACCEPTED else None,
        device=counted.device if counted else None,
        overridden=given is not None,
        reason=given.reason if given is not None else "",
        lines=_lines(assignment, part, grade, given, scores, voids) if voids is not None else [],
    )


def _progress(grade: _Grade) -> PartProgress:
    if grade.attempts == 0:
        return PartProgress.NOT_STARTED
    return PartProgress.DONE if grade.right else PartProgress.STUCK


def _lines(
    assignment: _Assignment,
    part: _Part,
    grade: _Grade,
    given: OverrideRow | None,
    scores: _Scores,
    voids: Mapping[str, str],
) -> list[GradeLine]:
    choice = grade.choice
    if part.broken:
        lines = [
            pointing.Line(
                "The challenge's folder is broken: points come once the staff have mended it", 0.0, 0.0
            )
        ]
    elif choice is None:
        text = (
            "Nothing that counts was submitted" if grade.outside else "Nothing was submitted while it counted"
        )
        lines = [pointing.Line(text, 0.0, part.scheme.most)]
    else:
        counted = Judgement(*choice.counted)
        resolution = resolution_of(counted.device)
        lines = pointing.explain(part.scheme, counted.verdict == _ACCEPTED, counted.speedup, resolution)
        late = pointing.lateness(choice.raw, choice.late_days, grade.grace, assignment.row.late_percent)
        lines += [late] if late is not None else []
    lines += [
        pointing.Line(f"Submission {it} was voided by staff: {voids.get(it, '')}", 0.0) for it in grade.voided
    ]
    lines += _of_other_languages(assignment.row, grade.outside)
    lines += pointing.by_rubric(
        [pointing.Criterion(it.title, it.points, *scores.get(it.id, (None, ""))) for it in part.rubric]
    )
    if given is not None:
        computed = sum(line.points for line in lines)
        lines.append(pointing.Line(f"Set by staff: {given.reason}", given.points - computed))
    return [GradeLine(text=it.text, points=it.points, most=it.most) for it in lines]


def _of_other_languages(row: AssignmentRow, found: Sequence[Sequence[Any]]) -> Iterator[pointing.Line]:
    taken = ", ".join(Language.named(it).display_name for it in row.languages)
    ids: dict[str, list[str]] = {}
    for it in found:
        ids.setdefault(it[11], []).append(it[4])
    for language, of_it in ids.items():
        newest = ", ".join(of_it[: -_LISTED - 1 : -1])
        more = f" and {len(of_it) - _LISTED} more" if len(of_it) > _LISTED else ""
        name = Language.named(language).display_name
        yield pointing.Line(f"Does not count: {newest}{more}, in {name}; it takes {taken}", 0.0)


def _statistics(given: Sequence[_Assignment], found: Sequence[StudentGrades]) -> list[PartStatistics]:
    statistics = []
    for place, assignment in enumerate(given):
        for number, part in enumerate(assignment.parts):
            of_all = [it.assignments[place].parts[number] for it in found]
            states = Counter(it.progress for it in of_all)
            statistics.append(
                PartStatistics(
                    assignment=assignment.row.slug,
                    challenge=part.challenge,
                    title=part.title,
                    not_started=states[PartProgress.NOT_STARTED],
                    stuck=states[PartProgress.STUCK],
                    done=states[PartProgress.DONE],
                    mean_points=sum(it.points for it in of_all) / len(of_all) if of_all else None,
                    most=part.most,
                    speedups=sorted(it.speedup for it in of_all if it.speedup is not None),
                )
            )
    return statistics


def _at_risk(found: Sequence[StudentGrades], now: datetime) -> list[AtRisk]:
    """Who has few of the points of what is over, or has not begun what is due soon."""
    at_risk = []
    for student in found:
        over = [it for it in student.assignments if it.closes_at < now]
        points, most = sum(it.points for it in over), sum(it.most for it in over)
        most -= sum(part.ungraded for it in over for part in it.parts)
        reasons = (
            [f"has {100 * points / most:.0f} % of the points of what is over"]
            if points < _LOW_SHARE * most
            else []
        )
        reasons += [
            f"has not begun {it.assignment}, which is due soon"
            for it in student.assignments
            if now < it.due_at <= now + _SOON
            and not any(part.attempts or part.overridden for part in it.parts)
        ]
        if reasons:
            at_risk.append(
                AtRisk(
                    id=student.id,
                    name=student.name,
                    full_name=student.full_name,
                    section=student.section,
                    reasons=reasons,
                )
            )
    return at_risk
