from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from grader.languages import Language
from grader.schemas.publication import BoardAudience
from grader.schemas.strict import Strict


class LeaderboardEntry(Strict):
    rank: int | None = Field(
        description="1 + the entries faster by more than the board's resolution, so ranks may be shared; null if the "
        "caller may not see ranks, or for the caller's own entry if it is newer than a frozen board"
    )
    user: str = Field(description="a made-up name if anonymous is true")
    submission: str
    language: Language
    time_us: float
    ci_us: tuple[float, float]
    speedup: float | None
    speedup_ci: tuple[float, float] | None = Field(
        default=None, description="the baseline divided by the ends of the interval"
    )
    sol: float | None = Field(
        default=None, description="time at the speed of light / time; null if no ceiling is known"
    )
    submitted_at: datetime
    anonymous: bool = False
    own: bool = Field(default=False, description="the caller's")


class ReferenceKind(StrEnum):
    BASELINE = "baseline"
    """PyTorch's implementation, timed by the same judge."""
    STAFF = "staff"
    """The best accepted submission of staff."""
    ROOFLINE = "roofline"
    """The lower bound from memory and arithmetic."""


class Reference(Strict):
    """A time to compare entries with."""

    kind: ReferenceKind
    name: str = Field(description="of a baseline: `eager`, `compile`, or the judge's name for it")
    time_us: float
    ci_us: tuple[float, float] | None = None
    speedup: float | None = None
    sol: float | None = None


class Leaderboard(Strict):
    """If ``open`` is false, the caller sees only their own entry: ``entries`` is empty and ``total`` 0."""

    challenge: str
    version: int
    device: str
    language: Language | None = None
    representative: bool
    resolution: float = Field(
        default=0.0, description="entries whose times differ by at most this share are not told apart"
    )
    entries: list[LeaderboardEntry] = Field(description="the requested ones")
    total: int = Field(default=0, description="number of all entries")
    own: LeaderboardEntry | None = Field(default=None, description="the caller's, wherever it is")
    own_place: int | None = Field(default=None, description="number of entries before the caller's")
    references: list[Reference] = Field(default_factory=list, description="unranked, fastest first")
    left_out: list[str] = Field(
        default_factory=list,
        description="cases skipped when the best entries were judged, because the GPU lacked memory for them",
    )
    devices: list[str] = Field(default_factory=list, description="devices with a board for this challenge")
    versions: list[int] = Field(
        default_factory=list, description="versions of the challenge whose boards the caller may see"
    )
    audience: BoardAudience = BoardAudience.PUBLIC
    open: bool = Field(default=True, description="the caller sees the entries of others")
    frozen_at: datetime | None = Field(
        default=None,
        description="the board shows what was received until then; the caller's own may be newer",
    )


class Record(Strict):
    """The best time of a board since ``submitted_at``."""

    user: str
    submission: str
    language: Language
    time_us: float
    ci_us: tuple[float, float]
    submitted_at: datetime
    anonymous: bool = False
    own: bool = False


class RecordHistory(Strict):
    """Oldest first. Each is faster than the one before by more than the board's resolution."""

    challenge: str
    version: int
    device: str
    language: Language | None = None
    representative: bool
    records: list[Record]


class TrackEntry(Strict):
    """A user's place on a track's board."""

    rank: int
    user: str
    solved: int
    relative: float = Field(
        description="geometric mean, over solved challenges, of the board's best time / the user's"
    )
    anonymous: bool = False
    own: bool = False


class TrackBoard(Strict):
    """Everyone who solved a challenge of a track on one device, ranked by ``solved``, then by ``relative``."""

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
    """The first entry of a board."""

    user: str
    time_us: float
    speedup: float | None
    anonymous: bool = False
    own: bool = False


class BoardSummary(Strict):
    challenge: str
    title: str
    version: int
    entries: int = Field(description="number of all entries")
    leader: Leader | None = None
    open: bool = Field(default=True, description="the caller sees the entries of others")


class TrackSummary(Strict):
    title: str
    description: str = ""
    boards: list[BoardSummary]


class LeaderboardList(Strict):
    """The leaders of all boards on one device."""

    device: str
    representative: bool
    devices: list[str]
    tracks: list[TrackSummary]
