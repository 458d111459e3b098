from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field, StrictBool, StrictInt, model_validator

from grader import limits
from grader.languages import Language
from grader.schemas.course import SLUG_PATTERN
from grader.schemas.report import Sizes, Verdict
from grader.schemas.strict import Moment, Strict
from grader.schemas.submission import State

Slug = Annotated[str, Field(pattern=SLUG_PATTERN, max_length=limits.SLUG_CHARS)]
Title = Annotated[str, Field(min_length=1, max_length=limits.TITLE_CHARS)]
# As long as the column of baselines' workloads.
WORKLOAD_CHARS = 40


class Scoring(StrEnum):
    """What ranks teams: the time (for several challenges, the number solved and then the geometric mean), points per
    challenge, or the sum of speedups."""

    TIME = "time"
    POINTS = "points"
    SPEEDUPS = "speedups"


class Registration(StrEnum):
    OPEN = "open"
    INVITE = "invite"


class Mode(StrEnum):
    """``official`` counts; ``virtual`` has its own window, as long, after the end; ``practice`` has no window."""

    OFFICIAL = "official"
    VIRTUAL = "virtual"
    PRACTICE = "practice"


class Phase(StrEnum):
    """``frozen``: it runs, but participants no longer see changes of the board. ``ended``: results are not out yet."""

    DRAFT = "draft"
    UPCOMING = "upcoming"
    RUNNING = "running"
    FROZEN = "frozen"
    ENDED = "ended"
    RESULTS = "results"


class FinalState(StrEnum):
    RUNNING = "running"
    CANCELLED = "cancelled"


class BoardKind(StrEnum):
    """``live``: everything received; ``frozen``: everything received before the freeze; ``final``: the results."""

    LIVE = "live"
    FROZEN = "frozen"
    FINAL = "final"


class HiddenWorkload(Strict):
    """Sizes that are timed only in the final."""

    sizes: Sizes

    @property
    def name(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in sorted(self.sizes.items()))


class ChallengeBody(Strict):
    challenge: Slug
    points: float = Field(default=100.0, gt=0, le=1e6, description="its worth if points are scored")
    hidden_workloads: list[HiddenWorkload] = Field(
        default_factory=list,
        max_length=16,
        description="sizes that are timed only in the final; empty: the challenge's own",
    )


class CompetitionBody(Strict):
    """Body of POST /api/v1/competitions and POST /api/v1/competitions/SLUG."""

    slug: Slug
    title: Title
    rules: str = Field(default="", max_length=limits.RULES_CHARS, description="Markdown")
    challenges: list[ChallengeBody] = Field(min_length=1, max_length=limits.COMPETITION_CHALLENGES)
    starts_at: Moment = Field(description="with an offset, whatever the time zone is")
    ends_at: Moment = Field(description="with an offset, whatever the time zone is")
    time_zone: str = Field(
        default="UTC",
        max_length=64,
        description="of the IANA database, such as Europe/Berlin; pages read and show times in it",
    )
    freeze_minutes: StrictInt = Field(
        default=0,
        ge=0,
        le=100_000,
        description="minutes before the end when participants' board stops; 0: never",
    )
    devices: list[str] = Field(
        default_factory=list,
        max_length=16,
        description="devices of the platform, the default first; empty: all",
    )
    languages: list[str] = Field(default_factory=list, description="empty: all")
    scoring: Scoring = Scoring.TIME
    registration: Registration = Registration.OPEN
    team_size: StrictInt = Field(default=1, ge=1, le=limits.TEAM_SIZE)
    cap_day: StrictInt | None = Field(
        default=None, ge=1, le=10_000, description="submissions per team, challenge and day (UTC)"
    )
    cap_total: StrictInt | None = Field(
        default=None, ge=1, le=100_000, description="submissions per team and challenge"
    )
    code_shown: StrictBool = Field(
        default=False, description="the sources that count are shown with the results"
    )
    open_afterwards: StrictBool = Field(
        default=True, description="practice and virtual participation are possible after the end"
    )
    revision: StrictInt | None = Field(
        default=None, description="the revision that was edited; 409 if somebody changed it since"
    )

    @model_validator(mode="after")
    def _times_fit(self) -> CompetitionBody:
        if self.starts_at.tzinfo is None or self.ends_at.tzinfo is None:
            raise ValueError(
                "starts_at and ends_at need an offset, as in 2026-01-31T12:00:00Z or 2026-01-31T13:00:00+01:00"
            )
        if self.starts_at >= self.ends_at:
            raise ValueError("it must end after it starts")
        if self.freeze_minutes * 60 > (self.ends_at - self.starts_at).total_seconds():
            raise ValueError("the freeze must not begin before the start")
        names = [challenge.challenge for challenge in self.challenges]
        if len(names) != len(set(names)):
            raise ValueError("a challenge is listed twice")
        return self


class ChallengeView(Strict):
    challenge: str
    title: str
    points: float
    hidden_workloads: list[HiddenWorkload] | None = Field(
        default=None, description="for staff; for everyone once the results are out"
    )


class Cap(Strict):
    """Null: no limit."""

    challenge: str
    day_used: int
    day_most: int | None = None
    total_used: int
    total_most: int | None = None


class TeamMemberView(Strict):
    name: str
    left_at: datetime | None = None


# A unique name in the API document: courses have MemberViews, too.
MemberView = TeamMemberView


class TeamView(Strict):
    name: str
    mode: Mode
    members: list[MemberView]
    join_code: str = Field(default="", description="for people who may share it; empty if the team is closed")
    starts_at: datetime
    ends_at: datetime | None = Field(default=None, description="null in practice, which has no end")
    caps: list[Cap] = Field(default_factory=list)
    disqualified: str = Field(default="", description="the reason; empty if it is not")


class TeamList(Strict):
    """All official teams in the order of their creation, for staff. Caps are omitted."""

    teams: list[TeamView]


class CompetitionView(Strict):
    slug: str
    title: str
    phase: Phase
    now: datetime = Field(description="the server's clock, which decides all times")
    starts_at: datetime
    ends_at: datetime
    time_zone: str = Field(description="the zone in which staff type times; all times here are in UTC")
    freeze_at: datetime | None = None
    results_at: datetime | None = None
    rules: str
    challenges: list[ChallengeView] = Field(description="empty before the start, except for staff")
    devices: list[str]
    languages: list[Language]
    scoring: Scoring
    registration: Registration
    team_size: int
    cap_day: int | None = None
    cap_total: int | None = None
    code_shown: bool
    open_afterwards: bool
    teams: int = Field(description="number of teams")
    public_seed: str = Field(description="hex; the seed of the data while the competition runs")
    hidden_seed_sha256: str = Field(
        description="of the bytes of the final's seed, which was drawn when the competition was made"
    )
    hidden_seed: str | None = Field(default=None, description="hex; once the results are out")
    invite_code: str | None = Field(default=None, description="for staff")
    revision: int
    own: list[TeamView] = Field(default_factory=list, description="the caller's teams")


class CompetitionList(Strict):
    competitions: list[CompetitionView]


class RegisterBody(Strict):
    """Body of POST /api/v1/competitions/SLUG/register."""

    team: str | None = Field(
        default=None, max_length=limits.NAME_CHARS, description="name of a new team; null: the caller's name"
    )
    join_code: str | None = Field(default=None, max_length=32, description="joins that team; null: makes one")
    invite_code: str | None = Field(default=None, max_length=32)
    mode: Mode = Mode.OFFICIAL


class ModeBody(Strict):
    mode: Mode = Mode.OFFICIAL


class ChallengeScore(Strict):
    challenge: str
    solved: bool = False
    time_us: float | None = None
    speedup: float | None = None
    points: float | None = None
    at: datetime | None = Field(default=None, description="when the submission that counts was received")
    tries: int = 0
    pending: int = Field(default=0, description="received, but not shown (frozen board) or not yet judged")
    submission: str | None = Field(default=None, description="for people who may read it")
    failed: str = Field(default="", description="in a final: why it has no time")


class BoardRow(Strict):
    rank: int | None
    team: str
    members: list[str]
    own: bool = False
    mode: Mode = Mode.OFFICIAL
    solved: int
    score: float | None = Field(
        description="microseconds, points or a sum of speedups; null: nothing solved, so no rank"
    )
    at: datetime | None = Field(default=None, description="when the score was reached; earlier is better")
    challenges: list[ChallengeScore]
    provisional_rank: int | None = Field(
        default=None, description="on a final board: the rank before the final"
    )
    sort: tuple[float, float] = Field(description="orders the board; smaller is better")


class CompetitionBoard(Strict):
    competition: str
    title: str
    kind: BoardKind
    phase: Phase
    ends_at: datetime
    freeze_at: datetime | None = None
    device: str
    devices: list[str]
    scoring: Scoring
    resolution: float = Field(description="times that differ by at most this share are not told apart")
    challenges: list[str]
    rows: list[BoardRow]
    elapsed_s: float | None = Field(
        default=None,
        description="in a virtual participation: seconds since its start; the other teams are shown as of that time",
    )


class FinalistsBody(Strict):
    """The best of the live board, or teams by name."""

    top: StrictInt | None = Field(
        default=None,
        ge=1,
        le=limits.FINALISTS,
        description="number of teams, plus those that share the last rank",
    )
    teams: list[str] = Field(default_factory=list, max_length=limits.FINALISTS)
    device: str | None = None


class FinalBody(Strict):
    machine: str = Field(
        min_length=1, max_length=255, description="UUID of a GPU, or a host's name for a board without a GPU"
    )
    repeats: StrictInt = Field(default=5, ge=1, le=limits.FINAL_REPEATS)


class DisqualifyBody(Strict):
    """Disqualifies a team."""

    team: str = Field(min_length=1, max_length=limits.NAME_CHARS)
    reason: str = Field(
        default="", max_length=limits.REASON_CHARS, description="empty: undo the disqualification"
    )


class FinalTime(Strict):
    """One judgement of a final."""

    repeat: int
    place: int
    submission: str
    state: State
    verdict: Verdict | None = None
    time_us: float | None = None
    error: str = ""


class FinalEntry(Strict):
    """All judgements of one finalist at one challenge."""

    team: str
    challenge: str
    source: str = Field(description="the submission that is judged again")
    time_us: float | None = Field(default=None, description="median of the repeats")
    spread: float | None = Field(default=None, description="(slowest - fastest) / median of the repeats")
    failed: str = ""
    untimed: list[int] = Field(
        default_factory=list,
        description="repeats that were accepted but have no known time; the median omits them",
    )
    runs: list[FinalTime]


class RankChange(Strict):
    """A team's rank in each repeat. The median of its other repeats replaces an unknown time."""

    team: str
    final: int | None
    ranks: list[int | None]

    @property
    def changed(self) -> bool:
        return len(set(self.ranks)) > 1


class RankChanges(Strict):
    """How much the ranking depends on the repeat."""

    teams: list[RankChange]
    changed: int
    swaps: int = Field(description="pairs of teams whose order differs between two consecutive repeats")
    pairs: int = Field(description="number of such comparisons")


class Machine(Strict):
    name: str
    device: str
    model: str = ""
    worker: str


class FinalView(Strict):
    """For staff, and for everyone once the results are out."""

    competition: str
    state: FinalState | None = Field(default=None, description="null if none was started")
    done: bool = False
    device: str | None = None
    machine: str | None = None
    repeats: int | None = None
    judged: int = 0
    failed: int = Field(default=0, description="failures of the platform; starting again queues them again")
    total: int = 0
    left_out: int = Field(
        default=0, description="finalists' entries that are not judged because their sources were deleted"
    )
    started_at: datetime | None = None
    finalists: list[str]
    entries: list[FinalEntry] = Field(default_factory=list)
    rank_changes: RankChanges | None = None
    machines: list[Machine] = Field(default_factory=list)
