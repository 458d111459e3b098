"""Every route, used by every role. Rows follow from the routes' declarations (rows.py); a route without a
declaration fails the first test.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest
from flask import Flask
from flask.testing import FlaskClient
from flask_openapi3.openapi import OpenAPI
from sqlalchemy import update

from grader.records.engine import writing
from grader.records.models import VersionRow, WorkerRow
from grader.schemas.draft import DraftBody
from grader.schemas.token import Scope
from grader.service.accounts import tokens
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.web.app import create_app
from grader.web.auth import scopes
from grader.web.auth.identity import WORKER_PATHS, by_cookie
from grader.web.throttle import limiter
from tests.service.world import make_catalogue
from tests.web import builders
from tests.web.conftest import Visit, csrf
from tests.web.security.rows import (
    ANSWERS,
    API,
    BODIES,
    FORMS,
    MORE,
    OF_ACCOUNTS,
    PATHS,
    ROLES,
    ROUTES,
    ROWS,
    STATUSES,
    Row,
)
from tests.web.told import told as words

SOURCE = "import triton  # the owner's secret source\n"
# A hidden case's name, seed, size, detail, hint, mismatch and output, in this order.
HIDDEN = [
    "hidden-name",
    "777333111",
    "424243",
    "hidden-detail",
    "hidden-hint",
    "hidden-expected",
    "hidden-got",
    "hidden-output",
]


@dataclass(frozen=True)
class Scene:
    """The owner's submission, judged under version 1 (shown) and 2 (a draft), and one that waits."""

    app: Flask
    platform: Platform
    people: dict[str, User | None]
    id: str
    again: str
    running: str

    def path(self, row: Row) -> str:
        owner = self.people["owner"]
        assert owner
        number = tokens.list_tokens(self.platform, owner).tokens[-1].id
        return row.path.format(id=self.id, running=self.running, number=number)


def hidden_report() -> object:
    report = builders.wrong(challenge="scale")
    secret = report.cases[1].model_copy(
        update={
            "hidden": True,
            "name": HIDDEN[0],
            "seed": int(HIDDEN[1]),
            "sizes": {"n": int(HIDDEN[2])},
            "detail": HIDDEN[3],
            "hint": HIDDEN[4],
            "mismatch": report.cases[1].mismatch.model_copy(  # type: ignore[union-attr]
                update={
                    "expected": HIDDEN[5],
                    "got": HIDDEN[6],
                    "wrong": 31313131313,
                    "total": int(HIDDEN[2]),
                }
            ),
            "output": HIDDEN[7],
            "seconds": 0.123456789,
        }
    )
    changed = {"cases": [report.cases[0], secret], "compiler_log": "compiled for the owner", "version": 1}
    return report.model_copy(update=changed)


@pytest.fixture
def scene(tmp_path: Path, app: Flask, platform: Platform, ada: User, bob: User, teacher: User) -> Scene:
    from grader.service.accounts import accounts
    from grader.service.challenges import rejudge
    from grader.service.submissions import drafts

    owner = accounts.create_user(platform, "owner", builders.PASSWORD)
    tokens.issue_token(platform, owner, "the owner's laptop")
    drafts.keep_draft(platform, owner, "scale", "triton", DraftBody(source="# the owner's draft"))
    view = builders.judged(platform, owner, hidden_report(), challenge="scale", source=SOURCE)  # type: ignore[arg-type]
    path = platform.catalogue.root / "challenges" / "scale" / "challenge.toml"
    path.write_text(path.read_text().replace("version = 1", "version = 2").replace("2.0", "4.0"))
    rejudge.rejudge(platform, teacher, "scale")
    with platform.sessions() as session:
        from sqlalchemy import select

        from grader.records.models import SubmissionRow

        again = session.scalar(select(SubmissionRow.public_id).where(SubmissionRow.rejudge_of.is_not(None)))
    assert again
    running = builders.hand_in(platform, owner, challenge="scale").id
    people = {"anonymous": None, "owner": owner, "other": bob, "staff": teacher}
    return Scene(app, platform, people, view.id, again, running)


@pytest.fixture
def platform(tmp_path: Path, database: str) -> object:
    from grader.service.platform import open_platform

    catalogue = make_catalogue(tmp_path / "catalogue")
    staff = catalogue / "reference" / "scale" / "staff"
    staff.mkdir(exist_ok=True)
    (staff / "solution.py").write_text("# a solution by staff\ndef solve(a, i, out, alpha, n): ...\n")
    opened = open_platform(builders.make_settings(tmp_path, challenges=catalogue))
    yield opened
    opened.close()


@pytest.fixture(autouse=True)
def _unthrottled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limiter, "enabled", False)


def test_every_route_declares_who_may_use_it(app: Flask) -> None:
    assert [f"{method} {rule}: add @open_to(...)" for method, rule, access in ROUTES if access is None] == []
    served = {
        (method, rule.rule)
        for rule in app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }
    assert {(row.method, row.rule) for row in ROWS} == served


def test_every_expectation_is_of_an_existing_route() -> None:
    calls = {f"{method} {rule}" for method, rule, _ in ROUTES}
    answers = {call.strip() for group in ANSWERS.values() for call in group.splitlines() if call.strip()}
    more = {f"{row.method} {row.rule}" for row in MORE}
    assert (answers | set(STATUSES) | set(PATHS) | more) - calls == set()


def test_the_api_document_marks_calls_that_need_a_token(app: Flask) -> None:
    document = cast(OpenAPI, app).api_doc
    for method, rule, access in ROUTES:
        assert access
        path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule)
        if rule.startswith(API) and path in document["paths"]:
            operation = document["paths"][path][method.lower()]
            assert bool(operation.get("security")) == access.signed_in, f"{method} {rule}"
            assert operation["x-open-to"] == access.who, f"{method} {rule}"


@pytest.mark.parametrize("role", ROLES)
def test_each_role_may_use_only_its_routes(scene: Scene, visit: Visit, call: Visit, role: str) -> None:
    """Protects every address against a caller whose role may not use it."""
    user = scene.people[role]
    wrong = []
    for row in ROWS:
        answer = ask(scene, row, call(user) if row.path.startswith(API) else visit(user))
        if not row.allows(role, answer):
            wrong.append(f"{row.method} {row.path}: {answer}, not {row.statuses[ROLES.index(role)]}")
    assert wrong == []


def ask(scene: Scene, row: Row, client: FlaskClient) -> int:
    path = scene.path(row)
    if row.path.startswith(API):
        json = BODIES.get(row.path, BODIES.get(path, {})) if row.method in ("POST", "PUT", "PATCH") else None
        return client.open(path, method=row.method, json=json).status_code
    if row.method == "GET":
        with client.get(path) as answer:  # a served file stays open until then
            return answer.status_code
    form = FORMS.get(row.path, FORMS.get(path, {})) | {"csrf_token": csrf(client, "/challenges/scale")}
    return client.post(path, data=form).status_code


WITHOUT_ACCOUNT = {
    f"{API}/device-codes",
    f"{API}/device-codes/token",
    f"{API}/hooks/catalogue/<key>",
    f"{API}/notices/unsubscribe",
    f"{API}/tokens",
}
API_ROWS = [row for row in ROWS if row.path.startswith(API)]


def test_permissions_are_checked_before_the_body(scene: Scene, call: Visit) -> None:
    """A caller who is not signed in, or not permitted, learns only that, even with an empty body."""
    wrong = []
    for row in API_ROWS:
        if row.method in ("POST", "PUT", "PATCH") and row.rule not in WITHOUT_ACCOUNT:
            for role, expected in zip(ROLES, row.statuses, strict=True):
                answer = (
                    call(scene.people[role]).open(scene.path(row), method=row.method, json={}).status_code
                )
                if expected in (401, 403) and answer != expected:
                    wrong.append(f"{row.method} {row.path} as {role}: {answer}, not {expected}")
    assert wrong == []


def test_only_the_listed_calls_work_without_an_account(scene: Scene, call: Visit) -> None:
    """Any other route must answer 401."""
    found = {
        row.rule
        for row in API_ROWS
        if row.method in ("POST", "PUT", "PATCH", "DELETE")
        and call(None).open(scene.path(row), method=row.method, json={}).status_code != 401
    }
    assert found == WITHOUT_ACCOUNT


def with_token(scene: Scene, role: str, scopes: list[Scope]) -> FlaskClient:
    user = scene.people[role]
    assert user
    client = scene.app.test_client()
    wish = tokens.TokenRequest("test", scopes=scopes)
    client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {tokens.issue(scene.platform, user, wish).token}"
    return client


@pytest.mark.parametrize("scope", [Scope.READ, Scope.SUBMIT, Scope.ACCOUNT])
def test_a_token_is_limited_to_its_scope(scene: Scene, scope: Scope) -> None:
    wrong = []
    for row in API_ROWS:
        if row.rule.startswith(WORKER_PATHS):
            continue  # open to no user, see test_workers.py
        takes = scopes.needed(row.method, row.rule)
        answer = ask(scene, row, with_token(scene, "owner", [scope]))
        if not (row.allows("owner", answer) if takes in (None, scope) else answer == 403):
            wrong.append(f"{row.method} {row.path}: {answer}")
    assert wrong == []
    assert {scopes.needed(row.method, row.rule) for row in API_ROWS} == {None, *Scope} - {Scope.STAFF}


def test_account_changes_need_the_account_scope(scene: Scene) -> None:
    """Also for staff, and for other people's accounts."""
    rows = [row for row in API_ROWS if row.rule in OF_ACCOUNTS]
    assert {row.rule for row in rows} == OF_ACCOUNTS
    for role, given in (("owner", [Scope.READ, Scope.SUBMIT]), ("staff", [*Scope])):
        client = with_token(scene, role, [each for each in given if each is not Scope.ACCOUNT])
        assert {(row.rule, ask(scene, row, client)) for row in rows} == {(rule, 403) for rule in OF_ACCOUNTS}
    refused = client.post(f"{API}/me/deletion", json={"confirm": "teacher"}).json
    assert refused
    assert refused["error"]["hint"].startswith("`grader login --scope read,submit,account,staff`")


def test_a_staff_token_without_the_staff_scope_has_student_rights(scene: Scene) -> None:
    wrong = []
    for row in API_ROWS:
        answer = ask(scene, row, with_token(scene, "staff", [Scope.READ, Scope.SUBMIT, Scope.ACCOUNT]))
        if not row.allows("other", answer):
            wrong.append(f"{row.method} {row.path}: {answer}, not {row.statuses[ROLES.index('other')]}")
    assert wrong == []


def test_a_staff_token_without_the_staff_scope_reads_as_a_student(scene: Scene) -> None:
    client = with_token(scene, "staff", [Scope.READ])
    told = "\n".join(words(client.get(scene.path(row))) for row in API_ROWS if row.method == "GET")
    for field, texts, readers in FIELDS:
        if field != "tokens" and "staff" in readers:
            assert [text for text in texts if text in told] == [], field


# Field, texts that reveal it, and its readers.
FIELDS = [
    ("source", [SOURCE.strip()[-20:]], {"owner", "staff"}),
    ("compiler log", ["compiled for the owner"], {"owner", "staff"}),
    ("hidden cases", HIDDEN, {"staff"}),
    ("hidden mismatch", ["31313131313", "31,313,131,313", "0.1234567"], {"staff"}),
    ("answers of staff", ["a solution by staff"], set()),
    ("draft", ["the owner's draft", "the owner&#39;s draft"], {"owner"}),
    ("tokens", ["the owner's laptop", "the owner&#39;s laptop"], {"owner"}),
]
# All answers to a role's GETs. Markup splits the source in the listing, so the API's counts.


@pytest.mark.parametrize("role", ROLES)
def test_each_role_sees_only_its_fields(scene: Scene, visit: Visit, call: Visit, role: str) -> None:
    user = scene.people[role]
    told = "\n".join(
        words((call(user) if row.path.startswith(API) else visit(user)).get(scene.path(row)))
        for row in ROWS
        if row.method == "GET" and not row.path.startswith("/static")
    )
    for field, texts, readers in FIELDS:
        if role in readers:
            assert any(text in told for text in texts), f"{role} should read {field}"
        else:
            assert [text for text in texts if text in told] == [], f"{role} reads {field}"


@pytest.mark.parametrize(
    "where", [f"{API}/submissions/{{id}}/report", "/submissions/{id}", "/submissions/{id}/panel"]
)
@pytest.mark.parametrize("text", HIDDEN)
def test_hidden_case_data_is_shown_to_staff_only(
    scene: Scene, visit: Visit, call: Visit, where: str, text: str
) -> None:
    browser = call if where.startswith(API) else visit
    path = where.format(id=scene.id)
    assert text not in browser(scene.people["owner"]).get(path).text.replace(",", "")
    told = browser(scene.people["owner"]).get(path).text.lower()
    assert "wrong_answer" in told.replace("wrong answer", "wrong_answer")
    if where.startswith(API):
        assert text in browser(scene.people["staff"]).get(path).text


def test_students_see_no_judgement_of_a_draft_version(scene: Scene, call: Visit, visit: Visit) -> None:
    finish_draft(scene)
    for role in ("anonymous", "owner", "other"):
        user = scene.people[role]
        for path in ("/submissions", f"/submissions/{scene.id}", "/leaderboards/scale", "/challenges/scale"):
            assert scene.again not in visit(user).get(path).text
            assert scene.again not in call(user).get(API + path).text
    assert scene.again in call(scene.people["staff"]).get(f"{API}/submissions/{scene.id}").text


def finish_draft(scene: Scene) -> None:
    report = builders.accepted(challenge="scale", version=2)
    for _ in range(2):  # the one that waits, and the draft's
        builders.finish(scene.platform, builders.take(scene.platform), report)
    with writing(scene.platform.sessions) as session:
        session.execute(update(VersionRow).where(VersionRow.version == 2).values(published_at=None))


def test_students_see_only_own_progress_and_lists(scene: Scene, call: Visit, visit: Visit) -> None:
    for path in ("/submissions?everyone=true&everyone=1", f"{API}/submissions?everyone=true"):
        client = (call if path.startswith(API) else visit)(scene.people["other"])
        assert scene.id not in client.get(path).text


def test_hosts_and_gpus_are_shown_to_staff_only(scene: Scene, call: Visit) -> None:
    with writing(scene.platform.sessions) as session:
        session.add(
            WorkerRow(
                name="w",
                device="h200",
                languages="triton",
                host="host-of-ours",
                pid=1,
                gpu="GPU-77",
                out_of_service="broken",
            )
        )
    for role in ROLES:
        told = call(scene.people[role]).get(f"{API}/health").text
        assert ("host-of-ours" in told) == (role == "staff"), role
        assert "alerts" in told


def test_pages_do_not_reveal_others_submissions(scene: Scene, visit: Visit) -> None:
    theirs = visit(scene.people["other"]).get(f"/submissions/{scene.id}").text
    nobodys = visit(scene.people["other"]).get("/submissions/0000000000").text
    assert theirs.replace(scene.id, "0000000000") == nobodys.replace(csrf_of(nobodys), csrf_of(theirs))


def csrf_of(page: str) -> str:
    return page.split('name="csrf_token" value="')[1].split('"')[0]


def test_open_sign_up_adds_no_route(tmp_path: Path) -> None:
    from grader.service.platform import open_platform

    opened = open_platform(builders.make_settings(tmp_path / "open", sign_up="open"))
    rules = {rule.rule for rule in create_app(opened).url_map.iter_rules()}
    opened.close()
    assert rules == {row.rule for row in ROWS}


def test_reading_and_writing_need_different_scopes() -> None:
    assert scopes.needed("GET", "/api/v1/submissions") is Scope.READ
    assert scopes.needed("POST", "/api/v1/submissions") is Scope.SUBMIT
    assert scopes.needed("GET", "/api/v1/me") is None
    assert scopes.needed("DELETE", "/api/v1/tokens/current") is None


def test_no_user_is_known_before_the_cookie_is_read(app: Flask) -> None:
    with app.test_request_context("/"):
        assert not by_cookie()
