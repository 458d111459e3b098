"""A worker's token opens the routes for workers and no other; nothing else opens these."""

from __future__ import annotations

import gzip

import pytest
from flask import Flask

from grader.schemas.token import ALL_SCOPES
from grader.schemas.worker_token import WorkerTokenBody
from grader.service.accounts import tokens
from grader.service.accounts.accounts import User
from grader.service.accounts.tokens import TokenRequest
from grader.service.operation import worker_tokens
from grader.service.platform import Platform
from grader.web.access import WORKER, access_of
from grader.web.auth.identity import WORKER_PATHS
from tests.web.conftest import Visit, csrf
from tests.web.security.rows import API, ROWS

OF_WORKERS = [row for row in ROWS if row.rule.startswith(WORKER_PATHS)]


@pytest.fixture
def bearer(platform: Platform, teacher: User) -> dict[str, str]:
    issued = worker_tokens.issue(platform, teacher, WorkerTokenBody(name="campus"))
    return {"Authorization": f"Bearer {issued.token}"}


def test_routes_for_workers_are_those_below_their_path(app: Flask) -> None:
    declared = {
        rule.rule
        for rule in app.url_map.iter_rules()
        if (found := access_of(app.view_functions[rule.endpoint])) is not None and found.who is WORKER
    }
    assert declared == {row.rule for row in OF_WORKERS}
    assert f"{WORKER_PATHS}finish" in declared


def test_a_workers_token_opens_no_other_route(app: Flask, bearer: dict[str, str]) -> None:
    wrong = []
    for row in ROWS:
        if row in OF_WORKERS or not row.path.startswith(API):
            continue
        path = row.path.format(id="0000000000", running="0000000000", number=1)
        answer = app.test_client().open(path, method=row.method, json={}, headers=bearer)
        if answer.status_code not in (401, 429):  # there are more calls than bad tokens in a minute
            wrong.append(f"{row.method} {path}: {answer.status_code}")
    assert wrong == []


def test_a_workers_token_signs_in_to_no_page(app: Flask, bearer: dict[str, str]) -> None:
    client = app.test_client()
    for path in ("/submissions", "/operations", "/account"):
        assert client.get(path, headers=bearer).status_code == 302


def test_no_user_opens_a_route_for_workers(
    app: Flask, platform: Platform, ada: User, teacher: User, visit: Visit
) -> None:
    """By a token with every scope or by a cookie, even staff."""
    for user in (ada, teacher):
        scopes = ALL_SCOPES if user.staff else None
        token = tokens.issue(platform, user, TokenRequest(scopes=scopes)).token
        browser = visit(user)
        key = csrf(browser, "/account")
        for row in OF_WORKERS:
            refused = [
                app.test_client().open(
                    row.path, method=row.method, json={}, headers={"Authorization": f"Bearer {token}"}
                ),
                browser.open(row.path, method=row.method, json={}, headers={"X-CSRFToken": key}),
                app.test_client().open(row.path, method=row.method, json={}),
            ]
            assert {answer.status_code for answer in refused} <= {401, 429}, row


def test_a_revoked_token_opens_nothing(
    app: Flask, platform: Platform, teacher: User, bearer: dict[str, str]
) -> None:
    ask = {"path": f"{WORKER_PATHS}leave", "json": {"worker": "w"}, "headers": bearer}
    assert app.test_client().post(**ask).status_code == 403  # not registered
    worker_tokens.revoke(platform, teacher, "campus")
    assert app.test_client().post(**ask).status_code == 401


def test_a_packed_body_is_unpacked_only_to_its_limit(
    app: Flask, bearer: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.limits.WORKER_BODY_BYTES", 1000)
    headers = {**bearer, "Content-Encoding": "gzip", "Content-Type": "application/json"}
    path = f"{WORKER_PATHS}leave"
    small = app.test_client().post(path, data=gzip.compress(b'{"worker": "w"}'), headers=headers)
    assert small.status_code == 403, small.text
    for data in (gzip.compress(b" " * 10_000_000), gzip.compress(b"{}")[:-3], b"{}"):
        refused = app.test_client().post(path, data=data, headers=headers)
        assert refused.status_code == 400
        assert "body" in refused.text
