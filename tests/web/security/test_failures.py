"""Oversized and odd requests, and failures: one shape of error, and never a 5xx because of the request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from grader import limits
from grader.schemas.submission import ErrorEnvelope
from grader.service.accounts.accounts import User
from grader.service.platform import Platform, open_platform
from grader.web.app import create_app
from tests.web import builders
from tests.web.conftest import Visit, csrf

API = "/api/v1"
AWAY = [
    OperationalError("SELECT secret", {}, Exception("database is locked at secret.example")),
    InterfaceError("SELECT secret", {}, Exception("the connection is closed")),
    PoolTimeout("QueuePool limit of size 5 overflow 10 reached: secret"),
]


class TestDatabaseAway:
    @pytest.mark.parametrize("error", AWAY, ids=lambda error: type(error).__name__)
    def test_a_database_outage_is_a_503_with_retry_after(
        self, app: Flask, monkeypatch: pytest.MonkeyPatch, error: Exception
    ) -> None:
        def broken(*_: object) -> None:
            raise error

        monkeypatch.setattr("grader.service.challenges.catalogue.list_challenges", broken)
        answer = app.test_client().get(f"{API}/challenges")
        page = app.test_client().get("/")
        told = ErrorEnvelope.model_validate_json(answer.data).error
        assert told.code == "unreachable"
        assert page.mimetype == "text/html"
        for each in (answer, page):
            assert each.status_code == 503
            assert each.headers["Retry-After"] == str(limits.RETRY_SECONDS)
            assert told.message in each.text
            assert "secret" not in each.text

    def test_missing_tables_are_a_503(self, visit: Visit, call: Visit, platform: Platform, ada: User) -> None:
        """SQLite reports missing tables and a missing file alike."""
        browser, program = visit(ada), call(ada)
        with platform.engine.begin() as connection:
            connection.exec_driver_sql("ALTER TABLE submissions RENAME TO gone")
        for path in ("/submissions", f"{API}/submissions"):
            assert (program if path.startswith(API) else browser).get(path).status_code == 503
        with platform.engine.begin() as connection:
            connection.exec_driver_sql("ALTER TABLE tokens RENAME TO gone_too")
        assert browser.get("/account").status_code == 503
        assert program.get(f"{API}/me").status_code == 503
        assert program.get(f"{API}/health").status_code == 503
        assert browser.get("/static/page.js", buffered=True).status_code == 200

    def test_reading_works_if_the_database_is_read_only(
        self, call: Visit, platform: Platform, ada: User
    ) -> None:
        program = call(ada)
        with platform.engine.begin() as connection:
            connection.exec_driver_sql(
                "CREATE TRIGGER full BEFORE UPDATE ON tokens BEGIN SELECT no_such_function(); END"
            )
        assert program.get(f"{API}/me").status_code == 200


class TestTooLarge:
    def test_an_oversized_request_is_refused_on_pages_and_api(
        self, visit: Visit, call: Visit, ada: User
    ) -> None:
        huge = b"x" * (limits.REQUEST_BYTES + 1)
        page = visit(ada).post("/challenges/vector_add", data={"source-triton": huge})
        answer = call(ada).post(f"{API}/submissions", data=huge, content_type="application/json")
        for each in (page, answer):
            assert each.status_code == 413
            assert f"{limits.REQUEST_BYTES // limits.MIB} MiB" in each.text

    def test_an_oversized_form_file_is_refused(self, visit: Visit, ada: User) -> None:
        head = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.py"\r\n\r\n'
        sent = visit(ada).post(
            "/challenges/vector_add",
            data=head + b"x" * (limits.REQUEST_BYTES + 1) + b"\r\n--b--\r\n",
            content_type="multipart/form-data; boundary=b",
        )
        assert sent.status_code == 413

    def test_a_form_of_too_many_parts_is_refused(self, visit: Visit, ada: User) -> None:
        fields = "&".join(f"a{number}=" for number in range(100_000))
        sent = visit(ada).post(
            "/challenges/vector_add", data=fields, content_type="application/x-www-form-urlencoded"
        )
        assert sent.status_code in (403, 413)

    def test_a_false_content_length_is_refused(self, call: Visit, ada: User) -> None:
        sent = call(ada).post(
            f"{API}/submissions",
            data=b"{}",
            content_type="application/json",
            headers={"Content-Length": "9" * 30},
        )
        assert 400 <= sent.status_code < 500

    @pytest.mark.parametrize("path", ["/", f"{API}/challenges"])
    def test_a_too_long_query_is_refused(self, app: Flask, path: str) -> None:
        assert app.test_client().get(f"{path}?{'a' * 100_000}=1").status_code in (200, 400)


ODD: list[Any] = [
    b"a\0b",
    b"\xff\xfe\x00x",
    b"\xed\xa0\x80",
    "x\ud800".encode("utf-8", "surrogatepass"),
    b"",
    b" \n",
]


class TestOddText:
    @pytest.mark.parametrize("text", ODD)
    def test_an_odd_source_is_refused(self, visit: Visit, platform: Platform, ada: User, text: bytes) -> None:
        client = visit(ada)
        form = {"language": "triton", "source-triton": text, "csrf_token": csrf(client, "/account")}
        answer = client.post("/challenges/vector_add", data=form)
        assert answer.status_code == 400
        assert any(word in answer.text for word in ("UTF-8", "binary", "empty"))
        assert builders.SLUG not in client.get("/submissions").text

    @pytest.mark.parametrize("text", ODD)
    def test_an_odd_name_or_password_is_refused(self, app: Flask, ada: User, text: bytes) -> None:
        client = app.test_client()
        for form in ({"name": text, "password": b"guess"}, {"name": b"ada", "password": text}):
            answer = client.post("/sign-in", data={**form, "csrf_token": csrf(client)})
            assert answer.status_code in (400, 401)

    @pytest.mark.parametrize("part", ["%00", "%ff%fe", "%ed%a0%80", "a" * 3000, "..%2f..%2fetc%2fpasswd"])
    def test_odd_text_in_an_address_is_no_server_error(
        self, visit: Visit, call: Visit, teacher: User, part: str
    ) -> None:
        browser, program = visit(teacher), call(teacher)
        for path in (
            f"/challenges/{part}",
            f"/challenges/{part}/versions",
            f"/leaderboards/{part}",
            f"/leaderboards/vector_add?device={part}",
            f"/submissions/{part}",
            f"/submissions?challenge={part}",
            f"/progress?user={part}",
        ):
            assert browser.get(path).status_code in (200, 400, 404), path
            assert program.get(API + path).status_code in (200, 400, 404), path

    @pytest.mark.parametrize("number", ["9" * 30, "-1", "0", "1e9", "x", "", str(2**63), str(2**31)])
    def test_an_odd_number_is_no_server_error(
        self, visit: Visit, call: Visit, teacher: User, number: str
    ) -> None:
        browser, program = visit(teacher), call(teacher)
        for path in (
            f"/submissions?page={number}",
            f"/leaderboards/vector_add?version={number}",
        ):
            assert browser.get(path).status_code in (200, 404), path
        for path in (
            f"/submissions?offset={number}",
            f"/submissions?limit={number}",
            f"/leaderboards/vector_add?version={number}",
            f"/challenges/vector_add/versions/{number}",
        ):
            assert program.get(API + path).status_code in (200, 400, 404), path
        token = csrf(browser, "/account")
        revoked = browser.post(f"/account/tokens/{number}/revoke", data={"csrf_token": token})
        assert revoked.status_code in (404, 405)
        assert program.delete(f"{API}/invitations/{number}").status_code in (400, 404, 405)

    @pytest.mark.parametrize(
        "kind", ["text/plain", "multipart/form-data", "application/json; charset=utf-16", "x", ""]
    )
    def test_another_content_type_is_refused(self, call: Visit, ada: User, kind: str) -> None:
        body = '{"challenge": "vector_add", "source": "", "filename": "a.py"}'
        sent = call(ada).post(f"{API}/submissions", data=body, content_type=kind)
        assert sent.status_code in (400, 415)
        ErrorEnvelope.model_validate_json(sent.data)


def test_every_error_has_the_same_shape(tmp_path: Path) -> None:
    opened = open_platform(builders.make_settings(tmp_path / "e"))
    client = create_app(opened).test_client()
    for method, path, status in (
        ("GET", "nothing", 404),
        ("PATCH", "challenges", 405),
        ("GET", "me", 401),
        ("POST", "tokens", 400),
        ("GET", "leaderboards/vector_add", 401),
    ):
        answer = client.open(f"{API}/{path}", method=method)
        told = ErrorEnvelope.model_validate_json(answer.data).error
        assert (answer.status_code, bool(told.code), bool(told.message)) == (status, True, True)
    opened.close()
