"""The judge on the small course of tests/course, in plain child processes unless a test asks for Docker."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from grader.challenge.course import Course
from grader.judge.at_home import judge_at_home
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.sandbox.local_box import LocalBoxes
from grader.schemas.report import Report

COURSE = Path(__file__).parent.parent / "course"
Judge = Callable[..., Report]


@pytest.fixture(scope="session")
def course() -> Course:
    return Course(COURSE)


@pytest.fixture(scope="session")
def boxes() -> BoxMaker:
    return LocalBoxes()


@pytest.fixture
def judge(course: Course, boxes: BoxMaker) -> Judge:
    def run(source: str, slug: str = "twice", **options: object) -> Report:
        options.setdefault("timing", False)
        return judge_at_home(course.load(slug), source, Language.TRITON, boxes, **options)  # type: ignore[arg-type]

    return run
