"""Announcements and questions of a course and of a competition: who may post, ask, answer and read what."""

from __future__ import annotations

import pytest

from grader.errors import BadRequest, Conflict, NotAllowed, NotFound
from grader.schemas.announcement import AnnouncementBody, QuestionAnswer, QuestionBody
from grader.schemas.course import CourseView
from grader.service.accounts.accounts import User
from grader.service.courses import announcements
from grader.service.courses.announcements import Kind, Place
from grader.service.messages import notices
from grader.service.platform import Platform
from tests.service.competitions import builders as compete
from tests.service.courses.scenes import assign, enrol

pytestmark = pytest.mark.both_databases
COURSE, CUP = Place(Kind.COURSE, "gpu"), Place(Kind.COMPETITION, "cup")


@pytest.fixture(params=[COURSE, CUP], ids=["course", "competition"])
def place(
    request: pytest.FixtureRequest,
    platform: Platform,
    course: CourseView,
    staff: User,
    student: User,
    other: User,
) -> Place:
    found: Place = request.param
    if found is COURSE:
        enrol(platform, staff, student, other)
        assign(platform, staff)
    else:
        compete.make(platform, staff)
        for who in (student, other):
            compete.enter(platform, who)
    return found


def told(platform: Platform, user: User) -> list[str]:
    return [notice.text for notice in notices.list_notices(platform, user).notices]


def test_an_announcement_is_notified_changed_and_removed(
    platform: Platform, staff: User, student: User, place: Place
) -> None:
    body = AnnouncementBody(title="Room", text="It is *room 2*.")
    (made,) = announcements.announce(platform, staff, place, body).announcements
    assert (made.title, made.made_by) == ("Room", staff.name)
    assert len(told(platform, student)) == 1
    assert told(platform, student)[0].endswith(": Room")
    assert told(platform, staff) == []
    (read,) = announcements.list_announcements(platform, student, place).announcements
    assert read == made
    changed = AnnouncementBody(title="Rooms")
    (edited,) = announcements.change_announcement(platform, staff, place, 1, changed).announcements
    assert edited.edited_at is not None
    with pytest.raises(Conflict, match="Somebody else has just changed"):
        announcements.change_announcement(
            platform, staff, place, 1, AnnouncementBody(title="Room 4", seen=made.edited_at)
        )
    assert len(told(platform, student)) == 1
    with pytest.raises(NotAllowed):
        announcements.announce(platform, student, place, body)
    other_place = CUP if place is COURSE else COURSE
    with pytest.raises(NotFound):
        announcements.remove_announcement(platform, staff, other_place, 1)
    assert announcements.remove_announcement(platform, staff, place, 1).announcements == []


def test_a_question_is_answered_privately_or_publicly(
    platform: Platform, staff: User, student: User, other: User, place: Place
) -> None:
    about = "week1" if place is COURSE else "scale"
    announcements.ask(platform, student, place, QuestionBody(text="Which `n`?", about=about))
    (asked,) = announcements.list_questions(platform, staff, place).questions
    assert (asked.asked_by, asked.about, asked.answered_at) == (student.name, about, None)
    assert len(told(platform, staff)) == 1
    assert announcements.list_questions(platform, other, place).questions == []
    with pytest.raises(NotAllowed):
        announcements.answer(platform, student, place, 1, QuestionAnswer(answer="Any"))

    announcements.answer(platform, staff, place, 1, QuestionAnswer(answer="Any."))
    assert announcements.list_questions(platform, other, place).questions == []
    (mine,) = announcements.list_questions(platform, student, place).questions
    assert (mine.answer, mine.own) == ("Any.", True)
    with pytest.raises(Conflict, match="Somebody else has just answered question 1"):
        announcements.answer(platform, staff, place, 1, QuestionAnswer(answer="One.", seen=None))
    announcements.answer(platform, staff, place, 1, QuestionAnswer(answer="Any.", seen=mine.answered_at))
    assert told(platform, other) == []
    announcements.answer(platform, staff, place, 1, QuestionAnswer(answer="Any.", to_all=True))
    (shown,) = announcements.list_questions(platform, other, place).questions
    assert (shown.answer, shown.asked_by, shown.own) == ("Any.", None, False)
    assert len(told(platform, other)) == 1
    with pytest.raises((BadRequest, NotFound)):
        announcements.ask(platform, student, place, QuestionBody(text="?", about="nothing"))


def test_only_participants_may_ask(platform: Platform, staff: User, student: User) -> None:
    compete.make(platform, staff)
    with pytest.raises(NotAllowed):
        announcements.ask(platform, student, CUP, QuestionBody(text="?"))
