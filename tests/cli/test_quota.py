"""`quota`, `admin budgets` and `admin budget` against a stub."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime

import pytest

from grader.schemas.budget import Budget, BudgetList, GpuDay, GpuTime, Payer
from grader.schemas.queue import OwnQuotas, Quota, Quotas
from tests.cli.conftest import Cli
from tests.cli.stub import Stub

MINE = Budget(payer=Payer.USER, name="ada", day_s=600, total_s=None, spent_day_s=12.5, spent_total_s=99.0)


def _quotas() -> dict[str, object]:
    one = Quota(limit=10, used=3, remaining=7, frees_at=datetime(2026, 1, 2, 12, tzinfo=UTC))
    of_challenge = Quotas(
        challenge="vector_add", waiting=one, submissions=one, window_s=86400, running=one, runs=one
    )
    gpu = GpuTime(budgets=[MINE], days=[GpuDay(day=date(2026, 1, 1), seconds=86.5)])
    return OwnQuotas(waiting=one, running=one, runs=one, challenge=of_challenge, gpu=gpu).model_dump(
        mode="json"
    )


def test_quota_shows_limits_and_gpu_seconds(cli: Cli, server: Stub) -> None:
    server.answer("GET /me/quotas", _quotas())
    ran = cli("quota", "vector_add")
    assert ran.code == 0
    for words in ("submissions for vector_add within 24 h", "3 of 10", "86.5 GPU seconds", "600 s"):
        assert words in ran.out + ran.err, words
    assert server.asked[-1].path.endswith("/me/quotas?challenge=vector_add")


def test_a_budget_is_set_whole(cli: Cli, server: Stub) -> None:
    server.answer("PUT /budgets/course/gpu", MINE.model_dump(mode="json"))
    assert cli("admin", "budget", "course", "gpu", "--day", "3600", "--total", "none").code == 0
    assert json.loads(server.asked[-1].body) == {"day_s": 3600.0, "total_s": None}


@pytest.mark.parametrize("seconds", ["an hour", "-1", "nan"])
def test_a_budget_is_a_number_of_seconds(cli: Cli, server: Stub, seconds: str) -> None:
    ran = cli("admin", "budget", "user", "ada", f"--day={seconds}")
    assert ran.code == 2
    assert f"--day {seconds} is no number of seconds" in ran.err


def test_budgets_are_listed(cli: Cli, server: Stub) -> None:
    server.answer("GET /budgets", BudgetList(budgets=[MINE]).model_dump(mode="json"))
    assert "ada" in cli("admin", "budgets").out
