"""`user password`: for who forgot it, on the platform's machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader.errors import NotSignedIn
from grader.service import accounts, tokens
from grader.service.platform import open_platform
from grader.settings import Settings
from tests.cli.conftest import Cli


def test_a_new_password_is_made_up_and_ends_what_was_signed_in(
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
