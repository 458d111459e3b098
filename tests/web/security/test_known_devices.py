"""Strangers' guesses do not lock out browsers in which the owner has signed in before."""

from __future__ import annotations

import pytest
from flask import Flask
from flask.testing import FlaskClient

from grader import limits
from grader.service.accounts.accounts import User
from tests.web import builders
from tests.web.conftest import Visit, csrf
from tests.web.security.test_limits import guess


def sign_in(client: FlaskClient, name: str, password: str = builders.PASSWORD) -> int:
    form = {"name": name, "password": password, "csrf_token": csrf(client)}
    return client.post("/sign-in", data=form, environ_base={"REMOTE_ADDR": "192.0.2.250"}).status_code


def shut(app: Flask, name: str) -> None:
    for number in range(limits.SIGN_IN_PER_ACCOUNT):
        assert guess(app, name, f"192.0.2.{number}") in (401, 429)  # a sign-in before counts, too
    assert guess(app, name, "192.0.2.200", builders.PASSWORD) == 429


def known(app: Flask, visit: Visit, user: User) -> FlaskClient:
    client = visit(user)
    client.post("/sign-out", data={"csrf_token": csrf(client, "/")})
    return client


def test_a_known_browser_signs_in_during_an_attack(app: Flask, visit: Visit, ada: User) -> None:
    client = known(app, visit, ada)
    cookie = client.get_cookie("grader_device")
    assert cookie
    assert (cookie.http_only, cookie.same_site) == (True, "Lax")
    assert "ada" not in cookie.value
    shut(app, "ada")
    assert sign_in(app.test_client(), "ada") == 429
    assert sign_in(client, "Ada") == 303


def test_a_known_browser_has_limited_guesses(app: Flask, visit: Visit, ada: User) -> None:
    client = known(app, visit, ada)
    found = [sign_in(client, "ada", "guess") for _ in range(limits.SIGN_IN_PER_ADDRESS_AND_ACCOUNT)]
    assert set(found[:-1]) == {401}
    assert sign_in(client, "ada") == 429
    assert (
        guess(app, "ada", "192.0.2.7", builders.PASSWORD) == 201
    )  # nor does it lock out its owner elsewhere


def test_a_browser_is_known_for_one_account_only(app: Flask, visit: Visit, ada: User, bob: User) -> None:
    """At another account, a user is a stranger, signed out or in."""
    outside, inside = known(app, visit, bob), visit(bob)
    shut(app, "ada")
    assert sign_in(outside, "ada") == 429
    form = {"name": "ada", "password": builders.PASSWORD, "csrf_token": csrf(inside, "/account")}
    assert inside.post("/sign-in", data=form).status_code == 429


@pytest.mark.parametrize("value", ["", "x", "a.b.c", "WyJ4IiwgInkiXQ.aaaaaa.bbbbbb"])
def test_a_forged_device_cookie_is_ignored(app: Flask, ada: User, value: str) -> None:
    shut(app, "ada")
    client = app.test_client()
    client.set_cookie("grader_device", value)
    assert sign_in(client, "ada") == 429


def test_a_signed_in_user_can_change_the_password_during_an_attack(
    app: Flask, visit: Visit, ada: User
) -> None:
    client = visit(ada)
    shut(app, "ada")
    form = {"present": builders.PASSWORD, "new": "a new password", "csrf_token": csrf(client, "/account")}
    assert client.post("/account/password", data=form).status_code == 303


def test_one_address_cannot_lock_an_account(app: Flask, ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """However patient: a minute passes between its rounds."""
    import limits.storage.memory as storage

    class Clock:
        now = storage.time.time()

        def time(self) -> float:
            return self.now

        def __getattr__(self, name: str) -> object:
            return getattr(real, name)

    real, clock = storage.time, Clock()
    monkeypatch.setattr(storage, "time", clock)
    for _ in range(6):
        for _ in range(limits.SIGN_IN_PER_ADDRESS_AND_ACCOUNT):
            guess(app, "ada", "192.0.2.1")
        clock.now += 61
    assert guess(app, "ada", "192.0.2.1", builders.PASSWORD) == 429
    assert guess(app, "ada", "192.0.2.2", builders.PASSWORD) == 201
