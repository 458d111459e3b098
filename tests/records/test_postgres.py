"""Connections to PostgreSQL give up in time, come back, and speak TLS if the URL says so."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy import Engine, make_url, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from grader.records import postgres
from grader.records.engine import AWAY, make_engine, make_sessions, reading_on, writing, writing_connection
from grader.records.schema import upgrade
from tests.components import need
from tests.records.postgres import certificate, cluster, drop_database, free_port, new_database

pytestmark = pytest.mark.postgres


@pytest.fixture
def url(postgres_url: str) -> Iterator[str]:
    url = new_database(postgres_url, "giving_up")
    yield url
    drop_database(url)


@pytest.fixture
def engine(url: str) -> Iterator[Engine]:
    made = make_engine(url)
    yield made
    made.dispose()


def _setting(engine: Engine, name: str) -> str:
    with engine.connect() as connection:
        return str(connection.scalar(text(f"SHOW {name}")))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("statement_timeout", "30s"),
        ("lock_timeout", "15s"),
        ("idle_in_transaction_session_timeout", "15s"),
        ("application_name", "grader"),
    ],
)
def test_the_server_has_time_limits(engine: Engine, name: str, value: str) -> None:
    assert _setting(engine, name) == value


def test_the_url_overrides_the_time_limits(url: str) -> None:
    query = {"application_name": "mine", "options": "-c statement_timeout=1234"}
    engine = make_engine(make_url(url).update_query_dict(query).render_as_string(hide_password=False))
    assert (_setting(engine, "application_name"), _setting(engine, "statement_timeout")) == ("mine", "1234ms")
    engine.dispose()


def test_a_migration_has_more_time(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def look(config: object, _revision: str) -> None:
        connection = config.attributes["connection"]  # type: ignore[attr-defined]
        for name in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"):
            seen.append(str(connection.scalar(text(f"SHOW {name}"))))

    monkeypatch.setattr("grader.records.schema.command.upgrade", look)
    upgrade(engine)
    assert seen == ["30min"] * 3
    assert _setting(engine, "statement_timeout") == "30s"


def test_a_lock_that_is_never_let_go_is_an_error(url: str) -> None:
    query = {"options": "-c lock_timeout=50"}
    engine = make_engine(make_url(url).update_query_dict(query).render_as_string(hide_password=False))
    lock = text("SELECT pg_advisory_xact_lock(1)")
    with writing_connection(engine) as holder, writing_connection(engine) as waiting:
        holder.execute(lock)
        with pytest.raises(OperationalError, match="lock timeout"):
            waiting.execute(lock)
    engine.dispose()


def test_plain_reads_use_no_transaction(engine: Engine) -> None:
    sessions, now = make_sessions(engine), text("SELECT now()")
    with sessions() as session:
        assert session.scalar(now) != session.scalar(now)
    with reading_on(sessions) as session:
        assert session.scalar(now) == session.scalar(now)
    with writing(sessions) as session:
        session.execute(text("CREATE TABLE kept (n int)"))
    with suppress(ZeroDivisionError), writing(sessions) as session:
        session.execute(text("INSERT INTO kept VALUES (1)"))
        raise ZeroDivisionError
    with sessions() as session:
        assert session.scalar(text("SELECT count(*) FROM kept")) == 0


def _end(url: str, pid: int) -> None:
    """As a restarting server ends its connections."""
    operator = make_engine(url)
    with operator.connect() as connection:
        assert connection.scalar(text("SELECT pg_terminate_backend(:pid)"), {"pid": pid})
    operator.dispose()


def _pid(engine: Engine) -> int:
    with writing(make_sessions(engine)) as session:
        return int(session.scalar(text("SELECT pg_backend_pid()")) or 0)


def test_idle_connections_that_the_server_closed_are_replaced(
    engine: Engine, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "_FRESH_SECONDS", 0.0)
    first = _pid(engine)
    _end(url, first)
    assert _pid(engine) != first


def test_a_recently_used_closed_connection_fails_once(
    engine: Engine, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "_FRESH_SECONDS", 300.0)
    first = _pid(engine)
    _end(url, first)
    with pytest.raises(AWAY):
        _pid(engine)
    assert _pid(engine) != first


def test_a_recently_used_connection_is_not_pinged(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "_FRESH_SECONDS", 300.0)
    _pid(engine)
    monkeypatch.setattr(engine.dialect, "do_ping", pytest.fail)
    _pid(engine)


def test_an_exhausted_pool_is_an_error(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.pool, "_timeout", 0.05)
    held = [engine.connect() for _ in range(15)]
    with pytest.raises(PoolTimeout):
        engine.connect()
    for connection in held:
        connection.close()
    with engine.connect():
        pass


def test_a_silent_server_times_out() -> None:
    """It accepts the connection but stays silent, like a hanging machine."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        engine = make_engine(f"postgresql://grader:hunter2@127.0.0.1:{port}/grader")
        ended: list[BaseException] = []

        def ask() -> None:
            try:
                engine.connect()
            except OperationalError as error:
                ended.append(error)

        asking = threading.Thread(target=ask, daemon=True)
        asking.start()
        asking.join(60)
        assert ended, "it hangs"
        assert "hunter2" not in str(ended[0])
        engine.dispose()


def test_tls_follows_the_url(tmp_path: Path) -> None:
    """``verify-full`` accepts only a server with a known certificate."""
    need("postgres")
    port = free_port()
    with cluster(port=port, tls=True) as url:
        new_database(url, "secure")
        ours = Path(make_url(url).query["host"]) / "server.crt"  # type: ignore[arg-type]
        other, _ = certificate(tmp_path, "localhost")
        secure = f"postgresql://grader@localhost:{port}/secure?sslmode=verify-full&sslrootcert="
        engine = make_engine(f"{secure}{ours}")
        with engine.connect() as connection:
            seen = connection.scalar(text("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"))
        assert seen is True
        engine.dispose()
        engine = make_engine(f"{secure}{other}")
        with pytest.raises(OperationalError, match="certificate"):
            engine.connect()
        engine.dispose()
