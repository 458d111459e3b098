"""An entry off the board still counts in its course, whose staff see the withdrawal in the log."""

from __future__ import annotations

from datetime import timedelta

from grader.schemas.course import CourseView
from grader.service.accounts.accounts import User
from grader.service.boards.withdrawals import withdraw
from grader.service.courses import courses, gradebook
from grader.service.platform import Platform
from tests.service.courses.scenes import assign, enrol, grading, judged


def test_grades_stay(platform: Platform, course: CourseView, staff: User, student: User) -> None:
    enrol(platform, staff, student)
    grading(platform, "correctness_points = 60\ntiers = [{ speedup = 2.0, points = 40 }]")
    assign(platform, staff)
    timed = {"time_us": 10.0, "ci_lo_us": 9.0, "ci_hi_us": 11.0, "speedup": 3.0}
    fast = judged(platform, student, -timedelta(hours=1), **timed)
    before = gradebook.get_gradebook(platform, staff, "gpu"), gradebook.get_grades(platform, student, "gpu")
    (part,) = before[0].students[0].assignments[0].parts
    assert (part.points, part.submission) == (100, fast)
    view = withdraw(platform, student, fast)
    assert view.withdrawn_at is not None
    after = gradebook.get_gradebook(platform, staff, "gpu"), gradebook.get_grades(platform, student, "gpu")
    assert after == before
    (entry, *_) = courses.get_audit(platform, staff, "gpu").entries
    assert (entry.actor, entry.action) == (student.name, "entry.withdraw")
    assert entry.after == {"withdrawn_at": view.withdrawn_at.isoformat()}
