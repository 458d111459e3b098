"""Signing in by a code: the answer to polling in each state, and the token's rights."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import text, update

from grader import limits
from grader.errors import (
    AccessDenied,
    AuthorizationPending,
    BadRequest,
    ExpiredToken,
    NotAllowed,
    NotFound,
    SlowDown,
    TooMany,
)
from grader.records.engine import writing
from grader.records.models import DeviceCodeRow, utcnow
from grader.schemas.account import Role
from grader.schemas.token import DeviceCode, DeviceCodeBody, Scope
from grader.service.accounts import accounts, device_codes, tokens
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from tests.service.accounts.conftest import PASSWORD

pytestmark = pytest.mark.both_databases

ALL = list(Scope)


def begin(platform: Platform, **values: object) -> DeviceCode:
    body = DeviceCodeBody.model_validate(values)
    return device_codes.begin(platform, body, "192.0.2.7", "https://grader.example")


def later(platform: Platform, seconds: float) -> None:
    """As if the latest poll was that long ago."""
    with writing(platform.sessions) as session:
        session.execute(update(DeviceCodeRow).values(polled_at=utcnow() - timedelta(seconds=seconds)))


def test_an_approved_code_yields_a_token(platform: Platform, student: User) -> None:
    code = begin(platform, label="laptop", days=3)
    assert code.verification_uri_complete == f"https://grader.example/device?code={code.user_code}"
    with pytest.raises(AuthorizationPending):
        device_codes.poll(platform, code.device_code)
    asked = device_codes.find_pending(platform, student, code.user_code.lower().replace("-", " "))
    assert (asked.label, asked.address, asked.days) == ("laptop", "192.0.2.7", 3)
    assert asked.scopes == [Scope.READ, Scope.SUBMIT]
    device_codes.decide(platform, student, code.user_code, True)
    user, issued = device_codes.poll(platform, code.device_code)
    assert user == student
    assert tokens.user_of_token(platform, issued.token).scopes == {Scope.READ, Scope.SUBMIT}
    kept = tokens.list_tokens(platform, student).tokens[0]
    assert (kept.label, kept.address, kept.kind) == ("laptop", "192.0.2.7", "api")
    assert (kept.expires_at - kept.created_at).days in (2, 3)
    for again in (
        lambda: device_codes.poll(platform, code.device_code),
        lambda: device_codes.decide(platform, student, code.user_code, True),
    ):
        with pytest.raises((ExpiredToken, NotFound)):
            again()


def test_polling_too_soon_slows_down_permanently(platform: Platform) -> None:
    code = begin(platform)
    for kind in (AuthorizationPending, SlowDown, SlowDown):
        with pytest.raises(kind):
            device_codes.poll(platform, code.device_code)
    later(platform, 12)  # the interval is 15 s by now
    with pytest.raises(SlowDown):
        device_codes.poll(platform, code.device_code)
    later(platform, 20)
    with pytest.raises(AuthorizationPending):
        device_codes.poll(platform, code.device_code)


def test_denied_expired_and_unknown_codes_are_refused(platform: Platform, student: User) -> None:
    denied, old = begin(platform), begin(platform)
    device_codes.decide(platform, student, denied.user_code, False)
    with pytest.raises(AccessDenied):
        device_codes.poll(platform, denied.device_code)
    with writing(platform.sessions) as session:
        session.execute(update(DeviceCodeRow).values(expires_at=utcnow()))
    for code in (old.device_code, "grdc_unknown", ""):
        with pytest.raises(ExpiredToken):
            device_codes.poll(platform, code)
    for typed in (old.user_code, "", "BCDF-GHJK", "\0" * 9):
        with pytest.raises(NotFound):
            device_codes.find_pending(platform, student, typed)
        with pytest.raises(NotFound):
            device_codes.decide(platform, student, typed, True)


def test_only_hashes_are_stored(platform: Platform) -> None:
    code = begin(platform)
    with platform.sessions() as session:
        kept = str(session.execute(text("SELECT * FROM device_codes")).all())
    assert code.device_code not in kept
    assert code.user_code not in kept


def test_a_student_cannot_grant_the_staff_scope(platform: Platform, student: User, staff: User) -> None:
    for user, granted in ((student, ALL[:-1]), (staff, ALL)):
        code = begin(platform, scopes=["staff", "read", "account", "submit"])
        assert device_codes.find_pending(platform, user, code.user_code).granted == granted
        device_codes.decide(platform, user, code.user_code, True)
        assert device_codes.poll(platform, code.device_code)[1].scopes == granted


def test_a_too_long_lifetime_is_refused_at_once(platform: Platform) -> None:
    with pytest.raises(BadRequest, match="180 days"):
        begin(platform, days=181)


def test_a_flood_of_codes_is_limited(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "DEVICE_CODES_WAITING", 3)
    for _ in range(3):
        begin(platform)
    with pytest.raises(TooMany):
        begin(platform)
    with writing(platform.sessions) as session:
        session.execute(update(DeviceCodeRow).values(expires_at=utcnow()))
    assert begin(platform)


def test_a_token_has_the_requested_scopes(platform: Platform, student: User) -> None:
    boss = accounts.create_user(platform, "boss", PASSWORD, Role.ADMIN)
    usual = tokens.issue(platform, boss, tokens.TokenRequest(scopes=[Scope.SUBMIT, Scope.READ])).token
    user = tokens.user_of_token(platform, usual)
    assert (user.role, user.staff, user.admin) == (Role.ADMIN, False, False)
    whole = tokens.user_of_token(platform, tokens.issue_token(platform, boss).token)
    assert (whole.staff, whole.admin) == (True, True)
    with pytest.raises(NotAllowed, match="staff"):
        tokens.issue(platform, student, tokens.TokenRequest(scopes=ALL))


def test_a_token_loses_the_rights_that_its_owner_loses(platform: Platform, staff: User) -> None:
    from grader.service.accounts import people

    token = tokens.issue_token(platform, staff).token
    assert tokens.user_of_token(platform, token).staff
    people.set_role(platform, staff.name, Role.STUDENT)
    assert not tokens.user_of_token(platform, token).staff
