"""`login`, `logout` and the file that keeps the token."""

from __future__ import annotations

import io
import json
import stat
from pathlib import Path

import pytest

from grader import errors
from grader.cli import login
from tests.cli.conftest import Cli
from tests.cli.stub import Stub

TOKEN = {"token": "grd_secret", "user": "ada", "role": "student", "expires_at": "2030-01-02T03:04:05Z"}


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    stream = io.StringIO("correct horse\n")
    monkeypatch.setattr("sys.stdin", stream)
    return stream


def _login(cli: Cli, server: Stub) -> None:
    ran = cli("login", "--server", server.url + "/", "--name", "ada", "--password-stdin")
    assert (ran.code, ran.out) == (0, "")
    assert "Signed in" in ran.err


def test_login_stores_the_token_readable_by_its_owner_only(
    cli: Cli, server: Stub, stdin: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answer("POST /tokens", TOKEN, 201)
    _login(cli, server)
    sent = json.loads(server.asked[0].body)
    assert (sent["name"], sent["password"]) == ("ada", "correct horse")
    assert stat.S_IMODE(Path(login.path()).stat().st_mode) == 0o600
    monkeypatch.delenv("GRADER_SERVER")
    assert (login.server(), login.token()) == (server.url, "grd_secret")


def test_a_wrong_password_stores_nothing(cli: Cli, server: Stub, stdin: io.StringIO) -> None:
    server.answer("POST /tokens", {"error": errors.NotSignedIn("Name or password is wrong.").as_dict()}, 401)
    assert cli("login", "--name", "ada", "--password-stdin").code == 3
    assert not Path(login.path()).exists()


def test_login_without_a_terminal_explains_the_options(cli: Cli, stdin: io.StringIO) -> None:
    ran = cli("login", "--name", "ada")
    assert ran.code == 2
    assert "--password-stdin" in ran.err


def test_an_empty_password_is_refused(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("\n"))
    assert cli("login", "--name", "ada", "--password-stdin").code == 2


def test_logout_revokes_and_forgets(cli: Cli, server: Stub, stdin: io.StringIO) -> None:
    server.answer("POST /tokens", TOKEN, 201)
    server.answer("DELETE /tokens/current", b"", 204)
    _login(cli, server)
    assert cli("logout").code == 0
    assert server.asked[-1].method == "DELETE"
    assert server.asked[-1].headers["Authorization"] == "Bearer grd_secret"
    assert not Path(login.path()).exists()
    assert "You were not signed in" in cli("logout").err


def test_logout_without_the_server_warns_that_the_token_stays_valid(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    login.keep("http://127.0.0.1:9", "ada", "grd_secret")
    ran = cli("logout")
    assert ran.code == 0
    assert "still accepts it" in ran.err
    assert not Path(login.path()).exists()


@pytest.mark.parametrize("text", ["", "[]", "{", "\xff"])
def test_a_damaged_login_file_is_reported(cli: Cli, text: str) -> None:
    path = Path(login.path())
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="latin-1")
    ran = cli("history")
    assert ran.code == 2
    assert str(path) in ran.err
