"""Every failure prints one line and a hint, has the exit code of its kind, and no traceback."""

from __future__ import annotations

import json

import pytest

from grader import errors
from grader.cli import command, output
from tests.cli.conftest import Cli

KINDS = {
    errors.BadRequest: 2,
    errors.BadSource: 2,
    errors.BadBundle: 2,
    errors.UnknownChallenge: 2,
    errors.UnknownLanguage: 2,
    errors.UnknownDevice: 2,
    errors.NotFound: 2,
    errors.Conflict: 2,
    errors.ChallengeInvalid: 2,
    errors.ChallengeChanged: 2,
    errors.AuthorizationPending: 2,
    errors.SlowDown: 2,
    errors.AccessDenied: 3,
    errors.ExpiredToken: 3,
    errors.LanguageNotServed: 3,
    errors.NotSignedIn: 3,
    errors.NotAllowed: 3,
    errors.SignOnFailed: 3,
    errors.TooMany: 3,
    errors.Unreachable: 4,
    errors.BoxUnavailable: 4,
    errors.JudgeFailure: 4,
    errors.TimedOut: 5,
}


def _kinds(base: type[errors.GraderError]) -> set[type[errors.GraderError]]:
    found = {kind for kind in base.__subclasses__() if kind.__module__ == "grader.errors"}
    return found | {inner for kind in found for inner in _kinds(kind)}


def test_every_error_class_has_a_tested_exit_code() -> None:
    assert _kinds(errors.GraderError) == set(KINDS)


@pytest.mark.parametrize(
    ("kind", "code"), KINDS.items(), ids=lambda value: getattr(value, "__name__", str(value))
)
def test_an_error_sets_exit_code_message_and_hint(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, kind: type[errors.GraderError], code: int
) -> None:
    def fail(name: str) -> None:
        raise kind("It broke.", "Mend it.")

    monkeypatch.setattr(command, "load", fail)
    ran = cli("doctor")
    assert (ran.code, ran.out, ran.err) == (code, "", "error: It broke.\nhint:  Mend it.\n")
    ran = cli("doctor", "--json")
    assert ran.code == code
    assert json.loads(ran.out) == {"error": {"code": kind.code, "message": "It broke.", "hint": "Mend it."}}


@pytest.mark.parametrize(
    ("typed", "meant"), [("sumbit", "submit"), ("leaderbord", "leaderboard"), ("logn", "login")]
)
def test_an_unknown_command_suggests_the_nearest(cli: Cli, typed: str, meant: str) -> None:
    ran = cli(typed)
    assert ran.code == 2
    assert ran.err == f"error: There is no command '{typed}'.\nhint:  Did you mean '{meant}'?\n"


def test_a_wholly_unknown_command_suggests_help(cli: Cli) -> None:
    assert "`grader --help` lists the commands." in cli("zzzzzz").err


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--verbose", "submit"], "There is no option '--verbose' here."),
        (["submit"], "Missing"),
        (["submit", "a.py", "-c", "x", "--nope"], "No such option"),
        (["history", "--limit", "many"], "--limit"),
        (["history", "--limit", "0"], "--limit"),
        (["test", "a.py", "-c", "x", "--box", "paper"], "--box"),
        (["db", "downgrade"], "No such command"),
        (["up", "--port", "99999"], "--port"),
    ],
)
def test_usage_errors_print_one_line_and_a_hint(cli: Cli, args: list[str], words: str) -> None:
    ran = cli(*args)
    assert ran.code == 2
    assert ran.out == ""
    assert words in ran.err
    assert ran.err.count("\n") == 2
    assert ran.err.startswith("error: ")


def test_a_usage_error_can_be_json(cli: Cli) -> None:
    ran = cli("history", "--limit", "0", "--json")
    assert ran.code == 2
    assert json.loads(ran.out)["error"]["code"] == "bad_request"


def test_a_defect_is_reported_without_a_traceback(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "load", lambda name: 1 / 0)
    ran = cli("doctor")
    assert ran.code == 4
    assert ran.err.splitlines()[0] == "error: ZeroDivisionError: division by zero"
    assert "Traceback" not in ran.err
    monkeypatch.setenv("GRADER_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        cli("doctor")


@pytest.mark.parametrize(
    ("package", "extra"),
    [
        ("torch", "worker"),
        ("docker.errors", "worker"),
        ("mcp.server", "mcp"),
        ("flask", "server"),
        ("rq", "server"),
    ],
)
def test_a_missing_package_names_its_extra(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, package: str, extra: str
) -> None:
    def fail(name: str) -> None:
        raise ModuleNotFoundError(f"No module named '{package}'", name=package)

    monkeypatch.setattr(command, "load", fail)
    ran = cli("up")
    assert ran.code == 4
    assert package.partition(".")[0] in ran.err
    assert f"pip install 'kernel-grader[{extra}]'" in ran.err


def test_an_interrupt_exits_with_130(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "load", fail)
    assert cli("up").code == 130


def test_error_messages_hold_no_terminal_codes(capsys: pytest.CaptureFixture[str]) -> None:
    output.report(errors.NotFound("\x1b[2Jgone\r\x07", "a\x9bb"), [])
    told = capsys.readouterr().err
    assert not set(told) & {"\x1b", "\r", "\x07", "\x9b"}
    assert "gone" in told
