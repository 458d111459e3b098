"""Probes and metrics, and who may read the metrics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import Engine, text

from grader import limits
from grader.records import writability
from grader.records.engine import writing
from grader.records.models import WorkerRow, utcnow
from grader.service.accounts.accounts import User
from grader.service.operation import figures
from grader.service.platform import Platform, open_platform
from grader.web.app import create_app
from tests.faults.disks import SmallDisk
from tests.web import builders

pytestmark = pytest.mark.both_databases

TOKEN = "scrape-me-0123456789"


@pytest.fixture
def client(platform: Platform) -> FlaskClient:
    return create_app(platform).test_client()


def test_a_healthy_server_is_alive_and_ready(client: FlaskClient) -> None:
    for path in ("/health", "/ready"):
        answer = client.get(path)
        assert (answer.status_code, answer.json) == (200, {"ok": True, "detail": ""})
        assert "Set-Cookie" not in answer.headers


def test_without_a_database_the_server_is_alive_but_not_ready(tmp_path: Path) -> None:
    url = "postgresql://nobody:secret@127.0.0.1:1/none?connect_timeout=1"
    platform = open_platform(builders.make_settings(tmp_path, database_url=url), migrate=False)
    client = create_app(platform).test_client()
    assert client.get("/health").status_code == 200
    answer = client.get("/ready")
    assert (answer.status_code, answer.json["detail"]) == (503, "the database does not answer")
    platform.close()


def test_a_full_disk_means_not_ready(tmp_path: Path) -> None:
    disk = SmallDisk(tmp_path / "disk", 16)
    try:
        if not disk.real:
            pytest.skip("only root may mount a small disk")
        platform = open_platform(builders.make_settings(disk.folder))
        client = create_app(platform).test_client()
        assert client.get("/ready").status_code == 200
        disk.fill()
        answer = client.get("/ready")
        assert (answer.status_code, answer.json["detail"]) == (503, "the disk of the database is full")
        assert not client.get("/api/v1/health").json["parts"]["database"]["ok"]
        disk.free()
        assert client.get("/ready").status_code == 200
        platform.close()
    finally:
        disk.close()


def test_a_read_only_database_means_not_ready(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    """For any reason: the write itself is tried."""
    monkeypatch.setattr(limits, "WRITE_PROBE_SECONDS", 0.0)
    client = create_app(platform).test_client()
    assert client.get("/ready").status_code == 200
    with platform.engine.connect() as connection:
        switch = (
            "SET default_transaction_read_only = on" if _on_postgres(platform) else "PRAGMA query_only = ON"
        )
        connection.exec_driver_sql(switch)
    answer = client.get("/ready")
    assert answer.status_code == 503
    assert "takes no writes" in answer.json["detail"]


def test_a_long_write_of_others_does_not_mean_not_ready(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writability, "_PATIENCE_MS", 1)
    monkeypatch.setattr(limits, "WRITE_PROBE_SECONDS", 0.0)
    client = create_app(platform).test_client()
    with writing(platform.sessions) as session:
        session.execute(text("UPDATE alembic_version SET version_num = version_num"))
        assert client.get("/ready").status_code == 200


def test_a_write_is_tried_periodically(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    """Frequent probes cause no disk work."""
    tried: list[Engine] = []
    monkeypatch.setattr(writability, "_try", lambda engine: tried.append(engine) or "")
    client = create_app(platform).test_client()
    assert {client.get("/ready").status_code for _ in range(5)} == {200}
    assert len(tried) == 1


def _on_postgres(platform: Platform) -> bool:
    return platform.engine.dialect.name == "postgresql"


@pytest.mark.parametrize(("version", "told"), [("0005", "not upgraded yet"), ("9999", "a later release")])
def test_tables_of_another_version_mean_not_ready(
    client: FlaskClient, platform: Platform, version: str, told: str
) -> None:
    with writing(platform.sessions) as session:
        session.execute(text("UPDATE alembic_version SET version_num = :it"), {"it": version})
    answer = client.get("/ready")
    assert answer.status_code == 503
    assert told in answer.json["detail"]


@pytest.mark.parametrize(
    ("settings", "address", "token", "status"),
    [
        ({}, "127.0.0.1", None, 404),
        ({}, "127.0.0.1", "", 404),
        ({"metrics_token": TOKEN}, "127.0.0.1", None, 404),
        ({"metrics_token": TOKEN}, "127.0.0.1", "wrong", 401),
        ({"metrics_token": TOKEN}, "127.0.0.1", "", 401),
        ({"metrics_token": TOKEN}, "203.0.113.9", TOKEN, 200),
        ({"metrics_allow": "127.0.0.1"}, "127.0.0.1", None, 200),
        ({"metrics_allow": "10.0.0.0/8, ::1"}, "10.1.2.3", None, 200),
        ({"metrics_allow": "10.0.0.0/8, ::1"}, "::1", None, 200),
        ({"metrics_allow": "10.0.0.0/8"}, "11.1.2.3", None, 404),
        ({"metrics_allow": "10.0.0.0/8", "metrics_token": TOKEN}, "11.1.2.3", TOKEN, 200),
        ({"metrics_allow": "anywhere"}, "127.0.0.1", None, 400),
    ],
)
def test_metrics_need_their_token_or_loopback(
    platform: Platform, settings: dict[str, Any], address: str, token: str | None, status: int
) -> None:
    opened = open_platform(platform.settings.model_copy(update=settings))
    headers = {"Authorization": f"Bearer {token}"} if token is not None else {}
    client = create_app(opened).test_client()
    answer = client.get("/metrics", headers=headers, environ_base={"REMOTE_ADDR": address})
    assert answer.status_code == status
    assert ("grader_build_info" in answer.text) == (status == 200)
    opened.close()


def samples(platform: Platform) -> dict[str, dict[tuple[str, ...], float]]:
    found: dict[str, dict[tuple[str, ...], float]] = {}
    for family in text_string_to_metric_families(figures.exposition(platform).decode()):
        for sample in family.samples:
            found.setdefault(sample.name, {})[tuple(sample.labels.values())] = sample.value
    return found


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers are not kept."""
    monkeypatch.setattr(figures, "CACHE_SECONDS", 0.0)


def test_metrics_match_the_records(platform: Platform, ada: User, bob: User, fresh: None) -> None:
    builders.judged(platform, ada, builders.accepted())
    builders.judged(platform, ada, builders.wrong())
    builders.hand_in(platform, bob)
    builders.fail(platform, builders.take(platform))
    builders.hand_in(platform, bob)
    builders.hand_in(platform, bob)
    builders.take(platform)
    gpu = {"languages": "cuda", "host": "h", "pid": 1, "heartbeat": utcnow()}
    with writing(platform.sessions) as session:
        session.add(WorkerRow(name="a", device="h200", gpu="GPU-1", **gpu))
        session.add(WorkerRow(name="b", device="h200", gpu="GPU-2", out_of_service="hot", **gpu))
        session.add(WorkerRow(name="c", device="", compiles=True, **gpu))
    found = samples(platform)
    key = ("vector_add", "cpu", "triton")  # labels come in the order of their names
    assert found["grader_verdicts_total"] == {
        (*key, "accepted"): 1,
        (*key, "wrong_answer"): 1,
        (*key, "internal_error"): 1,
    }
    assert found["grader_submissions"][("cpu", "queued")] == 1
    assert found["grader_submissions"][("cpu", "compiling")] == 1
    assert found["grader_submissions"][("h200", "queued")] == 0
    assert found["grader_oldest_wait_seconds"][("cpu",)] > 0
    assert found["grader_workers"] == {("cpu",): 0, ("h200",): 1, ("compile",): 1}
    assert found["grader_gpu_in_service"] == {("h200", "GPU-1", "h"): 1, ("h200", "GPU-2", "h"): 0}
    assert found["grader_database_up"] == {(): 1}
    assert found["grader_redis_up"] == {(): 0}


def test_metrics_report_a_database_outage(tmp_path: Path, fresh: None) -> None:
    url = "postgresql://nobody:secret@127.0.0.1:1/none?connect_timeout=1"
    platform = open_platform(builders.make_settings(tmp_path, database_url=url), migrate=False)
    found = samples(platform)
    assert found["grader_database_up"] == {(): 0}
    assert "grader_submissions" not in found
    platform.close()


def test_metrics_are_cached(platform: Platform, ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "CACHE_SECONDS", 3600.0)
    before = samples(platform)
    builders.judged(platform, ada, builders.accepted())
    other = open_platform(platform.settings)  # as another process would
    assert samples(other)["grader_submissions"] == before["grader_submissions"]
    assert "grader_verdicts_total" not in samples(other)
    monkeypatch.setattr(figures, "CACHE_SECONDS", 0.0)
    assert sum(samples(other)["grader_verdicts_total"].values()) == 1
    other.close()


def test_metrics_name_nobody(platform: Platform, ada: User, fresh: None) -> None:
    builders.judged(platform, ada, builders.accepted(), filename="my-file-name.py")
    told = figures.exposition(platform).decode()
    assert "ada" not in told
    assert "my-file-name" not in told
