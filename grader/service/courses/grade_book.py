"""Grades, computed on every request. Grace days pay for late days in the order of deadlines."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, and_, or_, select
from sqlalchemy.orm import Session

from grader.challenge.model import Grading
from grader.deadlines import Window
from grader.device_kinds import resolution_of
from grader.errors import ChallengeInvalid, UnknownChallenge
from grader.records import grades, groups, quizzes, taught, versions, voids
from grader.records.engine import clock
from grader.records.grades import Judgement
from grader.records.groups import Shared
from grader.records.models import (
    AskedRow,
    AssignmentPartRow,
    AssignmentRow,
    CourseRow,
    CurveRow,
    MemberRow,
    OverrideRow,
    ReportRow,
    ScoreRow,
    SubmissionRow,
    UserRow,
    VoidRow,
)
from grader.records.taught import Stay
from grader.schemas.course import CourseRole
from grader.schemas.gradebook import AssignmentGrade, PartGrade, PartProgress, StudentGrades
from grader.schemas.policy import policy_of
from grader.schemas.report import CaseGroup, Report
from grader.schemas.submission import SetAside
from grader.service.courses import assignments, feedback, released
from grader.service.courses.grade_lines import limited, lines_of
from grader.service.courses.grading import (
    ACCEPTED,
    OURS,
    Assignment,
    Criterion,
    Grade,
    Part,
    Scores,
    Student,
    Times,
    by_language,
    of_assignment,
    weigh,
)
from grader.service.courses.kept_grades import KeptCourse
from grader.service.courses.points import Scheme, Tier
from grader.service.courses.policies import Curve, Rules, scaled, total
from grader.service.courses.windows import Windows
from grader.service.platform import Platform

_VOID, _REPLACED = SetAside.VOID.value, SetAside.REPLACED.value
_COUNTS = (None, _VOID)
# Above this, reading everyone's answers is faster.
_NAMED = 50


@dataclass
class Book:
    session: Session
    course: CourseRow
    assignments: Sequence[Assignment]
    students: Sequence[Student]
    windows: Windows
    overrides: Mapping[tuple[int, str, int], OverrideRow]
    regraded: frozenset[int] = frozenset()  # judgements of an unpublished regrade
    scores: Mapping[int, Scores] = field(default_factory=dict)  # by student
    voids: Mapping[int, str] = field(default_factory=dict)  # submission id -> reason of a void
    # By assignment and student: the group's other submissions.
    shared: Mapping[tuple[int, int], Sequence[Shared]] = field(default_factory=dict)
    grading: Rules = field(default_factory=Rules)

    @property
    def deleted(self) -> set[int]:
        return {student.id for student in self.students if student.deleted_at is not None}

    @property
    def rules(self) -> Hashable:
        """Everything but students' submissions. A change is rare and recomputes all grades."""
        extensions = [*self.windows.of_users.values(), *self.windows.of_sections.values()]
        return (
            (self.course.grace_days, self.course.time_zone),
            tuple(
                (assignment.row.id, assignment.row.revision, assignment.row.published_at, assignment.parts)
                for assignment in self.assignments
            ),
            frozenset((extension.id, extension.due_at, extension.late_until) for extension in extensions),
            frozenset(
                (override.id, override.points, override.reason) for override in self.overrides.values()
            ),
            frozenset(self.voids),
            self.grading.key(),
        )

    def grades(self, kept: KeptCourse | None = None, explained: bool = False) -> list[StudentGrades]:
        """Reuses current grades in ``kept``."""
        challenges = {part.challenge for assignment in self.assignments for part in assignment.parts}
        stamps = grades.stamps(self.session, challenges) if kept is not None and challenges else {}
        known = kept.students if kept is not None else {}
        asks = self._with_questions()
        answered = quizzes.stamps(self.session, asks) if kept is not None and asks else {}
        with_others: dict[int, list[Hashable]] = {}
        for (_, user), found in self.shared.items():
            with_others.setdefault(user, []).extend(
                (each.submission, stamps.get(each.author), answered.get(each.author)) for each in found
            )
        facts = {
            student.id: (
                student,
                stamps.get(student.id),
                self.scores.get(student.id),
                answered.get(student.id),
                tuple(with_others.get(student.id, ())),
            )
            for student in self.students
        }
        missing = [
            student
            for student in self.students
            if student.id not in known or known[student.id][0] != facts[student.id]
        ]
        for student, grade in self._compute(missing, explained):
            known[student.id] = facts[student.id], grade
        return [known[student.id][1] for student in self.students]

    def _with_questions(self) -> set[str]:
        return {
            part.challenge for assignment in self.assignments for part in assignment.parts if part.questions
        }

    def _compute(
        self, students: Sequence[Student], explained: bool
    ) -> Iterator[tuple[Student, StudentGrades]]:
        chosen = {student.id for student in students}
        chosen |= {
            each.author for (_, user), found in self.shared.items() if user in chosen for each in found
        }
        by_part, again, voided = self._read(chosen)
        asks = self._with_questions()
        asked = quizzes.shares(self.session, asks, chosen if len(chosen) <= _NAMED else None) if asks else {}
        devices = {row.device for rows in by_part.values() for row in rows}
        devices |= {row.device for row in again.values()}
        resolutions = {device: resolution_of(device) for device in devices}
        of_everyone = [self._times(assignment.row) for assignment in self.assignments]
        for student in students:
            grace = self.course.grace_days
            found = []
            for assignment, times in zip(self.assignments, of_everyone, strict=True):
                if self.windows.is_extended(assignment.row, student.id, student.section):
                    times = self._times(assignment.row, student)
                free = min(grace, assignment.row.grace_days)
                of_parts = []
                shared = self.shared.get((assignment.row.id, student.id), ())
                for part in assignment.parts:
                    received = by_part.get((part.challenge, student.id), [])
                    if shared:
                        received = _with_shared(received, shared, part, by_part)
                    rows = of_assignment(received, student, part, times)
                    taken, outside = by_language(assignment.row, rows)
                    grade = weigh(assignment, part, taken, again, voided, times, free, resolutions, asked)
                    grade.outside += outside
                    of_parts.append(grade)
                grace -= max((grade.grace for grade in of_parts), default=0)
                found.append(self._assignment_grade(student, assignment, of_parts, times.window, explained))
            yield student, _student_grades(self.grading, student, found, grace)

    def _times(self, row: AssignmentRow, student: Student | None = None) -> Times:
        own = (student.id, student.section) if student is not None else (0, "")
        window = self.windows.of(row, *own)[0] if student is not None else self.windows.of_everyone(row)
        opens, due, closes = (
            grades.stored(self.session, at) for at in (window.open_at, window.due_at, window.closes_at)
        )
        return Times(window, opens, due, closes)

    def _read(
        self, students: set[int]
    ) -> tuple[dict[tuple[str, int], list[Judgement]], dict[int, Judgement], set[int]]:
        """Submissions by challenge and student; regraded judgements by submission id; ids of voided ones."""
        shown = {part.challenge: part.shown for assignment in self.assignments for part in assignment.parts}
        found: dict[tuple[str, int], list[Judgement]] = {}
        again: dict[int, Judgement] = {}
        voided = set(self.voids)
        replaced: dict[int, int] = {}
        if not shown or not students:
            return found, again, voided
        last: tuple[str, int] | None = None
        rows: list[Judgement] = []
        for row in map(Judgement._make, grades.judgements(self.session, shown, students)):
            original = row.rejudge_of
            if row.set_aside == _VOID:
                voided.add(original or row.id)
            elif row.set_aside == _REPLACED and original is None:
                replaced[row.id] = row.version
            if original is not None:
                if row.verdict != OURS and (row.set_aside in _COUNTS or row.id in self.regraded):
                    if row.version == shown[row.challenge]:
                        again[original] = row
                    elif replaced.get(original) == row.version:
                        again.setdefault(original, row)
                continue
            key = row.challenge, row.user
            if key != last:
                last, rows = key, []
                found[key] = rows
            rows.append(row)
        return found, again, voided

    def _assignment_grade(
        self,
        student: Student,
        assignment: Assignment,
        found: Sequence[Grade],
        window: Window,
        explained: bool,
    ) -> AssignmentGrade:
        voids = self._voids(found) if explained else None
        groups = self._groups(found) if explained and assignment.row.partial_credit else {}
        scores = self.scores.get(student.id, {})
        parts = [
            _part_grade(
                assignment,
                part,
                grade,
                self.overrides.get((assignment.row.id, part.challenge, student.id)),
                self.grading.most_by_staff(part.most),
                scores,
                voids,
                groups,
            )
            for part, grade in zip(assignment.parts, found, strict=True)
        ]
        row, points, most = (
            assignment.row,
            sum(part.points for part in parts),
            sum(part.most for part in parts),
        )
        made = scaled(points, most, row.out_of, self.grading.curves.get(row.id))
        # Not validated: there are tens of thousands.
        return AssignmentGrade.model_construct(
            assignment=assignment.row.slug,
            title=assignment.row.title,
            due_at=window.due_at,
            closes_at=window.closes_at,
            points=points,
            most=most,
            grace_days=max((part.grace_days for part in parts), default=0),
            parts=parts,
            category=row.category,
            worth=made.scaled,
            formula=made.formula,
            counted=made.counted,
            counted_most=made.most,
            left_out="",
        )

    def _groups(self, found: Sequence[Grade]) -> dict[int, list[CaseGroup]]:
        """By the id of the counted judgement."""
        ids = [grade.choice.counted.id for grade in found if grade.choice is not None]
        rows = self.session.execute(
            select(ReportRow.submission_id, ReportRow.body).where(ReportRow.submission_id.in_(ids))
        )
        return {row.submission_id: Report.model_validate_json(row.body).groups for row in rows}

    def _voids(self, found: Sequence[Grade]) -> dict[str, str]:
        """Public id -> reason."""
        ids = [public_id for grade in found for public_id in grade.voided]
        if not ids:
            return {}
        query = select(SubmissionRow.id, SubmissionRow.public_id, VoidRow.reason).outerjoin(
            VoidRow, VoidRow.submission_id == SubmissionRow.id
        )
        rows = self.session.execute(query.where(SubmissionRow.public_id.in_(ids)))
        return {row.public_id: row.reason or self.voids.get(row.id, "") for row in rows}


def _with_shared(
    own: Sequence[Judgement],
    shared: Sequence[Shared],
    part: Part,
    by_part: Mapping[tuple[str, int], Sequence[Judgement]],
) -> list[Judgement]:
    """Own and partners' submissions, oldest first."""
    ids = {each.submission for each in shared}
    found = [
        row
        for author in {each.author for each in shared}
        for row in by_part.get((part.challenge, author), ())
        if row.id in ids
    ]
    return sorted([*own, *found], key=lambda row: (row.at, row.id))


def read_book(
    platform: Platform,
    session: Session,
    course: CourseRow,
    only: Collection[int] | None = None,
    own: bool = False,
) -> Book:
    """``only``: student ids; ``own``: without unreleased feedback."""
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
    slugs = {part.challenge for found in parts.values() for part in found}
    known = {slug: _grading(platform, slug) for slug in slugs}
    shown = {slug: versions.shown(session, slug) for slug in known}
    asked = _asked(session, [row.id for row in rows])

    criteria: dict[tuple[int, str], list[Criterion]] = {}
    for criterion in feedback.rubrics(session, [row.id for row in rows]):
        criteria.setdefault((criterion.assignment_id, criterion.challenge), []).append(
            Criterion(criterion.id, criterion.title, criterion.points)
        )
    held = released.unreleased(session, [row.id for row in rows]) if own else set()
    readable = {
        criterion.id
        for (assignment_id, _), found in criteria.items()
        if assignment_id not in held
        for criterion in found
    }

    question_points = {row.id: row.question_points for row in rows}

    def part_of(row: AssignmentPartRow) -> Part:
        title, grading = known[row.challenge]
        points = scheme(grading or _NO_POINTS, row.weight)
        rubric = tuple(criteria.get((row.assignment_id, row.challenge), ()))
        since = asked.get((row.assignment_id, row.challenge))
        asked_for = 0.0 if grading is None else question_points[row.assignment_id]
        return Part(
            row.challenge, title, points, grading is None, shown[row.challenge], since, rubric, asked_for
        )

    overrides = session.scalars(
        select(OverrideRow).where(OverrideRow.assignment_id.in_([row.id for row in rows]))
    ).all()
    return Book(
        session,
        course,
        [Assignment(row, tuple(part_of(part) for part in parts.get(row.id, []))) for row in rows],
        _students(session, course.id, only),
        Windows.read(session, course, rows),
        {(given.assignment_id, given.challenge, given.user_id): given for given in overrides},
        scores=_scores(session, readable, only),
        voids=voids.in_course(session, course.id),
        shared=groups.shared(session, [row.id for row in rows], only),
        grading=_rules(session, course),
    )


def _rules(session: Session, course: CourseRow) -> Rules:
    rows = session.scalars(select(CurveRow).where(CurveRow.course_id == course.id))
    curves = {row.assignment_id: Curve.of(row) for row in rows}
    return Rules(policy_of(course.policy), curves)


def _asked(session: Session, assignments: Sequence[int]) -> dict[tuple[int, str], Any]:
    """Assignment id and challenge -> since when, as stored."""
    rows = session.scalars(select(AskedRow).where(AskedRow.assignment_id.in_(assignments)))
    return {(row.assignment_id, row.challenge): grades.stored(session, row.asked_at) for row in rows}


def _scores(
    session: Session, criteria: Collection[int], only: Collection[int] | None
) -> dict[int, dict[int, tuple[float, str]]]:
    if not criteria:
        return {}
    score = ScoreRow
    query = select(score.user_id, score.criterion_id, score.points, score.reason).where(
        score.criterion_id.in_(sorted(criteria))
    )
    if only is not None:
        query = query.where(score.user_id.in_(only))
    found: dict[int, dict[int, tuple[float, str]]] = {}
    for user, criterion, points, reason in session.execute(query):
        found.setdefault(user, {})[criterion] = points, reason
    return found


# For broken folders: points are unknown.
_NO_POINTS = Grading(correctness_points=0, tiers=[])


def _grading(platform: Platform, slug: str) -> tuple[str, Grading | None]:
    """None if the folder is broken or gone."""
    try:
        manifest = platform.catalogue.load(slug).manifest
    except (UnknownChallenge, ChallengeInvalid):
        return slug, None
    return manifest.title, manifest.grading


def scheme(grading: Grading, weight: float = 1.0) -> Scheme:
    """``weight``: the assignment's, for this challenge."""
    tiers = tuple(Tier(tier.speedup, tier.points) for tier in grading.tiers)
    return Scheme(grading.correctness_points, tiers, weight)


def _students(session: Session, course: int, only: Collection[int] | None) -> list[Student]:
    member = MemberRow
    query = (
        select(
            UserRow.id,
            UserRow.name,
            member.full_name,
            member.student_number,
            member.section,
            member.group_name,
            UserRow.deleted_at,
        )
        .join(UserRow, UserRow.id == member.user_id)
        .where(member.course_id == course, has_grades(), member.role == CourseRole.STUDENT.value)
        .order_by(UserRow.name_key)
    )
    if only is not None:
        query = query.where(member.user_id.in_(only))
    stays = taught.stays(session, course)
    return [Student(*row, _stored(session, stays.get(row.id, ()))) for row in session.execute(query)]


def _stored(session: Session, stays: Iterable[Stay]) -> tuple[Stay, ...]:
    return tuple(
        (grades.stored(session, since), grades.stored(session, until) if until is not None else None)
        for since, until in stays
    )


def has_grades() -> ColumnElement[bool]:
    """Members, and deleted accounts that were members."""
    left = MemberRow.left_at
    return or_(left.is_(None), and_(UserRow.deleted_at.is_not(None), left >= UserRow.deleted_at))


def _student_grades(
    grading: Rules, student: Student, found: list[AssignmentGrade], grace: int
) -> StudentGrades:
    made = total(grading.policy, found)
    if made.left_out:
        found = [
            given.model_copy(update={"left_out": made.left_out[given.assignment]})
            if given.assignment in made.left_out
            else given
            for given in found
        ]
    curve = grading.curves.get(None)
    return StudentGrades.model_construct(
        id=student.id,
        name=student.name,
        full_name=student.full_name,
        student_number=student.number,
        section=student.section,
        group=student.group,
        points=sum(grade.points for grade in found),
        most=sum(grade.most for grade in found),
        grace_left=grace,
        assignments=found,
        categories=made.categories,
        uncurved=made.points,
        formula=curve.formula if curve is not None else "",
        total=curve(made.points, made.most) if curve is not None else made.points,
        total_most=made.most,
    )


def _part_grade(
    assignment: Assignment,
    part: Part,
    grade: Grade,
    given: OverrideRow | None,
    most_by_staff: float | None,
    scores: Scores,
    voids: Mapping[str, str] | None,
    groups: Mapping[int, Sequence[CaseGroup]],
) -> PartGrade:
    choice = grade.choice
    by_staff = None if given is None else limited(given.points, most_by_staff)
    graded = sum((scores[criterion.id][0] for criterion in part.rubric if criterion.id in scores), 0.0)
    ungraded = sum((criterion.points for criterion in part.rubric if criterion.id not in scores), 0.0)
    computed = graded + (choice.points if choice is not None else 0.0)
    first = choice.first if choice is not None else None
    counted = choice.counted if choice is not None else None
    return PartGrade.model_construct(
        challenge=part.challenge,
        points=by_staff if by_staff is not None else computed,
        most=part.most,
        rubric=graded,
        ungraded=ungraded if given is None else 0.0,
        progress=_progress(grade),
        attempts=grade.attempts,
        voided=len(grade.voided),
        submission=first.public_id if first else None,
        judged_again=counted.public_id if counted is not None and counted.rejudge_of is not None else None,
        received_at=grades.moment(first.at) if first else None,
        late_days=choice.late_days if choice is not None else 0,
        grace_days=grade.grace,
        verdict=counted.verdict if counted else None,
        speedup=counted.speedup if counted is not None and counted.verdict == ACCEPTED else None,
        device=counted.device if counted else None,
        overridden=given is not None,
        reason=given.reason if given is not None else "",
        lines=lines_of(
            assignment,
            part,
            grade,
            given,
            most_by_staff,
            scores,
            voids,
            groups.get(counted.id, ()) if counted is not None else (),
        )
        if voids is not None
        else [],
    )


def _progress(grade: Grade) -> PartProgress:
    if grade.attempts == 0:
        return PartProgress.NOT_STARTED
    return PartProgress.DONE if grade.right else PartProgress.STUCK
