from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from sqlalchemy import select

from grader.errors import BadRequest, NotFound
from grader.records.models import CurveRow, utcnow
from grader.schemas.gradebook import StudentGrades
from grader.schemas.policy import CurveBody, CurvedStudent, CurvePreview
from grader.service.accounts.accounts import User
from grader.service.courses import assignments, courses
from grader.service.courses.courses import OpenCourse
from grader.service.courses.grade_book import read_book
from grader.service.courses.permissions import Action
from grader.service.courses.policies import Curve, Rules, formula_of
from grader.service.platform import Platform

# Equal but for rounding.
_NEAR = 1e-9


def curve(platform: Platform, user: User, slug: str, body: CurveBody) -> CurvePreview:
    """Previews or applies a formula; without one, shows the curve or takes it back. Raises NotFound, NotAllowed,
    BadRequest."""
    formula = body.formula.strip() if body.formula is not None else None
    if formula is not None:
        formula_of(formula)
    opening = courses.changing if body.apply else courses.reading
    with opening(platform, user, slug, Action.GRADES_CURVE) as course:
        number = assignments.find(course, body.assignment).id if body.assignment is not None else None
        row = _row(course, number)
        if body.apply and formula is None and row is None:
            raise NotFound(f"{body.assignment or slug} has no curve to take back.")
        shown = formula if formula is not None or body.apply else (row.formula if row is not None else None)
        found = _preview(platform, course, body.assignment, number, shown)
        if not body.apply:
            return found.model_copy(update={"applied": row is not None and row.formula == shown})
        before = _facts(row)
        if formula is None:
            course.session.delete(row)
            row = None
        else:
            if row is None:
                row = CurveRow(course_id=course.row.id, assignment_id=number)
                course.session.add(row)
            row.formula, row.mean, row.highest = formula, found.mean, found.highest
            row.made_by, row.created_at = user.id, utcnow()
        course.session.flush()
        subject = f"/assignments/{body.assignment}/curve" if body.assignment is not None else "/curve"
        course.note(Action.GRADES_CURVE, subject, before=before, after=_facts(row))
        return found.model_copy(update={"applied": row is not None})


def _row(course: OpenCourse, assignment: int | None) -> CurveRow | None:
    whose = CurveRow.assignment_id.is_(None) if assignment is None else CurveRow.assignment_id == assignment
    return course.session.scalar(select(CurveRow).where(CurveRow.course_id == course.row.id, whose))


def _facts(row: CurveRow | None) -> dict[str, object]:
    return {} if row is None else {"formula": row.formula, "mean": row.mean, "highest": row.highest}


def _preview(
    platform: Platform, course: OpenCourse, slug: str | None, number: int | None, formula: str | None
) -> CurvePreview:
    """Raises NotFound (a draft), BadRequest (no value)."""
    book = read_book(platform, course.session, course.row)
    without = {key: given for key, given in book.grading.curves.items() if key != number}
    book = replace(book, grading=Rules(book.grading.policy, without))
    gone = book.deleted
    found = [student for student in book.grades() if student.id not in gone]
    title = course.row.name
    if slug is not None:
        titles = {each.row.slug: each.row.title for each in book.assignments}
        if slug not in titles:
            raise NotFound(f"{slug} is not published, so nobody has points for it.", "Publish it first.")
        title = titles[slug]
    before = [_points(student, slug) for student in found]
    most = max((of for _, of in before), default=0.0)
    numbers = [points for points, _ in before]
    mean, highest = (sum(numbers) / len(numbers) if numbers else 0.0), max(numbers, default=0.0)
    given = Curve(formula, mean, highest) if formula is not None else None
    if given is not None:
        _check_values(given, [*before, (0.0, most), (most, most)])
    students = sorted(
        (
            CurvedStudent(
                id=student.id,
                name=student.name,
                full_name=student.full_name,
                before=points,
                after=given(points, of) if given is not None else points,
            )
            for student, (points, of) in zip(found, before, strict=True)
        ),
        key=lambda each: (each.before, each.name),
    )
    return CurvePreview(
        course=course.row.slug,
        assignment=slug,
        title=title,
        formula=formula,
        applied=False,
        most=most,
        mean=mean,
        highest=highest,
        students=students,
        lowered=sum(each.after < each.before - _NEAR for each in students),
        swapped=sum(
            two.before > one.before + _NEAR and two.after < one.after - _NEAR
            for one, two in pairwise(students)
        ),
    )


def _points(student: StudentGrades, slug: str | None) -> tuple[float, float]:
    """Points before the curve, and their maximum."""
    if slug is None:
        return student.uncurved or 0.0, student.total_most or 0.0
    given = next(each for each in student.assignments if each.assignment == slug)
    return given.worth or 0.0, given.counted_most or 0.0


def _check_values(curve: Curve, numbers: list[tuple[float, float]]) -> None:
    parsed = formula_of(curve.formula)
    for points, most in numbers:
        values = {"p": points, "most": most, "mean": curve.mean, "highest": curve.highest}
        try:
            made = parsed(values)
        except ValueError as error:
            raise BadRequest(
                f"The formula has no value for {points:g} of {most:g} points: {error}.", "Change the formula."
            ) from error
        if not abs(made) <= 1_000_000:
            raise BadRequest(
                f"The formula makes {made:g} of {points:g} points.", "Points are at most 1,000,000."
            )
