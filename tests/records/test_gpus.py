"""Records of GPUs on both databases: out of service, ceilings; and frozen baselines."""

from __future__ import annotations

from dataclasses import replace

import pytest
from alembic import command
from sqlalchemy import Engine, inspect, text

from grader.languages import Language
from grader.records import baselines, ceilings, schema, workers
from grader.records.baselines import BaselineKey
from grader.records.ceilings import CalibrationKey
from grader.records.engine import Sessions, make_engine, writing, writing_connection
from grader.records.models import utcnow
from grader.records.schema import alembic_config

BENCH = BaselineKey("softmax", 1, "NVIDIA H200", "2.8.0")


def _register(sessions: Sessions, name: str, gpu: str | None) -> None:
    with writing(sessions) as session:
        workers.register(session, name, "h200", list(Language), utcnow(), gpu)


def _alive(sessions: Sessions) -> list[str]:
    with sessions() as session:
        return [row.name for row in workers.alive(session, utcnow(), 60.0)]


def _alerts(sessions: Sessions) -> dict[str, str]:
    with sessions() as session:
        return {row.name: row.out_of_service for row in workers.out_of_service(session)}


def test_a_worker_is_out_of_service_until_its_gpu_recovers(sessions: Sessions) -> None:
    for name, gpu in (("a", "GPU-1"), ("b", "GPU-2"), ("c", None)):
        _register(sessions, name, gpu)
    with writing(sessions) as session:
        workers.take_out_of_service(session, "a", "GPU-1", "Xid 79")
    assert _alive(sessions) == ["b", "c"]
    _register(sessions, "a", "GPU-1")  # the process came back; its GPU is still not known to be well
    assert (_alive(sessions), _alerts(sessions)) == (["b", "c"], {"a": "Xid 79"})
    with writing(sessions) as session:
        workers.back_in_service(session, "GPU-2")
    assert _alerts(sessions) == {"a": "Xid 79"}
    with writing(sessions) as session:
        workers.back_in_service(session, "GPU-1")
    assert (_alive(sessions), _alerts(sessions)) == (["a", "b", "c"], {})


def test_a_gpu_has_one_alert_for_all_its_workers(sessions: Sessions) -> None:
    for name in ("a", "b"):
        _register(sessions, name, "GPU-1")
        with writing(sessions) as session:
            workers.take_out_of_service(session, name, "GPU-1", f"said by {name}")
    assert _alerts(sessions) == {"b": "said by b"}


def test_ceilings_are_kept_by_gpu_driver_and_torch(sessions: Sessions) -> None:
    gauge = CalibrationKey("GPU-1", "570.86.15", "2.8.0")
    with writing(sessions) as session:
        ceilings.store(session, gauge, {"bandwidth": 4.1e12, "rate:float16": 7.5e14})
    others = [replace(gauge, gpu="GPU-2"), replace(gauge, driver="580"), replace(gauge, torch="2.9.0")]
    with sessions() as session:
        assert ceilings.read(session, gauge) == {"bandwidth": 4.1e12, "rate:float16": 7.5e14}
        assert [ceilings.read(session, other) for other in others] == [{}, {}, {}]
    with writing(sessions) as session:
        ceilings.store(session, gauge, {"bandwidth": 4.2e12})
    with sessions() as session:
        assert ceilings.read(session, gauge) == {"bandwidth": 4.2e12}


@pytest.mark.parametrize(
    "other",
    [
        replace(BENCH, challenge="matmul"),
        replace(BENCH, version=2),
        replace(BENCH, device_model="Tesla T4"),
        replace(BENCH, torch="2.9.0"),
    ],
)
def test_baselines_are_frozen_by_key(sessions: Sessions, other: BaselineKey) -> None:
    first = {"small": {"eager": 5.0, "compile": 4.0}}
    with writing(sessions) as session:
        baselines.freeze(session, BENCH, first)
    with sessions() as session:
        assert baselines.read(session, other) == {}
    with writing(sessions) as session:
        baselines.freeze(session, other, {"small": {"eager": 9.0}})
        baselines.freeze(
            session, BENCH, {"small": {"eager": 50.0, "compile": 40.0}, "large": {"eager": 70.0}}
        )
    with sessions() as session:
        assert baselines.read(session, BENCH) == {**first, "large": {"eager": 70.0}}
        assert baselines.read(session, other) == {"small": {"eager": 9.0}}


def _to(engine: Engine, revision: str, way: str = "upgrade") -> None:
    config = alembic_config()
    with writing_connection(engine) as connection:
        config.attributes["connection"] = connection
        getattr(command, way)(config, revision)


def test_an_old_database_keeps_its_workers(empty_url: str) -> None:
    engine = make_engine(empty_url)
    _to(engine, "0001")
    with writing_connection(engine) as connection:
        connection.execute(
            text(
                "INSERT INTO workers (name, device, languages, host, pid, started_at, heartbeat)"
                " VALUES ('old', 'cpu', 'triton', 'h', 1, '2025-01-01 00:00:00', '2025-01-01 00:00:00')"
            )
        )
    schema.upgrade(engine)
    with engine.connect() as connection:
        assert connection.execute(text("SELECT name, gpu, out_of_service FROM workers")).all() == [
            ("old", None, "")
        ]
    _to(engine, "0001", "downgrade")
    assert "ceilings" not in inspect(engine).get_table_names()
    engine.dispose()
