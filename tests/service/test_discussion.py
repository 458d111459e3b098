"""Discussions of challenges and chapters: who reads spoilers, what staff hide, courses that have them off, notices, and
reports of errors in the inbox."""

from __future__ import annotations

from datetime import timedelta

import pytest

from grader import limits
from grader.errors import BadRequest, Conflict, NotAllowed, NotFound, TooMany, UnknownChallenge
from grader.records import owners
from grader.records.engine import writing
from grader.schemas.course import CourseBody, CourseChange, CourseRole
from grader.schemas.discussion import (
    About,
    ErrorReportBody,
    HideBody,
    PostBody,
    PostChange,
    PostView,
    Withheld,
)
from grader.schemas.inbox import InboxAssignment, InboxDecision, Outcome
from grader.schemas.notice import NoticeChoice, NoticeChoicesBody, NoticeKind
from grader.service.accounts.accounts import User, create_user, user_by_id
from grader.service.challenges import discussion, error_reports, publication
from grader.service.courses import courses
from grader.service.messages import notices
from grader.service.platform import Platform
from grader.service.review import inbox
from grader.service.review.inbox import InboxFilter
from tests.service.courses.scenes import assign, enrol, judged

pytestmark = pytest.mark.both_databases

SCALE = (About.CHALLENGE, "scale")
WARPS = (About.CHAPTER, "warps")
CHAPTER = """
title = "Warps"
summary = "32 threads."
order = 1
explains = ["warps"]
[[exercises]]
name = "kernel"
kind = "kernel"
title = "Write it"
text = "Write it."
source = "kernel.cu"
challenge = "scale"
"""


@pytest.fixture(autouse=True)
def chapter(platform: Platform) -> None:
    folder = platform.catalogue.root / "challenges" / "chapters" / "warps"
    folder.mkdir(parents=True)
    (folder / "chapter.toml").write_text(CHAPTER)
    (folder / "text.md").write_text("# Warps\n\n{exercise: kernel}\n")
    (folder / "kernel.cu").write_text("// nothing\n")


@pytest.fixture(autouse=True)
def _published(platform: Platform, staff: User) -> None:
    publication.publish(platform, staff, "scale")


@pytest.fixture
def course(platform: Platform, staff: User, student: User) -> str:
    """``student`` has the challenge as an assignment; the owner is platform staff."""
    courses.create_course(platform, staff, CourseBody(slug="gpu", name="GPU"))
    enrol(platform, staff, student)
    assign(platform, staff)
    return "gpu"


def say(platform: Platform, user: User, text: str, at: tuple[About, str] = SCALE, **values: object) -> int:
    body = PostBody.model_validate({"text": text, **values})
    return discussion.add(platform, user, *at, body).number


def seen(
    platform: Platform, user: User, at: tuple[About, str] = SCALE
) -> list[list[tuple[str, Withheld | None]]]:
    found = discussion.read(platform, user, *at)
    return [[(post.text, post.withheld) for post in thread.posts] for thread in found.threads]


def told(platform: Platform, user: User) -> list[tuple[str, str]]:
    return [
        (notice.text, notice.path)
        for notice in notices.list_notices(platform, user).notices
        if notice.kind is NoticeKind.DISCUSSION
    ]


def read_again(platform: Platform, user: User) -> User:
    found = user_by_id(platform, user.id)
    assert found is not None
    return found


def test_threads_replies_and_notices(platform: Platform, student: User, other: User, staff: User) -> None:
    first = say(platform, student, "Why two loops?\r\n")
    second = say(platform, other, "A bank conflict.")
    say(platform, other, "One reads.", thread=first)
    say(platform, staff, "And one writes.", thread=first)
    assert seen(platform, student) == [
        [("A bank conflict.", None)],
        [("Why two loops?", None), ("One reads.", None), ("And one writes.", None)],
    ]
    found = discussion.read(platform, student, *SCALE)
    assert (found.count, found.title, found.further, found.may_hide) == (4, "Scale", None, False)
    assert [post.staff for post in found.threads[1].posts] == [False, False, True]
    assert discussion.count(platform, student, *SCALE) == 4
    assert discussion.count(platform, None, *SCALE) is None
    only = discussion.read(platform, student, *SCALE, thread=second)
    assert [thread.number for thread in only.threads] == [second]
    path = f"/challenges/scale/discussion?thread={first}"
    assert told(platform, student) == [("teacher replied in a discussion of Scale", path)]
    assert told(platform, other) == [("teacher replied in a discussion of Scale", path)]
    assert told(platform, staff) == []

    mute = NoticeChoicesBody(choices=[NoticeChoice(kind=NoticeKind.DISCUSSION, site=False, mail=False)])
    notices.choose(platform, staff, mute)
    say(platform, student, "I see.", thread=first)
    assert told(platform, staff) == []
    with pytest.raises(BadRequest, match="is a reply"):
        say(platform, student, "x", thread=first + 2)
    with pytest.raises(NotFound):
        say(platform, student, "x", WARPS, thread=first)
    with pytest.raises(BadRequest, match="empty"):
        say(platform, student, " \n ")
    assert discussion.read(platform, student, *WARPS).threads == []


def test_own_posts_are_changed_and_deleted(
    platform: Platform, student: User, other: User, staff: User
) -> None:
    first = say(platform, student, "one")
    reply = say(platform, other, "two", thread=first)
    with pytest.raises(NotAllowed):
        discussion.change(platform, staff, *SCALE, first, PostChange(text="x"))
    with pytest.raises(NotAllowed):
        discussion.remove(platform, staff, *SCALE, first)
    changed = discussion.change(platform, student, *SCALE, first, PostChange(text="uno", spoiler=True))
    assert (changed.text, changed.spoiler, changed.edited_at is not None) == ("uno", True, True)
    discussion.remove(platform, student, *SCALE, first)
    assert seen(platform, staff) == [[("", Withheld.DELETED), ("two", None)]]
    with pytest.raises(NotFound):
        discussion.change(platform, student, *SCALE, first, PostChange(text="x"))
    discussion.remove(platform, other, *SCALE, reply)
    assert seen(platform, staff) == []
    alone = say(platform, student, "alone")
    discussion.remove(platform, student, *SCALE, alone)
    assert discussion.read(platform, student, *SCALE).count == 0


@pytest.mark.parametrize("at", [SCALE, WARPS])
def test_a_spoiler_is_for_staff_its_author_and_those_who_solved_it(
    platform: Platform, student: User, other: User, staff: User, at: tuple[About, str]
) -> None:
    solver = create_user(platform, "carla", "correct horse")
    judged(platform, solver, timedelta(hours=-1))
    judged(platform, other, timedelta(hours=-1), challenge="only_cuda")
    first = say(platform, student, "Tile by 32.", at, spoiler=True)
    say(platform, other, "Why?", at, thread=first)
    for user in (staff, student, solver):
        assert seen(platform, user, at) == [[("Tile by 32.", None), ("Why?", None)]]
    assert seen(platform, other, at) == [[("", Withheld.SPOILER), ("Why?", None)]]
    assert "Tile" not in str(notices.list_notices(platform, other))


def test_staff_hide_and_restore(platform: Platform, student: User, other: User, staff: User) -> None:
    number = say(platform, student, "rude")
    with pytest.raises(NotAllowed):
        discussion.hide(platform, other, *SCALE, number, HideBody(hidden=True, reason="x"))
    with pytest.raises(BadRequest, match="reason"):
        discussion.hide(platform, staff, *SCALE, number, HideBody(hidden=True))
    discussion.hide(platform, staff, *SCALE, number, HideBody(hidden=True, reason="Insults others."))
    with pytest.raises(Conflict):
        discussion.hide(platform, staff, *SCALE, number, HideBody(hidden=True, reason="again"))

    def post(user: User) -> PostView:
        return discussion.read(platform, user, *SCALE).threads[0].posts[0]

    mine, theirs, staffs = post(student), post(other), post(staff)
    assert (mine.text, mine.hidden_reason, mine.hidden_by) == ("rude", "Insults others.", None)
    assert (theirs.text, theirs.withheld, theirs.hidden_reason) == ("", Withheld.HIDDEN, "")
    assert (staffs.text, staffs.hidden_reason, staffs.hidden_by) == ("rude", "Insults others.", "teacher")
    path = f"/challenges/scale/discussion?thread={number}"
    assert told(platform, student) == [("Staff hid your post about Scale: Insults others.", path)]
    discussion.hide(platform, staff, *SCALE, number, HideBody(hidden=False))
    assert post(other).text == "rude"


def test_teachers_hide_but_not_what_is_another_courses(
    platform: Platform, staff: User, student: User, other: User
) -> None:
    courses.create_course(platform, staff, CourseBody(slug="gpu", name="GPU"))
    courses.create_course(platform, staff, CourseBody(slug="art", name="Art"))
    courses.set_staff(platform, staff, "art", other.name, CourseRole.INSTRUCTOR)
    enrol(platform, staff, student, other)
    teacher = read_again(platform, other)
    number = say(platform, student, "one")
    reason = HideBody(hidden=True, reason="Off topic.")
    assert discussion.hide(platform, teacher, *SCALE, number, reason).hidden_by == "bob"
    discussion.hide(platform, teacher, *SCALE, number, HideBody(hidden=False))
    with writing(platform.sessions) as session:
        owners.take(session, "scale", 1)
    with pytest.raises(NotAllowed):
        discussion.hide(platform, teacher, *SCALE, number, reason)
    stranger = create_user(platform, "dora", "correct horse")
    with pytest.raises(UnknownChallenge):
        discussion.read(platform, stranger, *SCALE)


def test_a_course_has_discussions_off(
    platform: Platform, course: str, student: User, other: User, staff: User
) -> None:
    number = say(platform, student, "one")
    courses.change_course(platform, staff, course, CourseChange(discussion=False))
    for act in (
        lambda: discussion.read(platform, student, *SCALE),
        lambda: say(platform, student, "two"),
        lambda: discussion.remove(platform, student, *SCALE, number),
        lambda: discussion.read(platform, student, *WARPS),
    ):
        with pytest.raises(NotAllowed, match="Your course has discussions off"):
            act()
    assert discussion.count(platform, student, *SCALE) is None
    say(platform, other, "two", thread=number)
    assert told(platform, student) == []
    assert len(seen(platform, staff)[0]) == 2
    publication.publish(platform, staff, "only_cuda")
    assert discussion.read(platform, student, About.CHALLENGE, "only_cuda").threads == []
    courses.change_course(platform, staff, course, CourseChange(archived=True))
    assert len(seen(platform, student)[0]) == 2


def test_nobody_floods(
    platform: Platform, student: User, other: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "POSTS_A_DAY", 2)
    monkeypatch.setattr(limits, "THREADS_LISTED", 1)
    say(platform, student, "one")
    second = say(platform, student, "two")
    with pytest.raises(TooMany):
        say(platform, student, "three")
    with pytest.raises(TooMany):
        error_reports.report(platform, student, *SCALE, ErrorReportBody(text="A typo."))
    found = discussion.read(platform, other, *SCALE)
    assert [thread.number for thread in found.threads] == [found.further] == [second]
    rest = discussion.read(platform, other, *SCALE, older_than=found.further)
    assert ([post.text for post in rest.threads[0].posts], rest.further) == (["one"], None)


def keys(platform: Platform, user: User, /, **wanted: object) -> list[str]:
    found = inbox.list_items(platform, user, InboxFilter(**wanted)).items  # type: ignore[arg-type]
    return [item.key for item in found if item.mark == "error_report"]


def test_an_error_report_reaches_the_inbox_and_its_author_an_answer(
    platform: Platform, course: str, student: User, other: User, staff: User
) -> None:
    courses.change_course(platform, staff, course, CourseChange(discussion=False))
    reports = [
        error_reports.report(platform, student, *at, ErrorReportBody(text=f"A typo in {at[1]}."))
        for at in (SCALE, WARPS)
    ]
    scale, warps = (f"error:{report.number}" for report in reports)
    assert seen(platform, staff) == []
    items = {item.key: item for item in inbox.list_items(platform, staff).items}
    assert [(items[key].path, items[key].about, items[key].user) for key in (scale, warps)] == [
        ("/challenges/scale", "A typo in scale.", "ada"),
        ("/learn/warps", "A typo in warps.", "ada"),
    ]
    assert inbox.list_items(platform, staff).open == 2
    assert (
        keys(platform, staff, challenge="scale")
        == keys(platform, staff, user="ada", challenge="scale")
        == [scale]
    )
    assert keys(platform, staff, mark="similar") == keys(platform, staff, outcome=Outcome.VOID) == []
    assert keys(platform, staff, course="gpu") == keys(platform, staff, reviewer="teacher") == []

    courses.set_staff(platform, staff, course, other.name, CourseRole.INSTRUCTOR)
    teacher = read_again(platform, other)
    done = InboxDecision(keys=[scale], outcome=Outcome.FINE, reason="Thank you, it says n now.")
    assert keys(platform, teacher) == []
    for refused, body in (
        (NotAllowed, done),
        (NotFound, done.model_copy(update={"keys": ["error:999"]})),
    ):
        with pytest.raises(refused):
            inbox.decide(platform, teacher, body)
    with pytest.raises(BadRequest):
        inbox.decide(platform, staff, done.model_copy(update={"outcome": Outcome.VOID}))
    with pytest.raises(BadRequest, match="no reviewer"):
        inbox.assign(platform, staff, InboxAssignment(keys=[scale], reviewer="teacher"))
    assert inbox.decide(platform, staff, done).open == 1
    assert keys(platform, staff) == [warps]
    assert keys(platform, staff, outcome=Outcome.FINE) == [scale]
    (own,) = error_reports.own(platform, student, *SCALE)
    assert (own.answer, own.resolved_at is not None) == ("Thank you, it says n now.", True)
    assert error_reports.own(platform, teacher, *SCALE) == []
    text = "Staff resolved your report of an error in scale: Thank you, it says n now."
    assert told(platform, student) == [(text, "/challenges/scale#error-report")]
    inbox.decide(platform, staff, InboxDecision(keys=[scale], outcome=Outcome.OPEN))
    assert keys(platform, staff) == [warps, scale]

    with writing(platform.sessions) as session:
        owners.take(session, "scale", 1)
    assert keys(platform, teacher) == keys(platform, teacher, course="gpu") == [scale]
    inbox.decide(platform, teacher, done)
    assert keys(platform, teacher) == []
