"""Per GPU (two of one model differ), driver and torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import ColumnElement, delete, select
from sqlalchemy.orm import Session

from grader.records.models import CeilingRow


@dataclass(frozen=True)
class CalibrationKey:
    gpu: str
    driver: str
    torch: str

    def conditions(self) -> tuple[ColumnElement[bool], ...]:
        table = CeilingRow
        return (table.gpu == self.gpu, table.driver == self.driver, table.torch == self.torch)


def read(session: Session, gauge: CalibrationKey) -> dict[str, float]:
    """``bandwidth`` in bytes/s and ``rate:DTYPE`` in flop/s; empty without a calibration."""
    rows = session.execute(select(CeilingRow.name, CeilingRow.value).where(*gauge.conditions()))
    return {row.name: row.value for row in rows}


def store(session: Session, gauge: CalibrationKey, found: Mapping[str, float]) -> None:
    session.execute(delete(CeilingRow).where(*gauge.conditions()))
    session.add_all(
        CeilingRow(gpu=gauge.gpu, driver=gauge.driver, torch=gauge.torch, name=name, value=value)
        for name, value in found.items()
    )
