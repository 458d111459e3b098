"""Learning platforms (Canvas, Moodle) that use this one as a tool, by LTI 1.3."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, String, Text, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column

from grader import limits
from grader.records.models.base import Base, UtcDateTime, utcnow

_SHA256 = 64


class LtiKeyRow(Base):
    """``private`` is a JWK. Workers on other hosts send grades, too. The newest signs."""

    __tablename__ = "lti_keys"

    kid: Mapped[str] = mapped_column(String(64), primary_key=True)
    private: Mapped[dict[str, Any]] = mapped_column(JSON)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)


class LtiPlatformRow(Base):
    """``hosts`` may receive grades, besides that of ``token_url``; ``accounts``: see
    ``grader.service.accounts.sign_on.Policy``; ``trust_email``: its addresses count as verified.
    """

    __tablename__ = "lti_platforms"
    __table_args__ = (UniqueConstraint("issuer", "client_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(limits.NAME_CHARS))
    issuer: Mapped[str] = mapped_column(String(limits.URL_CHARS))
    client_id: Mapped[str] = mapped_column(String(limits.SUBJECT_CHARS))
    deployments: Mapped[list[str]] = mapped_column(JSON, default=list)
    auth_url: Mapped[str] = mapped_column(String(limits.URL_CHARS))
    token_url: Mapped[str] = mapped_column(String(limits.URL_CHARS))
    jwks_url: Mapped[str] = mapped_column(String(limits.URL_CHARS))
    token_audience: Mapped[str] = mapped_column(String(limits.URL_CHARS), default="", server_default="")
    hosts: Mapped[list[str]] = mapped_column(JSON, default=list)
    accounts: Mapped[str] = mapped_column(String(16))
    trust_email: Mapped[bool] = mapped_column(default=False, server_default=false())
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)


class LtiLaunchRow(Base):
    """``used_at``: its token came; a second one is refused. ``ticket_sha256``: of a key that allows choosing
    an assignment, once.
    """

    __tablename__ = "lti_launches"
    __table_args__ = (Index(None, "expires_at"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    platform_id: Mapped[int] = mapped_column(ForeignKey("lti_platforms.id", ondelete="CASCADE"))
    state_sha256: Mapped[str] = mapped_column(String(_SHA256), unique=True)
    nonce: Mapped[str] = mapped_column(String(64))
    said: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    ticket_sha256: Mapped[str | None] = mapped_column(String(_SHA256), unique=True)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
    expires_at: Mapped[datetime] = mapped_column(UtcDateTime)
    used_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class LtiContextRow(Base):
    """``teachers``: a ``grader.schemas.lti.Teachers``."""

    __tablename__ = "lti_contexts"
    __table_args__ = (
        UniqueConstraint("platform_id", "deployment", "context", name="uq_lti_contexts_of_platform"),
        Index(None, "course_id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    platform_id: Mapped[int] = mapped_column(ForeignKey("lti_platforms.id", ondelete="CASCADE"))
    deployment: Mapped[str] = mapped_column(String(limits.SUBJECT_CHARS))
    context: Mapped[str] = mapped_column(String(limits.SUBJECT_CHARS))
    title: Mapped[str] = mapped_column(String(limits.TITLE_CHARS), default="", server_default="")
    course_id: Mapped[int] = mapped_column(ForeignKey("courses.id", ondelete="CASCADE"))
    teachers: Mapped[str] = mapped_column(String(16))
    linked_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)


class LtiLinkRow(Base):
    """``line_item`` is its gradebook column."""

    __tablename__ = "lti_links"
    __table_args__ = (UniqueConstraint("context_id", "resource"), Index(None, "assignment_id"))

    id: Mapped[int] = mapped_column(primary_key=True)
    context_id: Mapped[int] = mapped_column(ForeignKey("lti_contexts.id", ondelete="CASCADE"))
    resource: Mapped[str] = mapped_column(String(limits.SUBJECT_CHARS))
    assignment_id: Mapped[int] = mapped_column(ForeignKey("assignments.id", ondelete="CASCADE"))
    title: Mapped[str] = mapped_column(String(limits.TITLE_CHARS), default="", server_default="")
    line_item: Mapped[str] = mapped_column(String(limits.URL_CHARS), default="", server_default="")
    why_not: Mapped[str] = mapped_column(Text, default="", server_default="")
    released_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)


class LtiScoreRow(Base):
    """The platform should have ``points`` of ``most``."""

    __tablename__ = "lti_scores"
    __table_args__ = (UniqueConstraint("link_id", "user_id"), Index(None, "state", "next_at"))

    id: Mapped[int] = mapped_column(primary_key=True)
    link_id: Mapped[int] = mapped_column(ForeignKey("lti_links.id", ondelete="CASCADE"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    points: Mapped[float]
    most: Mapped[float]
    # A ``grader.schemas.lti.LtiScoreState``.
    state: Mapped[str] = mapped_column(String(16))
    tries: Mapped[int] = mapped_column(default=0)
    next_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
    held_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    error: Mapped[str] = mapped_column(Text, default="")
    changed_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
    # What the platform last accepted.
    sent_points: Mapped[float | None]
    sent_most: Mapped[float | None]
    sent_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    # ``passback.subject_digest``: a new account of the same person has a grade.
    subject_sha256: Mapped[str | None] = mapped_column(String(_SHA256))
