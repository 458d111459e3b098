"""`login` by code: the shown code, polling, and failures."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest

from grader import errors
from grader.cli import login, polling
from grader.cli.commands import account
from tests.cli.conftest import Cli
from tests.cli.stub import Stub

TOKEN = {
    "token": "grd_secret",
    "user": "ada",
    "role": "student",
    "expires_at": "2030-01-02T03:04:05Z",
    "scopes": ["read", "submit"],
}
POLL = "POST /device-codes/token"


def told(kind: type[errors.GraderError]) -> dict[str, Any]:
    return {"error": kind("No.", "Or later.").as_dict()}


class Clock:
    """Time passes only in sleeps; each sleep brings the server's next answer."""

    def __init__(self, server: Stub, answers: list[tuple[object, int]]) -> None:
        self.now = 0.0
        self.slept: list[float] = []
        self._server = server
        self._answers = answers

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        body, status = self._answers.pop(0) if self._answers else (told(errors.AuthorizationPending), 400)
        self._server.answer(POLL, body, status)

    def monotonic(self) -> float:
        return self.now


Play = Callable[..., Clock]


@pytest.fixture
def play(server: Stub, monkeypatch: pytest.MonkeyPatch) -> Play:
    def make(*answers: tuple[object, int], **values: object) -> Clock:
        given = {
            "device_code": "grdc_x",
            "user_code": "BCDF-GHJK",
            "verification_uri": f"{server.url}/device",
            "verification_uri_complete": f"{server.url}/device?code=BCDF-GHJK",
            "expires_in": 600,
            "interval": 5,
        }
        server.answer("POST /device-codes", given | values, 201)
        clock = Clock(server, list(answers))
        monkeypatch.setattr(account, "time", clock)
        monkeypatch.setattr(polling, "time", clock)
        return clock

    return make


PENDING = (told(errors.AuthorizationPending), 400)


def test_login_shows_the_code_waits_and_stores_the_token(cli: Cli, server: Stub, play: Play) -> None:
    clock = play(PENDING, (TOKEN, 201))
    ran = cli("login", "--days", "7", "--per-day", "500", "--at-once", "4")
    assert (ran.code, ran.out) == (0, "")
    assert f"Open {server.url}/device" in ran.err
    assert "BCDF-GHJK" in ran.err
    assert "somebody else gave you" in ran.err
    assert "valid for 10 min. Waiting" in ran.err
    assert clock.slept == [5, 5]
    assert json.loads(server.asked[0].body)["scopes"] == ["read", "submit"]
    asked = json.loads(server.asked[0].body)
    assert (asked["days"], asked["per_day"], asked["at_once"]) == (7, 500, 4)
    assert json.loads(server.asked[-1].body) == {"device_code": "grdc_x"}
    assert login.token() == "grd_secret"


def test_polling_slows_down_on_request(cli: Cli, play: Play) -> None:
    clock = play(PENDING, (told(errors.SlowDown), 400), PENDING, (TOKEN, 201))
    assert cli("login").code == 0
    assert clock.slept == [5, 5, 10, 10]


def test_a_server_that_is_away_for_a_moment_is_asked_again(cli: Cli, play: Play) -> None:
    clock = play((told(errors.Unreachable), 503), (TOKEN, 201))
    assert cli("login").code == 0
    assert clock.slept == [5, 10]


@pytest.mark.parametrize("kind", [errors.AccessDenied, errors.ExpiredToken])
def test_a_denied_or_expired_code_stores_nothing(
    cli: Cli, play: Play, kind: type[errors.GraderError]
) -> None:
    play((told(kind), 400))
    assert cli("login").code == errors.EXIT_NOT_ALLOWED
    assert login.token() is None


def test_waiting_ends_when_the_code_expires(cli: Cli, play: Play) -> None:
    clock = play(expires_in=23)
    ran = cli("login")
    assert ran.code == errors.EXIT_NOT_ALLOWED
    assert "in time" in ran.err
    assert clock.now < 23


def test_a_bad_interval_does_not_flood_the_server(cli: Cli, play: Play) -> None:
    assert set(play((TOKEN, 201), interval=-1).slept or [1]) == {1}
    assert cli("login").code == 0


def test_only_a_web_page_is_opened(cli: Cli, play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr(account, "has_browser", lambda: True)
    play((TOKEN, 201), verification_uri_complete="file:///etc/passwd")
    assert cli("login").code == errors.EXIT_OUR_FAILURE
    play((TOKEN, 201))
    monkeypatch.setenv("GRADER_BROWSER", "false")
    assert cli("login").code == 0
    monkeypatch.delenv("GRADER_BROWSER")
    assert opened == []
    play((TOKEN, 201))
    assert cli("login").code == 0
    assert [page.rpartition("/")[2] for page in opened] == ["device?code=BCDF-GHJK"]


def test_no_browser_over_ssh_or_without_a_display(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("sys.stderr", Terminal())
    for name in ("SSH_CONNECTION", "SSH_TTY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DISPLAY", ":0")
    assert account.has_browser()
    monkeypatch.setenv("SSH_CONNECTION", "192.0.2.1 1 192.0.2.2 22")
    assert not account.has_browser()
    monkeypatch.delenv("SSH_CONNECTION")
    monkeypatch.delenv("DISPLAY")
    monkeypatch.setattr("sys.platform", "linux")
    assert not account.has_browser()
    monkeypatch.setattr("sys.platform", "win32")
    assert account.has_browser()


def test_login_by_name_asks_for_the_password(cli: Cli, server: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("correct horse\n"))
    server.answer("POST /tokens", TOKEN, 201)
    assert cli("login", "--name", "ada", "--password-stdin", "--scope", "read").code == 0
    assert json.loads(server.asked[-1].body)["scopes"] == ["read"]


@pytest.mark.parametrize("scopes", ["", "write", "read,write", ","])
def test_unknown_scopes_are_refused(cli: Cli, scopes: str) -> None:
    ran = cli("login", "--scope", scopes)
    assert ran.code == errors.EXIT_USAGE
    assert "read, submit, account, staff" in ran.err


def test_login_warns_if_the_environment_names_another_server(
    cli: Cli, server: Stub, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    play((TOKEN, 201))
    assert "another server" not in cli("login").err
    monkeypatch.setenv("GRADER_SERVER", "http://other.example")
    play((TOKEN, 201))
    assert (
        "GRADER_SERVER names another server: http://other.example" in cli("login", "--server", server.url).err
    )
