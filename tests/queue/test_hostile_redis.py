"""Somebody else can write to the platform's Redis: workers run nothing of it and keep serving."""

from __future__ import annotations

import json
import os
import pickle
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from rq import Callback, Queue
from rq.job import Job
from rq.serializers import DefaultSerializer, JSONSerializer
from structlog.testing import capture_logs

from grader.queue.sweeper import Swept, sweep
from grader.queue.worker import run_worker
from grader.schemas.report import Verdict
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.service.submissions.submissions import get_submission
from grader.service.submissions.submit import submit
from grader.settings import Settings
from grader.wakeups import consume_wakeup, run_queue
from tests.queue.fakes import FakeJudge, NoBoxes
from tests.service.world import body

QUEUE = run_queue("cpu")
OURS = "grader.queue.worker.serve"
ran: list[str] = []


def run(*args: Any) -> None:
    """Every hostile job names this."""
    ran.append(str(args))


class _Bomb:
    def __reduce__(self) -> tuple[Callable[..., None], tuple[str]]:
        return run, ("unpickled",)


Plant = Callable[[Redis], Any]


def _record(**fields: str | bytes | int) -> Plant:
    def plant(client: Redis) -> None:
        name = f"job-{os.urandom(4).hex()}"
        client.hset(Job.key_for(name), mapping={"created_at": "2026-01-01T00:00:00Z", **fields})
        client.rpush(f"rq:queue:{QUEUE}", name)

    return plant


def _id(name: bytes) -> Plant:
    return lambda client: client.rpush(f"rq:queue:{QUEUE}", name)


def _no_hash(client: Redis) -> None:
    client.set(Job.key_for("text"), "text")
    client.rpush(f"rq:queue:{QUEUE}", "text")


def _json(client: Redis) -> Queue:
    return Queue(QUEUE, connection=client, serializer=JSONSerializer)


def _packed(content: Any) -> bytes:
    return zlib.compress(json.dumps(content).encode())


HERE = f"{__name__}.run"
WAKEUP = _packed([OURS, None, [QUEUE], {}])
# None of these is a wake-up.
REFUSED: dict[str, Plant] = {
    "another function": lambda client: _json(client).enqueue(HERE, "called"),
    "the one that was found": lambda client: _json(client).enqueue("os.system", f"touch {_canary(client)}"),
    "a builtin": lambda client: _json(client).enqueue(
        "builtins.eval", f"__import__({__name__!r}).ran.append(1)"
    ),
    "pickled, as by an old release": lambda client: Queue(QUEUE, connection=client).enqueue(OURS, QUEUE),
    "pickled": _record(data=zlib.compress(pickle.dumps(_Bomb())), origin=QUEUE),
    "pickled, not packed": _record(data=pickle.dumps(_Bomb()), origin=QUEUE),
    "pickled by RQ": lambda client: Queue(QUEUE, connection=client).enqueue(run, _Bomb()),
    "a pickled result": _record(data=_packed([HERE, None, [], {}]), result=pickle.dumps(_Bomb())),
    "a status that RQ does not know": _record(data=WAKEUP, status="nothing"),
    "a timeout that is not a number": _record(data=WAKEUP, timeout="long"),
    "bytes where RQ has text": _record(data=WAKEUP, origin=b"\xff", created_at=b"\xff"),
    "of another queue": _record(data=_packed([OURS, None, ["compile"], {}])),
    "arguments by name": _record(data=_packed([OURS, None, [QUEUE], {"queue": QUEUE}])),
    "a method of something": _record(data=_packed([OURS, {"py/object": "os.system"}, [QUEUE], {}])),
    "no data": _record(origin=QUEUE),
    "no JSON": _record(data=b"\xff\xfe"),
    "deep JSON": _record(data=b"[" * 4000),
    "long": _record(data=b" " * 100_000),
    "packed small": _record(data=zlib.compress(b" " * 50_000_000)),
    "packed within the limit": _record(data=zlib.compress(b" " * 3_000_000)),
    "another field that is packed small": _record(data=WAKEUP, exc_info=zlib.compress(b" " * 50_000_000)),
    "another field that is long": _record(data=WAKEUP, description=b"x" * 100_000),
    "many fields": _record(data=WAKEUP, **{f"field{number}": "" for number in range(2000)}),
    "no record": _id(b"nobody"),
    "no hash": _no_hash,
    "an id that is no text": _id(b"\xff\x00"),
    "an id that is a path": _id(b"../../x"),
    "a long id": _id(b"x" * 100_000),
}
# These are wake-ups with more fields than ours.
TAKEN: dict[str, Plant] = {
    "callbacks": lambda client: _json(client).enqueue(
        OURS, QUEUE, on_success=Callback(HERE), on_failure=Callback(HERE), on_stopped=Callback(HERE)
    ),
    "odd fields": _record(
        data=WAKEUP,
        webhooks='[{"url": "http://127.0.0.1:9/", "job_status": "finished"}]',
        meta=pickle.dumps(_Bomb()),
        result=pickle.dumps(_Bomb()),
        repeats_left=10**9,
        success_callback_name=HERE,
    ),
    "not packed": _record(data=json.dumps([OURS, None, [QUEUE], {}])),
}


def _canary(client: Redis) -> str:
    return str(client.get("canary").decode())  # type: ignore[union-attr]


@pytest.fixture
def client(redis_url: str, tmp_path: Path) -> Redis:
    ran.clear()
    client = Redis.from_url(redis_url)
    client.set("canary", str(tmp_path / "canary"))
    return client


def test_nothing_stored_in_redis_is_executed(
    platform: Platform,
    student: User,
    settings: Settings,
    client: Redis,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for plant in [*REFUSED.values(), *TAKEN.values()]:
        plant(client)
    # RQ's pickle serializer, its default.
    monkeypatch.setattr(DefaultSerializer, "loads", lambda *_: run("loaded by pickle"))
    sent = submit(platform, student, body()).id
    with capture_logs() as said:
        run_worker(settings, "w", burst=True, judge=FakeJudge(), boxes=NoBoxes())
    assert ran == []
    assert not (tmp_path / "canary").exists()
    assert get_submission(platform, student, sent).verdict is Verdict.ACCEPTED
    refused = [line for line in said if line["event"] == "wakeup_refused"]
    assert len(refused) == len(REFUSED)
    assert {line["log_level"] for line in refused} == {"warning"}
    assert client.keys("rq:job:*") == [], "all records are removed"


def test_the_planted_pickle_would_execute(client: Redis) -> None:
    """Protects the test above against payloads that do nothing when they are unpickled."""
    Queue(QUEUE, connection=client).enqueue(OURS, _Bomb(), job_id="bomb")
    _ = Job.fetch("bomb", connection=client).args
    assert ran == ["('unpickled',)"]


def test_a_record_replaced_after_its_size_check_is_not_unpacked(
    client: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "memory_usage", lambda *_, **__: 100)
    monkeypatch.setattr(Job, "restore", lambda *_: pytest.fail("it was unpacked"))
    client.hset(Job.key_for("large"), "data", zlib.compress(b" " * 50_000_000))
    assert not consume_wakeup(client, QUEUE, b"large")


def test_a_foreign_failed_job_calls_no_callback(settings: Settings, client: Redis) -> None:
    """RQ's own workers clean up its registries, and call the callbacks of jobs that they find dead."""
    Queue(QUEUE, connection=client).enqueue(OURS, QUEUE, job_id="dead", on_failure=Callback(HERE))
    client.delete(f"rq:queue:{QUEUE}")
    client.hset(Job.key_for("dead"), "status", "started")
    client.zadd(f"rq:wip:{QUEUE}", {"dead:0": 1})
    client.lpush(f"rq:queue:{QUEUE}:intermediate", "dead")
    run_worker(settings, "w", burst=True, judge=FakeJudge(), boxes=NoBoxes())
    assert ran == []


def test_rqs_stop_keys_do_not_stop_our_workers(
    platform: Platform, student: User, settings: Settings, client: Redis
) -> None:
    client.set(f"rq:queue:{QUEUE}", "no list")
    client.set("rq:workers", "no set")
    client.set("rq:suspended", 1)
    sent = submit(platform, student, body()).id
    run_worker(settings, "w", burst=True, judge=FakeJudge(), boxes=NoBoxes())
    assert sweep(platform) == Swept(wakeups=1)
    run_worker(settings, "w", burst=True, judge=FakeJudge(), boxes=NoBoxes())
    assert get_submission(platform, student, sent).verdict is Verdict.ACCEPTED
