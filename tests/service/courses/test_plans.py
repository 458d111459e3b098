"""Courses from a plan of the catalogue."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from grader.challenge.catalogue import find_catalogue
from grader.challenge.course_plan import plan_names, read_plan
from grader.errors import NotAllowed, NotFound
from grader.schemas.course import CourseBody
from grader.service.accounts.accounts import User
from grader.service.courses import assignments, courses, plans
from grader.service.platform import Platform, open_platform
from tests.web import builders

PLAN = "twelve-weeks"


def body(plan: str = PLAN) -> CourseBody:
    return CourseBody(
        slug="gpu", name="GPU", time_zone="Europe/Berlin", plan=plan, first_day=date(2027, 3, 22)
    )


@pytest.fixture
def platform(tmp_path: Path, database: str) -> Iterator[Platform]:
    opened = open_platform(builders.make_settings(tmp_path))
    yield opened
    opened.close()


def test_a_plan_makes_drafts_in_the_courses_time_zone(platform: Platform, staff: User) -> None:
    plans.create_course(platform, staff, body())
    made = assignments.list_assignments(platform, staff, "gpu").assignments
    assert len(made) == len(read_plan(platform.catalogue.root, PLAN).assignments) == 12
    by_slug = {each.slug: each for each in made}
    first, second = by_slug["week-01"], by_slug["week-02"]
    # Summer time begins on 28 March 2027.
    assert first.open_at.isoformat() == "2027-03-21T23:00:00+00:00"
    assert first.due_at.isoformat().startswith("2027-03-28T21:59")
    assert second.open_at.isoformat() == "2027-03-28T22:00:00+00:00"
    assert [part.challenge for part in first.parts] == ["vector_add", "saxpy"]
    assert all(each.published_at is None for each in made)


def test_nothing_is_made_of_an_unknown_plan_or_without_the_right(
    platform: Platform, staff: User, student: User
) -> None:
    with pytest.raises(NotFound, match=r"There is no plan '\.\./x'"):
        plans.create_course(platform, staff, body("../x"))
    with pytest.raises(NotAllowed):
        plans.create_course(platform, student, body())
    assert courses.list_courses(platform, staff).courses == []


def test_our_plans_name_what_the_catalogue_has() -> None:
    catalogue = find_catalogue()
    challenges = set(catalogue.slugs())
    for name in plan_names(catalogue.root):
        for planned in read_plan(catalogue.root, name).assignments:
            assert {part.challenge for part in planned.parts} <= challenges
