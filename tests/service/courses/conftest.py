"""A course ``gpu`` that ``staff`` owns."""

from __future__ import annotations

import pytest

from grader.schemas.course import CourseBody, CourseView
from grader.service.accounts.accounts import User
from grader.service.courses import courses
from grader.service.platform import Platform


@pytest.fixture
def course(platform: Platform, staff: User) -> CourseView:
    body = CourseBody(slug="gpu", name="GPU programming", term="Autumn 2026", time_zone="Europe/Berlin")
    return courses.create_course(platform, staff, body)
