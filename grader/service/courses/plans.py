"""Courses from a plan of the catalogue."""

from __future__ import annotations

from grader.challenge.course_plan import PlannedAssignment, read_plan
from grader.schemas.assignment import AssignmentBody, PartBody
from grader.schemas.course import CourseBody, CourseView
from grader.service.accounts.accounts import User
from grader.service.challenges import publication
from grader.service.courses import assignments, courses
from grader.service.platform import Platform


def create_course(platform: Platform, user: User, body: CourseBody) -> CourseView:
    """``courses.create_course``, with the plan's assignments as drafts. Raises its errors, NotFound (no such plan), and
    UnknownChallenge before anything is made."""
    if body.first_day is None:
        return courses.create_course(platform, user, body)
    plan = read_plan(platform.catalogue.root, body.plan)
    for planned in plan.assignments:
        for part in planned.parts:
            publication.load(platform, user, part.challenge)
    made = courses.create_course(platform, user, body)
    for planned in plan.assignments:
        assignments.put_assignment(platform, user, made.slug, planned.slug, _body(planned, body))
    return courses.get_course(platform, user, made.slug)


def _body(planned: PlannedAssignment, body: CourseBody) -> AssignmentBody:
    assert body.first_day is not None
    return AssignmentBody(
        title=planned.title,
        parts=[PartBody(challenge=part.challenge, weight=part.weight) for part in planned.parts],
        # A day alone means its beginning, and of a due date its end.
        open_at=planned.open_on(body.first_day).isoformat(),
        due_at=planned.due_on(body.first_day).isoformat(),
    )
