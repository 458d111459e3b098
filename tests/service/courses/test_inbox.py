"""The inbox of staff, on every database: its items, their reviewers, and the effects of a decision."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import event

from grader.errors import BadRequest, Conflict, NotAllowed, NotFound
from grader.records.engine import writing
from grader.records.models import (
    AssignmentRow,
    FlagRow,
    RegradeRequestRow,
    SimilarPairRow,
    SubmissionRow,
    utcnow,
)
from grader.schemas.account import Role
from grader.schemas.course import CourseRole, CourseView
from grader.schemas.inbox import InboxAssignment, InboxDecision, InboxList, Outcome
from grader.schemas.report import Flag
from grader.schemas.similarity import Decision
from grader.service.accounts import accounts
from grader.service.accounts.accounts import User
from grader.service.courses import courses
from grader.service.messages import notices
from grader.service.platform import Platform
from grader.service.review import inbox, similarity
from grader.service.review.inbox import InboxFilter
from grader.service.submissions import submissions
from tests.service.courses.scenes import assign, enrol, judged

pytestmark = pytest.mark.both_databases
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def _enrolled(platform: Platform, course: CourseView, staff: User, student: User, other: User) -> None:
    enrol(platform, staff, student, other)
    assign(platform, staff)


@pytest.fixture
def assistant(platform: Platform, staff: User) -> User:
    tom = accounts.create_user(platform, "tom", "correct horse")
    courses.set_staff(platform, staff, "gpu", "tom", CourseRole.ASSISTANT)
    found = accounts.user_by_id(platform, tom.id)
    assert found
    return found


def flagged(platform: Platform, user: User, hours: int, *flags: Flag, **values: Any) -> str:
    id_ = judged(platform, user, -hours * HOUR, **values)
    with writing(platform.sessions) as session:
        row = session.query(SubmissionRow).where(SubmissionRow.public_id == id_).one()
        session.add_all(
            FlagRow(submission_id=row.id, flag=flag, received_at=row.created_at) for flag in flags
        )
    return id_


def similar(platform: Platform, one: str, other: str) -> str:
    with writing(platform.sessions) as session:
        row = session.query(AssignmentRow).one()
        pair = SimilarPairRow(
            assignment_id=row.id,
            challenge="scale",
            submission=one,
            other=other,
            share=0.9,
            other_share=0.8,
            bits=99.0,
        )
        session.add(pair)
        session.flush()
        return f"pair:{pair.id}"


def keys(found: InboxList) -> list[str]:
    return [item.key for item in found.items]


def decide(platform: Platform, user: User, outcome: Outcome, *keys: str, **values: Any) -> int:
    body = InboxDecision(keys=list(keys), outcome=outcome, **values)
    return inbox.decide(platform, user, body).changed


def test_the_number_of_queries_does_not_grow_with_pairs(
    platform: Platform, assistant: User, student: User, other: User
) -> None:
    asked: list[str] = []
    event.listen(platform.engine, "before_cursor_execute", lambda _c, _u, said, *_: asked.append(said))
    counts = []
    for _ in range(3):
        similar(platform, judged(platform, student, -2 * HOUR), judged(platform, other, -1 * HOUR))
        asked.clear()
        pairs = inbox.list_items(platform, assistant).items
        assert {pair.other_user for pair in pairs} == {"bob"}
        found = similarity.read(platform, assistant, "gpu", "week1").pairs
        assert {pair.right.user for pair in found} == {"bob"}
        counts.append(len(asked))
    assert counts[0] == counts[2]


def test_the_inbox_lists_flags_pairs_and_requests(
    platform: Platform, staff: User, assistant: User, student: User, other: User
) -> None:
    first = flagged(platform, student, 3, Flag.LIBRARY_KERNEL, Flag.ABOVE_ROOFLINE)
    second = flagged(platform, other, 2)
    elsewhere = flagged(platform, other, 1, Flag.HOST_COMPUTED, challenge="only_cuda")
    pair = similar(platform, first, second)
    with writing(platform.sessions) as session:
        row = session.query(AssignmentRow).one()
        asked = {
            "course_id": row.course_id,
            "assignment_id": row.id,
            "challenge": "scale",
            "submission": second,
        }
        session.add(RegradeRequestRow(**asked, user_id=other.id, turn=1, text="Why?", created_at=utcnow()))
    found = inbox.list_items(platform, assistant)
    marks = [f"{first}:library_kernel", f"{first}:above_roofline"]
    assert keys(found) == ["request:1", pair, *marks]
    assert {item.course for item in found.items} == {"gpu"}
    assert (found.open, inbox.open_count(platform, assistant)) == (4, 4)
    # Platform staff also have submissions that belong to no course.
    assert keys(inbox.list_items(platform, staff)) == [
        "request:1",
        f"{elsewhere}:host_computed",
        pair,
        *marks,
    ]
    chosen: list[tuple[dict[str, Any], list[str]]] = [
        ({"mark": "above_roofline"}, [marks[1]]),
        ({"mark": "similar"}, [pair]),
        ({"mark": "regrade_request"}, ["request:1"]),
        ({"user": "bob"}, ["request:1", pair]),
        ({"course": "gpu", "assignment": "week1", "user": "ada"}, [pair, *marks]),
        ({"challenge": "only_cuda"}, []),
        ({"outcome": Outcome.FINE}, []),
        ({"outcome": None}, ["request:1", pair, *marks]),
    ]
    for wanted, expected in chosen:
        assert keys(inbox.list_items(platform, assistant, InboxFilter(**wanted))) == expected, wanted
    stranger = accounts.create_user(platform, "eve", "correct horse", Role.STAFF)
    assert keys(inbox.list_items(platform, stranger)) == [f"{elsewhere}:host_computed"]
    with pytest.raises(NotAllowed):
        inbox.list_items(platform, student)
    assert inbox.open_count(platform, student) == 0


def test_items_are_assigned_to_reviewers(
    platform: Platform, staff: User, assistant: User, student: User
) -> None:
    item = f"{flagged(platform, student, 3, Flag.LIBRARY_KERNEL)}:library_kernel"
    inbox.assign(platform, staff, InboxAssignment(keys=[item], reviewer="tom"))
    assert inbox.list_items(platform, staff).items[0].reviewer == "tom"
    assert keys(inbox.list_items(platform, staff, InboxFilter(reviewer="tom"))) == [item]
    assert keys(inbox.list_items(platform, staff, InboxFilter(reviewer="nobody"))) == []
    with pytest.raises(BadRequest, match="ada may not decide"):
        inbox.assign(platform, staff, InboxAssignment(keys=[item], reviewer="ada"))
    inbox.assign(platform, staff, InboxAssignment(keys=[item], reviewer=None))
    assert keys(inbox.list_items(platform, staff, InboxFilter(reviewer="nobody"))) == [item]


def test_items_are_decided_in_bulk(platform: Platform, assistant: User, student: User, other: User) -> None:
    first = flagged(platform, student, 3, Flag.LIBRARY_KERNEL, Flag.ABOVE_ROOFLINE)
    second = flagged(platform, other, 2)
    pair = similar(platform, first, second)
    library, roofline = f"{first}:library_kernel", f"{first}:above_roofline"
    with pytest.raises(BadRequest, match="reason"):
        decide(platform, assistant, Outcome.TALK, library)
    assert decide(platform, assistant, Outcome.TALK, library, pair, reason="See me.") == 2
    assert keys(inbox.list_items(platform, assistant)) == [roofline]
    told = inbox.list_items(platform, assistant, InboxFilter(outcome=Outcome.TALK)).items
    assert [(item.key, item.reason, item.decided_by) for item in told] == [
        (pair, "See me.", "tom"),
        (library, "See me.", "tom"),
    ]
    with platform.sessions() as session:
        assert session.query(SimilarPairRow).one().decision is Decision.CONFIRMED
    # Somebody else decides differently: all or nothing, and it must be opened again first.
    with pytest.raises(Conflict, match="already decided: talk"):
        decide(platform, assistant, Outcome.FINE, roofline, library)
    assert keys(inbox.list_items(platform, assistant)) == [roofline]
    decide(platform, assistant, Outcome.OPEN, library, pair)
    decide(platform, assistant, Outcome.FINE, roofline, library, pair)
    assert keys(inbox.list_items(platform, assistant)) == []
    assert submissions.get_submission(platform, student, first).voided is None


def test_only_permitted_staff_can_decide_to_void(
    platform: Platform, staff: User, assistant: User, student: User, other: User
) -> None:
    first, second = flagged(platform, student, 3, Flag.LIBRARY_KERNEL), flagged(platform, other, 2)
    library, pair = f"{first}:library_kernel", similar(platform, first, second)
    with pytest.raises(NotAllowed):
        decide(platform, assistant, Outcome.VOID, library, reason="cuBLAS")
    assert decide(platform, staff, Outcome.VOID, library, reason="cuBLAS") == 1
    told = submissions.get_submission(platform, student, first).voided
    assert told is not None
    assert told.reason == "cuBLAS"
    assert [notice.text for notice in notices.list_notices(platform, student).notices] == [
        "Your result for scale is void: cuBLAS"
    ]
    with pytest.raises(BadRequest, match="Whose result"):
        decide(platform, staff, Outcome.VOID, pair, reason="copied")
    decide(platform, staff, Outcome.VOID, pair, reason="copied", submissions=[second])
    assert submissions.get_submission(platform, other, second).voided
    assert keys(inbox.list_items(platform, staff, InboxFilter(outcome=Outcome.VOID))) == [pair, library]


def test_unknown_items_are_refused(platform: Platform, staff: User, assistant: User, student: User) -> None:
    first = flagged(platform, student, 3, Flag.LIBRARY_KERNEL)
    for key in (f"{first}:above_roofline", f"{first}:nonsense", "pair:9", "pair:x", "0000000000:similar"):
        with pytest.raises(NotFound):
            decide(platform, staff, Outcome.FINE, key)
    with pytest.raises(BadRequest, match="cannot be decided in the inbox"):
        decide(platform, staff, Outcome.FINE, "request:1")
    with pytest.raises(BadRequest, match="course"):
        inbox.list_items(platform, staff, InboxFilter(assignment="week1"))
