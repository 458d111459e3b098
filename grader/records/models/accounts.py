"""Only SHA-256s of secrets are stored: each has enough random bits, or so short a life, that a plain hash is
safe.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, String, UniqueConstraint, false, text
from sqlalchemy.orm import Mapped, mapped_column

from grader import limits
from grader.records.models.base import Base, UtcDateTime, utcnow

_SHA256 = 64


class UserRow(Base):
    """After deletion the row stays under a made-up name."""

    __tablename__ = "users"
    __table_args__ = (Index(None, "email_key", unique=True),)

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(limits.NAME_CHARS))
    # In lower case.
    name_key: Mapped[str] = mapped_column(String(limits.NAME_CHARS), unique=True)
    password_hash: Mapped[str] = mapped_column(String(256))
    role: Mapped[str] = mapped_column(String(16))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
    # Verified, or set by the operator.
    email: Mapped[str | None] = mapped_column(String(limits.EMAIL_CHARS))
    email_key: Mapped[str | None] = mapped_column(String(limits.EMAIL_CHARS))
    email_by: Mapped[str] = mapped_column(String(16), default="", server_default="")
    # A ``grader.schemas.preferences.Preferences``.
    preferences: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict, server_default="{}")
    came_by: Mapped[str] = mapped_column(String(limits.TITLE_CHARS), default="", server_default="")
    teaches: Mapped[bool] = mapped_column(default=False, server_default=false())
    deleted_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class IdentityRow(Base):
    __tablename__ = "identities"
    __table_args__ = (UniqueConstraint("authority", "subject"), Index(None, "user_id"))

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    # A provider's issuer, or a learning platform.
    authority: Mapped[str] = mapped_column(String(limits.AUTHORITY_CHARS))
    subject: Mapped[str] = mapped_column(String(limits.SUBJECT_CHARS))
    label: Mapped[str] = mapped_column(String(limits.NAME_CHARS))
    # account: made from it; address: linked by a verified address; owner: connected by the owner.
    came_by: Mapped[str] = mapped_column(String(16))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
    used_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class TokenRow(Base):
    __tablename__ = "tokens"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    sha256: Mapped[str] = mapped_column(String(_SHA256), unique=True)
    label: Mapped[str] = mapped_column(String(limits.NAME_CHARS))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
    expires_at: Mapped[datetime] = mapped_column(UtcDateTime)
    # Updated every few minutes.
    last_used_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    kind: Mapped[str] = mapped_column(String(16), default="api", server_default="api")
    # Separated by spaces.
    scopes: Mapped[str] = mapped_column(
        String(64), default="read submit staff", server_default="read submit staff"
    )
    # Of the client that made it.
    address: Mapped[str] = mapped_column(String(limits.ADDRESS_CHARS), default="", server_default="")
    # Submissions and runs that it may make in 24 hours, and have unfinished; null: as many as the account.
    per_day: Mapped[int | None]
    at_once: Mapped[int | None]


class LinkRow(Base):
    """For the account ``user_id`` or the address ``email``; works once."""

    __tablename__ = "links"
    __table_args__ = (Index(None, "user_id", "purpose"), Index(None, "email", "purpose"))

    id: Mapped[int] = mapped_column(primary_key=True)
    purpose: Mapped[str] = mapped_column(String(16))
    sha256: Mapped[str] = mapped_column(String(_SHA256), unique=True)
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    email: Mapped[str | None] = mapped_column(String(limits.EMAIL_CHARS))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
    expires_at: Mapped[datetime] = mapped_column(UtcDateTime)
    used_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class InvitationRow(Base):
    """Lets ``uses`` people make an account. ``made_by`` is null if the operator made it."""

    __tablename__ = "invitations"

    id: Mapped[int] = mapped_column(primary_key=True)
    sha256: Mapped[str] = mapped_column(String(_SHA256), unique=True)
    label: Mapped[str] = mapped_column(String(limits.NAME_CHARS))
    role: Mapped[str] = mapped_column(String(16))
    uses: Mapped[int]
    used: Mapped[int] = mapped_column(default=0, server_default=text("0"))
    made_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
    expires_at: Mapped[datetime] = mapped_column(UtcDateTime)


class DeviceCodeRow(Base):
    __tablename__ = "device_codes"
    __table_args__ = (Index(None, "expires_at"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    device_sha256: Mapped[str] = mapped_column(String(_SHA256), unique=True)
    user_sha256: Mapped[str] = mapped_column(String(_SHA256), unique=True)
    # pending, approved, denied or taken
    state: Mapped[str] = mapped_column(String(16), default="pending")
    label: Mapped[str] = mapped_column(String(limits.NAME_CHARS))
    scopes: Mapped[str] = mapped_column(String(64))
    # Null: the longest.
    days: Mapped[int | None]
    # See ``TokenRow``.
    per_day: Mapped[int | None]
    at_once: Mapped[int | None]
    address: Mapped[str] = mapped_column(String(limits.ADDRESS_CHARS))
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    # Seconds.
    interval: Mapped[int]
    polled_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
    expires_at: Mapped[datetime] = mapped_column(UtcDateTime)


class DeletionRow(Base):
    """Owner and staff can cancel it until ``due_at``."""

    __tablename__ = "account_deletions"

    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    requested_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    requested_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
    due_at: Mapped[datetime] = mapped_column(UtcDateTime, index=True)
