from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from flask import Blueprint, Response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from grader import formats, spreadsheet
from grader.errors import BadRequest, Conflict, GraderError, NotFound
from grader.schemas.feedback import ScoreView
from grader.schemas.gradebook import POINT_COLUMNS, ExportRow, OverrideBody, PartStatistics, StudentGrades
from grader.schemas.policy import CurveBody
from grader.service.courses import assignments, courses, curves, feedback, gradebook, overrides
from grader.service.courses.permissions import Action
from grader.service.lti import linked_courses
from grader.web import forms
from grader.web.access import PARTY, open_to
from grader.web.auth.identity import current_user
from grader.web.current import platform
from grader.web.pages import titles
from grader.web.pages.keys import Page
from grader.web.pages.plots import Axis, linear, logarithmic

pages = Blueprint("gradebook", __name__)


@pages.get("/courses/<course>/gradebook")
@open_to(PARTY, action=Action.GRADES_READ)
def show(course: str) -> str:
    """Everyone's points, statistics of each part, and students who may need help. For staff."""
    found = gradebook.get_gradebook(platform(), current_user(), course)
    plots = [(statistic, speedups(statistic)) for statistic in found.statistics if statistic.speedups]
    # Names need no quoting.
    grades_at = url_for("gradebook.own", course=course) + "/"
    assigned = found.students[0].assignments if found.students else []
    with courses.reading(platform(), current_user(), course, Action.GRADES_READ) as opened:
        curves_may = opened.may(Action.GRADES_CURVE)
    return render_template(
        "course/gradebook.html",
        found=found,
        plots=plots,
        titles={column.assignment: column.title for column in assigned},
        columns=[f">{column.title}" for column in assigned],
        grades_at=grades_at,
        curves_may=curves_may,
        # A large class's cells need no further look.
        plain=all(
            each.counted == each.points and not each.left_out
            for student in found.students
            for each in student.assignments
        ),
        uncounted=sorted({each.title for each in assigned if each.left_out.startswith("in no")}),
        passed_back=linked_courses.counted(platform(), current_user(), course),
    )


@pages.get("/courses/<course>/gradebook/grades.csv")
@open_to(PARTY, action=Action.GRADES_READ)
def export(course: str) -> Response:
    """One row per student and part, safe in spreadsheets; ?bom=1 adds a byte order mark for Excel. For staff."""
    rows = gradebook.export(platform(), current_user(), course)
    lines = spreadsheet.table(ExportRow, rows, POINT_COLUMNS, forms.asks("bom"))
    response = Response("".join(lines), mimetype="text/csv")
    response.headers["Content-Disposition"] = f'attachment; filename="{course}-grades.csv"'
    return response


@pages.get("/courses/<course>/curve")
@open_to(PARTY, action=Action.GRADES_CURVE)
def curve(course: str) -> Page:
    """The curve of ?assignment= (else of the whole course), or what ?formula= would do to everyone's points."""
    assignment, formula = (request.args.get(name, "").strip() for name in ("assignment", "formula"))
    return _curve(course, assignment or None, formula or None)


@pages.post("/courses/<course>/curve")
@open_to(PARTY, action=Action.GRADES_CURVE)
def set_curve(course: str) -> BaseResponse | Page:
    """Apply a curve, or take it back."""
    assignment, formula = (request.form.get(name, "").strip() for name in ("assignment", "formula"))
    wanted = formula if request.form.get("action") == "apply" else None
    try:
        if wanted == "":
            raise BadRequest("The formula is missing.", "Write one, such as min(most, p * 1.1 + 5).")
        order = CurveBody.model_construct(assignment=assignment or None, formula=wanted, apply=True)
        curves.curve(platform(), current_user(), course, order)
    except (BadRequest, Conflict) as error:
        return _curve(course, assignment or None, formula or None, error)
    return redirect(url_for("gradebook.curve", course=course, assignment=assignment or None), 303)


def _curve(
    course: str, assignment: str | None, formula: str | None, error: GraderError | None = None
) -> Page:
    user = current_user()
    present = CurveBody.model_construct(assignment=assignment, formula=None, apply=False)
    found = curves.curve(platform(), user, course, present)
    try:
        if formula is not None and error is None:
            wanted = present.model_copy(update={"formula": formula})
            found = curves.curve(platform(), user, course, wanted)
    except BadRequest as refusal:
        error = refusal
    before = max([found.most, *(each.before for each in found.students)]) or 1.0
    after = max([found.most, *(each.after for each in found.students)]) or 1.0
    given = assignments.list_assignments(platform(), user, course).assignments
    page = render_template(
        "course/curve.html",
        course=course,
        found=found,
        typed=formula or found.formula or "",
        titles={each.slug: each.title for each in given if each.published_at is not None},
        x=linear(before, formats.points),
        y=linear(after, formats.points),
        same=min(before, after),
        error=error,
    )
    return page, error.status if error else 200


@pages.get("/courses/<course>/grades")
@open_to(PARTY, action=Action.GRADES_READ_OWN)
def own(course: str) -> str:
    """Your points, each explained."""
    return page_of(course, current_user().name)[0]


@pages.get("/courses/<course>/grades/<name>")
@open_to(PARTY, action=Action.GRADES_READ)
def of_student(course: str, name: str) -> str:
    """A student's points, each explained; staff can override them."""
    return page_of(course, name)[0]


@pages.post("/courses/<course>/grades/<name>/override")
@open_to(PARTY, action=Action.GRADES_OVERRIDE)
def override(course: str, name: str) -> BaseResponse | Page:
    """Override a student's computed points, or remove the override."""
    text, seen = request.form.get("points", "").strip(), request.form.get("seen")
    try:
        try:
            points = float(text) if text else None
            body = OverrideBody(
                student=name,
                challenge=request.form.get("challenge", ""),
                points=points,
                reason=request.form.get("reason", ""),
                extra=forms.ticked("extra"),
                **({} if seen is None else {"seen": float(seen) if seen else None}),
            )
        except ValueError as error:
            raise BadRequest("Enter points of 0 or more, and a reason.") from error
        overrides.override(platform(), current_user(), course, request.form.get("assignment", ""), body)
    except (BadRequest, Conflict) as error:
        return page_of(course, name, error)
    return redirect(url_for("gradebook.of_student", course=course, name=name), 303)


def page_of(course: str, name: str, error: GraderError | None = None) -> Page:
    """As the viewer may read and change them."""
    user = current_user()
    found = gradebook.get_grades(platform(), user, course, name)
    with courses.reading(platform(), user, course, Action.COURSE_READ) as opened:
        overrides, scores = opened.may(Action.GRADES_OVERRIDE), opened.may(Action.GRADES_SCORE)
        asks = opened.may(Action.REGRADE_ASK) and found.name == user.name
    page = render_template(
        "course/grades.html",
        course=course,
        found=found,
        titles={
            part.challenge: titles.of(part.challenge)
            for assignment in found.assignments
            for part in assignment.parts
        },
        overrides=overrides,
        scores=scores,
        asks=asks,
        sheets=_sheets(course, found) if scores else {},
        error=error,
    )
    return page, error.status if error else 200


def _sheets(course: str, found: StudentGrades) -> dict[tuple[str, str], list[ScoreView]]:
    """By assignment and challenge."""
    sheets: dict[tuple[str, str], list[ScoreView]] = {}
    for assignment in found.assignments:
        with suppress(NotFound):  # without a rubric
            sheet = feedback.get_scores(platform(), current_user(), course, assignment.assignment, found.name)
            for score in sheet.scores:
                sheets.setdefault((assignment.assignment, score.challenge), []).append(score)
    return sheets


# As many as fit a phone.
_BINS = 12


@dataclass(frozen=True)
class Bin:
    """In percent of the plot; ``about`` describes it."""

    left: float
    width: float
    height: float
    about: str


@dataclass(frozen=True)
class SpeedupPlot:
    """A class's best speedups, on a logarithmic scale."""

    x: Axis
    y: Axis
    bins: list[Bin]


def speedups(part: PartStatistics) -> SpeedupPlot:
    x = logarithmic(part.speedups, lambda value: f"{value:g}x")
    counts = [0] * _BINS
    for value in part.speedups:
        counts[min(_BINS - 1, int(x.at(value) / 100 * _BINS))] += 1
    y = linear(max(counts), lambda value: f"{value:g}", most=4)
    step = (x.high / x.low) ** (1 / _BINS)
    return SpeedupPlot(
        x,
        y,
        [
            Bin(
                100 * place / _BINS,
                100 / _BINS,
                y.at(count),
                f"{count} from {x.low * step**place:.2g}x to {x.low * step ** (place + 1):.2g}x",
            )
            for place, count in enumerate(counts)
            if count
        ],
    )
