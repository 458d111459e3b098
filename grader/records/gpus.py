"""Every GPU seen, so other hosts can compile for it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader.records.models import GpuRow


@dataclass(frozen=True)
class GpuRecord:
    uuid: str
    device: str
    model: str
    # For nvcc, such as sm_90a.
    architecture: str


def register(session: Session, gpu: GpuRecord, now: datetime) -> None:
    row = session.get(GpuRow, gpu.uuid) or GpuRow(uuid=gpu.uuid)
    row.device, row.model, row.architecture = gpu.device, gpu.model, gpu.architecture
    row.seen_at = now
    session.add(row)


def architectures(session: Session) -> dict[str, str]:
    """By board; the GPU seen last decides."""
    rows = session.execute(select(GpuRow.device, GpuRow.architecture).order_by(GpuRow.seen_at))
    return {row.device: row.architecture for row in rows}
