"""Forgery, sessions, cookies and headers, on every route."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select, update

from grader.records.engine import writing
from grader.records.models import TokenRow, utcnow
from grader.service.accounts import accounts, tokens
from grader.service.accounts.accounts import User
from grader.service.platform import Platform, open_platform
from grader.web.app import create_app
from grader.web.auth.identity import WORKER_PATHS
from tests.web import builders
from tests.web.conftest import Visit, csrf

API = "/api/v1"
TLS = "https://grader.example"


def unsafe(app: Flask, api: bool) -> list[tuple[str, str]]:
    stand_ins = {"slug": builders.SLUG, "submission": "x", "id": "x", "number": "1", "name": "bob"}
    return [
        (method, re.sub(r"<(?:int:)?(\w+)>", lambda found: stand_ins.get(found[1], "x"), rule.rule))
        for rule in app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"GET", "HEAD", "OPTIONS"}
        if rule.rule.startswith("/api/") == api
    ]


# Forms that learning platforms send. They use no session: their content is signed, or works once.
OF_OTHERS = {"/lti/login", "/lti/launch", "/lti/select"}
# Our forms for people who are not signed in.
OF_ANYONE = {
    "/forgot",
    "/lti/connect",
    "/lti/link",
    "/notices/unsubscribe",
    "/reset",
    "/setup",
    "/sign-in",
    "/sign-up",
    "/sign-up/address",
    "/theme",
}


class TestForgery:
    @pytest.mark.parametrize("token", [None, "", "x", "theirs"])
    def test_every_form_needs_its_token(
        self, app: Flask, visit: Visit, teacher: User, bob: User, token: str | None
    ) -> None:
        client, sent = visit(teacher), {}
        if token is not None:
            sent["csrf_token"] = csrf(visit(bob), "/account") if token == "theirs" else token
        paths = unsafe(app, api=False)
        assert len(paths) > 20
        for method, path in paths:
            answer = client.open(path, method=method, data={"name": "teacher", **sent})
            if path in OF_OTHERS:
                assert 400 <= answer.status_code < 500, path
                continue
            assert answer.status_code == 403, path
            assert "coming from this site" in answer.text, path
        assert client.get("/submissions").status_code == 200

    def test_no_unsafe_call_works_by_cookie_alone(self, app: Flask, visit: Visit, teacher: User) -> None:
        client = visit(teacher)
        paths = unsafe(app, api=True)
        assert len(paths) > 15
        for method, path in paths:
            answer = client.open(path, method=method, json={})
            # A cookie counts for nothing where workers ask.
            refusal = (401, "not_signed_in") if path.startswith(WORKER_PATHS) else (403, "csrf")
            assert (answer.status_code, answer.get_json()["error"]["code"]) == refusal, path
        assert client.get(f"{API}/me").status_code == 200

    def test_a_body_with_a_form_content_type_is_refused(self, app: Flask, ada: User) -> None:
        """Such as enctype=text/plain, which needs no permission from the browser."""
        body = f'{{"name": "ada", "password": "{builders.PASSWORD}"}}'
        answer = app.test_client().post(f"{API}/tokens", data=body, content_type="text/plain")
        assert answer.status_code == 400

    @pytest.mark.parametrize(
        ("headers", "status"),
        [
            # A page with a secret in its address, or a browser without referrers: the browser still confirms
            # the site.
            ({"Sec-Fetch-Site": "same-origin", "Origin": "null"}, 303),
            ({"Sec-Fetch-Site": "none"}, 303),
            ({"Sec-Fetch-Site": "same-site", "Origin": TLS, "Referer": TLS}, 403),
            ({"Sec-Fetch-Site": "cross-site", "Origin": TLS, "Referer": TLS}, 403),
            ({"Origin": TLS}, 303),
            ({"Origin": "https://GRADER.example:443"}, 303),
            ({"Referer": f"{TLS}/sign-in"}, 303),
            ({"Origin": "http://grader.example", "Referer": TLS}, 403),
            ({"Origin": f"{TLS}.evil.example"}, 403),
            ({"Origin": f"{TLS}:8443"}, 403),
            ({"Origin": "null", "Referer": TLS}, 403),
            ({"Origin": "https://[::1"}, 403),
            ({}, 403),
        ],
    )
    def test_over_tls_the_origin_must_be_ours(
        self, app: Flask, ada: User, headers: dict[str, str], status: int
    ) -> None:
        """An attacker who can plant a cookie knows a matching token."""
        client = app.test_client()
        page = client.get("/sign-in", base_url=TLS).text
        found = re.search(r'name="csrf_token" value="([^"]+)"', page)
        assert found
        data = {"name": "ada", "password": builders.PASSWORD, "csrf_token": found[1]}
        answer = client.post("/sign-in", data=data, base_url=TLS, headers=headers)
        assert answer.status_code == status

    def test_get_requests_change_nothing(self, app: Flask) -> None:
        for rule in app.url_map.iter_rules():
            if rule.rule in OF_OTHERS:
                continue  # a learning platform may start a sign-in with either; nothing is stored
            reads = (rule.methods or set()) & {"GET", "HEAD"}
            assert not (reads and (rule.methods or set()) & {"POST", "PUT", "PATCH", "DELETE"}), rule.rule


def cookie(client: FlaskClient) -> str:
    found = client.get_cookie("grader_session")
    assert found is not None
    return found.value


def thief_of(app: Flask, client: FlaskClient) -> FlaskClient:
    thief = app.test_client()
    thief.set_cookie("grader_session", cookie(client))
    assert thief.get("/account").status_code == 200
    return thief


class TestSession:
    def test_a_form_after_the_sessions_end_leads_to_sign_in(
        self, app: Flask, visit: Visit, platform: Platform, teacher: User
    ) -> None:
        """It is not called forged. Forms for anyone, such as signing in, keep their check."""
        client = visit(teacher)
        token, ended = csrf(client, "/account"), cookie(client)
        tokens.end_sessions(platform, teacher, "")
        others: set[str] = set()
        for api in (False, True):
            for method, path in unsafe(app, api):
                client.set_cookie("grader_session", ended)
                answer = client.open(path, method=method, data={"csrf_token": token})
                if api:
                    assert answer.status_code != 403, path
                elif not answer.headers.get("Location", "").startswith("/sign-in?"):
                    others.add(path)
        assert others == OF_ANYONE | OF_OTHERS

    def test_a_planted_session_is_replaced_at_sign_in(self, app: Flask, ada: User) -> None:
        """Fixation: the cookie from before the sign-in gives nothing of the session after it."""
        victim = app.test_client()
        token = csrf(victim)
        planted = cookie(victim)
        victim.post("/sign-in", data={"name": "ada", "password": builders.PASSWORD, "csrf_token": token})
        attacker = app.test_client()
        attacker.set_cookie("grader_session", planted)
        assert attacker.get("/account").status_code == 302
        assert cookie(victim) != planted
        assert victim.post("/sign-out", data={"csrf_token": token}).status_code == 403  # nor of its token

    def test_an_attackers_session_ends_when_the_victim_signs_in_over_it(
        self, app: Flask, visit: Visit, ada: User, bob: User
    ) -> None:
        victim = visit(bob)
        before = thief_of(app, victim)
        data = {"name": "ada", "password": builders.PASSWORD, "csrf_token": csrf(victim, "/account")}
        victim.post("/sign-in", data=data)
        assert before.get("/account").status_code == 302

    def test_signing_out_ends_it_on_the_server(self, app: Flask, visit: Visit, ada: User) -> None:
        client = visit(ada)
        thief = thief_of(app, client)
        out = client.post("/sign-out", data={"csrf_token": csrf(client, "/account")})
        assert thief.get("/account").status_code == 302
        assert "storage" in out.headers["Clear-Site-Data"]

    def test_a_new_password_ends_all_sessions_and_tokens(
        self, app: Flask, visit: Visit, call: Visit, ada: User
    ) -> None:
        client, elsewhere, program = visit(ada), visit(ada), call(ada)
        thief = thief_of(app, client)
        form = {"present": builders.PASSWORD, "new": "a new password", "csrf_token": csrf(client, "/account")}
        assert client.post("/account/password", data=form).status_code == 303
        assert client.get("/account").status_code == 200
        assert thief.get("/account").status_code == 302
        assert elsewhere.get("/account").status_code == 302
        assert program.get(f"{API}/me").status_code == 401
        again = app.test_client()
        data = {"name": "ada", "password": builders.PASSWORD, "csrf_token": csrf(again)}
        assert again.post("/sign-in", data=data).status_code == 401
        assert again.post("/sign-in", data=data | {"password": "a new password"}).status_code == 303

    @pytest.mark.parametrize(
        ("present", "new", "status"), [("wrong", "a new password", 403), (builders.PASSWORD, "short", 400)]
    )
    def test_a_refused_password_changes_nothing(
        self, app: Flask, visit: Visit, ada: User, present: str, new: str, status: int
    ) -> None:
        client = visit(ada)
        form = {"present": present, "new": new, "csrf_token": csrf(client, "/account")}
        assert client.post("/account/password", data=form).status_code == status
        assert visit(ada).get("/account").status_code == 200

    def test_a_listed_token_can_be_revoked(self, visit: Visit, call: Visit, ada: User) -> None:
        program, client = call(ada), visit(ada)
        assert program.get(f"{API}/me").status_code == 200
        page = client.get("/account").text
        number = re.findall(r"/account/tokens/(\d+)/revoke", page)[
            -1
        ]  # the newest first; the browser's is newer
        assert "this one" in page
        client.post(f"/account/tokens/{number}/revoke", data={"csrf_token": csrf(client, "/account")})
        assert program.get(f"{API}/me").status_code == 401

    def test_a_session_expires(self, visit: Visit, platform: Platform, ada: User) -> None:
        client = visit(ada)
        with writing(platform.sessions) as session:
            session.execute(update(TokenRow).values(expires_at=utcnow()))
        assert client.get("/account").status_code == 302


class TestTransport:
    def test_cookies_and_headers_are_strict_over_tls(self, app: Flask) -> None:
        answer = app.test_client().get("/sign-in", base_url=TLS)
        for part in ("Secure", "HttpOnly", "SameSite=Lax", "Path=/"):
            assert part in answer.headers["Set-Cookie"]
        assert answer.headers["Strict-Transport-Security"] == "max-age=31536000"

    def test_no_hsts_without_tls(self, app: Flask) -> None:
        assert "Strict-Transport-Security" not in app.test_client().get("/sign-in").headers

    @pytest.mark.parametrize(("proxies", "secure"), [(0, False), (1, True)])
    def test_only_a_known_proxy_is_trusted(self, tmp_path: Path, proxies: int, secure: bool) -> None:
        opened = open_platform(builders.make_settings(tmp_path / "p", proxies=proxies))
        headers = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.7, 192.0.2.8"}
        with create_app(opened).test_client() as client:
            answer = client.get("/sign-in", headers=headers)
            from flask import request

            assert request.remote_addr == ("192.0.2.8" if proxies else "127.0.0.1")
        opened.close()
        assert ("Secure" in answer.headers["Set-Cookie"]) == secure

    def test_the_content_policy_allows_nothing_foreign(self, visit: Visit, ada: User) -> None:
        client = visit(ada)
        for path in ("/", "/account", "/nothing", f"{API}/me", f"{API}/nothing"):
            policy = client.get(path).headers["Content-Security-Policy"]
            directives = dict(part.split(" ", 1) for part in policy.split("; "))
            assert directives.pop("default-src") == "'none'"
            assert {directives.pop(name) for name in ("base-uri", "frame-ancestors")} == {"'none'"}
            assert set(directives) >= {"form-action", "script-src", "style-src"}
            assert set(directives.values()) == {"'self'"}

    def test_private_answers_are_not_cached(self, visit: Visit, platform: Platform, ada: User) -> None:
        seen = builders.judged(platform, ada, builders.accepted())
        client = visit(ada)
        for path in (
            f"/submissions/{seen.id}",
            "/account",
            "/",
            f"{API}/me",
            f"{API}/submissions/{seen.id}/source",
        ):
            assert client.get(path).headers["Cache-Control"] == "private, no-store", path
        for path in (f"/submissions/{seen.id}/panel", f"{API}/submissions/{seen.id}/report"):
            answer = client.get(path).headers
            assert "private" in answer["Cache-Control"], path
            assert "no-cache" in answer["Cache-Control"], path


class TestTokens:
    def test_token_lifetimes_are_limited_by_the_settings(
        self, platform: Platform, call: Visit, app: Flask, ada: User
    ) -> None:
        body = {"name": "ada", "password": builders.PASSWORD}
        asked = app.test_client().post(f"{API}/tokens", json=body | {"days": 3}).get_json()
        whole = app.test_client().post(f"{API}/tokens", json=body).get_json()
        found = {
            token.expires_at.isoformat(): token
            for token in tokens.list_tokens(platform, ada, whole["token"]).tokens
        }
        lives = sorted(
            round((entry.expires_at - entry.created_at).total_seconds() / 86400) for entry in found.values()
        )
        assert lives == [3, 180]
        assert [each.current for each in found.values()] == [True, False]
        assert asked["expires_at"] < whole["expires_at"]
        too_long = app.test_client().post(f"{API}/tokens", json=body | {"days": 181})
        assert (too_long.status_code, "180 days" in too_long.text) == (400, True)

    def test_an_expired_token_is_refused_and_removed(
        self, platform: Platform, call: Visit, ada: User
    ) -> None:
        program = call(ada)
        with writing(platform.sessions) as session:
            session.execute(update(TokenRow).values(expires_at=utcnow()))
        answer = program.get(f"{API}/me")
        assert (answer.status_code, "expired" in answer.text) == (401, True)
        assert tokens.list_tokens(platform, ada).tokens == []
        tokens.issue_token(platform, ada)  # removes ended ones
        with platform.sessions() as session:
            assert len(session.scalars(select(TokenRow)).all()) == 1

    def test_a_tokens_use_is_recorded_occasionally(self, platform: Platform, call: Visit, ada: User) -> None:
        program = call(ada)
        assert tokens.list_tokens(platform, ada).tokens[0].last_used_at is None
        assert program.get(f"{API}/me").status_code == 200
        first = tokens.list_tokens(platform, ada).tokens[0].last_used_at
        program.get(f"{API}/me")
        assert first is not None
        assert tokens.list_tokens(platform, ada).tokens[0].last_used_at == first

    def test_others_cannot_revoke_a_token(
        self, platform: Platform, visit: Visit, ada: User, bob: User
    ) -> None:
        tokens.issue_token(platform, ada)
        number = tokens.list_tokens(platform, ada).tokens[0].id
        for user, status in ((bob, 404), (ada, 303)):
            client = visit(user)
            form = {"csrf_token": csrf(client, "/account")}
            assert client.post(f"/account/tokens/{number}/revoke", data=form).status_code == status
        assert number not in [entry.id for entry in tokens.list_tokens(platform, ada).tokens]

    def test_a_new_password_ends_old_tokens(self, platform: Platform, call: Visit, ada: User) -> None:
        program = call(ada)
        accounts.set_password(platform, "ADA", "another password")
        assert program.get(f"{API}/me").status_code == 401
        assert accounts.authenticate(platform, "ada", "another password") == ada
