"""Which submission counts for a part, and its points. Times are compared as stored (``grades.stored``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from grader.deadlines import Window
from grader.records import grades, taught
from grader.records.grades import Judgement
from grader.records.models import AssignmentRow
from grader.records.quizzes import Share
from grader.records.taught import Stay
from grader.schemas.assignment import Counts
from grader.schemas.report import Verdict
from grader.service.courses import points as pointing
from grader.service.courses.points import Scheme

ACCEPTED, OURS = Verdict.ACCEPTED.value, Verdict.INTERNAL_ERROR.value


@dataclass(frozen=True)
class Criterion:
    id: int
    title: str
    points: float


# Criterion id -> points and reason.
Scores = Mapping[int, tuple[float, str]]


@dataclass(frozen=True)
class Part:
    challenge: str
    title: str
    scheme: Scheme
    broken: bool
    shown: int | None  # whose regraded judgements count
    asked_at: Any  # since when the assignment asks for it, as stored
    rubric: tuple[Criterion, ...] = ()
    questions: float = 0.0  # points for all questions

    @property
    def computed(self) -> float:
        """The most that a submission can earn by itself."""
        return self.scheme.most + self.questions

    @property
    def most(self) -> float:
        return self.computed + sum(criterion.points for criterion in self.rubric)


@dataclass(frozen=True)
class Assignment:
    row: AssignmentRow
    parts: Sequence[Part]


@dataclass(frozen=True)
class Student:
    id: int
    name: str
    full_name: str
    number: str
    section: str
    group: str
    deleted_at: datetime | None
    stays: tuple[Stay, ...]  # periods of membership, as stored


@dataclass(frozen=True, slots=True)
class Times:
    """A window, and its moments as stored."""

    window: Window
    opens: Any
    due: Any
    closes: Any


@dataclass(slots=True)
class Choice:
    first: Judgement  # of the submission itself
    counted: Judgement  # its latest published judgement
    raw: float  # points before lateness
    late_days: int
    points: float
    asked: Share | None = None  # right answers and questions


@dataclass(slots=True)
class Grade:
    attempts: int = 0
    voided: list[str] = field(default_factory=list)  # public ids
    outside: list[Judgement] = field(
        default_factory=list
    )  # in a language that the assignment does not accept
    right: bool = False
    choice: Choice | None = None
    grace: int = 0


def of_assignment(
    rows: Sequence[Judgement], student: Student, part: Part, times: Times
) -> Sequence[Judgement]:
    stays, asked_at, opens, closes = student.stays, part.asked_at, times.opens, times.closes
    return [row for row in rows if taught.counts(row.at, stays, asked_at, opens, closes)]


def by_language(
    assignment: AssignmentRow, rows: Sequence[Judgement]
) -> tuple[Sequence[Judgement], Sequence[Judgement]]:
    """Accepted languages and others: the list may have changed."""
    if not assignment.languages:
        return rows, ()
    others = [row for row in rows if row.language not in assignment.languages]
    if not others:
        return rows, ()
    taken = [row for row in rows if row.language in assignment.languages]
    return taken, [row for row in others if row.verdict != OURS]


def weigh(
    assignment: Assignment,
    part: Part,
    rows: Sequence[Judgement],
    again: Mapping[int, Judgement],
    voided: Set[int],
    times: Times,
    free: int,
    resolutions: Mapping[str, float],
    asked: Mapping[int, Share] | None = None,
) -> Grade:
    """``again``: regraded judgements, ``asked``: right answers and questions, both by submission id; ``free``: paid
    late days."""
    asked = asked or {}
    due = times.due
    grade = Grade()
    percent, last = assignment.row.late_percent, assignment.row.counts == Counts.LAST
    partial = assignment.row.partial_credit
    best_on_time: Judgement | None = None
    best_reached = (False, -1.0)
    others: list[tuple[Judgement, Judgement]] = []
    latest: tuple[Judgement, Judgement] | None = None
    for row in rows:
        if row.verdict == OURS:
            continue
        counted = again.get(row.id, row) if again else row
        grade.attempts += 1
        if row.id in voided:
            grade.voided.append(row.public_id)
            continue
        latest = row, counted
        accepted = counted.verdict == ACCEPTED
        if not accepted and not (partial and counted.credit):
            continue
        grade.right = grade.right or accepted
        if row.at > due or part.questions:  # the fastest may not have the most points
            others.append((row, counted))
            continue
        speedup = counted.speedup
        reached = (
            accepted,
            counted.credit or 0.0
            if not accepted
            else 0.0
            if speedup is None
            else speedup * (1 + resolutions[counted.device]),
        )
        if reached > best_reached:
            best_reached, best_on_time = reached, row
    if last:
        candidates = [latest] if latest is not None else []
    else:
        on_time = (
            [(best_on_time, again.get(best_on_time.id, best_on_time))] if best_on_time is not None else []
        )
        candidates = on_time + others
        if not candidates and latest is not None:
            candidates = [latest]  # nothing is right: show the latest
    for row, counted in candidates:
        raw = part.scheme.earned(
            counted.verdict == ACCEPTED,
            counted.speedup,
            resolutions[counted.device],
            counted.credit if partial else None,
        )
        share = asked.get(row.id) if part.questions else None
        if share is not None and counted.verdict == ACCEPTED:
            raw += pointing.for_questions(part.questions, share)
        days = times.window.late_days(grades.moment(row.at)) if row.at > due else 0
        points = raw * pointing.kept_share(days, free, percent)
        # On equal points the less late one: it spends no grace days.
        if grade.choice is None or (points, -days) > (grade.choice.points, -grade.choice.late_days):
            grade.choice = Choice(row, counted, raw, days, points, share)
    if grade.choice is not None and grade.choice.raw > 0 and percent > 0:
        grade.grace = min(grade.choice.late_days, free)
    return grade
