"""Settings: by their page, by the button in the header, by the API."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient

from grader.schemas.preferences import Preferences, Theme, of_stored
from grader.service.accounts import accounts
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from tests.web.conftest import Visit, csrf

API = "/api/v1/me/preferences"


def theme_of(client: FlaskClient, page: str = "/") -> str:
    found = re.search(r'<html lang="en" data-theme="(\w+)">', client.get(page).text)
    assert found
    return found[1]


def press(client: FlaskClient, theme: str, **form: str) -> int:
    return client.post("/theme", data={"theme": theme, "csrf_token": csrf(client, "/")} | form).status_code


class TestTheme:
    def test_the_theme_button_cycles(self, visit: Visit) -> None:
        client = visit(None)
        for present, following in (("system", "light"), ("light", "dark"), ("dark", "system")):
            assert theme_of(client) == present
            assert f'name="theme" value="{following}"' in client.get("/").text
            assert press(client, following) == 303
        assert theme_of(client) == "system"

    def test_the_theme_is_stored_in_the_account(self, visit: Visit, ada: User) -> None:
        assert press(visit(ada), "dark") == 303
        elsewhere = visit(ada)
        assert theme_of(elsewhere) == "dark"
        assert 'name="color-scheme" content="dark"' in elsewhere.get("/").text

    def test_the_accounts_theme_overrides_the_cookie(self, visit: Visit, ada: User) -> None:
        client = visit(ada)
        client.set_cookie("grader_theme", "dark")
        assert theme_of(client) == "system"

    def test_the_theme_stays_after_sign_out(self, visit: Visit, ada: User) -> None:
        client = visit(ada)
        press(client, "dark")
        client.post("/sign-out", data={"csrf_token": csrf(client, "/")})
        assert theme_of(client) == "dark"

    @pytest.mark.parametrize("value", ["", "blue", '"><script>', "DARK"])
    def test_an_unknown_theme_is_refused(self, visit: Visit, value: str) -> None:
        client = visit(None)
        assert press(client, value) == 400
        client.set_cookie("grader_theme", "nonsense")
        assert theme_of(client) == "system"

    def test_the_theme_form_redirects_only_to_our_pages(self, visit: Visit) -> None:
        client = visit(None)
        token = csrf(client, "/")
        for back, to in (("/progress?user=x", "/progress?user=x"), ("//evil.example", "/"), ("/\\evil", "/")):
            form = {"theme": "dark", "csrf_token": token, "back": back}
            assert client.post("/theme", data=form).headers["Location"] == to

    def test_the_theme_form_needs_its_token(self, visit: Visit, ada: User) -> None:
        client = visit(ada)
        assert client.post("/theme", data={"theme": "dark"}).status_code == 403
        assert theme_of(client) == "system"


class TestPage:
    def save(self, client: FlaskClient, **form: str) -> str:
        answer = client.post("/account/preferences", data=form | {"csrf_token": csrf(client, "/account")})
        assert answer.status_code == 303
        return client.get(answer.headers["Location"]).text

    def test_all_settings_are_stored_and_shown(self, visit: Visit, ada: User) -> None:
        client = visit(ada)
        page = self.save(client, theme="dark", vim="on", anonymous="on", calendar="private")
        assert "Saved." in page
        assert 'value="dark" checked' in page
        assert 'name="vim" checked' in page
        assert 'name="anonymous" checked' in page
        assert page.count('<option value="private" selected>') == 2, "nobody reads kernels by default"
        page = self.save(client, kernels="course")
        assert '<option value="course" selected>members of my courses</option>' in page
        page = self.save(client, theme="light")
        assert 'name="vim" checked' not in page
        assert 'value="light" checked' in page

    @pytest.mark.parametrize("value", ["null", "true", "2", "off"])
    def test_a_checkbox_can_be_cleared(self, visit: Visit, ada: User, value: str) -> None:
        client = visit(ada)
        form = {"anonymous": value, "csrf_token": csrf(client, "/account")}
        answer = client.post("/account/preferences", data=form)
        assert answer.status_code == 400
        assert "neither yes nor no" in answer.text
        assert 'name="anonymous" checked' not in client.get("/account").text
        assert 'name="anonymous" checked' not in self.save(client, theme="dark", anonymous="0")

    def test_a_nonexistent_theme_is_refused_on_the_page(self, visit: Visit, ada: User) -> None:
        client = visit(ada)
        form = {"theme": "blue", "csrf_token": csrf(client, "/account")}
        assert client.post("/account/preferences", data=form).status_code == 400


class TestApi:
    def test_a_patch_changes_only_named_settings(self, call: Visit, ada: User, bob: User) -> None:
        client = call(ada)
        audiences = {"profile": "public", "calendar": "public", "kernels": "private"}
        assert client.get(API).get_json() == {"theme": "system", "vim": False, "anonymous": False} | audiences
        assert client.patch(API, json={"vim": True}).get_json()["vim"] is True
        told = client.patch(API, json={"anonymous": True, "profile": "course"}).get_json()
        audiences = {"profile": "course", "calendar": "public", "kernels": "private"}
        assert told == {"theme": "system", "vim": True, "anonymous": True} | audiences
        assert client.get(API).get_json() == told
        assert call(bob).get(API).get_json()["vim"] is False

    @pytest.mark.parametrize("body", [{"theme": "blue"}, {"vim": "perhaps"}, {"colour": "red"}])
    def test_bad_settings_are_refused(self, call: Visit, ada: User, body: dict[str, str]) -> None:
        assert call(ada).patch(API, json=body).status_code == 400


def test_settings_of_a_later_release_are_ignored(platform: Platform, ada: User) -> None:
    assert of_stored({"theme": "dark", "later": 1}) == Preferences(theme=Theme.DARK)
    assert of_stored({"theme": "a later theme"}) == Preferences()
    user = accounts.user_by_id(platform, ada.id)
    assert user
    assert user.preferences == Preferences()


def test_staff_see_the_design_in_both_themes(visit: Visit, teacher: User, ada: User) -> None:
    page = visit(teacher).get("/design").text
    assert 'class="theme-light' in page
    assert 'class="theme-dark' in page
    assert visit(ada).get("/design").status_code == 403
    assert 'href="/design"' in visit(teacher).get("/").text
    assert 'href="/design"' not in visit(ada).get("/").text
