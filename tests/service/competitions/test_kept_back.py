"""A competition's secrets, requested around its pages: before it begins, while its board is frozen, and by a
participant's teacher elsewhere.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from grader.errors import BadRequest, Conflict, NotFound
from grader.records.models import utcnow
from grader.schemas.announcement import QuestionBody
from grader.schemas.course import CourseBody, CourseRole
from grader.service.accounts.accounts import User, user_by_id
from grader.service.boards.profile import profile
from grader.service.competitions import finals
from grader.service.courses import announcements, courses
from grader.service.courses.announcements import Kind, Place
from grader.service.platform import Platform
from grader.service.submissions import submissions
from grader.service.submissions.submit import submit
from tests.service.competitions.builders import elapse, enter, hand_in, make
from tests.service.courses.scenes import assign, enrol
from tests.service.world import body

pytestmark = pytest.mark.both_databases


def test_challenges_are_secret_before_the_start(platform: Platform, staff: User, student: User) -> None:
    make(platform, staff, starts_at=utcnow() + timedelta(minutes=30))
    enter(platform, student)
    place = Place(Kind.COMPETITION, "cup")
    said = set()
    for guess in ("scale", "only_cuda"):
        with pytest.raises(Conflict) as refused:
            submit(platform, student, body(challenge=guess, filename="a.cu", competition="cup"))
        said.add(refused.value.message)
        with pytest.raises(BadRequest) as unknown:
            announcements.ask(platform, student, place, QuestionBody(text="Why?", about=guess))
        said.add(unknown.value.message)
    assert len(said) == 2


def test_competition_submissions_are_hidden_from_course_staff(
    platform: Platform, staff: User, student: User, other: User
) -> None:
    """The challenge is also assigned to a participant, in another participant's course."""
    make(platform, staff)
    for user in (student, other):
        enter(platform, user)
    courses.create_course(platform, staff, CourseBody(slug="gpu", name="GPU"))
    enrol(platform, staff, student)
    assign(platform, staff)
    courses.set_staff(platform, staff, "gpu", other.name, CourseRole.INSTRUCTOR)
    teacher = user_by_id(platform, other.id)
    assert teacher is not None
    sent = hand_in(platform, student, 10.0)
    with pytest.raises(NotFound):
        submissions.get_source(platform, teacher, sent)
    for_itself = hand_in(platform, student, 20.0, competition="")
    assert submissions.get_source(platform, teacher, for_itself).id == for_itself


def test_profiles_do_not_reveal_a_frozen_board(
    platform: Platform, staff: User, student: User, other: User
) -> None:
    make(platform, staff)
    enter(platform, student)

    def told(viewer: User) -> tuple[int, float | None, list[str], int]:
        found = profile(platform, student.name, viewer)
        best = found.tracks[0].best
        assert found.activity is not None
        speedup = best.speedup if best else None
        return found.solved, speedup, [badge.kind.value for badge in found.badges], found.activity.submitted

    elapse(platform, minutes=40)
    hand_in(platform, student, 10.0, 7.0)
    assert told(other) == (0, None, [], 0)
    assert told(student)[:2] == told(staff)[:2] == (1, 7.0)
    elapse(platform, hours=1)
    finals.publish_results(platform, staff, "cup")
    assert told(other) == (1, 7.0, ["first", "track"], 1)
