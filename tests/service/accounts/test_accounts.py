from __future__ import annotations

import pytest
from sqlalchemy import text

from grader.errors import BadRequest, Conflict, NotSignedIn
from grader.schemas.account import Role
from grader.service.accounts import accounts, tokens
from grader.service.accounts.accounts import User
from grader.service.platform import Platform

pytestmark = pytest.mark.both_databases


def test_a_user_signs_in_whatever_the_case_of_the_name(platform: Platform, student: User) -> None:
    assert accounts.authenticate(platform, "ADA", "correct horse") == student
    assert student.role is Role.STUDENT
    assert accounts.user_by_id(platform, student.id) == student
    assert accounts.user_by_id(platform, 999) is None


@pytest.mark.parametrize("name", ["", " ada", "a b", "-a", "ä", "a" * 65, "a\n", "../x"])
def test_bad_names_are_refused(platform: Platform, name: str) -> None:
    with pytest.raises(BadRequest):
        accounts.create_user(platform, name, "correct horse")


@pytest.mark.parametrize("password", ["", "1234567", "x" * 1025])
def test_bad_passwords_are_refused(platform: Platform, password: str) -> None:
    with pytest.raises(BadRequest, match="password"):
        accounts.create_user(platform, "ada", password)


def test_names_are_unique(platform: Platform, student: User) -> None:
    with pytest.raises(Conflict, match="is taken"):
        accounts.create_user(platform, student.name.upper(), "correct horse")


@pytest.mark.parametrize(
    ("name", "password"), [("ada", "wrong horse"), ("nobody", "correct horse"), ("a" * 999, "")]
)
def test_a_wrong_name_and_a_wrong_password_give_the_same_error(
    platform: Platform, student: User, name: str, password: str
) -> None:
    with pytest.raises(NotSignedIn, match="Name or password is wrong"):
        accounts.authenticate(platform, name, password)


def test_an_unknown_name_costs_a_password_hash(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[str] = []
    monkeypatch.setattr(accounts, "_matches", lambda hashed, password: checked.append(hashed))
    with pytest.raises(NotSignedIn):
        accounts.authenticate(platform, "nobody", "correct horse")
    assert checked
    assert checked[0].startswith("$argon2id$")


def test_a_token_works_until_it_is_revoked_and_is_not_stored(platform: Platform, student: User) -> None:
    token = tokens.issue_token(platform, student, "laptop").token
    assert token.startswith("grd_")
    assert tokens.user_of_token(platform, token) == student
    with platform.sessions() as session:
        stored = str(session.execute(text("SELECT * FROM tokens")).all())
        passwords = str(session.execute(text("SELECT * FROM users")).all())
    assert token not in stored
    assert "correct horse" not in passwords
    tokens.revoke_token(platform, token)
    tokens.revoke_token(platform, token)
    with pytest.raises(NotSignedIn):
        tokens.user_of_token(platform, token)


@pytest.mark.parametrize("token", ["", "grd_", "x" * 10_000, "\ud800"])
def test_a_malformed_token_is_refused(platform: Platform, token: str) -> None:
    with pytest.raises(NotSignedIn):
        tokens.user_of_token(platform, token)
