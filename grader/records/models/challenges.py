from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, LargeBinary, String, Text, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column

from grader import limits
from grader.records.models.base import Base, UtcDateTime, utcnow, words
from grader.schemas.publication import BoardAudience, PublicationState
from grader.schemas.upload import CheckState, SyncState


class VersionRow(Base):
    """``content`` is what affects judging, as JSON. Its board is shown from ``published_at`` until a later
    version is published.
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


class ChallengeOwnerRow(Base):
    """Without a row it is the platform's. A course with challenges cannot be deleted, since they would become
    everyone's.
    """

    __tablename__ = "challenge_owners"
    __table_args__ = (Index(None, "course_id"),)

    challenge: Mapped[str] = mapped_column(String(limits.SLUG_CHARS), primary_key=True)
    course_id: Mapped[int] = mapped_column(ForeignKey("courses.id"))


class CatalogueSourceRow(Base):
    __tablename__ = "catalogue_sources"

    course_id: Mapped[int] = mapped_column(ForeignKey("courses.id", ondelete="CASCADE"), primary_key=True)
    # ``credential`` has its name and password, as NAME:PASSWORD.
    url: Mapped[str] = mapped_column(Text)
    credential: Mapped[str] = mapped_column(Text, default="", server_default="")
    branch: Mapped[str] = mapped_column(String(200))
    # Put before folder names: several courses may use the repository.
    prefix: Mapped[str] = mapped_column(String(32), default="", server_default="")
    hook_sha256: Mapped[str | None] = mapped_column(String(64), unique=True)
    state: Mapped[SyncState] = mapped_column(words(SyncState, 16))
    error: Mapped[str] = mapped_column(Text, default="", server_default="")
    asked_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    asked_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    # Fences writes: grows with every order and claim.
    attempt: Mapped[int] = mapped_column(default=0, server_default="0")
    lease: Mapped[datetime | None] = mapped_column(UtcDateTime)
    commit: Mapped[str | None] = mapped_column(String(64))
    uploads: Mapped[dict[str, int] | None] = mapped_column(JSON(none_as_null=True))
    served_commit: Mapped[str | None] = mapped_column(String(64))
    served_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class BaselineRow(Base):
    """Microseconds; the first for its key stays. 0: too short to measure."""

    __tablename__ = "baselines"
    __table_args__ = (
        # PostgreSQL cuts names at 63 letters.
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


class ChallengeStateRow(Base):
    """Without a row the challenge is a draft. After ``frozen_at`` the board shows its state of that time."""

    __tablename__ = "challenge_states"

    challenge: Mapped[str] = mapped_column(String(limits.SLUG_CHARS), primary_key=True)
    state: Mapped[PublicationState] = mapped_column(words(PublicationState, 16))
    publish_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    board: Mapped[BoardAudience] = mapped_column(
        words(BoardAudience, 16), default=BoardAudience.PUBLIC, server_default=BoardAudience.PUBLIC.value
    )
    frozen_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    changed_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
    changed_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))


class UploadRow(Base):
    __tablename__ = "challenge_uploads"
    __table_args__ = (UniqueConstraint("challenge", "number"), Index(None, "check_state"))

    id: Mapped[int] = mapped_column(primary_key=True)
    challenge: Mapped[str] = mapped_column(String(limits.SLUG_CHARS))
    # Counts the uploads of one slug.
    number: Mapped[int]
    version: Mapped[int]
    title: Mapped[str] = mapped_column(String(limits.TITLE_CHARS))
    digest: Mapped[str] = mapped_column(String(64))
    # ZIP.
    archive: Mapped[bytes] = mapped_column(LargeBinary, deferred=True)
    size: Mapped[int]
    files: Mapped[int]
    note: Mapped[str] = mapped_column(Text, default="", server_default="")
    commit: Mapped[str | None] = mapped_column(String(64))
    base: Mapped[int | None]
    # Result of its Python (``grader.challenge.examined``).
    examined: Mapped[str | None] = mapped_column(Text, deferred=True)
    # At most one per slug.
    in_use: Mapped[bool] = mapped_column(default=False, server_default=false())
    used_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    uploaded_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
    check_state: Mapped[CheckState] = mapped_column(words(CheckState, 16))
    check_attempt: Mapped[int] = mapped_column(default=0, server_default="0")
    check_worker: Mapped[str | None] = mapped_column(String(128))
    # Until then a worker has claimed the check.
    check_lease: Mapped[datetime | None] = mapped_column(UtcDateTime)
    check_progress: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    # A ``grader.authoring.findings.Proof``.
    check_result: Mapped[str | None] = mapped_column(Text, deferred=True)
    check_error: Mapped[str] = mapped_column(Text, default="", server_default="")
    check_began_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    check_ended_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
