from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, LargeBinary, String, Text, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column

from grader import limits
from grader.records.models.base import Base, UtcDateTime, utcnow, words


class WorkerTokenRow(Base):
    """Lets workers of other hosts serve ``devices`` over HTTPS, and do nothing else. No user has it."""

    __tablename__ = "worker_tokens"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(limits.NAME_CHARS), unique=True)
    sha256: Mapped[str] = mapped_column(String(64), unique=True)
    # Boards, and ``compile``, separated by commas; empty: all.
    devices: Mapped[str] = mapped_column(String(255), default="")
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
    expires_at: Mapped[datetime] = mapped_column(UtcDateTime)
    # Updated every few minutes.
    last_used_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class WorkerRow(Base):
    __tablename__ = "workers"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(128), unique=True)
    device: Mapped[str] = mapped_column(String(32))
    languages: Mapped[str] = mapped_column(String(64))
    host: Mapped[str] = mapped_column(String(255))
    pid: Mapped[int]
    started_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
    heartbeat: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
    # Or by a sweeper after a long silence.
    ended_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    # UUID.
    gpu: Mapped[str | None] = mapped_column(String(64))
    # Until a worker finds its GPU healthy.
    out_of_service: Mapped[str] = mapped_column(Text, default="", server_default="")
    # Serves the queue ``compile``, too, or only that without a ``device``.
    compiles: Mapped[bool] = mapped_column(default=False, server_default=false())
    # Takes nothing more, even after a restart.
    drained_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    sandbox_fault: Mapped[str] = mapped_column(Text, default="", server_default="")
    # A ``grader.schemas.hardware.GpuReading``.
    reading: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    # Of a worker over HTTPS. Null: it has the database's password, or its token was revoked.
    token_id: Mapped[int | None]
    # A worker over HTTPS may ask again, because the answer was lost: its request's key, and what it got.
    claim_key: Mapped[str] = mapped_column(String(64), default="", server_default="")
    claim_id: Mapped[int | None]
    claim_attempt: Mapped[int | None]


class GpuRow(Base):
    """Code compiled for its board must fit it, even while it is away."""

    __tablename__ = "gpus"

    uuid: Mapped[str] = mapped_column(String(64), primary_key=True)
    device: Mapped[str] = mapped_column(String(32))
    model: Mapped[str] = mapped_column(String(128))
    architecture: Mapped[str] = mapped_column(String(16))
    seen_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)


class CeilingRow(Base):
    """``bandwidth`` in bytes/s, ``rate:DTYPE`` in flop/s."""

    __tablename__ = "ceilings"
    __table_args__ = (UniqueConstraint("gpu", "driver", "torch", "name", name="uq_ceilings_gauge"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    gpu: Mapped[str] = mapped_column(String(64))
    driver: Mapped[str] = mapped_column(String(64))
    torch: Mapped[str] = mapped_column(String(64))
    name: Mapped[str] = mapped_column(String(32))
    value: Mapped[float]
    measured_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)


class ArtefactRow(Base):
    """A ``grader.schemas.artefact.Artefact``. ``size`` in bytes; 0: only reserved. ``user_id``: the source's
    author.
    """

    __tablename__ = "artefacts"
    __table_args__ = (Index(None, "used_at"),)

    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    arch: Mapped[str] = mapped_column(String(16))
    toolkit: Mapped[str] = mapped_column(String(32))
    library: Mapped[bytes] = mapped_column(LargeBinary)
    sha256: Mapped[str] = mapped_column(String(64))
    size: Mapped[int]
    log: Mapped[str] = mapped_column(Text)
    kernels: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
    used_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)


class PilotState(StrEnum):
    # Recorded before the provider is asked: a controller that dies between launches nothing twice.
    LAUNCHING = "launching"
    PENDING = "pending"
    RUNNING = "running"
    ENDED = "ended"


class PilotRow(Base):
    """A worker that a fleet's controller launched. ``name`` is the worker's."""

    __tablename__ = "pilots"
    __table_args__ = (Index(None, "pool", "ended_at"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(64), unique=True)
    pool: Mapped[str] = mapped_column(String(32))
    # The provider's own name for it, such as a job's number.
    handle: Mapped[str] = mapped_column(String(128), default="")
    state: Mapped[PilotState] = mapped_column(words(PilotState, 16))
    launched_at: Mapped[datetime] = mapped_column(UtcDateTime)
    began_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    ended_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    cost_per_hour: Mapped[float] = mapped_column(default=0.0)
    error: Mapped[str] = mapped_column(Text, default="")


class PoolRow(Base):
    """The last decision about a fleet's pool, and the controller that may decide until ``controlled_until``."""

    __tablename__ = "pools"

    name: Mapped[str] = mapped_column(String(32), primary_key=True)
    device: Mapped[str] = mapped_column(String(32))
    controller: Mapped[str] = mapped_column(String(128))
    controlled_until: Mapped[datetime] = mapped_column(UtcDateTime)
    decided_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    waiting: Mapped[int] = mapped_column(default=0)
    wanted: Mapped[int] = mapped_column(default=0)
    # Today, UTC.
    spent: Mapped[float] = mapped_column(default=0.0)
    # Why there are fewer than wanted.
    note: Mapped[str] = mapped_column(Text, default="")
