"""`submit`, `status`, `watch`, `cancel`, `history`, `leaderboard` against a stub: exit codes, JSON, progress."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from grader import errors, limits
from grader.cli import follow as following
from grader.cli.client import Client
from grader.cli.commands import submissions
from grader.schemas.report import Report, Verdict
from grader.schemas.submission import ProgressView, State, WaitReason, WaitsFor
from tests.cli.conftest import Cli
from tests.cli.reports import accepted, view, wrong
from tests.cli.stub import Stub

ID = "/submissions/abc123"


@pytest.fixture
def kernel(home: Path) -> str:
    (home / "mine.py").write_text("import triton\n")
    return "mine.py"


def _done(server: Stub, report: Report) -> None:
    done = view(State.DONE, verdict=report.verdict, score=report.score)
    server.answer("POST /submissions", view(State.QUEUED).model_dump(mode="json"), 201)
    server.answer(f"GET {ID}", done.model_dump(mode="json"))
    server.answer(f"GET {ID}/report", report.model_dump(mode="json"))


def test_submit_prints_the_id_alone(server: Stub, cli: Cli, kernel: str) -> None:
    _done(server, accepted())
    ran = cli("submit", kernel, "-c", "vector_add", "--device", "cpu")
    assert (ran.code, ran.out) == (0, "abc123\n")
    assert "grader watch abc123" in ran.err
    (asked,) = server.asked
    body = json.loads(asked.body)
    assert body == {
        "challenge": "vector_add",
        "language": "triton",
        "source": "import triton\n",
        "filename": "mine.py",
        "device": "cpu",
    }
    assert len(asked.headers["Idempotency-Key"]) == 32


def test_submit_says_what_it_reused(server: Stub, cli: Cli, kernel: str) -> None:
    earlier = view(State.DONE, verdict=Verdict.ACCEPTED, reused=True).model_dump(mode="json")
    server.answer("POST /submissions", earlier, 200)
    ran = cli("submit", kernel, "-c", "vector_add", "--reuse")
    assert (ran.code, ran.out) == (0, "abc123\n")
    assert "You handed in the same before" in ran.err
    assert json.loads(server.asked[0].body)["reuse"] is True
    assert json.loads(cli("submit", kernel, "-c", "vector_add", "--reuse", "--json").out)["reused"] is True


@pytest.mark.parametrize(("remaining", "told"), [(None, False), (6, False), (5, True), (0, True)])
def test_submit_says_when_few_are_left(
    server: Stub, cli: Cli, kernel: str, remaining: int | None, told: bool
) -> None:
    queued = view(State.QUEUED, remaining=remaining).model_dump(mode="json")
    server.answer("POST /submissions", queued, 201)
    assert ("more are taken for vector_add" in cli("submit", kernel, "-c", "vector_add").err) is told


def test_two_submits_have_two_keys(server: Stub, cli: Cli, kernel: str) -> None:
    _done(server, accepted())
    for _ in range(2):
        cli("submit", kernel, "-c", "vector_add")
    assert len({asked.headers["Idempotency-Key"] for asked in server.asked}) == 2


def test_a_post_that_breaks_off_is_sent_again_under_its_key(
    server: Stub, cli: Cli, kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submissions, "AWAY_PAUSES", (0.01, 0.01))
    _done(server, accepted())
    server.hang_ups = 2
    ran = cli("submit", kernel, "-c", "vector_add")
    assert (ran.code, ran.out) == (0, "abc123\n")
    assert ran.err.count("sent again") == 2
    assert len({(asked.headers["Idempotency-Key"], asked.body) for asked in server.asked}) == 1
    assert len(server.asked) == 3


def test_a_server_that_stays_away_is_our_failure(
    server: Stub, cli: Cli, kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submissions, "AWAY_PAUSES", (0.01, 0.01))
    server.hang_ups = 3
    ran = cli("submit", kernel, "-c", "vector_add")
    assert (ran.code, ran.out) == (errors.EXIT_OUR_FAILURE, "")
    assert "grader history" in ran.err


def test_what_a_server_refuses_is_not_sent_again(server: Stub, cli: Cli, kernel: str) -> None:
    told = {"error": {"code": "too_many", "message": "Too many wait."}}
    server.answer("POST /submissions", told, 429)
    assert cli("submit", kernel, "-c", "vector_add").code != 0
    assert len(server.asked) == 1


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
def test_the_end_decides_the_exit_code(
    server: Stub, cli: Cli, kernel: str, command: list[str], report: Report, code: int
) -> None:
    _done(server, report)
    ran = cli(*command)
    assert ran.code == code
    assert report.verdict.value.replace("_", " ").upper() in ran.out
    ran = cli(*command, "--json")
    assert ran.code == code
    assert Report.model_validate_json(ran.out) == report


def test_status(server: Stub, cli: Cli) -> None:
    _done(server, wrong())
    ran = cli("status", "abc123")
    assert ran.code == 1
    assert "done" in ran.out
    assert "out[3, 17]" in ran.out
    assert json.loads(cli("status", "abc123", "--json").out)["state"] == "done"


def test_status_of_one_that_waits(server: Stub, cli: Cli) -> None:
    waiting = view(State.QUEUED, position=3, expected_wait_s=21.4)
    server.answer(f"GET {ID}", waiting.model_dump(mode="json"))
    ran = cli("status", "abc123")
    assert ran.code == 0
    assert "queued, place 3, about 21 s" in ran.out


def _paused() -> WaitsFor:
    since = datetime(2026, 1, 2, 12, tzinfo=UTC)
    return WaitsFor(reason=WaitReason.PAUSED, text="Staff have paused all queues: [exam]", since=since)


def test_status_says_why_nothing_moves(server: Stub, cli: Cli) -> None:
    waiting = view(State.QUEUED, position=3, waits_for=_paused())
    server.answer(f"GET {ID}", waiting.model_dump(mode="json"))
    out = " ".join(cli("status", "abc123").out.split())
    assert "queued, place 3. Staff have paused all queues: [exam] (since 2026-01-0" in out
    ahead = WaitsFor(reason=WaitReason.AHEAD, text="2 submissions are ahead of it.")
    server.answer(f"GET {ID}", view(State.QUEUED, position=3, waits_for=ahead).model_dump(mode="json"))
    assert cli("status", "abc123").out.rstrip().endswith("queued, place 3"), "which the place says already"


@pytest.mark.parametrize(
    ("state", "code", "words"), [(State.CANCELLED, 2, "was cancelled"), (State.FAILED, 4, "lost GPU")]
)
def test_ends_without_a_verdict(server: Stub, cli: Cli, state: State, code: int, words: str) -> None:
    server.answer(f"GET {ID}", view(state, error="lost GPU").model_dump(mode="json"))
    ran = cli("watch", "abc123", "--json")
    assert ran.code == code
    assert words in json.loads(ran.out)["error"]["message"]


def test_watch_times_out(server: Stub, cli: Cli) -> None:
    server.answer(f"GET {ID}", view(State.TESTING).model_dump(mode="json"))
    ran = cli("watch", "abc123", "--timeout", "0.05", "--json")
    assert ran.code == 5
    assert json.loads(ran.out)["error"]["code"] == "timed_out"
    assert "testing" in ran.err


def test_cancel(server: Stub, cli: Cli) -> None:
    server.answer(f"POST {ID}/cancel", view(State.CANCELLED).model_dump(mode="json"))
    assert "abc123 is cancelled." in cli("cancel", "abc123").out
    server.answer(f"POST {ID}/cancel", {"error": errors.Conflict("It is done.").as_dict()}, 409)
    assert cli("cancel", "abc123").code == 2


def test_history(server: Stub, cli: Cli) -> None:
    done = view(State.DONE, verdict="accepted", score=accepted().score)
    both = [done.model_dump(mode="json"), view(State.TESTING).model_dump(mode="json")]
    server.answer("GET /submissions", {"submissions": both, "total": 9})
    ran = cli("history", "-c", "vector_add", "--limit", "2", "--everyone")
    assert ran.code == 0
    assert "ACCEPTED" in ran.out
    assert "testing" in ran.out
    assert "2 of 9" in ran.err
    assert server.asked[0].path.endswith("?challenge=vector_add&limit=2&everyone=true")


def test_leaderboard(server: Stub, cli: Cli) -> None:
    entry = {
        "rank": 1,
        "user": "[bold]ada",
        "submission": "abc123",
        "language": "triton",
        "time_us": 12.0,
        "ci_us": [11.0, 13.0],
        "speedup": 2.5,
        "submitted_at": "2026-01-02T03:04:05Z",
    }
    board: dict[str, Any] = {
        "challenge": "vector_add",
        "version": 1,
        "device": "cpu",
        "representative": False,
    }
    server.answer("GET /leaderboards/vector_add", board | {"entries": [entry], "devices": ["cpu", "h200"]})
    ran = cli("leaderboard", "vector_add", "--language", "triton")
    assert ran.code == 0
    for words in ("[bold]ada", "12.0 µs ± 1.00 µs", "2.50x"):
        assert words in ran.out
    assert "not representative" in ran.err
    assert "h200" in ran.err
    assert server.asked[0].path.endswith("?language=triton")
    server.answer("GET /leaderboards/vector_add", board | {"entries": []})
    assert "Nobody is on this board yet." in cli("leaderboard", "vector_add").err


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.py", b"", "empty"),
        ("binary.py", b"\x00\x01", "binary"),
        ("latin.py", b"# \xe9\n", "not UTF-8"),
        ("large.py", b"#" * (limits.SOURCE_BYTES + 1), "at most"),
        ("what.txt", b"x", "does not tell its language"),
    ],
)
@pytest.mark.parametrize("command", ["submit", "test"])
def test_files_that_are_refused_before_anything_is_sent(
    server: Stub, cli: Cli, home: Path, command: str, name: str, content: bytes, words: str
) -> None:
    (home / name).write_bytes(content)
    ran = cli(command, name, "-c", "vector_add")
    assert ran.code == 2
    assert words in ran.err
    assert server.asked == []


def test_files_that_are_none(server: Stub, cli: Cli, home: Path) -> None:
    assert "There is no file 'gone.py'" in cli("submit", "gone.py", "-c", "x").err
    assert "cannot be read" in cli("submit", str(home), "-c", "x", "-l", "triton").err


def test_a_seed_needs_its_case(cli: Cli, kernel: str) -> None:
    ran = cli("test", kernel, "-c", "vector_add", "--seed", "3")
    assert ran.code == 2
    assert "--case" in ran.err


class _Script(Client):
    """Plays a list of answers instead of asking a server; an exception in it is raised."""

    def __init__(self, *answers: Any) -> None:
        super().__init__("http://127.0.0.1:9")
        self._answers: Iterator[Any] = iter(answers)

    def get(self, path: str, **query: object) -> Any:
        answer = next(self._answers)
        if isinstance(answer, Exception):
            raise answer
        return answer.model_dump(mode="json")


def test_progress_is_told_once_a_state(
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


def test_what_keeps_it_in_the_queue_is_told_when_it_comes_and_goes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "POLL_SECONDS", 0.0)
    paused = view(State.QUEUED, position=2, waits_for=_paused())
    script = _Script(
        view(State.QUEUED, position=2), paused, paused, view(State.QUEUED, position=1), view(State.DONE)
    )
    following.follow(script, "abc123", timeout=0)
    err = " ".join(capsys.readouterr().err.split())
    assert err.startswith("queued: place 2 queued: Staff have paused all queues: [exam] (since 2026-01-0")
    assert err.endswith("queued: place 1 done")
    assert err.count("Staff") == 1


def test_a_short_absence_of_the_server_is_waited_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "POLL_SECONDS", 0.0)
    away = errors.Unreachable("away")
    assert following.follow(_Script(away, away, view(State.DONE)), "abc123", timeout=0).state is State.DONE
    monkeypatch.setattr(following, "AWAY_SECONDS", -1.0)
    with pytest.raises(errors.Unreachable):
        following.follow(_Script(away), "abc123", timeout=0)
