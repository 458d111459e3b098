"""`grader doctor` and `grader user identities`: reachable providers, and the identities of an account."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader.cli import machine_checks
from grader.cli.checks import Level
from grader.service.accounts import accounts, oidc, sign_on
from grader.service.accounts.oidc import Person
from grader.service.accounts.sign_on import Policy
from grader.service.platform import open_platform
from grader.settings import Settings
from tests.cli.conftest import Cli
from tests.web.oidc_provider import Provider

BACK = "http://127.0.0.1:8000/sign-in/with/uni/back"


def test_doctor_names_a_provider_that_does_not_answer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert machine_checks.sign_on_checks() == []
    secret = tmp_path / "secret"
    with Provider(BACK).served() as provider:
        monkeypatch.setenv("GRADER_URL", "http://127.0.0.1:8000")
        monkeypatch.setenv("GRADER_OIDC__UNI__ISSUER", provider.issuer)
        monkeypatch.setenv("GRADER_OIDC__UNI__CLIENT_ID", "grader")
        monkeypatch.setenv("GRADER_OIDC__UNI__CLIENT_SECRET_FILE", str(secret))
        (find,) = machine_checks.sign_on_checks()
        assert "cannot be read" in find().message
        secret.write_text("s")
        assert (find().level, BACK in find().message) == (Level.OK, True)
        monkeypatch.setenv("GRADER_OIDC__UNI__ISSUER", f"{provider.issuer}/")
        assert find().level is Level.MISSING
        assert f"issuer is '{provider.issuer}'" in find().message
    monkeypatch.setenv("GRADER_OIDC__UNI__ISSUER", provider.issuer)
    assert find().level is Level.MISSING
    assert "cannot be reached" in find().message
    oidc.forget()


def test_identities_of_an_account_are_listed(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADER_DATA_DIR", str(tmp_path / "data"))
    platform = open_platform(Settings())
    accounts.create_user(platform, "ada", "correct horse", email="ada@uni.example")
    person = Person("https://login.uni.example", "0815", "ada", "ada@uni.example", "Uni")
    sign_on.enter(platform, person, Policy("none"))
    platform.close()
    ran = cli("user", "identities", "ada", "--json")
    (identity,) = json.loads(ran.out)["identities"]
    assert (identity["subject"], identity["came_by"]) == ("0815", "address")
    assert cli("user", "identities", "ada", "--remove", "99").code == 2
    assert "Only their password" in cli("user", "identities", "ada", "--remove", str(identity["id"])).err
