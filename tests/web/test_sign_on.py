"""Signing in through a real local provider: whose account is opened, and what is not trusted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from grader import limits
from grader.records.engine import writing
from grader.records.models import UserRow
from grader.schemas.account import EmailBy, Role
from grader.schemas.course import CourseBody, RosterBody
from grader.schemas.token import DeviceCodeBody
from grader.service.accounts import accounts, addresses, device_codes, oidc, sign_on
from grader.service.courses import courses, rosters
from grader.service.platform import Platform, open_platform
from grader.web.app import create_app
from tests.web import builders
from tests.web.conftest import csrf
from tests.web.oidc_provider import Provider

URL = "http://127.0.0.1:8000"
BACK = "/sign-in/with/uni/back"
ADA = {
    "sub": "0815",
    "preferred_username": "ada.l",
    "email": "Ada@uni.example",
    "email_verified": True,
}


class Site:
    def __init__(self, platform: Platform, provider: Provider) -> None:
        self.platform = platform
        self.provider = provider
        self.app = create_app(platform)
        self.app.config["TESTING"] = False

    def browser(self) -> FlaskClient:
        return self.app.test_client()

    def sign_in(self, browser: FlaskClient | None = None, at: str = "/sign-in/with/uni") -> TestResponse:
        browser = browser or self.browser()
        begun = browser.get(at)
        assert begun.status_code == 302, begun.text
        return browser.get(self.provider.visit(begun.headers["Location"]))

    def by_password(self, name: str) -> FlaskClient:
        browser = self.browser()
        data = {"name": name, "password": builders.PASSWORD, "csrf_token": csrf(browser)}
        assert browser.post("/sign-in", data=data).status_code == 303
        return browser

    def invite(self, email: str, course: str = "gpu") -> None:
        boss = accounts.create_user(self.platform, f"boss-{course}", builders.PASSWORD, Role.ADMIN)
        courses.create_course(self.platform, boss, CourseBody(slug=course, name=course))
        body = RosterBody(text=f"email\n{email}\n", dry_run=False)
        assert rosters.import_roster(self.platform, boss, course, body).applied


Open = Callable[..., Site]


@pytest.fixture
def provider() -> Iterator[Provider]:
    oidc.forget()
    with Provider(URL + BACK, claims=dict(ADA)).served() as served:
        yield served
    oidc.forget()


@pytest.fixture
def opened(tmp_path: Path, provider: Provider, database: str) -> Iterator[Open]:
    with ExitStack() as stack:

        def make(**values: Any) -> Site:
            settings = builders.make_settings(tmp_path, url=URL, oidc={"uni": provider.settings(**values)})
            platform = open_platform(settings)
            stack.callback(platform.close)
            return Site(platform, provider)

        yield make


def name_of(browser: FlaskClient) -> str | None:
    answer = browser.get("/api/v1/me")
    return answer.json["name"] if answer.status_code == 200 and answer.json else None


class TestAccounts:
    def test_single_sign_on_creates_an_account(self, opened: Open) -> None:
        site = opened(accounts="anyone")
        browser = site.browser()
        assert "Sign in with Uni" in browser.get("/sign-in?next=/progress").text
        begun = browser.get("/sign-in/with/uni?next=/progress")
        sent = parse_qs(urlsplit(begun.headers["Location"]).query)
        assert sent["code_challenge_method"] == ["S256"]
        assert sent["redirect_uri"] == [URL + BACK]
        assert len(sent["state"][0]) >= 32
        assert len(sent["nonce"][0]) >= 32
        answer = browser.get(site.provider.visit(begun.headers["Location"]))
        assert (answer.status_code, answer.headers["Location"]) == (303, "/progress")
        assert name_of(browser) == "ada.l"
        with site.platform.sessions() as session:
            row = session.query(UserRow).one()
            assert (row.email, row.email_by, row.role) == ("Ada@uni.example", EmailBy.SIGN_ON, "student")
        # The next time it is the same account, whatever its address; and no password opens it.
        site.provider.claims |= {"email": "other@uni.example", "preferred_username": "lovelace"}
        again = site.browser()
        assert site.sign_in(again).status_code == 303
        assert name_of(again) == "ada.l"
        token = csrf(again, "/account")
        again.post("/sign-out", data={"csrf_token": token})
        assert name_of(again) is None

    @pytest.mark.both_databases
    def test_only_roster_members_get_an_account_if_so_configured(self, opened: Open) -> None:
        site = opened()
        refused = site.sign_in()
        assert refused.status_code == 403
        assert "No course here expects Ada@uni.example" in refused.text
        site.invite("ADA@uni.example")
        browser = site.browser()
        assert site.sign_in(browser).status_code == 303
        assert [each["role"] for each in browser.get("/api/v1/courses").json["courses"]] == ["student"]  # type: ignore[index]
        with site.platform.sessions() as session:
            assert session.query(UserRow).filter_by(name="ada.l").one().email_by == EmailBy.ROSTER

    def test_an_unverified_address_proves_nothing(self, opened: Open) -> None:
        site = opened()
        victim = accounts.create_user(site.platform, "victim", builders.PASSWORD, email="ada@uni.example")
        site.invite("ada2@uni.example")
        for email, verified in (
            ("ada@uni.example", False),
            ("ada@uni.example", None),
            ("ada2@uni.example", 0),
        ):
            site.provider.claims = {"sub": "evil", "email": email, "email_verified": verified}
            assert site.sign_in().status_code == 403
        assert sign_on.identities(site.platform, victim) == []

    def test_an_account_with_an_admin_set_address_is_linked(self, opened: Open) -> None:
        site = opened(accounts="none")
        accounts.create_user(site.platform, "countess", builders.PASSWORD, email="ada@uni.example")
        browser = site.browser()
        assert site.sign_in(browser).status_code == 303
        assert name_of(browser) == "countess"

    @pytest.mark.parametrize("case", ["proven by its owner", "of the staff", "of another site"])
    def test_other_accounts_need_their_password_to_be_linked(self, opened: Open, case: str) -> None:
        site = opened(accounts="anyone")
        role = Role.STAFF if case == "of the staff" else Role.STUDENT
        user = accounts.create_user(site.platform, "countess", builders.PASSWORD, role, "ada@uni.example")
        by = {"proven by its owner": EmailBy.OWNER, "of another site": EmailBy.SIGN_ON}
        if case in by:
            with writing(site.platform.sessions) as session:
                session.get_one(UserRow, user.id).email_by = by[case].value
        browser = site.browser()
        answer = site.sign_in(browser)
        assert answer.status_code == 403
        assert "Sign in with its password, then connect Uni" in answer.text
        assert name_of(browser) is None
        # With the password it is connected, and opens the account from then on.
        browser = site.by_password("countess")
        data = {"csrf_token": csrf(browser, "/account"), "present": "wrong password"}
        assert browser.post("/account/connect/uni", data=data).status_code == 403
        assert browser.get("/sign-in/with/uni").headers["Location"] == "/"
        data["present"] = builders.PASSWORD
        assert "Go to Uni" in browser.post("/account/connect/uni", data=data).text
        assert site.sign_in(browser).headers["Location"] == "/account?saved=1"
        again = site.browser()
        assert site.sign_in(again).status_code == 303
        assert name_of(again) == "countess"
        # A new password removes connections made with the old one.
        accounts.set_password(site.platform, "countess", "another horse")
        assert site.sign_in().status_code == 403

    def test_an_identity_belongs_to_one_account(self, opened: Open) -> None:
        site = opened(accounts="anyone")
        assert site.sign_in().status_code == 303
        accounts.create_user(site.platform, "bob", builders.PASSWORD)
        browser = site.by_password("bob")
        data = {"csrf_token": csrf(browser, "/account"), "present": builders.PASSWORD}
        browser.post("/account/connect/uni", data=data)
        answer = site.sign_in(browser)
        assert answer.status_code == 409
        assert "another account here, &#39;ada.l&#39;" in answer.text

    def test_only_addresses_of_the_allowed_domains_get_in(self, opened: Open) -> None:
        site = opened(accounts="anyone", domains="uni.example")
        assert site.sign_in().status_code == 303
        for claims in (
            {"sub": "1", "email": "eve@evil.example", "email_verified": True},
            {"sub": "0815", "email": "eve@notuni.example", "email_verified": True},
            {"sub": "2", "email": "ada@uni.example"},
        ):
            site.provider.claims = claims
            assert site.sign_in().status_code == 403

    def test_taken_and_odd_names_are_adjusted(self, opened: Open) -> None:
        site = opened(accounts="anyone")
        accounts.create_user(site.platform, "ADA.L", builders.PASSWORD)
        for number, (name, made) in enumerate(
            [("ada.l", "ada.l-2"), ("root", "root-2"), ("Åsa <b>", "sa-b")]
        ):
            site.provider.claims = {"sub": str(number), "preferred_username": name}
            browser = site.browser()
            assert site.sign_in(browser).status_code == 303
            assert name_of(browser) == made

    def test_missing_claims_are_fetched_from_userinfo(self, opened: Open) -> None:
        site = opened(accounts="anyone")
        site.provider.claims = {"sub": "0815"}
        site.provider.at_userinfo = dict(ADA)
        browser = site.browser()
        assert site.sign_in(browser).status_code == 303
        assert name_of(browser) == "ada.l"
        site.provider.at_userinfo = ADA | {"sub": "somebody else"}
        assert site.sign_in().status_code == 403

    def test_verification_of_one_address_covers_no_other(self, opened: Open) -> None:
        site = opened(accounts="anyone", domains="uni.example")
        site.provider.claims = {"sub": "0815", "email": "grace@uni.example"}
        site.provider.at_userinfo = ADA | {"sub": "0815", "email": "eve@evil.example", "email_verified": True}
        assert site.sign_in().status_code == 403
        site.provider.claims = {"sub": "0815", "email_verified": True}
        site.provider.at_userinfo = ADA | {"sub": "0815", "email": "grace@uni.example"}
        del site.provider.at_userinfo["email_verified"]
        assert site.sign_in().status_code == 403
        site.provider.at_userinfo["email_verified"] = True
        assert site.sign_in().status_code == 303

    def test_the_command_line_signs_in_by_single_sign_on(self, opened: Open) -> None:
        site = opened(accounts="anyone")
        code = device_codes.begin(site.platform, DeviceCodeBody(), "192.0.2.7", URL)
        browser = site.browser()
        page = f"/device?code={code.user_code}"
        asked = browser.get(page)
        assert asked.status_code == 302
        form = browser.get(asked.headers["Location"]).text
        link = form.split('class="button primary" href="')[1].split('"')[0].replace("&amp;", "&")
        assert site.sign_in(browser, link).headers["Location"] == page
        data = {"csrf_token": csrf(browser, page), "code": code.user_code, "answer": "approve"}
        assert browser.post("/device", data=data).status_code == 200
        assert device_codes.poll(site.platform, code.device_code)[0].name == "ada.l"


class TestRefusals:
    @pytest.mark.parametrize(
        ("spoilt", "said"),
        [
            ({"nonce": "of another sign-in"}, "nonce"),
            ({"aud": ["another client"]}, "aud"),
            ({"aud": ["grader", "another"], "azp": "another"}, "azp"),
            ({"iss": "https://login.evil.example"}, "iss"),
            ({"exp": int(time.time()) - limits.CLOCK_SKEW_SECONDS - 5}, "expired"),
            ({"iat": int(time.time()) + 365 * 86_400}, "in the future"),
            ({"sub": ""}, "did not send a user id"),
        ],
    )
    def test_a_spoilt_id_token_is_refused(self, opened: Open, spoilt: dict[str, Any], said: str) -> None:
        site = opened(accounts="anyone")
        site.provider.spoilt = spoilt
        browser = site.browser()
        answer = site.sign_in(browser)
        assert answer.status_code == 403
        assert said in answer.text
        assert name_of(browser) is None
        assert not accounts.has_users(site.platform)

    def test_a_foreign_or_used_state_is_refused(self, opened: Open) -> None:
        site = opened(accounts="anyone")
        browser = site.browser()
        begun = browser.get("/sign-in/with/uni").headers["Location"]
        back = site.provider.visit(begun)
        code = parse_qs(urlsplit(back).query)["code"][0]
        assert browser.get(f"{BACK}?code={code}&state=wrong").status_code == 403
        assert site.browser().get(back).status_code == 403
        assert browser.get(back).status_code == 303
        assert browser.get(back).status_code == 403

    def test_an_expired_sign_on_is_refused(self, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
        site = opened(accounts="anyone")
        browser = site.browser()
        back = site.provider.visit(browser.get("/sign-in/with/uni").headers["Location"])
        monkeypatch.setattr("grader.web.pages.sign_on._SECONDS", -1)
        assert browser.get(back).status_code == 403

    def test_a_foreign_signing_key_is_refused(self, opened: Open) -> None:
        site = opened(accounts="anyone")
        assert site.sign_in().status_code == 303
        shown = site.provider.keys
        site.provider.rotate()
        site.provider.keys.insert(0, site.provider.keys[-1])
        signed_by = site.provider.keys[-1]
        browser = site.browser()
        begun = browser.get("/sign-in/with/uni").headers["Location"]
        back = site.provider.visit(begun)
        # Signed while the provider shows only its old key.
        site.provider.keys = [*shown, signed_by]
        site.provider.shows = shown
        answer = browser.get(back)
        assert answer.status_code == 403
        assert "not signed by any of its keys" in answer.text

    def test_a_rotated_key_is_fetched_at_a_limited_rate(
        self, opened: Open, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        site = opened(accounts="anyone")
        assert site.sign_in().status_code == 303
        assert site.sign_in().status_code == 303
        assert site.provider.asked == ["keys"]
        site.provider.rotate()
        assert site.sign_in().status_code == 403
        assert site.provider.asked == ["keys"], "asked a moment ago"
        monkeypatch.setattr(limits, "KEYS_AGAIN_SECONDS", 0.0)
        assert site.sign_in().status_code == 303
        assert site.provider.asked == ["keys", "keys"]

    def test_a_secret_follows_no_redirect(self, opened: Open) -> None:
        site = opened(accounts="anyone")
        with Provider(URL + BACK, claims=dict(ADA)).served() as other:
            site.provider.token_redirects_to = f"{other.issuer}/token"
            assert site.sign_in().status_code == 403

    def test_sign_on_redirects_to_no_other_site(self, opened: Open) -> None:
        site = opened(accounts="anyone")
        answer = site.sign_in(at="/sign-in/with/uni?next=https://evil.example/")
        assert answer.headers["Location"] == "/"

    def test_an_unreachable_or_misnamed_provider_is_reported(self, opened: Open) -> None:
        site = opened(accounts="anyone")
        site.provider.issuer += "/other"
        answer = site.browser().get("/sign-in/with/uni?next=/progress")
        assert answer.status_code in (403, 503)
        assert "Sign in" in answer.text
        assert site.browser().get("/sign-in/with/nobody").status_code == 404


def test_disconnecting_needs_the_password(opened: Open) -> None:
    site = opened(accounts="none")
    user = accounts.create_user(site.platform, "ada", builders.PASSWORD, email="ada@uni.example")
    assert site.sign_in().status_code == 303
    (identity,) = sign_on.identities(site.platform, user)
    browser = site.by_password("ada")
    data = {"csrf_token": csrf(browser, "/account"), "present": "wrong"}
    path = f"/account/identities/{identity.id}/disconnect"
    assert browser.post(path, data=data).status_code == 403
    assert browser.post(path, data=data | {"present": builders.PASSWORD}).status_code == 303
    assert sign_on.identities(site.platform, user) == []
    assert addresses.address_of(site.platform, user) == "ada@uni.example"
