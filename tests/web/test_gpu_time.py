"""GPU seconds on the pages Settings and Operations."""

from __future__ import annotations

from grader.records.engine import writing
from grader.records.models import GpuTimeRow, utcnow
from grader.schemas.budget import BudgetBody, Payer
from grader.service.accounts import tokens
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.service.submissions import budgets
from tests.web.conftest import Visit, csrf


def test_people_see_their_seconds_and_limit_their_tokens(
    platform: Platform, visit: Visit, ada: User, teacher: User
) -> None:
    assert "GPU time" not in visit(ada).get("/account").text
    issued = tokens.issue_token(platform, ada, "agent")
    used = tokens.user_of_token(platform, issued.token).token
    assert used is not None
    number = used.number
    spent = {"course_id": 0, "competition_id": 0, "token_id": number}
    with writing(platform.sessions) as session:
        day = utcnow().date().isoformat()
        session.add(GpuTimeRow(user_id=ada.id, day=day, device="h200", seconds=321.5, **spent))
    budgets.set_budget(platform, teacher, Payer.USER, "ada", BudgetBody(day_s=600, total_s=5000))
    client = visit(ada)
    form = {"csrf_token": csrf(client, "/account"), "day": "60"}
    assert client.post(f"/account/tokens/{number}/budget", data=form).status_code == 303
    page = client.get("/account").text
    for words in ("321.5 of 600 s today", "321.5 of 5000 s in all", 'value="60"', f"{day}: 321.5 s"):
        assert words in page, words
    refused = client.post(f"/account/tokens/{number}/budget", data=form | {"day": "soon"})
    assert (refused.status_code, "is no number of seconds" in refused.text) == (400, True)
    assert "321.5" in visit(teacher).get("/operations/panel").text
