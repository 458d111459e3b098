"""Leaderboards as API, CLI and pages see them: of a challenge, of a track, and who leads where."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from grader.languages import Language
from grader.schemas.publication import BoardAudience
from grader.schemas.strict import Strict


class LeaderboardEntry(Strict):
    """``rank`` is 1 + the entries that are faster by more than the board's resolution, so that it may be shared; none
    where the caller may see no ranks, or of the caller's own that is newer than a frozen board."""

    rank: int | None
    user: str = Field(description="a made-up name where anonymous is true")
    submission: str
    language: Language
    time_us: float
    ci_us: tuple[float, float]
    speedup: float | None
    speedup_ci: tuple[float, float] | None = Field(
        default=None, description="the baseline over the ends of the interval"
    )
    sol: float | None = Field(
        default=None, description="time at the speed of light / time; none where no ceiling is known"
    )
    submitted_at: datetime
    anonymous: bool = False
    own: bool = Field(default=False, description="the caller's")


class ReferenceKind(StrEnum):
    """What an unranked row stands for."""

    BASELINE = "baseline"
    """PyTorch's own implementation, timed by the same judge."""
    STAFF = "staff"
    """The best accepted submission of staff."""
    ROOFLINE = "roofline"
    """The least that memory and arithmetic allow: speed of light."""


class Reference(Strict):
    """What entries are compared with. ``name`` of a baseline is ``eager``, ``compile``, or what the judge calls it."""

    kind: ReferenceKind
    name: str
    time_us: float
    ci_us: tuple[float, float] | None = None
    speedup: float | None = None
    sol: float | None = None


class Leaderboard(Strict):
    """``entries`` are those that were asked for, ``total`` all there are; ``own`` is the caller's, wherever it is.
    Where ``open`` is false the caller sees nobody else's: both are empty."""

    challenge: str
    version: int
    device: str
    language: Language | None = None
    representative: bool
    resolution: float = Field(
        default=0.0, description="entries whose times differ by no larger share of them are not told apart"
    )
    entries: list[LeaderboardEntry]
    total: int = 0
    own: LeaderboardEntry | None = None
    own_place: int | None = Field(default=None, description="how many entries stand before the caller's")
    references: list[Reference] = Field(default_factory=list, description="unranked, the fastest first")
    left_out: list[str] = Field(
        default_factory=list,
        description="cases that were left out where the best entries were judged: that GPU lacks memory for them",
    )
    devices: list[str] = Field(
        default_factory=list, description="devices that have a board for this challenge"
    )
    versions: list[int] = Field(
        default_factory=list, description="versions of the challenge whose boards the caller may see"
    )
    audience: BoardAudience = BoardAudience.PUBLIC
    open: bool = Field(default=True, description="whether the caller sees the entries of others")
    frozen_at: datetime | None = Field(
        default=None, description="the board of what was received until then; the caller's own may be newer"
    )


class Record(Strict):
    """The best time of a board from ``submitted_at`` on."""

    user: str
    submission: str
    language: Language
    time_us: float
    ci_us: tuple[float, float]
    submitted_at: datetime
    anonymous: bool = False
    own: bool = False


class RecordHistory(Strict):
    """Records of one board, the oldest first. Each was the fastest until the next one, and is slower by more than the
    board's resolution."""

    challenge: str
    version: int
    device: str
    language: Language | None = None
    representative: bool
    records: list[Record]


class TrackEntry(Strict):
    """``relative`` is the geometric mean, over what is solved, of the board's best time / the user's."""

    rank: int
    user: str
    solved: int
    relative: float
    anonymous: bool = False
    own: bool = False


class TrackBoard(Strict):
    """Everyone who solved something in a track on one device: ranked by ``solved``, then by ``relative``."""

    track: str
    description: str = ""
    device: str
    representative: bool
    challenges: list[str]
    entries: list[TrackEntry]
    total: int
    own: TrackEntry | None = None
    own_place: int | None = None
    devices: list[str] = Field(default_factory=list)


class Leader(Strict):
    """The first entry of a board; ``entries`` counts all of them."""

    user: str
    time_us: float
    speedup: float | None
    anonymous: bool = False
    own: bool = False


class BoardSummary(Strict):
    challenge: str
    title: str
    version: int
    entries: int
    leader: Leader | None = None
    open: bool = Field(default=True, description="whether the caller sees the entries of others")


class TrackSummary(Strict):
    title: str
    description: str = ""
    boards: list[BoardSummary]


class LeaderboardList(Strict):
    """Who leads where, on one device."""

    device: str
    representative: bool
    devices: list[str]
    tracks: list[TrackSummary]
