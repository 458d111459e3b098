"""Grades on their way to a local learning platform: when they are sent, and what happens after failures."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from grader import limits
from grader.errors import Conflict
from grader.queue.grade_sender import GradeSender
from grader.records.engine import writing
from grader.records.models import (
    AssignmentRow,
    FeedbackRow,
    LtiPlatformRow,
    LtiScoreRow,
    PartnerRow,
    SubmissionRow,
    UserRow,
    utcnow,
)
from grader.schemas.assignment import ExtensionBody
from grader.schemas.feedback import Shown
from grader.schemas.gradebook import OverrideBody
from grader.schemas.lti import LtiLinkView, LtiScoreState, LtiScoreView
from grader.schemas.policy import CurveBody
from grader.service.accounts import accounts
from grader.service.courses import curves, extensions, grade_book, overrides
from grader.service.lti import delivery, linked_courses, passback
from grader.service.operation import retention
from grader.service.platform import open_platform
from tests.service.world import make_catalogue, until
from tests.web import builders
from tests.web.conftest import csrf
from tests.web.lti_platform import CLAIM, LEARNER
from tests.web.test_lti import URL, School


@pytest.fixture
def school(tmp_path: Path, database: str) -> Iterator[School]:
    """Ada and Bob followed the link to week 1, whose grades are released."""
    settings = builders.make_settings(
        tmp_path, url=URL, challenges=make_catalogue(tmp_path / "catalogue"), sweep_s=0.05
    )
    platform = open_platform(settings)
    with School(platform).served() as opened:
        delivery.TOKENS.forget()
        opened.link()
        opened.site.people["bob"] = {"name": "Bob", f"{CLAIM}roles": [LEARNER]}
        for who in ("ada", "bob"):
            browser = opened.app.test_client()
            opened.launch(browser, who, resource="r1", assignment="gpu/week1", line_item="1")
        linked_courses.release(platform, opened.boss, "gpu", link(opened).id, True)
        yield opened
    platform.close()


def link(school: School) -> LtiLinkView:
    (context,) = linked_courses.read(school.platform, school.boss, "gpu").contexts
    return context.links[0]


def score(school: School, name: str = "Ada.Lovelace") -> LtiScoreView:
    return next(each for each in link(school).scores if each.student == name)


def give(school: School, points: float, name: str = "Ada.Lovelace") -> None:
    body = OverrideBody(student=name, challenge="scale", points=points, reason="by hand")
    overrides.override(school.platform, school.boss, "gpu", "week1", body)


def work(school: School) -> int:
    passback.compare(school.platform)
    return delivery.deliver(school.platform)


def later(school: School) -> None:
    with writing(school.platform.sessions) as session:
        session.execute(update(LtiScoreRow).values(next_at=utcnow(), held_until=None))


def sent(school: School, who: str = "ada", item: str = "1") -> float | None:
    found = school.site.scores.get((item, who))
    return found["scoreGiven"] if found else None


@pytest.mark.both_databases
def test_each_changed_grade_is_sent_once(school: School) -> None:
    assert work(school) == 0, "nobody has begun"
    give(school, 7.5)
    assert work(school) == 1
    body = school.site.scores["1", "ada"]
    assert (body["scoreGiven"], body["scoreMaximum"]) == (7.5, score(school).most)
    assert (body["activityProgress"], body["gradingProgress"]) == ("Completed", "FullyGraded")
    assert score(school).state is LtiScoreState.SENT
    assert work(school) == 0
    give(school, 8)
    assert work(school) == 1
    assert sent(school) == 8
    assert sent(school, "bob") is None
    assert len(school.site.posted) == 2
    assert school.site.asked_tokens == 1, "a token serves until it ends"


def test_sent_grades_follow_submissions_late_days_and_extensions(school: School) -> None:
    with school.platform.sessions() as session:
        row = session.query(UserRow).filter_by(name="Ada.Lovelace").one()
        ada = accounts.of_row(row)
    made = builders.judged(
        school.platform, ada, builders.accepted(challenge="scale", version=1), challenge="scale"
    )
    assert work(school) == 1
    full = score(school).points
    assert full > 0
    with writing(school.platform.sessions) as session:
        # Due yesterday, and half of the points go for each day.
        yesterday = utcnow() - timedelta(hours=1)
        session.execute(
            update(AssignmentRow)
            .where(AssignmentRow.slug == "week1")
            .values(due_at=yesterday, late_until=utcnow() + timedelta(days=9), late_percent=50.0)
        )
        session.execute(update(AssignmentRow).values(revision=AssignmentRow.revision + 1))
        session.execute(update(SubmissionRow).where(SubmissionRow.public_id == made.id).values(attempt=1))
    assert work(school) == 1
    assert sent(school) == pytest.approx(full / 2)
    body = ExtensionBody(student="Ada.Lovelace", due_at="2036-12-31")
    extensions.extend(school.platform, school.boss, "gpu", "week1", body)
    assert work(school) == 1
    assert sent(school) == pytest.approx(full)
    with writing(school.platform.sessions) as session:
        partner = session.query(UserRow.id).filter(UserRow.name.startswith("Bob")).scalar()
        first = session.query(SubmissionRow.id).filter_by(public_id=made.id).scalar()
        session.add(PartnerRow(submission_id=first, assignment_id=1, user_id=partner))
    assert work(school) == 1
    assert sent(school, "bob") == pytest.approx(full / 2)
    curves.curve(
        school.platform, school.boss, "gpu", CurveBody(assignment="week1", formula="p / 4", apply=True)
    )
    assert work(school) == 2
    assert (sent(school), sent(school, "bob")) == (pytest.approx(full / 4), pytest.approx(full / 8))


def test_an_unavailable_platform_is_retried_with_growing_pauses(school: School) -> None:
    give(school, 5)
    give(school, 6, "Bob")
    school.site.refuses = [503]
    passback.compare(school.platform)
    base = school.site.base
    # Nobody listens. One student's is requested for all.
    with writing(school.platform.sessions) as session:
        known = session.get_one(LtiPlatformRow, school.registered.id)
        known.token_url = "http://127.0.0.1:9/token"
        known.hosts = [base.removeprefix("http://")]
    assert delivery.deliver(school.platform) == 0
    tried = [entry for entry in link(school).scores if entry.tries]
    assert len(tried) == 1, "the other one waits until it answers"
    assert "cannot be reached" in tried[0].error
    first = tried[0].next_at
    assert first is not None
    assert first > utcnow() + timedelta(seconds=limits.SCORE_RETRY_SECONDS - 5)
    assert delivery.deliver(school.platform) == 0
    later(school)
    with writing(school.platform.sessions) as session:
        session.get_one(LtiPlatformRow, school.registered.id).token_url = f"{base}/token"
    delivery.deliver(school.platform)  # it answers 503 to one of them
    later(school)
    delivery.deliver(school.platform)
    assert (sent(school), sent(school, "bob")) == (5, 6)
    assert [each.state for each in link(school).scores] == [LtiScoreState.SENT] * 2


@pytest.mark.both_databases
def test_a_removed_grade_column_is_not_retried(school: School) -> None:
    school.site.line_items.clear()
    give(school, 5)
    work(school)
    assert score(school).state is LtiScoreState.FAILED
    assert "no longer exists in Moodle (404)" in score(school).error
    later(school)
    assert work(school) == 0
    assert school.site.posted == []
    # Staff see it, and send it from the page once there is a column again.
    browser = school.app.test_client()
    browser.post(
        "/sign-in",
        data={"name": "boss", "password": builders.PASSWORD, "csrf_token": csrf(browser)},
    )
    page = browser.get("/courses/gpu/lti").text
    assert "no longer exists in Moodle (404)" in page
    assert "Sent to learning platforms" in browser.get("/courses/gpu/gradebook").text
    school.site.line_items.add("1")
    token = csrf(browser, "/courses/gpu/lti")
    answer = browser.post(f"/courses/gpu/lti/links/{link(school).id}/send", data={"csrf_token": token})
    assert answer.status_code == 303
    assert delivery.deliver(school.platform) == 1
    assert sent(school) == 5


def test_a_new_grade_column_gets_all_grades(school: School) -> None:
    give(school, 5)
    assert work(school) == 1
    school.site.line_items = {"2"}
    school.launch(school.app.test_client(), "ada", resource="r1", assignment="gpu/week1", line_item="2")
    assert work(school) == 1
    assert sent(school, item="2") == 5


@pytest.mark.parametrize("status", [401, 409, 429, 500])
def test_temporary_errors_are_retried(school: School, status: int) -> None:
    give(school, 5)
    school.site.refuses = [status]
    work(school)
    later(school)
    delivery.deliver(school.platform)
    assert sent(school) == 5
    assert score(school).state is LtiScoreState.SENT
    assert school.site.asked_tokens == (2 if status == 401 else 1)


def test_sending_is_given_up_after_the_limit_of_tries(
    school: School, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "SCORE_TRIES", 2)
    give(school, 5)
    school.site.refuses = [500, 500]
    work(school)
    later(school)
    delivery.deliver(school.platform)
    assert (score(school).state, score(school).tries) == (LtiScoreState.FAILED, 2)
    give(school, 6)
    assert work(school) == 1, "another grade is another try"


@pytest.mark.both_databases
def test_a_grade_that_changes_while_sending_is_sent_again(
    school: School, monkeypatch: pytest.MonkeyPatch
) -> None:
    give(school, 5)
    passback.compare(school.platform)
    send = delivery._send

    def slowly(*given: object) -> None:
        send(*given)  # type: ignore[arg-type]
        monkeypatch.setattr(delivery, "_send", send)
        give(school, 6)
        passback.compare(school.platform)
        assert delivery.deliver(school.platform) == 0, "a worker holds it"

    monkeypatch.setattr(delivery, "_send", slowly)
    delivery.deliver(school.platform)
    assert sent(school) == 5
    assert score(school).state is LtiScoreState.PENDING
    assert delivery.deliver(school.platform) == 1
    assert sent(school) == 6


def test_stopped_and_ungraded_columns_get_no_grades(school: School) -> None:
    linked_courses.release(school.platform, school.boss, "gpu", link(school).id, False)
    give(school, 5)
    assert work(school) == 0
    browser = school.app.test_client()
    school.launch(browser, "ada", resource="r2", assignment="gpu/week2")
    (context,) = linked_courses.read(school.platform, school.boss, "gpu").contexts
    ungraded = next(each for each in context.links if each.assignment == "week2")
    assert "no gradebook column" in ungraded.why_not
    with pytest.raises(Conflict):
        linked_courses.release(school.platform, school.boss, "gpu", ungraded.id, True)
    accounts.create_user(school.platform, "eve", builders.PASSWORD)
    from grader.schemas.course import RosterBody
    from grader.service.courses import rosters

    rosters.import_roster(
        school.platform, school.boss, "gpu", RosterBody(text="account\neve\n", dry_run=False)
    )
    assert link(school).unknown == ["eve"]


def test_a_broken_challenge_sends_no_lower_grade(school: School, monkeypatch: pytest.MonkeyPatch) -> None:
    give(school, 5)
    work(school)
    grading = grade_book._grading
    monkeypatch.setattr(grade_book, "_grading", lambda platform, slug: (slug, None))
    assert passback.compare(school.platform) == 0
    monkeypatch.setattr(grade_book, "_grading", grading)
    assert passback.compare(school.platform) == 0


def test_no_grade_is_sent_before_feedback_is_released(school: School) -> None:
    with writing(school.platform.sessions) as session:
        week1 = session.query(AssignmentRow).filter_by(slug="week1").one().id
        row = FeedbackRow(assignment_id=week1, shown=Shown.ON_RELEASE.value)
        session.add(row)
    give(school, 5)
    assert work(school) == 0
    with writing(school.platform.sessions) as session:
        session.get_one(FeedbackRow, week1).released_at = utcnow()
    assert work(school) == 1


def close(school: School) -> None:
    with writing(school.platform.sessions) as session:
        week1 = session.query(AssignmentRow).filter_by(slug="week1").one()
        week1.due_at, week1.revision = utcnow() - timedelta(seconds=1), week1.revision + 1


@pytest.mark.both_databases
def test_a_returning_deleted_user_gets_no_zero(school: School) -> None:
    give(school, 7.5)
    assert work(school) == 1
    give(school, 8)  # not sent before the account goes
    passback.compare(school.platform)
    close(school)
    name = retention.forget(school.platform, "Ada.Lovelace").name
    school.launch(school.app.test_client(), "ada", resource="r1", assignment="gpu/week1", line_item="1")
    assert work(school) == 1, "Bob's zero, who never had a grade there"
    assert (sent(school), sent(school, "bob")) == (7.5, 0)
    assert [(each.student, each.points, each.state) for each in link(school).scores] == [
        ("Bob", 0, LtiScoreState.SENT),
        (name, 7.5, LtiScoreState.SENT),
    ]
    # The new account's work goes there.
    give(school, 3)
    assert work(school) == 1
    assert sent(school) == 3


def test_a_worker_sends_grades_by_itself(school: School) -> None:
    give(school, 4)
    sender = GradeSender(school.platform)
    sender.start()
    try:
        until(lambda: sent(school) == 4, "the grade was sent", 20.0)
    finally:
        sender.close()
