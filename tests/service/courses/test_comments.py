"""Comments on submissions: who writes and reads them, threads, drafts, traces, and notices."""

from __future__ import annotations

from datetime import timedelta

import pytest

from grader.errors import BadRequest, NotAllowed, NotFound
from grader.records.engine import writing
from grader.records.models import FeedbackRow
from grader.schemas.course import CourseChange, CourseRole, CourseView, MemberChange
from grader.schemas.feedback import CommentBody, CommentChange, CommentList, Shown
from grader.schemas.notice import NoticeChoice, NoticeChoicesBody, NoticeKind, NoticesRead
from grader.service.accounts.accounts import User, user_by_id
from grader.service.courses import courses, rosters
from grader.service.messages import notices
from grader.service.platform import Platform
from grader.service.review import comments
from grader.service.submissions.submissions import get_submission
from tests.service.courses.scenes import assign, enrol, judged

pytestmark = pytest.mark.both_databases


@pytest.fixture
def owner(platform: Platform, course: CourseView, staff: User) -> User:
    """The course's owner, read again with the right to teach."""
    found = user_by_id(platform, staff.id)
    assert found is not None
    return found


@pytest.fixture
def submission(platform: Platform, owner: User, student: User) -> str:
    enrol(platform, owner, student)
    assign(platform, owner)
    return judged(platform, student, timedelta(hours=-1), source="one\ntwo\nthree\n")


def say(platform: Platform, user: User, submission: str, text: str, **values: object) -> int:
    """The new comment's number."""
    body = CommentBody.model_validate({"text": text, **values})
    found = comments.add(platform, user, submission, body)
    return max(comment.number for thread in found.threads for comment in thread.comments)


def texts(found: CommentList) -> list[list[str]]:
    return [[comment.text for comment in thread.comments] for thread in found.threads]


def told(platform: Platform, user: User) -> list[tuple[str, int]]:
    return [
        (notice.text, notice.count)
        for notice in notices.list_notices(platform, user).notices
        if notice.read_at is None
    ]


def test_a_thread_can_be_answered_changed_and_resolved(
    platform: Platform, owner: User, student: User, other: User, submission: str
) -> None:
    whole = say(platform, owner, submission, "Good.")
    lines = say(platform, owner, submission, "Why?", first_line=2, last_line=3)
    say(platform, student, submission, "Because.", thread=lines)
    found = comments.list_comments(platform, student, submission)
    assert texts(found) == [["Good."], ["Why?", "Because."]]
    assert (found.may_comment, found.may_reply) == (False, True)
    assert (found.threads[1].first_line, found.threads[1].last_line) == (2, 3)
    assert get_submission(platform, student, submission).comments == 3
    assert told(platform, student) == [(f"{owner.name} commented on your submission for scale", 2)]
    assert told(platform, owner) == [(f"{student.name} replied to a comment on a submission for scale", 1)]

    comments.change(platform, owner, submission, lines, CommentChange(text="Why so?", resolved=True))
    comments.remove(platform, owner, submission, whole)
    found = comments.list_comments(platform, student, submission)
    assert texts(found) == [[""], ["Why so?", "Because."]]
    assert found.threads[0].comments[0].deleted_at is not None
    assert found.threads[1].resolved_by == owner.name
    assert not any(comment.edits for thread in found.threads for comment in thread.comments)
    kept = comments.list_comments(platform, owner, submission)
    assert [[edit.text for edit in thread.comments[0].edits] for thread in kept.threads] == [
        ["Good."],
        ["Why?"],
    ]
    log = [(entry.action, entry.subject) for entry in courses.get_audit(platform, owner, "gpu").entries]
    assert ("submissions.comment", f"/submissions/{submission}/comments/{whole}") in log

    for refused, body in (
        (BadRequest, CommentBody(text="x", first_line=4)),
        (BadRequest, CommentBody(text=" ")),
        (NotFound, CommentBody(text="x", thread=999)),
    ):
        with pytest.raises(refused):
            comments.add(platform, owner, submission, body)
    with pytest.raises(NotAllowed):
        say(platform, student, submission, "A thread of my own")
    with pytest.raises(NotAllowed):
        comments.change(platform, student, submission, lines, CommentChange(text="Mine"))
    with pytest.raises(NotFound):
        comments.list_comments(platform, other, submission)


def test_students_see_sent_and_released_comments_only(
    platform: Platform, owner: User, student: User, submission: str
) -> None:
    draft = say(platform, owner, submission, "Hm", draft=True)
    assert comments.list_comments(platform, student, submission).threads == []
    assert get_submission(platform, student, submission).comments == 0
    assert told(platform, student) == []
    with writing(platform.sessions) as session:
        session.add(FeedbackRow(assignment_id=1, shown=Shown.ON_RELEASE))
    comments.change(platform, owner, submission, draft, CommentChange(send=True))
    assert comments.list_comments(platform, owner, submission).held
    assert comments.list_comments(platform, student, submission).threads == []
    assert told(platform, student) == []
    with pytest.raises(NotFound):
        say(platform, student, submission, "What?", thread=draft)
    # Neither leaving the course nor archiving it releases them.
    rosters.change_member(platform, owner, "gpu", student.name, MemberChange(on_roster=False))
    courses.change_course(platform, owner, "gpu", CourseChange(archived=True))
    assert comments.list_comments(platform, student, submission).threads == []


def test_the_author_and_their_staff_may_comment(
    platform: Platform, owner: User, other: User, submission: str
) -> None:
    """Platform staff read submissions of a course's students, and comment on those that belong to no course."""
    stranger = User(owner.id + 100, "visitor", owner.role)
    assert not comments.list_comments(platform, stranger, submission).may_comment
    practice = judged(platform, other, timedelta(hours=-1))
    assert comments.list_comments(platform, stranger, practice).may_comment
    courses.set_staff(platform, owner, "gpu", other.name, CourseRole.ASSISTANT)
    assistant = User(other.id, other.name, other.role, teaches=True)
    assert comments.list_comments(platform, assistant, submission).may_comment


def test_notices_can_be_read_counted_and_turned_off(
    platform: Platform, owner: User, student: User, submission: str
) -> None:
    say(platform, owner, submission, "One")
    assert notices.unread(platform, student) == 1
    assert notices.mark_read(platform, student, NoticesRead()).unread == 0
    say(platform, owner, submission, "Two")
    assert notices.unread(platform, student) == 1
    off = NoticeChoicesBody(choices=[NoticeChoice(kind=NoticeKind.COMMENT, site=False, mail=False)])
    chosen = notices.choose(platform, student, off)
    assert [choice.kind for choice in chosen.choices if not choice.site] == [NoticeKind.COMMENT]
    ids = [notice.id for notice in notices.list_notices(platform, student).notices]
    notices.mark_read(platform, student, NoticesRead(ids=ids))
    say(platform, owner, submission, "Three")
    assert notices.unread(platform, student) == 0
