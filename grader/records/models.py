"""The tables. Times are UTC; a verdict exists exactly where a submission is done or has failed."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    CheckConstraint,
    DateTime,
    Dialect,
    Double,
    Enum,
    ForeignKey,
    Index,
    LargeBinary,
    MetaData,
    String,
    Text,
    TypeDecorator,
    UniqueConstraint,
    false,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

from grader import limits
from grader.schemas.report import Language, Verdict
from grader.schemas.submission import State

# Without i, l, o and u: an id can be read out and typed in. Ten of 32 letters are 50 bits: not to be guessed
# or met twice.
_ID_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
PUBLIC_ID_CHARS = 10


def utcnow() -> datetime:
    return datetime.now(UTC)


def new_public_id() -> str:
    return "".join(secrets.choice(_ID_LETTERS) for _ in range(PUBLIC_ID_CHARS))


class UtcDateTime(TypeDecorator[datetime]):
    """An aware UTC time on every database; SQLite has no zones, so there it is stored without and read with
    UTC.
    """

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a time without a zone")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def _words(kind: type[Any], length: int) -> Enum:
    """A StrEnum stored as its value in a plain string column: new members need no migration."""
    return Enum(
        kind, native_enum=False, length=length, values_callable=lambda members: [m.value for m in members]
    )


class Base(DeclarativeBase):
    type_annotation_map = {float: Double}  # noqa: RUF012 - SQLAlchemy's own declaration
    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


class UserRow(Base):
    """``name_key`` is the name in lower case: Ada and ada are one person."""

    __tablename__ = "users"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(limits.NAME_CHARS))
    name_key: Mapped[str] = mapped_column(String(limits.NAME_CHARS), unique=True)
    password_hash: Mapped[str] = mapped_column(String(256))
    role: Mapped[str] = mapped_column(String(16))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)


class TokenRow(Base):
    """An API token: only its SHA-256 is kept. ``last_used_at`` is noted every few minutes."""

    __tablename__ = "tokens"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    sha256: Mapped[str] = mapped_column(String(64), unique=True)
    label: Mapped[str] = mapped_column(String(limits.NAME_CHARS))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
    expires_at: Mapped[datetime] = mapped_column(UtcDateTime)
    last_used_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class SubmissionRow(Base):
    """``attempt`` grows with every claim and fences late results; ``failures`` counts our own failures;
    ``artefact`` is the key of what it was compiled to.

    ``rejudge_of`` is set on what staff have judged again under a later version: a row of its own, so that the first
    judgement stays as it was, for boards of both versions come out of one query. It is nobody's attempt.
    """

    __tablename__ = "submissions"
    __table_args__ = (
        UniqueConstraint("user_id", "idempotency_key"),
        CheckConstraint("(verdict IS NOT NULL) = (state IN ('done', 'failed'))", name="verdict_when_judged"),
        CheckConstraint("ci_lo_us <= time_us AND time_us <= ci_hi_us", name="interval_holds_time"),
        Index(None, "state", "device", "priority", "created_at"),
        Index(None, "challenge", "version", "device", "verdict"),
        Index(None, "user_id", "created_at"),
        Index(None, "claimed_at"),
        Index(None, "rejudge_of"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    public_id: Mapped[str] = mapped_column(String(PUBLIC_ID_CHARS), unique=True, default=new_public_id)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    challenge: Mapped[str] = mapped_column(String(64))
    version: Mapped[int]
    language: Mapped[Language] = mapped_column(_words(Language, 16))
    device: Mapped[str] = mapped_column(String(32))
    source: Mapped[str] = mapped_column(Text)
    filename: Mapped[str] = mapped_column(String(limits.FILENAME_CHARS))
    idempotency_key: Mapped[str | None] = mapped_column(String(128))
    priority: Mapped[int] = mapped_column(default=0)
    rejudge_of: Mapped[int | None] = mapped_column(ForeignKey("submissions.id"))

    state: Mapped[State] = mapped_column(_words(State, 16), default=State.QUEUED)
    attempt: Mapped[int] = mapped_column(default=0)
    failures: Mapped[int] = mapped_column(default=0)
    worker: Mapped[str | None] = mapped_column(String(128))
    lease_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    progress: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    cancel_requested: Mapped[bool] = mapped_column(default=False)
    artefact: Mapped[str | None] = mapped_column(String(64))

    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
    claimed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    started_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    finished_at: Mapped[datetime | None] = mapped_column(UtcDateTime)

    verdict: Mapped[Verdict | None] = mapped_column(_words(Verdict, 24))
    error: Mapped[str] = mapped_column(Text, default="")
    time_us: Mapped[float | None]
    ci_lo_us: Mapped[float | None]
    ci_hi_us: Mapped[float | None]
    speedup: Mapped[float | None]
    passed: Mapped[int | None]
    total: Mapped[int | None]

    user: Mapped[UserRow] = relationship()


class ReportRow(Base):
    """The report of the attempt that counted, as JSON text."""

    __tablename__ = "reports"

    submission_id: Mapped[int] = mapped_column(
        ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True
    )
    attempt: Mapped[int] = mapped_column(primary_key=True)
    body: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)


class VersionRow(Base):
    """A challenge version that was served. ``content`` is what judging depended on then, as JSON text (see
    ``grader.challenge.fingerprint``); its board is shown from ``published_at`` on, until a later one is published.
    """

    __tablename__ = "challenge_versions"
    __table_args__ = (UniqueConstraint("challenge", "version"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    challenge: Mapped[str] = mapped_column(String(64))
    version: Mapped[int]
    fingerprint: Mapped[str] = mapped_column(String(64))
    content: Mapped[str] = mapped_column(Text)
    served_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
    published_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class BaselineRow(Base):
    """A reference time in microseconds, frozen: the first one written for its key stays."""

    __tablename__ = "baselines"
    __table_args__ = (
        # Named, since PostgreSQL cuts names at 63 letters.
        UniqueConstraint(
            "challenge", "version", "workload", "baseline", "device_model", "torch", name="uq_baselines_bench"
        ),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    challenge: Mapped[str] = mapped_column(String(64))
    version: Mapped[int]
    workload: Mapped[str] = mapped_column(String(64))
    baseline: Mapped[str] = mapped_column(String(32))
    device_model: Mapped[str] = mapped_column(String(128))
    torch: Mapped[str] = mapped_column(String(64))
    time_us: Mapped[float]
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)


class CeilingRow(Base):
    """What one GPU reached in calibration: ``bandwidth`` in bytes/s, ``rate:DTYPE`` in flop/s."""

    __tablename__ = "ceilings"
    __table_args__ = (UniqueConstraint("gpu", "driver", "torch", "name", name="uq_ceilings_gauge"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    gpu: Mapped[str] = mapped_column(String(64))
    driver: Mapped[str] = mapped_column(String(64))
    torch: Mapped[str] = mapped_column(String(64))
    name: Mapped[str] = mapped_column(String(32))
    value: Mapped[float]
    measured_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)


class GpuRow(Base):
    """A GPU that a worker has had: what is compiled for its board must fit it, also while it is away."""

    __tablename__ = "gpus"

    uuid: Mapped[str] = mapped_column(String(64), primary_key=True)
    device: Mapped[str] = mapped_column(String(32))
    model: Mapped[str] = mapped_column(String(128))
    architecture: Mapped[str] = mapped_column(String(16))
    seen_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)


class ArtefactRow(Base):
    """What one source was compiled to, see ``grader.schemas.artefact.Artefact``; ``size`` in bytes."""

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
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
    used_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)


class WorkerRow(Base):
    """A worker process. ``ended_at`` is set by itself when it stops, or by a sweeper when it was silent too
    long. ``gpu`` is the UUID of its GPU; ``out_of_service`` says why that GPU judges nothing, until a worker
    of it finds it well again. ``compiles``: it serves the queue of what is to be compiled; with no ``device``, that
    alone.
    """

    __tablename__ = "workers"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(128), unique=True)
    device: Mapped[str] = mapped_column(String(32))
    languages: Mapped[str] = mapped_column(String(64))
    host: Mapped[str] = mapped_column(String(255))
    pid: Mapped[int]
    started_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
    heartbeat: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
    ended_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    gpu: Mapped[str | None] = mapped_column(String(64))
    out_of_service: Mapped[str] = mapped_column(Text, default="", server_default="")
    compiles: Mapped[bool] = mapped_column(default=False, server_default=false())
