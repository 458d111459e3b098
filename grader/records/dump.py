"""Rows of any table as lines of JSON and back, for either database.

Tables come from the database, not the models: a newer grader makes a backup before its upgrade.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    Connection,
    DateTime,
    LargeBinary,
    MetaData,
    Table,
    func,
    insert,
    literal,
    select,
    text,
)

VERSION_TABLE = "alembic_version"
# Missing libraries are compiled again.
LEFT_OUT = frozenset({"artefacts"})
# Some dozen MiB: sources have up to 256 KiB.
_ROWS = 200


def tables(connection: Connection) -> list[Table]:
    """Each after the tables that it refers to."""
    return [table for table in _reflect(connection).sorted_tables if table.name != VERSION_TABLE]


def _reflect(connection: Connection) -> MetaData:
    metadata = MetaData()
    metadata.reflect(connection)
    for table in metadata.tables.values():
        for column in table.columns:
            if isinstance(column.type, JSON):
                column.type = JSON(none_as_null=True)
    return metadata


def drop_all(connection: Connection) -> None:
    if connection.dialect.name == "sqlite":
        connection.execute(text("PRAGMA defer_foreign_keys = ON"))
    _reflect(connection).drop_all(connection)


def lines(connection: Connection, table: Table) -> Iterator[bytes]:
    """The columns' names, then a line per row."""
    yield _line([column.name for column in table.columns])
    ordered = select(table).order_by(*table.primary_key.columns)
    for row in connection.execute(ordered, execution_options={"yield_per": _ROWS}):
        yield _line([_encoded(value) for value in row])


def _line(values: list[Any]) -> bytes:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _encoded(value: Any) -> Any:
    if isinstance(value, datetime):
        return (value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)).isoformat()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value


def fill(connection: Connection, table: Table, values: Iterable[bytes]) -> Iterator[int]:
    """Yields the number of rows now and then. Raises ValueError if a line does not fit, and the database's
    errors.
    """
    rows = iter(values)
    names = json.loads(next(rows, b"[]"))
    if unknown := set(names) - set(table.columns.keys()):
        raise ValueError(f"{table.name} has no column {sorted(unknown)[0]}")
    done, waiting = 0, []
    for line in rows:
        values = json.loads(line)
        pairs = zip(names, values, strict=True)
        waiting.append({name: _value(connection, table, name, value) for name, value in pairs})
        if len(waiting) == _ROWS:
            connection.execute(insert(table), waiting)
            done += len(waiting)
            waiting = []
            yield done
    if waiting:
        connection.execute(insert(table), waiting)
    yield done + len(waiting)
    _go_on_counting(connection, table)


def _value(connection: Connection, table: Table, name: str, value: Any) -> Any:
    kind = table.columns[name].type
    if value is None:
        return None
    if isinstance(kind, DateTime):
        moment = datetime.fromisoformat(value)
        # SQLite's times are UTC.
        return moment.replace(tzinfo=None) if connection.dialect.name == "sqlite" else moment
    if isinstance(kind, LargeBinary):
        return base64.b64decode(value)
    return value


def _go_on_counting(connection: Connection, table: Table) -> None:
    """PostgreSQL's id sequences do not notice explicit ids."""
    if connection.dialect.name != "postgresql" or "id" not in table.columns:
        return
    sequence = connection.scalar(select(func.pg_get_serial_sequence(table.name, "id")))
    highest = connection.scalar(select(func.max(table.columns["id"])))
    if sequence is not None and highest is not None:
        connection.execute(select(func.setval(sequence, highest)))


def is_used(connection: Connection) -> bool:
    counted = [table for table in tables(connection) if table.name in ("users", "submissions")]
    return any(connection.scalar(select(literal(1)).select_from(table).limit(1)) for table in counted)
