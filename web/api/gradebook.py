from __future__ import annotations

from flask import Response

from grader.schemas.gradebook import (
    Gradebook,
    GradebookExport,
    OverrideBody,
    StudentGrades,
)
from grader.schemas.policy import CurveBody, CurvePreview
from grader.schemas.submission import ErrorEnvelope
from grader.service.courses import curves, gradebook, overrides
from grader.service.courses.permissions import Action
from grader.web.access import PARTY, open_to
from grader.web.answers import answer
from grader.web.api.assignments import AssignmentPath
from grader.web.api.courses import CoursePath, StaffPath
from grader.web.api.resource import resource
from grader.web.auth.identity import current_user
from grader.web.current import platform

api = resource("gradebook", "Points, each explained")


@api.get("/courses/<course>/gradebook", responses={200: Gradebook})
@open_to(PARTY, action=Action.GRADES_READ)
def get_gradebook(path: CoursePath) -> Response:
    """Every student's grades, statistics of every part, and students who may need help (staff only)."""
    return answer(gradebook.get_gradebook(platform(), current_user(), path.course))


@api.get("/courses/<course>/gradebook/export", responses={200: GradebookExport})
@open_to(PARTY, action=Action.GRADES_READ)
def export_gradebook(path: CoursePath) -> Response:
    """One row per student and part (staff only)."""
    rows = gradebook.export(platform(), current_user(), path.course)
    return answer(GradebookExport.model_construct(rows=rows))


@api.get("/courses/<course>/grades", responses={200: StudentGrades})
@open_to(PARTY, action=Action.GRADES_READ_OWN)
def get_own_grades(path: CoursePath) -> Response:
    """Your grades, each point explained."""
    return answer(gradebook.get_grades(platform(), current_user(), path.course))


@api.get("/courses/<course>/grades/<name>", responses={200: StudentGrades})
@open_to(PARTY, action=Action.GRADES_READ)
def get_grades(path: StaffPath) -> Response:
    """A student's grades, each point explained: your own, or as staff anyone's."""
    return answer(gradebook.get_grades(platform(), current_user(), path.course, path.name))


@api.put("/courses/<course>/curve", responses={200: CurvePreview, 409: ErrorEnvelope})
@open_to(PARTY, action=Action.GRADES_CURVE)
def curve(path: CoursePath, body: CurveBody) -> Response:
    """Show what a formula makes of everyone's points; apply it, or take it back (staff only)."""
    return answer(curves.curve(platform(), current_user(), path.course, body))


@api.put(
    "/courses/<course>/assignments/<assignment>/overrides", responses={200: StudentGrades, 409: ErrorEnvelope}
)
@open_to(PARTY, action=Action.GRADES_OVERRIDE)
def override(path: AssignmentPath, body: OverrideBody) -> Response:
    """Replace a student's computed points, with a reason shown to the student; or remove the override."""
    return answer(overrides.override(platform(), current_user(), path.course, path.assignment, body))
