"""Similar submissions of an assignment: found, stored, decided, and marked in reports."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import timedelta

import pytest

from grader import limits
from grader.errors import BadRequest, NotAllowed, TooMany
from grader.languages import Language
from grader.records import taught
from grader.schemas.course import CourseRole, CourseView
from grader.schemas.inbox import InboxDecision, Outcome
from grader.schemas.similarity import Decision, DecisionBody, SimilarityReport
from grader.service.accounts.accounts import User, create_user, user_by_id
from grader.service.courses import courses
from grader.service.operation import retention
from grader.service.platform import Platform
from grader.service.review import inbox, similarity
from grader.service.review.inbox import InboxFilter
from tests.service.competitions.builders import make as make_competition
from tests.service.courses.scenes import assign, enrol, judged
from tests.similarity.test_comparison import CUDA, CUDA_COPY, solutions

WEEK = ("gpu", "week1")


@pytest.fixture
def ids(platform: Platform, course: CourseView, staff: User, student: User, other: User) -> dict[str, str]:
    """A source and its copy, and earlier students' sources for the same challenge."""
    enrol(platform, staff, student, other)
    assign(platform, staff)
    for number, each in enumerate(solutions(Language.CUDA)[:8]):
        author = create_user(platform, f"earlier{number}", "correct horse")
        judged(platform, author, timedelta(days=-30), source=each.text, language=Language.CUDA)
    return {
        name: judged(platform, user, timedelta(hours=-1), source=text, language=Language.CUDA)
        for name, user, text in (("first", student, CUDA), ("copy", other, CUDA_COPY))
    }


def decide(platform: Platform, user: User, decision: Decision, reason: str = "") -> SimilarityReport:
    number = similarity.read(platform, user, *WEEK).pairs[0].number
    return similarity.decide(platform, user, *WEEK, number, DecisionBody(decision=decision, reason=reason))


def marked(platform: Platform, submission: str, staff: bool) -> bool:
    with platform.sessions() as session:
        return taught.is_marked_similar(session, submission, staff)


def test_a_copy_is_found_and_decided(
    platform: Platform, staff: User, student: User, other: User, ids: dict[str, str]
) -> None:
    assert similarity.read(platform, staff, *WEEK).made_at is None
    found = similarity.compare(platform, staff, *WEEK)
    assert found.sources == 2
    assert [{pair.left.submission, pair.right.submission} for pair in found.pairs] == [set(ids.values())]
    assert found.clusters == [sorted([student.name, other.name])]

    both = similarity.sources(platform, staff, *WEEK, found.pairs[0].number)
    assert {both.left, both.right} == {CUDA, CUDA_COPY}
    said = [
        (both.left.splitlines()[match.left - 1], both.right.splitlines()[match.right - 1])
        for match in both.matches
    ]
    assert any("fabsf" in one and "fabsf" in other for one, other in said)

    # Staff see it at once, the students once it is confirmed, and nobody once it is dismissed.
    assert marked(platform, ids["first"], staff=True)
    assert not marked(platform, ids["first"], staff=False)
    with pytest.raises(BadRequest, match="Give a reason"):
        decide(platform, staff, Decision.CONFIRMED)
    kept = decide(platform, staff, Decision.CONFIRMED, "They told me so.").pairs[0]
    assert (kept.decision, kept.decided_by) == (Decision.CONFIRMED, staff.name)
    assert marked(platform, ids["copy"], staff=False)
    assert decide(platform, staff, Decision.DISMISSED).clusters == []
    assert not marked(platform, ids["first"], staff=True)
    with pytest.raises(NotAllowed):
        similarity.compare(platform, student, *WEEK)


def test_decisions_survive_a_new_comparison_and_open_pairs_do_not(
    platform: Platform, staff: User, other: User, ids: dict[str, str]
) -> None:
    similarity.compare(platform, staff, *WEEK)
    decide(platform, staff, Decision.DISMISSED, "They work together.")
    assert [pair.reason for pair in similarity.compare(platform, staff, *WEEK).pairs] == [
        "They work together."
    ]
    decide(platform, staff, Decision.OPEN)
    # The copier hands in other work, which counts from now on.
    judged(
        platform,
        other,
        timedelta(minutes=-1),
        source=solutions(Language.CUDA)[9].text,
        language=Language.CUDA,
        speedup=9.0,
    )
    assert similarity.compare(platform, staff, *WEEK).pairs == []


def test_sources_of_other_courses_are_not_shown(
    platform: Platform, staff: User, student: User, ids: dict[str, str]
) -> None:
    made = create_user(platform, "tom", "correct horse")
    courses.set_staff(platform, staff, "gpu", "tom", CourseRole.INSTRUCTOR)
    tom = user_by_id(platform, made.id)
    assert tom is not None
    stranger = create_user(platform, "stranger", "correct horse")
    secret = "// what nobody else is to read"
    values = {"language": Language.CUDA, "source": f"{CUDA}\n{secret}\n"}
    elsewhere = judged(platform, stranger, timedelta(days=-20), **values)
    similarity.compare(platform, tom, *WEEK)
    report = similarity.read(platform, tom, *WEEK)
    number = next(pair.number for pair in report.pairs if pair.right.earlier)
    shown = similarity.sources(platform, tom, *WEEK, number)
    assert shown.matches
    assert (shown.right.strip(), shown.excerpt) == ("", True)
    for said in (report, shown, inbox.list_items(platform, tom)):
        assert elsewhere not in said.model_dump_json()
        assert "stranger" not in said.model_dump_json()
    assert inbox.list_items(platform, tom, InboxFilter(user="stranger")).items == []
    assert len(inbox.list_items(platform, staff, InboxFilter(user="stranger")).items) == 2
    void = InboxDecision(keys=[f"pair:{number}"], outcome=Outcome.VOID, reason="A copy.")
    with pytest.raises(BadRequest) as refused:
        inbox.decide(platform, tom, void)
    assert refused.value.hint == f"Name {shown.pair.left.submission}."
    whole = similarity.sources(platform, staff, *WEEK, number)
    assert (whole.pair.right.user, secret in whole.right) == ("stranger", True)
    # The course's decision marks nothing outside the course.
    body = DecisionBody(decision=Decision.CONFIRMED, reason="It is a copy.")
    similarity.decide(platform, tom, *WEEK, number, body)
    assert not marked(platform, elsewhere, staff=False)


def test_competition_submissions_are_not_compared(
    platform: Platform, staff: User, ids: dict[str, str]
) -> None:
    make_competition(platform, staff)
    rival = create_user(platform, "rival", "correct horse")
    values = {"language": Language.CUDA, "source": CUDA, "competition_id": 1}
    judged(platform, rival, timedelta(days=-20), **values)
    found = similarity.compare(platform, staff, *WEEK)
    assert "rival" not in {pair.right.user for pair in found.pairs}


def test_simultaneous_comparisons_are_limited(platform: Platform, staff: User, ids: dict[str, str]) -> None:
    with ExitStack() as busy:
        for _ in range(limits.COMPARISONS_AT_ONCE):
            busy.enter_context(similarity._ROOM)
        with pytest.raises(TooMany):
            similarity.compare(platform, staff, *WEEK)
    assert similarity.compare(platform, staff, *WEEK).pairs


def test_pairs_of_deleted_accounts_stay(
    platform: Platform, staff: User, student: User, ids: dict[str, str]
) -> None:
    similarity.compare(platform, staff, *WEEK)
    name = retention.forget(platform, student.name).name
    found = similarity.compare(platform, staff, *WEEK)
    assert found.sources == 1, "what has no source is not compared"
    (pair,) = found.pairs
    assert {side.submission: side.user for side in (pair.left, pair.right)} == {
        ids["first"]: name,
        ids["copy"]: "bob",
    }
    both = similarity.sources(platform, staff, *WEEK, pair.number)
    assert {both.left, both.right} == {"", CUDA_COPY}
