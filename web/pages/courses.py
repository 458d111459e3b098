from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from flask import Blueprint, Response, redirect, render_template, request, url_for
from pydantic import BaseModel, ValidationError
from werkzeug.wrappers import Response as BaseResponse

from grader.challenge.course_plan import plan_names
from grader.errors import BadRequest, Conflict, GraderError, NotAllowed, NotFound
from grader.schemas.course import CourseBody, CourseChange, CourseRole, GroupBody, Visibility
from grader.schemas.policy import GradePolicy
from grader.service.courses import assignments, course_groups, courses, gradebook, joining, plans
from grader.service.courses.permissions import Action
from grader.web import forms, throttle
from grader.web.access import ANYONE, PARTY, SIGNED_IN, STAFF, open_to
from grader.web.auth.identity import current_user, viewer
from grader.web.current import platform
from grader.web.pages.keys import Page, private, shown_key

pages = Blueprint("courses", __name__)

Model = TypeVar("Model", bound=BaseModel)


def body(model: type[Model], values: dict[str, object]) -> Model:
    """Raises BadRequest."""
    try:
        return model.model_validate_strings(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise BadRequest(f"{'.'.join(map(str, first['loc']))}: {first['msg']}.") from error


def given(*names: str) -> dict[str, object]:
    """Without empty fields."""
    return {name: value for name in names if (value := request.form.get(name, "").strip())}


@dataclass(frozen=True)
class CourseHead:
    """``may``: actions' names in lower case."""

    slug: str
    name: str
    may: dict[str, bool]


@pages.app_template_global("course_head")
def head(course: str) -> CourseHead:
    """Raises NotFound, NotAllowed."""
    with courses.reading(platform(), current_user(), course, Action.COURSE_LISTED) as opened:
        may = {action.name.lower(): opened.may(action) for action in Action}
        return CourseHead(opened.row.slug, opened.row.name, may)


@pages.get("/courses")
@open_to(SIGNED_IN)
def index() -> str:
    """Your courses and listed ones, a field for a join code; for staff a form for a new course."""
    return _index()[0]


@pages.post("/courses")
@open_to(STAFF)
def create() -> BaseResponse | Page:
    """Create a course."""
    try:
        values = body(
            CourseBody, given("slug", "name", "term", "time_zone", "grace_days", "plan", "first_day")
        )
        visibility = Visibility.LISTED if forms.ticked("listed") else Visibility.MEMBERS
        made = plans.create_course(
            platform(), current_user(), values.model_copy(update={"visibility": visibility})
        )
    except (BadRequest, Conflict) as error:
        return _index(error)
    return redirect(url_for("courses.show", course=made.slug), 303)


def _index(error: GraderError | None = None) -> Page:
    found = courses.list_courses(platform(), current_user())
    page = render_template(
        "course/index.html",
        found=found.courses,
        error=error,
        form=request.form,
        plans=plan_names(platform().catalogue.root),
    )
    return page, error.status if error else 200


@pages.get("/join")
@open_to(ANYONE)
def offer() -> Response:
    """The page of a join code or a personal link: join, or first create an account."""
    key = shown_key()
    return private((_offer(key), 200))


@pages.post("/join")
@open_to(SIGNED_IN)
def join() -> BaseResponse:
    """Join a course as a student."""
    user, key = current_user(), shown_key()
    with throttle.join_code(key):
        joined = joining.join(platform(), user, key)
    return redirect(url_for("courses.show", course=joined.slug), 303)


def _offer(key: str) -> str:
    with throttle.join_code(key):
        found = joining.offer(platform(), key)
    own = url_for("courses.offer", key=key)
    return render_template("course/join.html", found=found, key=key, own=own, signed_in=viewer() is not None)


@pages.get("/courses/<course>")
@open_to(PARTY, action=Action.COURSE_LISTED)
def show(course: str) -> str:
    """A course and its assignments, for a student with their points; for staff also its settings."""
    return _show(course)[0]


@pages.post("/courses/<course>")
@open_to(PARTY, action=Action.COURSE_EDIT)
def edit(course: str) -> BaseResponse | Page:
    """Change name, term, time zone, grace days, visibility, discussion or the grade policy, or archive the course."""
    try:
        if "policy" in request.form:
            change = CourseChange(policy=_policy(), revision=_revision())
            courses.change_course(platform(), current_user(), course, change)
            return redirect(url_for("courses.show", course=course, _anchor="policy"), 303)
        values = body(CourseChange, given("name", "term", "time_zone", "grace_days", "revision"))
        visibility = Visibility.LISTED if forms.ticked("listed") else Visibility.MEMBERS
        change = values.model_copy(
            update={"visibility": visibility, "discussion": forms.ticked("discussion")}
        )
        if "archive" in request.form:
            change = CourseChange(archived=forms.ticked("archive"))
        courses.change_course(platform(), current_user(), course, change)
    except (BadRequest, Conflict) as error:
        return _show(course, error)
    return redirect(url_for("courses.show", course=course), 303)


def _revision() -> int | None:
    text = request.form.get("revision", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def _policy() -> GradePolicy:
    """Raises BadRequest."""
    form = request.form
    try:
        return GradePolicy.model_validate(
            {
                "categories": [
                    _category(line) for line in form.get("categories", "").splitlines() if line.strip()
                ],
                "drop": int(form.get("drop") or 0),
                "scale": float(form["scale"]) if form.get("scale") else None,
                "override_percent": float(form["override_percent"]) if form.get("override_percent") else None,
            }
        )
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise BadRequest(f"{'.'.join(map(str, first['loc']))}: {first['msg']}.") from error
    except ValueError as error:
        raise BadRequest("A field is not a number.", "Write it as 10 or 2.5.") from error


def _category(line: str) -> dict[str, object]:
    """``Homework 60 1``: a name, perhaps with spaces, a weight, perhaps a number to drop."""
    words = line.split()
    numbers: list[str] = []
    while len(words) > 1 and len(numbers) < 2 and _is_number(words[-1]):
        numbers.insert(0, words.pop())
    if not numbers:
        raise BadRequest(f"'{line.strip()[:60]}' has no weight.", "Write a category as: Homework 60 1.")
    drop = int(numbers[1]) if len(numbers) > 1 else 0
    return {"name": " ".join(words), "weight": float(numbers[0]), "drop": drop}


def _is_number(word: str) -> bool:
    return word.isascii() and word.replace(".", "", 1).isdigit()


@pages.post("/courses/<course>/staff")
@open_to(PARTY, action=Action.COURSE_STAFF)
def set_staff(course: str) -> BaseResponse | Page:
    """Set or remove somebody's role as staff."""
    role = request.form.get("role", "")
    try:
        if role not in ("", *(each.value for each in CourseRole if each is not CourseRole.STUDENT)):
            raise BadRequest("Unknown role.")
        name = request.form.get("name", "").strip()
        courses.set_staff(platform(), current_user(), course, name, CourseRole(role) if role else None)
    except NotAllowed:
        raise
    except GraderError as error:
        return _show(course, error)
    return redirect(url_for("courses.show", course=course), 303)


def _show(course: str, error: GraderError | None = None) -> Page:
    user = current_user()
    with courses.reading(platform(), user, course, Action.COURSE_LISTED) as opened:
        may = {action.name.lower(): opened.may(action) for action in Action}
    own = None
    if may["grades_read_own"]:
        own = gradebook.get_grades(platform(), user, course)
    page = render_template(
        "course/show.html",
        course=courses.get_course(platform(), user, course),
        found=assignments.list_assignments(platform(), user, course).assignments
        if may["course_read"]
        else [],
        own={assignment.assignment: assignment for assignment in own.assignments} if own else {},
        grades=own,
        grouping=course_groups.get_own(platform(), user, course) if may["group_choose"] else None,
        may=may,
        typed=request.form if error is not None and "policy" in request.form else {},
        roles=[each.value for each in CourseRole if each is not CourseRole.STUDENT],
        error=error,
    )
    return page, error.status if error else 200


@pages.post("/courses/<course>/group")
@open_to(PARTY, action=Action.GROUP_CHOOSE)
def change_group(course: str) -> BaseResponse | Page:
    """Make a group that hands in together, join one with its code, or leave yours."""
    values = body(GroupBody, given("make", "join")).model_copy(update={"leave": forms.ticked("leave")})
    try:
        with throttle.team_code(values.join or ""):
            course_groups.change_own(platform(), current_user(), course, values)
    except NotAllowed:
        raise
    except (BadRequest, Conflict, NotFound) as error:
        return _show(course, error)
    return redirect(url_for("courses.show", course=course, _anchor="group"), 303)


@pages.get("/courses/<course>/log")
@open_to(PARTY, action=Action.AUDIT_READ)
def log(course: str) -> str:
    """Actions of the course's staff, newest first."""
    older_than = request.args.get("older_than", type=int)
    entries = courses.get_audit(platform(), current_user(), course, _LOGGED + 1, older_than).entries
    further = entries[_LOGGED - 1].id if len(entries) > _LOGGED else None
    return render_template("course/log.html", course=course, entries=entries[:_LOGGED], further=further)


_LOGGED = 100
