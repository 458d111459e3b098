"""Requests that the API refuses from anyone: malformed, odd, oversized, misdirected; and a failure of the platform."""

from __future__ import annotations

import pytest

from grader import limits
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from tests.web.conftest import Visit
from tests.web.refusals import API, refused


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"text"', b"null", b"\xff\xfe", b"[" * 100_000])
def test_a_malformed_body_is_refused(call: Visit, ada: User, body: bytes) -> None:
    answer = call(ada).post(f"{API}/submissions", data=body, content_type="application/json")
    refused(answer, 400, "bad_request")


def test_errors_name_the_field_but_not_its_value(call: Visit, ada: User) -> None:
    body = {"challenge": "sesame", "source": ["open"], "filename": "a.py"}
    message = refused(call(ada).post(f"{API}/submissions", json=body), 400, "bad_request")
    assert "source" in message
    assert "sesame" not in message
    assert "open" not in message.replace("openapi", "")


def test_errors_do_not_repeat_a_password(call: Visit) -> None:
    answer = call(None).post(f"{API}/tokens", json={"name": "ada", "password": {"secret": "hunter2"}})
    assert "hunter2" not in refused(answer, 400, "bad_request")


@pytest.mark.parametrize("name", ["\ud800", "a\0b", "x" * 100_000])
def test_odd_names_are_no_server_error(call: Visit, name: str) -> None:
    answer = call(None).post(f"{API}/tokens", json={"name": name, "password": "\ud800"})
    assert answer.status_code in (400, 401), answer.text


def test_a_too_large_body_is_refused(call: Visit, ada: User) -> None:
    answer = call(ada).post(
        f"{API}/submissions", data=b"x" * (limits.REQUEST_BYTES + 1), content_type="application/json"
    )
    refused(answer, 413, "too_large")


def test_an_unknown_address_is_not_found(call: Visit) -> None:
    refused(call(None).get(f"{API}/nothing"), 404, "not_found")


def test_a_wrong_method_is_refused(call: Visit) -> None:
    answer = call(None).delete(f"{API}/challenges")
    refused(answer, 405, "method_not_allowed")
    assert "GET" in answer.headers["Allow"]


@pytest.mark.parametrize("query", ["limit=0", "limit=x", "offset=-1", "unknown=1"])
def test_a_bad_query_is_refused(call: Visit, ada: User, query: str) -> None:
    refused(call(ada).get(f"{API}/submissions?{query}"), 400, "bad_request")


def test_a_server_error_reveals_nothing(
    call: Visit,
    platform: Platform,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the secret is 42")

    monkeypatch.setattr("grader.service.challenges.catalogue.list_challenges", broken)
    message = refused(call(None).get(f"{API}/challenges"), 500, "internal")
    assert "42" not in message
    assert "the secret is 42" in caplog.text
    page = call(None).get("/")
    assert page.status_code == 500
    assert "secret" not in page.text
