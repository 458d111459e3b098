"""Frozen reference times: measuring a reference again must not change speedups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Insert, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from grader.records.models import BaselineRow, utcnow

# workload -> baseline name -> microseconds; None: too short to measure
Times = dict[str, dict[str, float | None]]
_TOO_SHORT = 0.0


@dataclass(frozen=True)
class BaselineKey:
    challenge: str
    version: int
    device_model: str
    torch: str


def read(session: Session, bench: BaselineKey) -> Times:
    table = BaselineRow
    rows = session.execute(
        select(table.workload, table.baseline, table.time_us).where(
            table.challenge == bench.challenge,
            table.version == bench.version,
            table.device_model == bench.device_model,
            table.torch == bench.torch,
        )
    )
    times: Times = {}
    for workload, baseline, time_us in rows:
        times.setdefault(workload, {})[baseline] = None if time_us == _TOO_SHORT else time_us
    return times


def freeze(session: Session, bench: BaselineKey, times: Mapping[str, Mapping[str, float | None]]) -> None:
    """Existing times stay."""
    rows = [
        {
            "challenge": bench.challenge,
            "version": bench.version,
            "device_model": bench.device_model,
            "torch": bench.torch,
            "workload": workload,
            "baseline": baseline,
            "time_us": _TOO_SHORT if time_us is None else time_us,
            "created_at": utcnow(),
        }
        for workload, by_name in times.items()
        for baseline, time_us in by_name.items()
    ]
    if rows:
        session.execute(_insert_where_missing(session), rows)


def _insert_where_missing(session: Session) -> Insert:
    if session.get_bind().dialect.name == "postgresql":
        return postgresql.insert(BaselineRow).on_conflict_do_nothing()
    return sqlite.insert(BaselineRow).on_conflict_do_nothing()
