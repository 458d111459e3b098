"""GPU seconds: what is charged, to whom, and what a used-up budget refuses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from grader.errors import NotAllowed, NotFound, TooMany
from grader.languages import Language
from grader.records import budgets as recorded
from grader.records import claims, leases
from grader.records.budgets import Account
from grader.records.claims import Claim
from grader.records.engine import writing
from grader.records.models import CourseRow, SubmissionRow, utcnow
from grader.schemas.budget import Budget, BudgetBody, Payer
from grader.schemas.course import CourseBody
from grader.schemas.submission import RunBody, State, SubmitBody
from grader.service.accounts import tokens
from grader.service.accounts.accounts import User
from grader.service.courses import courses
from grader.service.platform import Platform, open_platform
from grader.service.submissions import budgets, quotas
from grader.service.submissions.cancel import cancel
from grader.service.submissions.run import run
from grader.service.submissions.submit import submit
from tests.service.courses.scenes import assign, enrol
from tests.service.queues.builders import BOARD, report
from tests.service.world import body, make_settings

pytestmark = pytest.mark.both_databases

SECONDS = 100


@pytest.fixture
def platform(tmp_path: Path, redis_url: str, database: str) -> Iterator[Platform]:
    platform = open_platform(make_settings(tmp_path, redis_url, devices=f"cpu,{BOARD}"))
    yield platform
    platform.close()


def on_gpu(number: int = 0) -> SubmitBody:
    return body(device=BOARD, source=f"x = {number}\n")


def take(platform: Platform, state: State = State.TESTING) -> Claim:
    """As if claimed ``SECONDS`` ago."""
    with writing(platform.sessions) as session:
        held = claims.claim(session, claims.ClaimRequest(BOARD, [*Language], "w", utcnow(), 3600.0)).held
        assert held is not None
        row = session.get_one(SubmissionRow, held.id)
        row.state, row.claimed_at = state, utcnow() - timedelta(seconds=SECONDS)
    return held


def judge(platform: Platform) -> None:
    held = take(platform)
    with writing(platform.sessions) as session:
        assert leases.finish(session, held, report(), utcnow())


def spent(platform: Platform, payer: Payer, number: int) -> int:
    with platform.sessions() as session:
        return round(recorded.spent(session, Account(payer, number), utcnow()).total_s)


def listed(platform: Platform, staff: User) -> dict[tuple[Payer, str], Budget]:
    return {(each.payer, each.name): each for each in budgets.list_budgets(platform, staff).budgets}


def test_a_used_up_budget_refuses_work_for_gpus_alone(
    platform: Platform, student: User, other: User, staff: User
) -> None:
    budgets.set_budget(platform, staff, Payer.USER, "ADA", BudgetBody(total_s=150))
    for number in range(2):
        submit(platform, student, on_gpu(number))
        judge(platform)
    on_run = RunBody(**on_gpu().model_dump(include={"challenge", "source", "filename", "device"}))
    for send in (lambda: submit(platform, student, on_gpu(2)), lambda: run(platform, student, on_run)):
        with pytest.raises(TooMany, match="have used 200 GPU seconds; the budget is 150 in all"):
            send()
    assert submit(platform, student, body()).state is State.QUEUED
    assert submit(platform, other, on_gpu()).state is State.QUEUED
    own = quotas.own_quotas(platform, student, "scale").gpu
    assert [round(day.seconds) for day in own.days] == [200]
    assert [round(budget.spent_total_s) for budget in own.budgets] == [200]
    assert round(listed(platform, staff)[Payer.USER, "ada"].spent_day_s) == 200
    budgets.set_budget(platform, staff, Payer.USER, "ada", BudgetBody(day_s=150))
    with pytest.raises(TooMany, match="the budget is 150 a day") as refused:
        submit(platform, student, on_gpu(2))
    assert "midnight UTC" in refused.value.hint
    budgets.set_budget(platform, staff, Payer.USER, "ada", BudgetBody())
    assert submit(platform, student, on_gpu(2)).state is State.QUEUED


def test_our_failures_compiling_and_judging_again_are_free_and_a_cancelled_run_is_not(
    platform: Platform, student: User
) -> None:
    submit(platform, student, on_gpu())
    held = take(platform)
    with writing(platform.sessions) as session:
        leases.give_back(session, held.id, held.attempt, utcnow(), error="oh", cap=9)
    judge(platform)
    assert spent(platform, Payer.USER, student.id) == SECONDS
    submit(platform, student, on_gpu(1))
    with writing(platform.sessions) as session:
        session.get_one(SubmissionRow, 2).rejudge_of = 1
    judge(platform)
    assert spent(platform, Payer.USER, student.id) == SECONDS
    for state, charged in ((State.COMPILING, SECONDS), (State.TESTING, 2 * SECONDS)):
        sent = submit(platform, student, on_gpu(charged))
        held = take(platform, state)
        cancel(platform, student, sent.id)
        with writing(platform.sessions) as session:
            assert leases.give_back(session, held.id, held.attempt, utcnow()) is State.CANCELLED
        assert spent(platform, Payer.USER, student.id) == charged, state


def test_a_course_pays_for_its_assignments(
    platform: Platform, student: User, other: User, staff: User
) -> None:
    courses.create_course(platform, staff, CourseBody(slug="gpu", name="GPU"))
    enrol(platform, staff, student)
    assign(platform, staff)
    budgets.set_budget(platform, staff, Payer.COURSE, "gpu", BudgetBody(day_s=SECONDS))
    for user in (other, student):
        submit(platform, user, on_gpu())
        judge(platform)
    with platform.sessions() as session:
        course = session.query(CourseRow).one().id
    assert spent(platform, Payer.COURSE, course) == SECONDS
    with pytest.raises(TooMany, match="the course gpu together have used"):
        submit(platform, student, on_gpu(1))
    assert submit(platform, other, on_gpu(1)).state is State.QUEUED


def test_a_tokens_budget_is_its_owners_and_ends_with_it(
    platform: Platform, student: User, other: User
) -> None:
    def token() -> User:
        return tokens.user_of_token(platform, tokens.issue_token(platform, student).token)

    agent = token()
    assert agent.token is not None
    number = str(agent.token.number)
    with pytest.raises(NotFound, match="no token"):
        budgets.set_budget(platform, other, Payer.TOKEN, number, BudgetBody(day_s=1))
    budgets.set_budget(platform, student, Payer.TOKEN, number, BudgetBody(day_s=1))
    submit(platform, agent, on_gpu())
    judge(platform)
    with pytest.raises(TooMany, match="This token's submissions have used"):
        submit(platform, agent, on_gpu(1))
    assert submit(platform, student, on_gpu(1)).state is State.QUEUED
    tokens.revoke_own(platform, student, agent.token.number)
    assert submit(platform, token(), on_gpu(2)).state is State.QUEUED


def test_only_staff_set_budgets_and_the_platforms_is_for_students(
    platform: Platform, student: User, staff: User
) -> None:
    with pytest.raises(NotAllowed):
        budgets.set_budget(platform, student, Payer.USER, "ada", BudgetBody())
    with pytest.raises(NotFound, match="no competition 'cup'"):
        budgets.set_budget(platform, staff, Payer.COMPETITION, "cup", BudgetBody())
    usual = platform.settings.model_copy(update={"gpu_seconds_per_day": 60.0})
    limited = replace(platform, settings=usual)
    assert [budget.day_s for budget in budgets.own(limited, student).budgets] == [60]
    assert budgets.own(limited, staff).budgets == []


def test_two_gpus_cost_twice_the_time(platform: Platform, student: User) -> None:
    submit(platform, student, on_gpu())
    held = take(platform)
    with writing(platform.sessions) as session:
        session.get_one(SubmissionRow, held.id).device = f"{BOARD}-x2"
        session.flush()
        assert leases.finish(session, held, report(), utcnow())
    assert spent(platform, Payer.USER, student.id) == 2 * SECONDS
