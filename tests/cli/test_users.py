"""`user`: accounts, invitations and links on the platform's machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.errors import NotSignedIn
from grader.records.models import AuditRow
from grader.service import audit
from grader.service.accounts import accounts, first_admin, resets, sign_up, tokens
from grader.service.accounts.links import LinkUseless
from grader.service.platform import Platform, open_platform
from grader.settings import Settings
from tests.cli.conftest import Cli


def test_a_new_password_is_generated_and_ends_all_sessions(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADER_DATA_DIR", str(tmp_path / "data"))
    platform = open_platform(Settings())
    ada = accounts.create_user(platform, "ada", "correct horse")
    token = tokens.issue_token(platform, ada).token
    ran = cli("user", "password", "Ada", "--json")
    assert ran.code == 0
    told = json.loads(ran.out)
    assert accounts.authenticate(platform, told["name"], told["password"]) == ada
    for asked in (
        lambda: tokens.user_of_token(platform, token),
        lambda: accounts.authenticate(platform, "ada", "correct horse"),
    ):
        with pytest.raises(NotSignedIn):
            asked()
    assert cli("user", "password", "nobody").code == 2
    platform.close()


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Platform]:
    monkeypatch.setenv("GRADER_SIGN_UP", "invite")
    monkeypatch.setenv("GRADER_URL", "https://grader.uni.example")
    platform = open_platform(Settings())
    yield platform
    platform.close()


def test_an_invitation_is_printed_once_listed_and_ended(cli: Cli, opened: Platform) -> None:
    made = json.loads(cli("user", "invite", "--for", "autumn", "--uses", "2", "--json").out)
    assert made["link"].startswith("https://grader.uni.example/sign-up?key=inv_")
    assert (made["uses"], made["role"]) == (2, "student")
    key = made["link"].partition("key=")[2]
    listed = cli("user", "invite", "--list")
    assert "autumn, student, 0 of 2 used" in listed.out
    assert key not in listed.out
    assert cli("user", "invite", "--revoke", str(made["id"])).code == 0
    assert cli("user", "invite", "--revoke", str(made["id"])).code == 2
    assert cli("user", "invite", "--list").out == ""
    with pytest.raises(LinkUseless):
        sign_up.offer(opened, key)


def test_an_invitation_while_sign_up_is_closed_names_the_setting(
    cli: Cli, opened: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADER_SIGN_UP", "closed")
    ran = cli("user", "invite")
    assert ran.code == 2
    assert "GRADER_SIGN_UP=invite" in ran.err


def test_a_reset_link_is_printed_and_works_once(cli: Cli, opened: Platform) -> None:
    accounts.create_user(opened, "ada", "correct horse")
    link = cli("user", "reset", "ADA").out.strip()
    assert link.startswith("https://grader.uni.example/reset?key=")
    key = link.partition("key=")[2]
    assert resets.use(opened, key, "a new password").name == "ada"
    with pytest.raises(LinkUseless):
        resets.use(opened, key, "another password")
    assert cli("user", "reset", "nobody").code == 2


def test_the_first_admin_sets_roles(cli: Cli, opened: Platform) -> None:
    link = cli("user", "bootstrap").out.strip()
    assert link.startswith("https://grader.uni.example/setup?key=")
    boss = first_admin.make(opened, link.partition("key=")[2], "boss", "correct horse")
    assert boss.admin
    ran = cli("user", "bootstrap")
    assert (ran.code, "already has staff" in ran.err) == (2, True)
    assert cli("user", "add", "ada", "--email", "Ada@uni.example").code == 0
    assert json.loads(cli("user", "role", "ada", "staff", "--json").out) == {"name": "ada", "role": "staff"}
    with opened.sessions() as session:
        noted = session.query(AuditRow).one()
    assert (noted.actor, noted.actor_id, noted.subject) == (audit.SHELL, None, "/people/ada/role")
    assert "ada  staff  Ada@uni.example" in cli("user", "list").out
    assert cli("user", "email", "ada").code == 0
    assert "ada  staff  -" in cli("user", "list").out
    assert cli("user", "email", "ada", "no address").code == 2


def test_a_wrong_data_folder_is_reported(cli: Cli, tmp_path: Path) -> None:
    assert f"There is no platform in {tmp_path / 'data'} yet" in cli("user", "list").err
    assert "There is no platform" not in cli("user", "list").err


def test_a_data_folder_that_cannot_be_created_is_reported(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADER_DATA_DIR", "/proc/grader")
    ran = cli("user", "list")
    assert (ran.code, "The data folder '/proc/grader' cannot be made" in ran.err) == (2, True)


def test_a_database_that_does_not_answer_is_reported(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("psycopg")
    monkeypatch.setenv("GRADER_DATABASE_URL", "postgresql+psycopg://nobody@127.0.0.1:1/x")
    ran = cli("user", "list")
    assert (ran.code, "The database cannot be used" in ran.err) == (4, True)
