"""`admin queue` and `admin worker` against a stub: requests and output."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from grader import errors
from grader.schemas.queue import (
    ChallengeKind,
    Pause,
    QueueList,
    QueueView,
    WorkerList,
    WorkerState,
    WorkerView,
)
from grader.schemas.submission import JudgingReason
from grader.schemas.worker_token import KeptWorkerToken
from tests.cli.conftest import Cli
from tests.cli.stub import Stub

MOMENT = datetime(2026, 1, 2, 12, tzinfo=UTC)


def _queues(everything: bool = False) -> dict[str, object]:
    paused = Pause(reason="[new] driver", since=MOMENT)
    found = [
        QueueView(name="h200", paused=paused, waiting=4, running=1, workers=2),
        QueueView(name="cpu", waiting=0, running=0, workers=0),
        QueueView(name="compile", waiting=7, running=2, workers=3),
    ]
    return QueueList(paused=paused if everything else None, queues=found).model_dump(mode="json")


def _workers() -> dict[str, object]:
    def one(name: str, state: WorkerState, device: str = "h200", submission: str | None = None) -> WorkerView:
        return WorkerView(
            name=name,
            device=device,
            compiles=not device,
            host="big",
            state=state,
            submission=submission,
            started_at=MOMENT,
            heard_of_at=MOMENT,
        )

    found = [
        one("big-1", WorkerState.DRAINING, submission="abc123"),
        one("big-2", WorkerState.IDLE, device=""),
    ]
    return WorkerList(workers=found).model_dump(mode="json")


def test_queues_are_listed(server: Stub, cli: Cli) -> None:
    server.answer("GET /queues", _queues())
    ran = cli("admin", "queue", "list")
    lines = [" ".join(line.split()) for line in ran.out.splitlines()]
    assert lines[0] == "queue waiting running workers state"
    assert lines[1].startswith("h200 4 1 2 paused since 2026-01-0")
    assert lines[1].endswith(": [new] driver")
    assert lines[2:] == ["cpu 0 0 0 no worker", "compile 7 2 3 served"]
    assert json.loads(cli("admin", "queue", "list", "--json").out) == _queues()


@pytest.mark.parametrize(
    ("words", "path", "body"),
    [
        (["pause", "all", "--reason", "an exam"], "/queues/all/pause", {"reason": "an exam"}),
        (["pause", "h200"], "/queues/h200/pause", {"reason": ""}),
        (["resume", "compile"], "/queues/compile/resume", None),
    ],
)
def test_a_queue_is_paused_and_resumed(
    server: Stub, cli: Cli, words: list[str], path: str, body: dict[str, str] | None
) -> None:
    server.answer(f"POST {path}", _queues(everything=True))
    ran = cli("admin", "queue", *words)
    assert ran.code == 0
    assert "All queues are paused" in ran.err
    assert server.asked[0].path == f"/api/v1{path}"
    assert (json.loads(server.asked[0].body) if body is not None else None) == body


@pytest.mark.parametrize("act", ["drain", "resume"])
def test_a_worker_is_drained_and_resumed(server: Stub, cli: Cli, act: str) -> None:
    server.answer(f"POST /workers/big-1/{act}", _workers())
    ran = cli("admin", "worker", act, "big-1")
    assert ran.code == 0
    first, second = (" ".join(line.split()) for line in ran.out.splitlines()[1:])
    assert first.startswith("big-1 h200 draining abc123 2026-01-0")
    assert second.startswith("big-2 compile idle 2026-01-0")
    assert json.loads(cli("admin", "worker", act, "big-1", "--json").out) == _workers()


def _token(**values: object) -> dict[str, object]:
    given = {"id": 1, "name": "campus-a", "devices": ["h200"], "workers": 2, "created_at": MOMENT}
    given |= {"expires_at": MOMENT, "last_used_at": None}
    return KeptWorkerToken.model_validate(given).model_dump(mode="json") | values


def test_a_workers_token_is_printed_alone(server: Stub, cli: Cli) -> None:
    server.answer("POST /worker-tokens", _token(token="grw_secret"), 201)
    ran = cli("admin", "worker", "token", "campus-a", "--device", "h200", "--days", "30")
    assert (ran.code, ran.out.strip()) == (0, "grw_secret")
    assert json.loads(server.asked[0].body) == {"name": "campus-a", "devices": ["h200"], "days": 30}
    assert json.loads(cli("admin", "worker", "token", "campus-a", "--json").out)["token"] == "grw_secret"


@pytest.mark.parametrize(
    ("words", "call"),
    [(("tokens",), "GET /worker-tokens"), (("revoke", "campus-a"), "DELETE /worker-tokens/campus-a")],
)
def test_tokens_of_workers_are_listed(server: Stub, cli: Cli, words: tuple[str, ...], call: str) -> None:
    server.answer(call, {"tokens": [_token()]})
    ran = cli("admin", "worker", *words)
    assert ran.code == 0
    assert " ".join(ran.out.splitlines()[1].split()).startswith("campus-a h200 2 never 2026-01-0")


def test_an_unknown_worker_is_refused(server: Stub, cli: Cli) -> None:
    refusal = {"error": errors.NotFound("There is no worker 'x'.").as_dict()}
    server.answer("POST /workers/x/drain", refusal, 404)
    assert cli("admin", "worker", "drain", "x").code == 2


@pytest.mark.parametrize(("word", "sent"), [("practice", "practice"), ("track", None)])
def test_a_challenges_kind_is_set(server: Stub, cli: Cli, word: str, sent: str | None) -> None:
    answer = ChallengeKind(challenge="scale", kind=JudgingReason.PRACTICE, chosen=sent is not None)
    server.answer("POST /challenges/scale/kind", answer.model_dump(mode="json"))
    ran = cli("admin", "queue", "kind", "scale", word)
    assert ran.code == 0
    assert json.loads(server.asked[0].body) == {"kind": sent}
    assert ran.out == f"scale: practice ({'chosen by staff' if sent else 'as its track says'})\n"


@pytest.mark.parametrize("word", ["rejudge", "urgent"])
def test_reserved_kinds_are_refused(server: Stub, cli: Cli, word: str) -> None:
    ran = cli("admin", "queue", "kind", "scale", word)
    assert ran.code == 2
    assert "competition, course, practice, track" in ran.err
    assert server.asked == []


def test_a_challenges_kind_is_shown(server: Stub, cli: Cli) -> None:
    answer = ChallengeKind(challenge="scale", kind=JudgingReason.COURSE, chosen=False)
    server.answer("GET /challenges/scale/kind", answer.model_dump(mode="json"))
    assert cli("admin", "queue", "kind", "scale").out == "scale: course (as its track says)\n"
