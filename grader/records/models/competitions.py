from __future__ import annotations

import secrets
from datetime import datetime
from typing import Any

from sqlalchemy import (
    JSON,
    CheckConstraint,
    ForeignKey,
    Index,
    String,
    Text,
    UniqueConstraint,
    false,
    text,
    true,
)
from sqlalchemy.orm import Mapped, mapped_column

from grader import limits
from grader.records.models.base import Base, UtcDateTime, utcnow, words
from grader.schemas.competition import FinalState, Mode, Registration, Scoring

_SEED_BYTES = 32
_SEED_CHARS = 2 * _SEED_BYTES
_ZERO = text("0")


def new_seed() -> str:
    return secrets.token_hex(_SEED_BYTES)


class CompetitionRow(Base):
    """A draft until ``published_at``. Seeds (hex) are drawn at once, so nobody can choose them later."""

    __tablename__ = "competitions"
    __table_args__ = (
        CheckConstraint("starts_at < ends_at", name="starts_before_end"),
        CheckConstraint("freeze_minutes >= 0", name="freeze_is_not_negative"),
        CheckConstraint("team_size >= 1", name="team_has_a_member"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    slug: Mapped[str] = mapped_column(String(limits.SLUG_CHARS), unique=True)
    title: Mapped[str] = mapped_column(String(limits.TITLE_CHARS))
    # Markdown.
    rules: Mapped[str] = mapped_column(Text, default="")
    # Submissions count from ``starts_at`` until before ``ends_at``.
    starts_at: Mapped[datetime] = mapped_column(UtcDateTime)
    ends_at: Mapped[datetime] = mapped_column(UtcDateTime)
    # The board is frozen this long before the end, until ``results_at``.
    freeze_minutes: Mapped[int] = mapped_column(default=0, server_default=_ZERO)
    time_zone: Mapped[str] = mapped_column(String(64), default="UTC", server_default="UTC")
    devices: Mapped[list[str]] = mapped_column(JSON)
    languages: Mapped[list[str]] = mapped_column(JSON)
    scoring: Mapped[Scoring] = mapped_column(words(Scoring, 16))
    registration: Mapped[Registration] = mapped_column(words(Registration, 16))
    invite_code: Mapped[str] = mapped_column(String(16), unique=True)
    team_size: Mapped[int] = mapped_column(default=1, server_default=text("1"))
    # Per team, challenge and day (UTC).
    cap_day: Mapped[int | None]
    # Per team and challenge.
    cap_total: Mapped[int | None]
    code_shown: Mapped[bool] = mapped_column(default=False, server_default=false())
    open_afterwards: Mapped[bool] = mapped_column(default=True, server_default=true())
    # Seeds the data while it runs.
    public_seed: Mapped[str] = mapped_column(String(_SEED_CHARS), default=new_seed)
    # Seeds the final; secret until ``results_at``.
    hidden_seed: Mapped[str] = mapped_column(String(_SEED_CHARS), default=new_seed)
    revision: Mapped[int] = mapped_column(default=1, server_default=text("1"))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
    published_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    results_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class CompetitionChallengeRow(Base):
    """``hidden_workloads``: sizes timed only in the final; empty: the challenge's."""

    __tablename__ = "competition_challenges"
    __table_args__ = (Index(None, "challenge"),)

    competition_id: Mapped[int] = mapped_column(
        ForeignKey("competitions.id", ondelete="CASCADE"), primary_key=True
    )
    challenge: Mapped[str] = mapped_column(String(limits.SLUG_CHARS), primary_key=True)
    place: Mapped[int]
    points: Mapped[float] = mapped_column(default=100.0)
    hidden_workloads: Mapped[list[dict[str, Any]]] = mapped_column(JSON, default=list)


class TeamRow(Base):
    """A single person is a team, too."""

    __tablename__ = "competition_teams"
    __table_args__ = (UniqueConstraint("competition_id", "mode", "name_key"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id", ondelete="CASCADE"))
    # Only official teams count.
    mode: Mapped[Mode] = mapped_column(words(Mode, 16))
    name: Mapped[str] = mapped_column(String(limits.NAME_CHARS))
    name_key: Mapped[str] = mapped_column(String(limits.NAME_CHARS))
    join_code: Mapped[str] = mapped_column(String(16), unique=True)
    # Of a virtual participation.
    starts_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    ends_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    # The reason, shown to the team.
    disqualified: Mapped[str] = mapped_column(Text, default="", server_default="")
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)


class RegistrationRow(Base):
    """One per mode. After ``left_at`` earlier submissions stay the team's."""

    __tablename__ = "competition_registrations"
    __table_args__ = (
        UniqueConstraint("competition_id", "user_id", "mode"),
        Index(None, "team_id"),
        Index(None, "user_id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id", ondelete="CASCADE"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    mode: Mapped[Mode] = mapped_column(words(Mode, 16))
    team_id: Mapped[int] = mapped_column(ForeignKey("competition_teams.id", ondelete="CASCADE"))
    joined_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
    left_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class FinalistRow(Base):
    __tablename__ = "competition_finalists"

    competition_id: Mapped[int] = mapped_column(
        ForeignKey("competitions.id", ondelete="CASCADE"), primary_key=True
    )
    team_id: Mapped[int] = mapped_column(
        ForeignKey("competition_teams.id", ondelete="CASCADE"), primary_key=True
    )


class FinalRow(Base):
    """``machine``: a GPU's UUID, or a host's name on a board without GPUs. At most one per competition is not
    cancelled. ``left_out``: entries whose sources were deleted with an account.
    """

    __tablename__ = "competition_finals"
    __table_args__ = (Index(None, "competition_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id", ondelete="CASCADE"))
    device: Mapped[str] = mapped_column(String(32))
    machine: Mapped[str] = mapped_column(String(255))
    repeats: Mapped[int]
    state: Mapped[FinalState] = mapped_column(words(FinalState, 16))
    left_out: Mapped[int] = mapped_column(default=0, server_default=_ZERO)
    started_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    started_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)


class FinalRunRow(Base):
    """``submission_id`` is the judged row; ``place`` counts from 0."""

    __tablename__ = "competition_final_runs"
    __table_args__ = (UniqueConstraint("submission_id"),)

    final_id: Mapped[int] = mapped_column(
        ForeignKey("competition_finals.id", ondelete="CASCADE"), primary_key=True
    )
    team_id: Mapped[int] = mapped_column(
        ForeignKey("competition_teams.id", ondelete="CASCADE"), primary_key=True
    )
    challenge: Mapped[str] = mapped_column(String(limits.SLUG_CHARS), primary_key=True)
    repeat: Mapped[int] = mapped_column(primary_key=True)
    place: Mapped[int]
    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"))
