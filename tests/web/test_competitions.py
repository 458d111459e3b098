"""A competition from draft to certificate, over pages and API."""

from __future__ import annotations

import html
import json
import re
import socket
from datetime import UTC, datetime, timedelta

import pytest
from flask.testing import FlaskClient
from sqlalchemy import delete

from grader import certificate, limits
from grader.device_kinds import languages_of
from grader.records import competitions as record
from grader.records import workers
from grader.records.engine import clock, writing
from grader.records.models import SubmissionRow, utcnow
from grader.schemas.competition import CompetitionBoard, CompetitionBody, CompetitionView, FinalView, Phase
from grader.schemas.regrade import RegradeBody
from grader.service.accounts.accounts import User
from grader.service.competitions import competitions
from grader.service.courses.permissions import TABLE, Action, Standing
from grader.service.platform import Platform
from grader.service.review import regrade
from tests.service.competitions.builders import elapse, judge
from tests.web import builders
from tests.web.conftest import Visit, csrf

API = "/api/v1/competitions"
PAGE = "/competitions"
CUP = f"{PAGE}/cup"


def _form(**values: str) -> dict[str, str]:
    now = utcnow()
    given = {
        "slug": "cup",
        "title": "The <b>cup</b>",
        "rules": "# Rules\n\nBe **fair**. <script>alert(1)</script>",
        "challenges": "vector_add 50: n=1000; n=77",
        "starts_at": (now - timedelta(hours=1)).strftime("%Y-%m-%d %H:%M"),
        "ends_at": (now + timedelta(hours=1)).strftime("%Y-%m-%d %H:%M"),
        "freeze_minutes": "30",
        "scoring": "time",
        "registration": "open",
        "team_size": "2",
        "code_shown": "1",
        "open_afterwards": "1",
    }
    return given | values


def _press(client: FlaskClient, path: str, **values: str) -> int:
    data = {**values, "csrf_token": csrf(client, "/account")}
    return client.post(path, data=data).status_code


@pytest.fixture
def staff(visit: Visit, teacher: User) -> FlaskClient:
    return visit(teacher)


@pytest.fixture
def cup(staff: FlaskClient) -> FlaskClient:
    assert _press(staff, PAGE, **_form()) == 303
    assert _press(staff, f"{CUP}/manage/publish") == 303
    return staff


def test_a_competition_runs_over_its_pages(
    platform: Platform, cup: FlaskClient, visit: Visit, ada: User, bob: User
) -> None:
    student, other = visit(ada), visit(bob)
    page = student.get(CUP).text
    assert "The &lt;b&gt;cup&lt;/b&gt;" in page
    assert "<strong>fair</strong>" in page
    assert "<script>alert" not in page
    assert "n = 1,000" not in page, "what the final times is hidden"
    assert "data-countdown" in page
    assert _press(student, f"{CUP}/register", team="Warps") == 303
    code = json.loads(visit(ada).get(f"{API}/cup").data)["own"][0]["join_code"]
    assert code in student.get(CUP).text
    assert _press(other, f"{CUP}/register", join_code="wrong") == 404
    assert _press(other, f"{CUP}/register", join_code=code) == 303
    judge(platform, builders.hand_in(platform, ada).id, 100.0)
    board = student.get(f"{CUP}/board")
    assert "Warps" in board.text
    assert "100 µs" in board.text
    rows = student.get(f"{CUP}/board/rows")
    etag = {"If-None-Match": rows.headers["ETag"]}
    assert student.get(f"{CUP}/board/rows", headers=etag).status_code == 304
    judge(platform, builders.hand_in(platform, bob, source="faster = 1\n").id, 50.0)
    platform.boards.forget()  # as if a second had passed
    assert student.get(f"{CUP}/board/rows", headers=etag).status_code == 200
    assert _press(other, f"{CUP}/leave") == 303
    assert "(left)" in student.get(CUP).text
    assert student.get(f"{CUP}/manage").status_code == 403
    assert _press(student, f"{CUP}/manage/results") == 403


def test_guessing_team_and_invitation_codes_is_limited(
    platform: Platform, staff: FlaskClient, visit: Visit, call: Visit, ada: User, bob: User
) -> None:
    assert _press(staff, PAGE, **_form(registration="invite")) == 303
    assert _press(staff, f"{CUP}/manage/publish") == 303
    invitation = json.loads(staff.get(f"{API}/cup").data)["invite_code"]
    browser, program = visit(bob), call(bob)
    for number in range(limits.WRONG_TEAM_CODES_PER_MINUTE):
        if number % 2:
            assert _press(browser, f"{CUP}/register", join_code=f"wrong{number}") == 404
        else:
            body = {"invite_code": f"wrong{number}"}
            assert program.post(f"{API}/cup/register", json=body).status_code == 403
    assert _press(browser, f"{CUP}/register", invite_code=invitation) == 429
    assert program.post(f"{API}/cup/register", json={"invite_code": invitation}).status_code == 429
    assert _press(browser, f"{CUP}/register") == 403  # no guess
    # Neither do right codes count, nor others' wrong ones.
    other = visit(ada)
    for _ in range(limits.WRONG_TEAM_CODES_PER_MINUTE + 1):
        assert _press(other, f"{CUP}/register", invite_code=invitation) == 303


def test_teams_can_be_disqualified_and_restored(
    platform: Platform, cup: FlaskClient, visit: Visit, ada: User, bob: User
) -> None:
    for user in (ada, bob):
        assert _press(visit(user), f"{CUP}/register", team=f"Team {user.name}") == 303
    assert _press(visit(bob), f"{CUP}/leave") == 303
    assert "bob (left)" in cup.get(f"{CUP}/manage").text
    assert _press(cup, f"{CUP}/manage/disqualify", team="Team ada", reason="two <i>accounts</i>") == 303
    page = cup.get(f"{CUP}/manage").text
    assert "two &lt;i&gt;accounts" in page
    assert "Put Team ada back" in page
    assert _press(cup, f"{CUP}/manage/disqualify", team="Team ada", reason="") == 303
    assert "Put Team ada back" not in cup.get(f"{CUP}/manage").text
    done = builders.hand_in(platform, ada).id
    assert _press(cup, f"{CUP}/delete") == 409
    with writing(platform.sessions) as session:
        session.execute(delete(SubmissionRow).where(SubmissionRow.public_id == done))
    assert _press(visit(ada), f"{CUP}/delete") == 403
    assert _press(cup, f"{CUP}/delete") == 303
    assert cup.get(CUP).status_code == 404


def test_a_competition_ends_with_results_and_certificates(
    platform: Platform, cup: FlaskClient, visit: Visit, ada: User, bob: User
) -> None:
    with writing(platform.sessions) as session:
        workers.register(session, "w", "cpu", languages_of("cpu"), clock(session))
    student = visit(ada)
    for user, time in ((ada, 200.0), (bob, 400.0)):
        assert _press(visit(user), f"{CUP}/register") == 303
        judge(platform, builders.hand_in(platform, user).id, time)
    elapse(platform, minutes=45)
    judge(platform, builders.hand_in(platform, bob, source="late = 1\n").id, 100.0)
    assert "+1" in student.get(f"{CUP}/board").text
    assert "Frozen board" in student.get(f"{CUP}/board").text
    assert "100 µs" in cup.get(f"{CUP}/board").text
    assert "data-resolve" not in student.get(f"{CUP}/screen").text
    # An audience watches, so staff see the public's view, now and after updates.
    screen = cup.get(f"{CUP}/screen").text
    source = re.search(r'data-source="([^"]+)"', screen)
    assert source
    for shown in (screen, cup.get(html.unescape(source[1])).text):
        assert "+1" in shown
        assert "100 µs" not in shown
    elapse(platform, hours=2)
    assert "data-resolve" in cup.get(f"{CUP}/screen").text, "staff resolve it before it is published"
    assert "data-resolve" not in student.get(f"{CUP}/screen").text
    assert _press(cup, f"{CUP}/manage/finalists", top="1") == 303
    assert _press(cup, f"{CUP}/manage/final", machine="nowhere", repeats="1") == 409
    with writing(platform.sessions) as session:
        workers.beat(session, "w", clock(session))
    assert _press(cup, f"{CUP}/manage/final", machine=socket.gethostname(), repeats="3") == 303
    assert "0 of 3" in cup.get(f"{CUP}/manage").text
    with platform.sessions() as session:
        runs = [entry.public_id for _, entry in record.final_runs(session, 1)]
    for times in ((None, None, 110.0), (110.0, None, 110.0)):
        for run, time_us in zip(runs, times, strict=True):
            judge(platform, run, time_us)
        platform.boards.forget()
        why = "no time in repeats" if times[0] is None else "of 2 repeats"
        assert why in cup.get(f"{CUP}/manage").text
        told = cup.get(f"{CUP}/board?kind=final").text
        assert ("no time in repeats 1, 2" in told) == (times[0] is None)
    page = cup.get(f"{CUP}/manage").text
    assert "of 2 repeats" in page
    assert ">no time</a>" in page
    assert _press(cup, f"{CUP}/manage/results") == 303
    board = CompetitionBoard.model_validate_json(student.get(f"{API}/cup/board").data)
    assert [(row.team, row.rank) for row in board.rows] == [("bob", 1), ("ada", 2)]
    assert "late = 1" in student.get(f"{CUP}/teams/bob/code/vector_add").text
    given = student.get(f"{CUP}/teams/bob/certificate.json")
    key = certificate.read_key(visit(None).get("/signing-key.pem").text)
    assert certificate.check(given.text, key).genuine
    assert json.loads(visit(None).get("/api/v1/signing-key").data)["id"] == certificate.key_id(key)
    assert "n = 1,000" in student.get(CUP).text
    assert "data-resolve" in student.get(f"{CUP}/screen").text


def test_a_regrade_shows_whose_rank_changes(
    platform: Platform, cup: FlaskClient, visit: Visit, teacher: User, ada: User, bob: User
) -> None:
    sent = []
    for user, time in ((ada, 200.0), (bob, 400.0)):
        assert _press(visit(user), f"{CUP}/register") == 303
        sent.append(builders.hand_in(platform, user).id)
        judge(platform, sent[-1], time)
    found = regrade.start(platform, teacher, RegradeBody(submission=sent[0], reason="A card was slow."))
    judge(platform, found.submissions[0].after.id, 800.0)
    page = cup.get("/regrades/1").text
    assert "Ranks in The &lt;b&gt;cup&lt;/b&gt; on cpu" in page
    assert "2 of 2 change." in page
    for team, before, after in (("bob", 2, 1), ("ada", 1, 2)):
        cells = (
            f'<td>{team}</td><td class="right figures">{before}</td><td class="right figures">{after}</td>'
        )
        assert f'<tr class="changed">{cells}' in page


def test_a_refused_form_keeps_its_input(staff: FlaskClient) -> None:
    for wrong, message in (
        ({"ends_at": "tomorrow"}, "is not a time"),
        (
            {"starts_at": "2027-03-28T02:30", "time_zone": "Europe/Berlin"},
            "2027-03-28 02:30 does not exist in Europe/Berlin",
        ),
        ({"ends_at": "2001-01-01 00:00"}, "must end after it starts"),
        ({"challenges": "vector_add 1: n=many"}, "is not a size"),
        ({"challenges": "no_such"}, "no_such"),
        ({"team_size": "0"}, "team_size"),
        ({"slug": "new"}, "is reserved"),
    ):
        answer = staff.post(PAGE, data={**_form(**wrong), "csrf_token": csrf(staff, "/account")})
        assert answer.status_code in (400, 404), wrong
        assert message in answer.text
        assert "Be **fair**" in answer.text


def test_times_are_entered_in_a_zone(platform: Platform, staff: FlaskClient, teacher: User) -> None:
    def stands() -> CompetitionBody:
        return CompetitionBody.model_validate_json(staff.get(f"{API}/cup/definition").data)

    typed = {
        "time_zone": "Europe/Berlin",
        "starts_at": "2090-03-01T09:00",
        "ends_at": "2090-10-29T02:30",  # clocks show it twice
        "freeze_minutes": "0",
    }
    assert _press(staff, PAGE, **_form(**typed)) == 303
    made = stands()
    assert made.starts_at == datetime(2090, 3, 1, 8, tzinfo=UTC)
    assert made.ends_at == datetime(2090, 10, 29, 1, 30, tzinfo=UTC), "the later one"
    page = staff.get(f"{CUP}/manage").text
    for field in ("starts_at", "ends_at"):
        assert f'name="{field}" type="datetime-local" step="1" required value="{typed[field]}:00"' in page
    assert '<time datetime="2090-03-01T08:00:00+00:00" data-zone="Europe/Berlin">2090-03-01 09:00 CET' in page
    # Unchanged times do not move, though the form cannot tell which half past two.
    first = made.ends_at - timedelta(hours=1)
    competitions.edit_competition(platform, teacher, "cup", made.model_copy(update={"ends_at": first}))
    assert _press(staff, f"{CUP}/edit", **_form(**typed)) == 303
    assert stands().ends_at == first
    assert _press(staff, f"{CUP}/edit", **_form(**typed | {"time_zone": "UTC"})) == 303
    assert stands().ends_at == datetime(2090, 10, 29, 2, 30, tzinfo=UTC)
    assert "2090-03-01 09:00 UTC" in staff.get(PAGE).text


def test_a_competition_can_be_edited(cup: FlaskClient) -> None:
    assert _press(cup, f"{CUP}/edit", **_form(title="Another"), revision="1") == 303
    assert "Another" in cup.get(CUP).text
    assert _press(cup, f"{CUP}/edit", **_form(title="Third"), revision="1") == 409


# Method, path below /competitions, body, and required right.
ROUTES: list[tuple[str, str, object, Action]] = [
    ("GET", "/cup", None, Action.COMPETITION_READ),
    ("GET", "/cup/board", None, Action.COMPETITION_READ),
    ("GET", "/draft", None, Action.COMPETITION_READ_DRAFT),
    ("POST", "/cup/register", {}, Action.COMPETITION_ENTER),
    ("POST", "/cup/leave", {}, Action.COMPETITION_ENTER),
    ("POST", "", {}, Action.COMPETITION_EDIT),
    ("POST", "/cup", {}, Action.COMPETITION_EDIT),
    ("GET", "/cup/definition", None, Action.COMPETITION_EDIT),
    ("POST", "/cup/publish", None, Action.COMPETITION_EDIT),
    ("POST", "/cup/invite-code", None, Action.COMPETITION_EDIT),
    ("GET", "/cup/teams", None, Action.COMPETITION_DISQUALIFY),
    ("POST", "/cup/disqualify", {"team": "ada"}, Action.COMPETITION_DISQUALIFY),
    ("POST", "/cup/finalists", {"top": 1}, Action.COMPETITION_FINAL),
    ("GET", "/cup/final", None, Action.COMPETITION_FINAL),
    ("POST", "/cup/final", {"machine": "m"}, Action.COMPETITION_FINAL),
    ("POST", "/cup/final/cancel", None, Action.COMPETITION_FINAL),
    ("POST", "/cup/results", None, Action.COMPETITION_RESULTS),
    ("DELETE", "/draft", None, Action.COMPETITION_EDIT),
]


def test_routes_follow_the_table_of_permissions(
    platform: Platform, cup: FlaskClient, call: Visit, ada: User, teacher: User
) -> None:
    definition = json.loads(cup.get(f"{API}/cup/definition").data)
    definition["revision"] = None
    made = call(teacher).post(API, json={**definition, "slug": "draft"})
    assert CompetitionView.model_validate_json(made.data).phase is Phase.DRAFT
    assert {entry for *_, entry in ROUTES} == {
        each for each in Action if each.value.startswith("competition.")
    }
    for user, standing in ((ada, Standing.VISITOR), (teacher, Standing.STAFF)):
        client = call(user)
        for method, path, sent, action in ROUTES:
            body = (
                {**definition, "slug": "cup" if path else f"of-{user.name}"}
                if sent == {} and action is (Action.COMPETITION_EDIT)
                else sent
            )
            answer = client.open(API + path, method=method, json=body)
            refused = answer.status_code in (403, 404) and b"no team" not in answer.data
            assert refused == (standing not in TABLE[action]), (user.name, method, path, answer.text)
    view = FinalView.model_validate_json(cup.get(f"{API}/cup/final").data)
    assert view.state is None
