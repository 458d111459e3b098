"""Signing up, new passwords, the first admin, command lines and people: by page and by API."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from grader.schemas.account import InvitationBody, Role
from grader.service.accounts import accounts, first_admin, invitations, people
from grader.service.accounts.accounts import User
from grader.service.messages import mail
from grader.service.platform import Platform, open_platform
from grader.web.app import create_app
from tests.service import postbox
from tests.service.postbox import link_in
from tests.web import builders
from tests.web.conftest import Visit, csrf

API = "/api/v1"
Make = Callable[..., Platform]


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Make]:
    opened: list[Platform] = []

    def make(**values: object) -> Platform:
        opened.append(open_platform(builders.make_settings(tmp_path / "made", **values)))
        return opened[-1]

    yield make
    for platform in opened:
        platform.close()


def path_of(link: str) -> str:
    return "/" + link.split("/", 3)[3]


def key_of(link: str) -> str:
    return link.partition("key=")[2]


def send(client: FlaskClient, page: str, to: str, **form: str) -> tuple[int, str]:
    answer = client.post(to, data=form | {"csrf_token": csrf(client, page)})
    return answer.status_code, answer.text


def name_of(client: FlaskClient) -> str:
    return str(client.get(f"{API}/me").get_json()["name"])


class TestInvitation:
    def test_an_invitation_page_creates_an_account_and_opening_it_costs_no_use(self, made: Make) -> None:
        platform = made(sign_up="invite")
        invited = invitations.make(platform, InvitationBody(label="Autumn <b>course</b>"))
        client = create_app(platform).test_client()
        assert client.get("/sign-up").status_code == 404
        path = path_of(invited.link)
        for _ in range(3):
            page = client.get(path)
            assert "Autumn &lt;b&gt;course" in page.text
        assert page.headers["Referrer-Policy"] == "no-referrer"
        assert page.headers["Cache-Control"] == "private, no-store"
        form = {"key": key_of(invited.link), "name": "eve", "password": "short", "role": "admin"}
        assert send(client, path, "/sign-up", **form)[0] == 400
        assert send(client, path, "/sign-up", **form | {"password": builders.PASSWORD})[0] == 303
        assert client.get(f"{API}/me").get_json() == {"name": "eve", "role": "student"}
        assert client.get(path).status_code == 400

    def test_invitations_work_by_api(self, made: Make) -> None:
        platform = made(sign_up="invite", url="https://grader.example")
        tutor = accounts.create_user(platform, "tutor", builders.PASSWORD, Role.STAFF)
        client = create_app(platform).test_client()
        token = client.post(
            f"{API}/tokens", json={"name": tutor.name, "password": builders.PASSWORD}
        ).get_json()
        assert token["scopes"] == ["read", "submit", "account", "staff"]
        staff = {"Authorization": f"Bearer {token['token']}"}
        made_link = client.post(f"{API}/invitations", json={"uses": 2}, headers=staff).get_json()
        assert made_link["link"].startswith("https://grader.example/sign-up?key=")
        assert client.post(f"{API}/invitations", json={"role": "staff"}, headers=staff).status_code == 403
        form = {"name": "eve", "password": builders.PASSWORD, "key": key_of(made_link["link"])}
        assert send(client, "/sign-in", "/sign-up", **form)[0] == 303
        listed = client.get(f"{API}/invitations", headers=staff).get_json()["invitations"]
        assert [(each["used"], each["made_by"]) for each in listed] == [(1, "tutor")]
        assert "link" not in listed[0]
        assert client.delete(f"{API}/invitations/{listed[0]['id']}", headers=staff).status_code == 204
        assert send(client, "/account", "/sign-up", **form | {"name": "eve2"})[0] == 400
        assert [each.name for each in people.list_people(platform, tutor).people] == ["eve", "tutor"]


def test_sign_up_by_mail_works(made: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with postbox.served(tmp_path, monkeypatch) as box:
        platform = made(**box.settings(sign_up="domain", sign_up_domains="uni.example"))
        client = create_app(platform).test_client()
        assert "Send me a link" in client.get("/sign-up").text
        status, page = send(client, "/sign-up", "/sign-up/address", email="eve@evil.example")
        assert (status, "uni.example" in page) == (400, True)
        status, page = send(client, "/sign-up", "/sign-up/address", email="eve@uni.example")
        assert (status, "have sent it a link" in page) == (200, True)
        path = link_in(box.wait())
        assert "eve@uni.example" in client.get(path).text
        form = {"key": key_of(path), "name": "eve", "password": builders.PASSWORD}
        assert send(client, path, "/sign-up", **form)[0] == 303
        assert "eve@uni.example" in client.get("/account").text


def test_a_forgotten_password_is_reset_by_mail(
    made: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with postbox.served(tmp_path, monkeypatch) as box:
        platform = made(**box.settings())
        accounts.create_user(platform, "ada", builders.PASSWORD, email="ada@uni.example")
        app = create_app(platform)
        client, elsewhere = app.test_client(), app.test_client()
        assert send(elsewhere, "/sign-in", "/sign-in", name="ada", password=builders.PASSWORD)[0] == 303
        answers = {
            re.sub(r'value="[^"]+"', "", send(client, "/forgot", "/forgot", name=name)[1])
            for name in ("ada", "nobody", "ada@uni.example", "")
        }
        assert len(answers) == 1
        path = link_in(box.wait(2))
        assert mail.settle()
        assert "New password of ada" in client.get(path).text
        form = {"key": key_of(path), "password": "a new password"}
        assert send(client, path, "/reset", **form)[0] == 303
        assert name_of(client) == "ada"
        assert elsewhere.get("/account").status_code == 302
        assert client.get(path).status_code == 400


def test_mails_ignore_the_requests_host(made: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with postbox.served(tmp_path, monkeypatch) as box:
        platform = made(**box.settings())
        accounts.create_user(platform, "ada", builders.PASSWORD, email="ada@uni.example")
        evil: dict[str, Any] = {
            "base_url": "http://evil.example",
            "headers": {"X-Forwarded-Host": "evil.example"},
        }
        client = create_app(platform).test_client()
        (token,) = set(re.findall(r'name="csrf_token" value="([^"]+)"', client.get("/forgot", **evil).text))
        assert client.post("/forgot", data={"name": "ada", "csrf_token": token}, **evil).status_code == 200
        assert "evil.example" not in box.wait().get_content()


def test_the_first_admin_is_created_on_the_page(platform: Platform, ada: User) -> None:
    path = first_admin.make_link(platform).path
    client = create_app(platform).test_client()
    assert client.get("/setup").status_code == 400
    form = {"key": key_of(path), "name": "boss", "password": builders.PASSWORD}
    assert send(client, path, "/setup", **form | {"name": "ada"})[0] == 409
    assert send(client, path, "/setup", **form)[0] == 303
    assert client.get(f"{API}/me").get_json() == {"name": "boss", "role": "admin"}
    assert client.get("/people").status_code == 200
    assert send(client, "/people", "/people/ada/role", role="staff")[0] == 303
    assert send(client, "/people", "/people/ada/role", role="king")[0] == 400
    assert accounts.authenticate(platform, "ada", builders.PASSWORD).role is Role.STAFF


class TestDevice:
    def begin(self, client: FlaskClient, **body: object) -> dict[str, str]:
        answer = client.post(f"{API}/device-codes", json=body)
        assert answer.status_code == 201
        found = answer.get_json()
        assert isinstance(found, dict)
        return found

    def poll(self, client: FlaskClient, code: dict[str, str]) -> tuple[int, str]:
        answer = client.post(f"{API}/device-codes/token", json={"device_code": code["device_code"]})
        body = answer.get_json()
        return answer.status_code, body["token"] if answer.status_code == 201 else body["error"]["code"]

    def test_a_login_by_code_is_approved_on_the_page(
        self, platform: Platform, visit: Visit, ada: User
    ) -> None:
        program = create_app(platform).test_client()
        code = self.begin(program, label="<i>laptop</i>", scopes=["read", "staff"])
        assert self.poll(program, code) == (400, "authorization_pending")
        assert self.poll(program, code) == (400, "slow_down")
        path = path_of(code["verification_uri_complete"])
        nobody = create_app(platform).test_client()
        assert nobody.get(path).headers["Location"] == f"/sign-in?next=/device?code%3D{code['user_code']}"
        browser = visit(ada)
        page = browser.get(path).text
        for words in (
            "&lt;i&gt;laptop",
            "127.0.0.1",
            code["user_code"],
            "started <code>grader login",
            "left out",
        ):
            assert words in page
        typed = code["user_code"].replace("-", "").lower()
        status, page = send(browser, path, "/device", code=typed, answer="approve")
        assert (status, "Go back to the terminal" in page) == (200, True)
        status, token = self.poll(program, code)
        assert status == 201
        shown = {"Authorization": f"Bearer {token}"}
        assert program.get(f"{API}/me", headers=shown).get_json()["name"] == "ada"
        assert program.get(f"{API}/submissions", headers=shown).status_code == 200
        assert program.post(f"{API}/submissions", json={}, headers=shown).status_code in (400, 403)
        assert self.poll(program, code) == (400, "expired_token")

    def test_a_login_by_code_can_be_denied(self, platform: Platform, visit: Visit, ada: User) -> None:
        program = create_app(platform).test_client()
        code = self.begin(program)
        browser = visit(ada)
        assert send(browser, "/device", "/device", code=code["user_code"])[0] == 200  # no button: a no
        assert self.poll(program, code) == (400, "access_denied")

    def test_guessing_a_code_is_limited(self, visit: Visit, ada: User) -> None:
        browser = visit(ada)
        found = [browser.get(f"/device?code=BCDF-GHJ{letter}").status_code for letter in "BCDFGHJKLMN"]
        assert found == [404] * 10 + [429]
        assert browser.get("/device").status_code == 200


class TestSessions:
    def test_sessions_are_listed_and_ended(self, app: object, visit: Visit, call: Visit, ada: User) -> None:
        mine, other, program = visit(ada), visit(ada), call(ada)
        mine.get("/account", headers={"User-Agent": "x"})
        page = mine.get("/account").text
        assert page.count("End all others") == 1
        assert page.count("this one") == 1
        assert send(mine, "/account", "/account/sessions/end")[0] == 303
        assert other.get("/account").status_code == 302
        assert mine.get("/account").status_code == 200
        assert program.get(f"{API}/me").status_code == 200
        assert "End all others" not in mine.get("/account").text

    @pytest.mark.parametrize(
        ("agent", "label"),
        [
            ("Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0", "Firefox on Linux"),
            ("Mozilla/5.0 (Windows NT 10.0) Chrome/130.0.0.0 Safari/537.36 Edg/130.0", "Edge on Windows"),
            ("Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) Safari/604.1", "Safari on iPhone"),
            ("<script>", "A browser"),
        ],
    )
    def test_a_session_is_named_after_its_browser(
        self, platform: Platform, ada: User, agent: str, label: str
    ) -> None:
        client = create_app(platform).test_client()
        client.environ_base["HTTP_USER_AGENT"] = agent
        send(client, "/sign-in", "/sign-in", name="ada", password=builders.PASSWORD)
        assert f"<td>{label} <span" in client.get("/account").text


def test_changing_an_address_needs_the_password(
    made: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with postbox.served(tmp_path, monkeypatch) as box:
        platform = made(**box.settings())
        accounts.create_user(platform, "ada", builders.PASSWORD)
        client = create_app(platform).test_client()
        send(client, "/sign-in", "/sign-in", name="ada", password=builders.PASSWORD)
        form = {"email": "ada@uni.example", "present": "wrong"}
        assert send(client, "/account", "/account/email", **form)[0] == 403
        assert (
            send(client, "/account", "/account/email", **form | {"email": "x", "present": builders.PASSWORD})[
                0
            ]
            == 400
        )
        assert send(client, "/account", "/account/email", **form | {"present": builders.PASSWORD})[0] == 200
        path = link_in(box.wait())
        assert len(box.mails) == 1
        assert "ada@uni.example" not in client.get("/account").text
        assert send(client, path, "/account/email/prove", key=key_of(path))[0] == 303
        assert "ada@uni.example" in client.get("/account").text


def test_staff_create_a_reset_link(made: Make) -> None:
    platform = made(sign_up="invite")
    for name, role in (("tutor", Role.STAFF), ("ada", Role.STUDENT), ("boss", Role.ADMIN)):
        accounts.create_user(platform, name, builders.PASSWORD, role)
    client = create_app(platform).test_client()
    send(client, "/sign-in", "/sign-in", name="tutor", password=builders.PASSWORD)
    status, page = send(client, "/people", "/people/ada/reset")
    assert (status, "/reset?key=" in page) == (200, True)
    assert send(client, "/people", "/people/boss/reset")[0] == 403
    status, page = send(client, "/people", "/people/invitations", uses="3", days="7", label="<b>x</b>")
    assert (status, "/sign-up?key=inv_" in page, "<b>x" in page) == (200, True, False)
    for wrong in ({"uses": "0"}, {"uses": "many"}, {"days": "9999"}):
        assert send(client, "/people", "/people/invitations", **wrong)[0] == 400
    assert send(client, "/people", "/people/invitations", role="admin")[0] == 403
