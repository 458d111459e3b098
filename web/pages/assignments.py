from __future__ import annotations

from flask import Blueprint, redirect, render_template, request, url_for
from pydantic import ValidationError
from werkzeug.wrappers import Response as BaseResponse

from grader.errors import BadRequest, Conflict, GraderError
from grader.languages import LANGUAGES
from grader.schemas.assignment import AssignmentBody, AssignmentView, ExtensionBody
from grader.service.challenges import chapters
from grader.service.courses import assignments, courses, extensions, gradebook, members
from grader.service.courses.courses import OpenCourse
from grader.service.courses.permissions import Action
from grader.service.devices import served_devices
from grader.web import forms
from grader.web.access import PARTY, open_to
from grader.web.auth.identity import current_user
from grader.web.current import platform
from grader.web.pages.courses import body, given
from grader.web.pages.keys import Page

pages = Blueprint("assignments", __name__)


@pages.get("/courses/<course>/new-assignment")
@open_to(PARTY, action=Action.ASSIGNMENT_EDIT)
def new(course: str) -> str:
    """A form for a new assignment."""
    return _form(course)[0]


@pages.post("/courses/<course>/new-assignment")
@open_to(PARTY, action=Action.ASSIGNMENT_EDIT)
def create(course: str) -> BaseResponse | Page:
    """Create an assignment as a draft."""
    slug = request.form.get("slug", "").strip()
    try:
        if not slug or not slug.replace("-", "").replace("_", "").isalnum() or slug != slug.lower():
            raise BadRequest(
                "A short name has only lowercase letters, digits, '-' and '_'.", "For example week1."
            )
        with courses.reading(platform(), current_user(), course, Action.ASSIGNMENT_EDIT) as opened:
            _refuse_known(opened, slug)
        assignments.put_assignment(platform(), current_user(), course, slug[:64], _body())
    except (BadRequest, Conflict) as error:
        return _form(course, error)
    return redirect(url_for("assignments.show", course=course, assignment=slug), 303)


def _refuse_known(opened: OpenCourse, slug: str) -> None:
    if assignments.exists(opened, slug):
        raise Conflict(f"The course already has an assignment '{slug[:64]}'.", "Choose another short name.")


def _form(course: str, error: GraderError | None = None) -> Page:
    with courses.reading(platform(), current_user(), course, Action.ASSIGNMENT_EDIT) as opened:
        zone = opened.row.time_zone
    page = render_template(
        "course/new_assignment.html", course=course, zone=zone, error=error, form=request.form, **_choices()
    )
    return page, error.status if error else 200


@pages.get("/courses/<course>/assignments/<assignment>")
@open_to(PARTY, action=Action.ASSIGNMENT_READ)
def show(course: str, assignment: str) -> str:
    """Tasks, deadlines, and the attempts that are left."""
    return _show(course, assignment)[0]


@pages.post("/courses/<course>/assignments/<assignment>")
@open_to(PARTY, action=Action.ASSIGNMENT_EDIT)
def save(course: str, assignment: str) -> BaseResponse | Page:
    """Change an assignment."""
    try:
        with courses.reading(platform(), current_user(), course, Action.ASSIGNMENT_EDIT) as opened:
            assignments.find(opened, assignment)
        stands = assignments.get_assignment(platform(), current_user(), course, assignment)
        assignments.put_assignment(platform(), current_user(), course, assignment, _kept(_body(), stands))
    except (BadRequest, Conflict) as error:
        return _show(course, assignment, error)
    return _back(course, assignment)


@pages.post("/courses/<course>/assignments/<assignment>/publish")
@open_to(PARTY, action=Action.ASSIGNMENT_EDIT)
def publish(course: str, assignment: str) -> BaseResponse | Page:
    """Show an assignment to students, or hide it again."""
    try:
        assignments.publish_assignment(
            platform(), current_user(), course, assignment, not forms.ticked("hide")
        )
    except Conflict as error:
        return _show(course, assignment, error)
    return _back(course, assignment)


@pages.post("/courses/<course>/assignments/<assignment>/remove")
@open_to(PARTY, action=Action.ASSIGNMENT_EDIT)
def remove(course: str, assignment: str) -> BaseResponse | Page:
    """Delete a draft, with its extensions."""
    try:
        assignments.delete_assignment(platform(), current_user(), course, assignment)
    except Conflict as error:
        return _show(course, assignment, error)
    return redirect(url_for("courses.show", course=course), 303)


@pages.post("/courses/<course>/assignments/<assignment>/extensions")
@open_to(PARTY, action=Action.EXTENSION_GRANT)
def extend(course: str, assignment: str) -> BaseResponse | Page:
    """Set other times for a student, a section or a group."""
    try:
        values = body(ExtensionBody, given("student", "section", "group", "due_at", "late_until", "reason"))
        extensions.extend(platform(), current_user(), course, assignment, values)
    except (BadRequest, Conflict) as error:
        return _show(course, assignment, error)
    return _back(course, assignment)


@pages.post("/courses/<course>/assignments/<assignment>/extensions/<int:number>/remove")
@open_to(PARTY, action=Action.EXTENSION_GRANT)
def take_back(course: str, assignment: str, number: int) -> BaseResponse:
    """Remove an extension."""
    extensions.take_back_extension(platform(), current_user(), course, assignment, number)
    return _back(course, assignment)


def _back(course: str, assignment: str) -> BaseResponse:
    return redirect(url_for("assignments.show", course=course, assignment=assignment), 303)


def _show(course: str, assignment: str, error: GraderError | None = None) -> Page:
    user = current_user()
    view = assignments.get_assignment(platform(), user, course, assignment)
    with courses.reading(platform(), user, course, Action.ASSIGNMENT_READ) as opened:
        edits, extends = opened.may(Action.ASSIGNMENT_EDIT), opened.may(Action.EXTENSION_GRANT)
        compares = opened.may(Action.SIMILARITY)
        exports, regrades = opened.may(Action.SOURCES), opened.may(Action.REGRADE)
        learns = opened.may(Action.GRADES_READ_OWN)
        sections = members.sections_of(opened) if extends else []
        groups = members.groups_of(opened) if extends else []
    own = gradebook.get_grades(platform(), user, course).assignments if learns else []
    given_to = extensions.list_extensions(platform(), user, course, assignment).extensions if extends else []
    page = render_template(
        "course/assignment.html",
        view=view,
        chapters=chapters.explaining(platform(), [part.challenge for part in view.parts]),
        left={each.challenge: each for each in view.left},
        own={part.challenge: part for entry in own if entry.assignment == view.slug for part in entry.parts},
        limits=[name for name in ("day", "total", "pending") if getattr(view.attempts, name)],
        edits=edits,
        compares=compares,
        exports=exports,
        regrades=regrades,
        extends=extends,
        extensions=given_to,
        sections=sections,
        groups=groups,
        values=_values(view),
        # Text and revision stay, so nobody's change is undone.
        typed=request.form if error is not None and "parts" in request.form else None,
        error=error,
        **_choices(),
    )
    return page, error.status if error else 200


def _choices() -> dict[str, object]:
    return {"known_languages": list(LANGUAGES), "known_devices": served_devices(platform())}


_TIMES = ("open_at", "due_at", "late_until", "groups_until")


def _values(view: AssignmentView) -> dict[str, str]:
    """In the course's zone, for the form's fields."""
    times = {name: getattr(view, name) for name in _TIMES}
    return {name: forms.local_time(at, view.time_zone) if at else "" for name, at in times.items()}


def _kept(sent: AssignmentBody, stands: AssignmentView) -> AssignmentBody:
    """Keeps unchanged times, also when clocks show them twice."""
    shown = _values(stands)
    # Browsers omit seconds that are 0.
    same = [
        time
        for time in _TIMES
        if shown[time] and getattr(sent, time) in (shown[time], shown[time].removesuffix(":00"))
    ]
    return sent.model_copy(update={name: getattr(stands, name).isoformat() for name in same})


def _body() -> AssignmentBody:
    """Raises BadRequest."""
    form = request.form
    try:
        numbers = {name: _whole(name) for name in ("day", "total", "pending")}
        return AssignmentBody.model_validate(
            {
                "title": form.get("title", "").strip(),
                "parts": [_part(line) for line in form.get("parts", "").split("\n") if line.strip()],
                "open_at": form.get("open_at", ""),
                "due_at": form.get("due_at", ""),
                "late_until": form.get("late_until", "") or None,
                "late_percent": float(form.get("late_percent") or 0),
                "grace_days": _whole("grace_days") or 0,
                "attempts": numbers,
                "languages": form.getlist("languages"),
                "devices": form.getlist("devices"),
                "counts": form.get("counts", "best"),
                "question_points": float(form.get("question_points") or 0),
                "reveal_hidden": forms.ticked("reveal_hidden"),
                "partial_credit": forms.ticked("partial_credit"),
                "open_solutions": forms.ticked("open_solutions"),
                "group_size": _whole("group_size") or 1,
                "groups_until": form.get("groups_until", "") or None,
                "category": form.get("category", ""),
                "out_of": float(form["out_of"]) if form.get("out_of") else None,
                "revision": _whole("revision"),
            }
        )
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise BadRequest(f"{'.'.join(map(str, first['loc']))}: {first['msg']}.") from error
    except ValueError as error:
        raise BadRequest("A field is not a number.", "Write it as 10 or 2.5.") from error


def _whole(name: str) -> int | None:
    text = request.form.get(name, "").strip()
    return int(text) if text else None


def _part(line: str) -> dict[str, object]:
    """Such as ``vector_add`` or ``saxpy 2``."""
    slug, _, weight = line.strip().replace(":", " ").partition(" ")
    return {"challenge": slug, "weight": float(weight or 1)}
