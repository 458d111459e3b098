"""Which GPUs the platform has had, so that sources can be compiled for them where they are not."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader.records.models import GpuRow


@dataclass(frozen=True)
class GpuRecord:
    """``device`` is its board, ``model`` its own name, ``architecture`` what nvcc compiles for, such as sm_90a."""

    uuid: str
    device: str
    model: str
    architecture: str


def register(session: Session, gpu: GpuRecord, now: datetime) -> None:
    """Keep what a worker or a calibration found out; a known GPU is replaced."""
    row = session.get(GpuRow, gpu.uuid) or GpuRow(uuid=gpu.uuid)
    row.device, row.model, row.architecture = gpu.device, gpu.model, gpu.architecture
    row.seen_at = now
    session.add(row)


def architectures(session: Session) -> dict[str, str]:
    """Board -> what nvcc compiles for, of every board that ever had a GPU; the one seen last decides."""
    rows = session.execute(select(GpuRow.device, GpuRow.architecture).order_by(GpuRow.seen_at))
    return {row.device: row.architecture for row in rows}
