"""`watch` against a stub and played answers: output at each change, and exit codes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from grader import errors
from grader.cli import follow as following
from grader.cli import polling
from grader.cli.client import Client
from grader.cli.follow import watch_for
from grader.schemas.report import Report, Verdict
from grader.schemas.submission import ProgressView, State
from tests.cli.conftest import Cli
from tests.cli.reports import PAUSED, accepted, view, wrong
from tests.cli.stub import Stub, done

ID = "/submissions/abc123"


@pytest.mark.parametrize(
    "command", [["submit", "mine.py", "-c", "vector_add", "--wait"], ["watch", "abc123"]]
)
@pytest.mark.parametrize(
    ("report", "code"),
    [
        (accepted(), 0),
        (wrong(), 1),
        (wrong().model_copy(update={"verdict": Verdict.INTERNAL_ERROR}), 4),
    ],
    ids=["accepted", "wrong", "internal"],
)
def test_the_verdict_decides_the_exit_code(
    server: Stub, cli: Cli, kernel: str, command: list[str], report: Report, code: int
) -> None:
    done(server, report)
    ran = cli(*command)
    assert ran.code == code
    assert report.verdict.value.replace("_", " ").upper() in ran.out
    ran = cli(*command, "--json")
    assert ran.code == code
    told = json.loads(ran.out.splitlines()[-1])["report"] if command[0] == "watch" else json.loads(ran.out)
    told.pop("submission", None)
    assert Report.model_validate(told) == report


@pytest.mark.parametrize(
    ("state", "code", "words"), [(State.CANCELLED, 2, "was cancelled"), (State.FAILED, 4, "lost GPU")]
)
def test_an_end_without_a_verdict_has_its_exit_code(
    server: Stub, cli: Cli, state: State, code: int, words: str
) -> None:
    server.answer(f"GET {ID}", view(state, error="lost GPU").model_dump(mode="json"))
    ran = cli("watch", "abc123", "--json")
    assert ran.code == code
    assert words in json.loads(ran.out.splitlines()[-1])["error"]["message"]


def test_watch_without_an_id_follows_the_latest(server: Stub, cli: Cli) -> None:
    done(server, accepted())
    latest = view(State.DONE).model_dump(mode="json")
    server.answer("GET /submissions", {"submissions": [latest], "total": 7})
    assert cli("watch").code == 0
    assert server.asked[0].path.endswith("/submissions?limit=1")
    server.answer("GET /submissions", {"submissions": [], "total": 0})
    ran = cli("watch")
    assert ran.code == 2
    assert "no submission yet" in ran.err


@pytest.mark.parametrize(
    "command", [["submit", "mine.py", "-c", "vector_add", "--wait"], ["watch", "abc123"]]
)
def test_ctrl_c_leaves_and_shows_how_to_resume(
    server: Stub, cli: Cli, kernel: str, command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    done(server, accepted())
    server.answer(f"GET {ID}", view(State.TESTING).model_dump(mode="json"))
    monkeypatch.setattr(following.time, "sleep", interrupt)
    ran = cli(*command)
    assert ran.code == 130
    assert "The submission continues. Follow it with: grader watch abc123" in ran.err
    assert not [asked for asked in server.asked if "cancel" in asked.path]


def test_watch_ends_at_its_timeout(server: Stub, cli: Cli) -> None:
    server.answer(f"GET {ID}", view(State.TESTING).model_dump(mode="json"))
    ran = cli("watch", "abc123", "--timeout", "0.05", "--json")
    assert ran.code == 5
    assert json.loads(ran.out.splitlines()[-1])["error"]["code"] == "timed_out"
    assert json.loads(ran.out.splitlines()[0])["submission"]["state"] == "testing"
    assert "testing" in cli("watch", "abc123", "--timeout", "0.05").err


class _Script(Client):
    """Plays a list of answers instead of asking a server; raises the exceptions in it."""

    def __init__(self, *answers: Any) -> None:
        super().__init__("http://127.0.0.1:9")
        self._answers: Iterator[Any] = iter(answers)

    def get(self, path: str, **query: object) -> Any:
        answer = next(self._answers)
        if isinstance(answer, Exception):
            raise answer
        return answer.model_dump(mode="json")


def test_each_state_is_reported_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "POLL_SECONDS", 0.0)
    script = _Script(
        view(State.QUEUED, position=2),
        view(State.QUEUED, position=1),
        view(State.TESTING, progress=ProgressView(done=1, total=3)),
        view(State.TESTING, progress=ProgressView(done=2, total=3)),
        view(State.DONE),
    )
    assert following.follow(script, "abc123", timeout=0).state is State.DONE
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.split() == ["queued:", "place", "2", "testing", "done"]


def test_a_reason_for_waiting_is_reported_when_it_changes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "POLL_SECONDS", 0.0)
    paused = view(State.QUEUED, position=2, waits_for=PAUSED)
    script = _Script(
        view(State.QUEUED, position=2), paused, paused, view(State.QUEUED, position=1), view(State.DONE)
    )
    following.follow(script, "abc123", timeout=0)
    err = " ".join(capsys.readouterr().err.split())
    assert err.startswith("queued: place 2 queued: Staff have paused all queues: [exam] (since 2026-01-0")
    assert err.endswith("queued: place 1 done")
    assert err.count("Staff") == 1


def test_a_short_outage_is_waited_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "POLL_SECONDS", 0.0)
    away = errors.Unreachable("away")
    assert following.follow(_Script(away, away, view(State.DONE)), "abc123", timeout=0).state is State.DONE
    monkeypatch.setattr(polling, "AWAY_SECONDS", -1.0)
    with pytest.raises(errors.Unreachable):
        following.follow(_Script(away), "abc123", timeout=0)


def test_json_prints_one_line_per_change(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "POLL_SECONDS", 0.0)
    testing = view(State.TESTING, progress=ProgressView(done=1, total=3))
    script = _Script(view(State.QUEUED, position=2), testing, testing, view(State.DONE))
    following.follow(script, "abc123", timeout=0, watch=watch_for(json=True))
    captured = capsys.readouterr()
    told = [json.loads(line)["submission"]["state"] for line in captured.out.splitlines()]
    assert told == ["queued", "testing", "done"]
    assert captured.err == ""


def test_a_rate_limit_does_not_end_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polling, "SLOWEST_S", 0.0)
    script = _Script(errors.TooMany("Slower."), view(State.DONE))
    assert following.follow(script, "abc123", timeout=0).state is State.DONE


def test_a_server_absent_from_the_start_is_not_waited_for(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADER_SERVER", "http://127.0.0.1:9")
    monkeypatch.setattr(following, "follow", lambda *_: pytest.fail("it was followed"))
    assert cli("watch", "abc123").code == 4
