"""Each request has an id, in the answer and in its log lines."""

from __future__ import annotations

import logging

import pytest
from flask import Flask
from sqlalchemy import select

from grader import logs
from grader.records.models import SubmissionRow
from grader.service.accounts.accounts import User
from grader.service.platform import Platform, open_platform
from grader.web.app import create_app
from tests.web import builders
from tests.web.conftest import Visit

HEADER = "X-Request-ID"
GIVEN = "proxy-7f3a.0001"


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO, logger="grader.web")
    return caplog


def served(lines: pytest.LogCaptureFixture) -> list[dict[str, object]]:
    return [vars(record) for record in lines.records if record.getMessage() == "request_served"]


def test_a_well_formed_request_id_is_kept(call: Visit) -> None:
    assert call(None).get("/health", headers={HEADER: GIVEN}).headers[HEADER] == GIVEN


@pytest.mark.parametrize(
    "given", ["short", "x" * 65, "two words here", "<script>alert(1)</script>", "ümläuts-here"]
)
def test_any_other_request_id_is_replaced(call: Visit, given: str) -> None:
    answer = call(None).get("/health", headers={HEADER: given})
    assert answer.headers[HEADER] != given
    assert logs.new_request_id(answer.headers[HEADER]) == answer.headers[HEADER]


def test_no_two_requests_share_one(call: Visit) -> None:
    client = call(None)
    assert len({client.get("/health").headers[HEADER] for _ in range(20)}) == 20


@pytest.mark.parametrize(
    "path", ["/nowhere", "/api/v1/nowhere", "/api/v1/submissions", "/challenges/nothing"]
)
def test_refusals_have_a_request_id(call: Visit, path: str) -> None:
    assert call(None).get(path, headers={HEADER: GIVEN}).headers[HEADER] == GIVEN


def test_a_submission_keeps_the_id_of_its_request(call: Visit, platform: Platform, ada: User) -> None:
    body = {"challenge": "vector_add", "source": builders.SOURCE, "filename": "add.py"}
    answer = call(ada).post("/api/v1/submissions", json=body, headers={HEADER: GIVEN})
    assert answer.status_code == 201
    with platform.sessions() as session:
        assert session.scalars(select(SubmissionRow.request_id)).all() == [GIVEN]
    assert builders.take(platform).context == {
        "submission": answer.json["id"],
        "attempt": 1,
        "challenge": "vector_add",
        "request": GIVEN,
    }


def test_a_submission_without_a_request_has_no_request_id(platform: Platform, ada: User) -> None:
    builders.hand_in(platform, ada)
    with platform.sessions() as session:
        assert session.scalars(select(SubmissionRow.request_id)).all() == [None]
    assert "request" not in builders.take(platform).context


def test_changing_requests_are_logged_by_route(
    call: Visit, lines: pytest.LogCaptureFixture, platform: Platform, ada: User
) -> None:
    running = builders.hand_in(platform, ada).id
    client = call(ada)
    client.get(f"/api/v1/submissions/{running}?secret=1")
    client.post(f"/api/v1/submissions/{running}/cancel?secret=1")
    (line,) = served(lines)
    assert (line["route"], line["status"]) == ("/api/v1/submissions/<id>/cancel", 200)
    assert (line["method"], line["user"]) == ("POST", ada.id)
    assert "secret" not in lines.text


def test_all_requests_are_logged_if_configured(platform: Platform, lines: pytest.LogCaptureFixture) -> None:
    settings = platform.settings.model_copy(update={"access_log": True})
    opened = open_platform(settings)
    client = create_app(opened).test_client()
    for path in ("/", "/nowhere", "/health", "/ready"):
        client.get(path)
    opened.close()
    assert [(line["route"], line["status"]) for line in served(lines)] == [("/", 200), ("none", 404)]


def test_a_failure_is_logged(
    app: Flask, lines: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_platform: Platform) -> None:
        raise RuntimeError("a defect")

    monkeypatch.setattr("grader.service.operation.health.ready", broken)
    answer = app.test_client().get("/ready", headers={HEADER: GIVEN})
    assert (answer.status_code, answer.headers[HEADER]) == (500, GIVEN)
    assert [line["status"] for line in served(lines)] == [500]
