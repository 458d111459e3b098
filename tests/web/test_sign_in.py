"""Sessions of browsers, cross-site forgery, and where signing in may lead."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from grader import limits
from grader.service.accounts import tokens
from grader.service.accounts.accounts import User
from grader.service.platform import Platform, open_platform
from grader.web.app import create_app
from grader.web.auth.redirects import safe_path
from tests.web import builders
from tests.web.conftest import Visit, csrf


def cookie(client: FlaskClient) -> str:
    found = client.get_cookie("grader_session")
    assert found is not None
    return found.value


class TestSession:
    def test_sign_in_and_sign_out_work(self, visit: Visit, ada: User) -> None:
        client = visit(ada)
        assert "ada" in client.get("/").text
        assert client.post("/sign-out", data={"csrf_token": csrf(client, "/")}).status_code == 303
        assert client.get("/submissions").status_code == 302

    def test_the_session_cookie_is_protected(self, app: Flask, ada: User) -> None:
        client = app.test_client()
        data = {"name": "ada", "password": builders.PASSWORD, "csrf_token": csrf(client)}
        header = client.post("/sign-in", data=data).headers["Set-Cookie"]
        assert "HttpOnly" in header
        assert "SameSite=Lax" in header
        assert "Secure" not in header

    def test_the_session_cookie_is_secure_over_tls(self, app: Flask) -> None:
        answer = app.test_client().get("/sign-in", base_url="https://grader.example")
        assert "Secure" in answer.headers["Set-Cookie"]

    def test_sign_in_rotates_the_session(self, app: Flask, ada: User) -> None:
        client = app.test_client()
        token = csrf(client)
        before = cookie(client)
        client.post("/sign-in", data={"name": "ada", "password": builders.PASSWORD, "csrf_token": token})
        assert cookie(client) != before
        stale = app.test_client()
        stale.set_cookie("grader_session", before)
        assert stale.get("/submissions").status_code == 302

    def test_a_copied_cookie_dies_with_the_session(self, app: Flask, visit: Visit, ada: User) -> None:
        client = visit(ada)
        thief = app.test_client()
        thief.set_cookie("grader_session", cookie(client))
        assert thief.get("/submissions").status_code == 200
        client.post("/sign-out", data={"csrf_token": csrf(client, "/")})
        assert thief.get("/submissions").status_code == 302

    def test_a_forged_session_cookie_is_ignored(self, app: Flask) -> None:
        client = app.test_client()
        client.set_cookie("grader_session", "eyJ0b2tlbiI6ImdyZF94In0.aaaa.bbbb")
        assert client.get("/submissions").status_code == 302

    def test_a_wrong_password_keeps_the_name_escaped(self, app: Flask, ada: User) -> None:
        client = app.test_client()
        name = '"><script>alert(1)</script>'
        answer = client.post("/sign-in", data={"name": name, "password": "x", "csrf_token": csrf(client)})
        assert answer.status_code == 401
        assert "<script>alert" not in answer.text
        assert "&lt;script&gt;alert(1)" in answer.text

    def test_guessing_is_limited(self, app: Flask, ada: User) -> None:
        client = app.test_client()
        data = {"name": "ada", "password": "guess", "csrf_token": csrf(client)}
        for _ in range(limits.SIGN_IN_PER_ADDRESS_AND_ACCOUNT):
            assert client.post("/sign-in", data=data).status_code == 401
        answer = client.post("/sign-in", data=data | {"password": builders.PASSWORD})
        assert answer.status_code == 429
        assert client.get("/sign-in").status_code == 200


class TestForgery:
    @pytest.mark.parametrize(
        "path", ["/sign-in", "/sign-out", "/challenges/vector_add", "/submissions/x/cancel"]
    )
    def test_a_form_without_its_token_is_refused(self, visit: Visit, ada: User, path: str) -> None:
        answer = visit(ada).post(path, data={"name": "ada", "password": builders.PASSWORD})
        assert answer.status_code == 403
        assert "coming from this site" in answer.text

    def test_another_sessions_form_token_is_refused(self, visit: Visit, ada: User, bob: User) -> None:
        theirs = csrf(visit(bob), "/")
        assert visit(ada).post("/sign-out", data={"csrf_token": theirs}).status_code == 403

    def test_the_api_refuses_a_bare_cookie(self, visit: Visit, platform: Platform, ada: User) -> None:
        client = visit(ada)
        path = f"/api/v1/submissions/{builders.hand_in(platform, ada).id}/cancel"
        answer = client.post(path)
        assert answer.status_code == 403
        assert answer.json
        assert answer.json["error"]["code"] == "csrf"
        assert client.post(path, headers={"X-CSRFToken": csrf(client, "/")}).status_code == 200

    def test_reading_with_a_cookie_needs_no_token(self, visit: Visit, ada: User) -> None:
        assert visit(ada).get("/api/v1/me").status_code == 200

    def test_an_api_token_needs_no_form_token(self, call: Visit, ada: User) -> None:
        body = {"challenge": builders.SLUG, "source": builders.SOURCE, "filename": "a.py"}
        assert call(ada).post("/api/v1/submissions", json=body).status_code == 201

    def test_an_api_token_opens_no_page(self, call: Visit, ada: User) -> None:
        assert call(ada).get("/submissions").status_code == 302


class TestSignUp:
    def test_sign_up_is_closed_by_default(self, app: Flask) -> None:
        client = app.test_client()
        assert client.get("/sign-up").status_code == 404
        data = {"name": "eve", "password": builders.PASSWORD, "csrf_token": csrf(client)}
        assert client.post("/sign-up", data=data).status_code == 404
        assert "Sign up" not in client.get("/sign-in").text

    def test_open_sign_up_creates_a_student_and_signs_in(self, tmp_path: Path) -> None:
        platform = open_platform(builders.make_settings(tmp_path, sign_up="open"))
        client = create_app(platform).test_client()
        assert "Sign up" in client.get("/sign-in").text
        data = {
            "name": "eve",
            "password": builders.PASSWORD,
            "role": "staff",
            "csrf_token": csrf(client, "/sign-up"),
        }
        short = client.post("/sign-up", data=data | {"password": "short"})
        assert (short.status_code, "too short" in short.text) == (400, True)
        assert client.post("/sign-up", data=data).status_code == 303
        me = client.get("/api/v1/me").get_json()
        assert (me["name"], me["role"]) == ("eve", "student")
        again = create_app(platform).test_client()
        taken = again.post("/sign-up", data=data | {"csrf_token": csrf(again, "/sign-up")})
        assert (taken.status_code, "is taken" in taken.text) == (409, True)
        platform.close()


_ELSEWHERE = [
    "https://evil.example/",
    "//evil.example",
    "///evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "/\t/evil.example",
    "\n//evil.example",
    "javascript:alert(1)",
    "evil.example",
    "http:/evil.example",
    "/ /evil.example",
    "",
]


@pytest.mark.parametrize("wanted", _ELSEWHERE)
def test_sign_in_never_redirects_to_another_site(app: Flask, ada: User, wanted: str) -> None:
    assert safe_path(wanted) == "/"
    client = app.test_client()
    data = {"name": "ada", "password": builders.PASSWORD, "next": wanted, "csrf_token": csrf(client)}
    assert client.post("/sign-in", data=data).headers["Location"] == "/"
    assert client.get("/sign-in", query_string={"next": wanted}).headers["Location"] == "/"


def test_sign_in_redirects_back(app: Flask, ada: User) -> None:
    client = app.test_client()
    asked = client.get("/submissions")
    assert asked.headers["Location"] == "/sign-in?next=/submissions"
    data = {"name": "ada", "password": builders.PASSWORD, "next": "/submissions", "csrf_token": csrf(client)}
    assert client.post("/sign-in", data=data).headers["Location"] == "/submissions"


@pytest.mark.parametrize("wanted", ["/a!b", "/a~b?c=d#e", "/\x80", "/a:b//c"])
def test_our_paths_are_safe_redirects(wanted: str) -> None:
    assert safe_path(wanted) == wanted


@pytest.mark.parametrize("wanted", ["/a b", "/a\x7fb", "/\x1f"])
def test_a_path_with_a_control_character_is_no_safe_redirect(wanted: str) -> None:
    assert safe_path(wanted, "/start") == "/start"


@pytest.mark.parametrize(
    ("agent", "label"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "Firefox on Linux"),
        ("Mozilla/5.0 (Windows NT 10.0) Chrome/120.0 Safari/537.36 Edg/120.0", "Edge on Windows"),
        ("curl/8.5", "A browser"),
    ],
)
def test_a_session_is_listed_with_its_browser_address_and_end(
    app: Flask, platform: Platform, ada: User, agent: str, label: str
) -> None:
    client = app.test_client()
    client.environ_base["HTTP_USER_AGENT"] = agent
    data = {"name": "ada", "password": builders.PASSWORD, "csrf_token": csrf(client)}
    client.post("/sign-in", data=data)
    found = client.get_cookie("grader_session")
    assert found is not None
    assert found.expires is not None
    (session,) = tokens.list_tokens(platform, ada).tokens
    assert (session.label, session.address) == (label, "127.0.0.1")
    assert session.expires_at is not None
    assert abs(session.expires_at - session.created_at - timedelta(days=14)) < timedelta(minutes=1)
