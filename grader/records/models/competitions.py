"""Competitions: their rules, who takes part in which team, and the final in which finalists are judged again."""

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
    """``rules`` are Markdown. What counts is when a submission was received: from ``starts_at`` until before
    ``ends_at``. Participants see the board as it stood ``freeze_minutes`` before the end, until ``results_at``.
    ``time_zone``, a name of the IANA database, is what staff type these times in; what is stored is UTC.

    ``public_seed`` (hex) is what the data of the window is drawn from and is shown; ``hidden_seed`` is that of the
    final, of which only the SHA-256 is shown before ``results_at``. Both are drawn when the competition is made, so
    that nobody chooses them later. ``cap_*`` None: no cap. ``day`` caps count for a team and a challenge in one day of
    UTC. It is a draft, for staff alone, until ``published_at``. ``revision`` grows with every change.
    """

    __tablename__ = "competitions"
    __table_args__ = (
        CheckConstraint("starts_at < ends_at", name="starts_before_end"),
        CheckConstraint("freeze_minutes >= 0", name="freeze_is_not_negative"),
        CheckConstraint("team_size >= 1", name="team_has_a_member"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    slug: Mapped[str] = mapped_column(String(limits.SLUG_CHARS), unique=True)
    title: Mapped[str] = mapped_column(String(limits.TITLE_CHARS))
    rules: Mapped[str] = mapped_column(Text, default="")
    starts_at: Mapped[datetime] = mapped_column(UtcDateTime)
    ends_at: Mapped[datetime] = mapped_column(UtcDateTime)
    freeze_minutes: Mapped[int] = mapped_column(default=0, server_default=_ZERO)
    time_zone: Mapped[str] = mapped_column(String(64), default="UTC", server_default="UTC")
    devices: Mapped[list[str]] = mapped_column(JSON)
    languages: Mapped[list[str]] = mapped_column(JSON)
    scoring: Mapped[Scoring] = mapped_column(words(Scoring, 16))
    registration: Mapped[Registration] = mapped_column(words(Registration, 16))
    invite_code: Mapped[str] = mapped_column(String(16), unique=True)
    team_size: Mapped[int] = mapped_column(default=1, server_default=text("1"))
    cap_day: Mapped[int | None]
    cap_total: Mapped[int | None]
    code_shown: Mapped[bool] = mapped_column(default=False, server_default=false())
    open_afterwards: Mapped[bool] = mapped_column(default=True, server_default=true())
    public_seed: Mapped[str] = mapped_column(String(_SEED_CHARS), default=new_seed)
    hidden_seed: Mapped[str] = mapped_column(String(_SEED_CHARS), default=new_seed)
    revision: Mapped[int] = mapped_column(default=1, server_default=text("1"))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
    published_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    results_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class CompetitionChallengeRow(Base):
    """A challenge of a competition. ``points``: what it is worth where points are scored. ``hidden_workloads`` are the
    sizes that the final times, none for the challenge's own."""

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
    """Who takes part: also a person alone is a team. ``mode`` says whether it counts. ``starts_at`` and ``ends_at`` are
    the window of a virtual participation. ``join_code`` lets others in while there is room. ``disqualified`` is the
    reason, shown to the team; empty where it is not."""

    __tablename__ = "competition_teams"
    __table_args__ = (UniqueConstraint("competition_id", "mode", "name_key"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id", ondelete="CASCADE"))
    mode: Mapped[Mode] = mapped_column(words(Mode, 16))
    name: Mapped[str] = mapped_column(String(limits.NAME_CHARS))
    name_key: Mapped[str] = mapped_column(String(limits.NAME_CHARS))
    join_code: Mapped[str] = mapped_column(String(16), unique=True)
    starts_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    ends_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    disqualified: Mapped[str] = mapped_column(Text, default="", server_default="")
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)


class RegistrationRow(Base):
    """Somebody's part in a competition, one in each mode. ``left_at``: since then in no team; what they submitted
    before stays the team's."""

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
    """A team that staff chose for the final."""

    __tablename__ = "competition_finalists"

    competition_id: Mapped[int] = mapped_column(
        ForeignKey("competitions.id", ondelete="CASCADE"), primary_key=True
    )
    team_id: Mapped[int] = mapped_column(
        ForeignKey("competition_teams.id", ondelete="CASCADE"), primary_key=True
    )


class FinalRow(Base):
    """One final: every finalist judged ``repeats`` times on ``machine``, which is the UUID of a GPU, or the name of a
    host on a board without one. A competition has one that is not cancelled. ``left_out``: how many entries of
    finalists it does not judge, because their sources were deleted with an account."""

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
    """One judgement of a final: ``submission_id`` is the row that is judged, which ``rejudge_of`` binds to what was
    handed in; ``place`` is its place in the order, from 0."""

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
