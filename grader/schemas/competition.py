"""Competitions as API, CLI and pages see them: rules, teams, boards, finals."""

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
# Workload rows are named after their sizes; the column that baselines are kept by has this many characters.
WORKLOAD_CHARS = 40


class Scoring(StrEnum):
    """What ranks teams: the time (of several challenges the geometric mean, after how many were solved), points for
    each challenge, or the sum of speedups."""

    TIME = "time"
    POINTS = "points"
    SPEEDUPS = "speedups"


class Registration(StrEnum):
    OPEN = "open"
    INVITE = "invite"


class Mode(StrEnum):
    """``official`` counts; ``virtual`` has a window of its own, as long, after the end; ``practice`` has none."""

    OFFICIAL = "official"
    VIRTUAL = "virtual"
    PRACTICE = "practice"


class Phase(StrEnum):
    """Where a competition is. ``frozen``: it runs, and participants no longer see how the board changes; ``ended``: its
    results are not out yet."""

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
    """``live``: all that was received; ``frozen``: what was received before the freeze; ``final``: the results."""

    LIVE = "live"
    FROZEN = "frozen"
    FINAL = "final"


class HiddenWorkload(Strict):
    """Sizes that only the final times."""

    sizes: Sizes

    @property
    def name(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in sorted(self.sizes.items()))


class ChallengeBody(Strict):
    """A challenge of a competition, as staff say it."""

    challenge: Slug
    points: float = Field(default=100.0, gt=0, le=1e6, description="what it is worth where points are scored")
    hidden_workloads: list[HiddenWorkload] = Field(
        default_factory=list,
        max_length=16,
        description="sizes that only the final times; none: the challenge's own",
    )


class CompetitionBody(Strict):
    """The body of POST /api/v1/competitions and POST /api/v1/competitions/SLUG."""

    slug: Slug
    title: Title
    rules: str = Field(default="", max_length=limits.RULES_CHARS, description="Markdown")
    challenges: list[ChallengeBody] = Field(min_length=1, max_length=limits.COMPETITION_CHALLENGES)
    starts_at: Moment = Field(description="with an offset, whatever the time zone")
    ends_at: Moment = Field(description="with an offset, whatever the time zone")
    time_zone: str = Field(
        default="UTC",
        max_length=64,
        description="of the IANA database, such as Europe/Berlin; the pages take and name times in it",
    )
    freeze_minutes: StrictInt = Field(
        default=0, ge=0, le=100_000, description="how long before the end participants' board stops; 0: never"
    )
    devices: list[str] = Field(
        default_factory=list, max_length=16, description="the platform's, first the default; all where empty"
    )
    languages: list[str] = Field(default_factory=list, description="all where empty")
    scoring: Scoring = Scoring.TIME
    registration: Registration = Registration.OPEN
    team_size: StrictInt = Field(default=1, ge=1, le=limits.TEAM_SIZE)
    cap_day: StrictInt | None = Field(
        default=None, ge=1, le=10_000, description="submissions of a team for one challenge in a day of UTC"
    )
    cap_total: StrictInt | None = Field(
        default=None, ge=1, le=100_000, description="submissions of a team for one challenge"
    )
    code_shown: StrictBool = Field(
        default=False, description="whether the sources that count are shown with the results"
    )
    open_afterwards: StrictBool = Field(
        default=True, description="whether it can be practised, and taken part in virtually, after the end"
    )
    revision: StrictInt | None = Field(
        default=None, description="of what was edited; 409 where somebody changed it since"
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
        names = [it.challenge for it in self.challenges]
        if len(names) != len(set(names)):
            raise ValueError("a challenge stands there twice")
        return self


class ChallengeView(Strict):
    """A challenge of a competition, as everyone may see it. ``hidden_workloads`` is for staff, and for all once the
    results are out."""

    challenge: str
    title: str
    points: float
    hidden_workloads: list[HiddenWorkload] | None = None


class Cap(Strict):
    """What a team has used of its submissions for one challenge; none where there is no cap."""

    challenge: str
    day_used: int
    day_most: int | None = None
    total_used: int
    total_most: int | None = None


class TeamMemberView(Strict):
    name: str
    left_at: datetime | None = None


# The API document needs a name of which there is one: a course has MemberViews, too.
MemberView = TeamMemberView


class TeamView(Strict):
    """A team, as its members and staff see it."""

    name: str
    mode: Mode
    members: list[MemberView]
    join_code: str = Field(default="", description="for those who may join; empty where it takes nobody")
    starts_at: datetime
    ends_at: datetime | None = Field(default=None, description="none in practice, which has no end")
    caps: list[Cap] = Field(default_factory=list)
    disqualified: str = Field(default="", description="why; empty where it is not")


class TeamList(Strict):
    """All official teams of a competition, in the order in which they were made, for staff; caps are left out."""

    teams: list[TeamView]


class CompetitionView(Strict):
    """A competition. ``now`` is the server's clock, which all of its times go by."""

    slug: str
    title: str
    phase: Phase
    now: datetime
    starts_at: datetime
    ends_at: datetime
    time_zone: str = Field(description="what staff type its times in; all times here are in UTC")
    freeze_at: datetime | None = None
    results_at: datetime | None = None
    rules: str
    challenges: list[ChallengeView] = Field(description="none before the start, except for staff")
    devices: list[str]
    languages: list[Language]
    scoring: Scoring
    registration: Registration
    team_size: int
    cap_day: int | None = None
    cap_total: int | None = None
    code_shown: bool
    open_afterwards: bool
    teams: int = Field(description="how many take part")
    public_seed: str = Field(description="hex; what the data of the window is drawn from")
    hidden_seed_sha256: str = Field(
        description="of the bytes of the final's seed, which was drawn when it was made"
    )
    hidden_seed: str | None = Field(default=None, description="hex; once the results are out")
    invite_code: str | None = Field(default=None, description="for staff")
    revision: int
    own: list[TeamView] = Field(default_factory=list, description="the teams that one is in")


class CompetitionList(Strict):
    competitions: list[CompetitionView]


class RegisterBody(Strict):
    """The body of POST /api/v1/competitions/SLUG/register. With ``join_code`` one joins a team; else one makes one."""

    team: str | None = Field(
        default=None, max_length=limits.NAME_CHARS, description="one's own name if absent"
    )
    join_code: str | None = Field(default=None, max_length=32)
    invite_code: str | None = Field(default=None, max_length=32)
    mode: Mode = Mode.OFFICIAL


class ModeBody(Strict):
    mode: Mode = Mode.OFFICIAL


class ChallengeScore(Strict):
    """What a team has of one challenge. ``submission`` is named only to those who may read it."""

    challenge: str
    solved: bool = False
    time_us: float | None = None
    speedup: float | None = None
    points: float | None = None
    at: datetime | None = Field(default=None, description="when what counts was received")
    tries: int = 0
    pending: int = Field(default=0, description="received and not shown: after the freeze, or not judged yet")
    submission: str | None = None
    failed: str = Field(default="", description="of a final: why it has no time")


class BoardRow(Strict):
    """``score`` is what ranks: microseconds, points or a sum of speedups; none: nothing solved, so no rank."""

    rank: int | None
    team: str
    members: list[str]
    own: bool = False
    mode: Mode = Mode.OFFICIAL
    solved: int
    score: float | None
    at: datetime | None = Field(default=None, description="when its score was reached; earlier stands higher")
    challenges: list[ChallengeScore]
    provisional_rank: int | None = Field(default=None, description="of a final board: the rank before it")
    sort: tuple[float, float] = Field(description="what orders the board; smaller stands higher")


class CompetitionBoard(Strict):
    """``elapsed_s``: of a virtual participation, how far into its window it is; the others stand as they stood then."""

    competition: str
    title: str
    kind: BoardKind
    phase: Phase
    ends_at: datetime
    freeze_at: datetime | None = None
    device: str
    devices: list[str]
    scoring: Scoring
    resolution: float = Field(description="times that differ by no larger share are not told apart")
    challenges: list[str]
    rows: list[BoardRow]
    elapsed_s: float | None = None


class FinalistsBody(Strict):
    """``top``: the best so many teams of the live board, and those that share the last rank; or ``teams`` by name."""

    top: StrictInt | None = Field(default=None, ge=1, le=limits.FINALISTS)
    teams: list[str] = Field(default_factory=list, max_length=limits.FINALISTS)
    device: str | None = None


class FinalBody(Strict):
    """``machine``: the UUID of a GPU, or the name of a host on a board without one."""

    machine: str = Field(min_length=1, max_length=255)
    repeats: StrictInt = Field(default=5, ge=1, le=limits.FINAL_REPEATS)


class DisqualifyBody(Strict):
    """An empty reason takes it back."""

    team: str = Field(min_length=1, max_length=limits.NAME_CHARS)
    reason: str = Field(default="", max_length=limits.REASON_CHARS)


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
    """All judgements of one finalist at one challenge; ``time_us`` is their median."""

    team: str
    challenge: str
    source: str = Field(description="the submission that is judged again")
    time_us: float | None = None
    spread: float | None = Field(default=None, description="(slowest - fastest) / median of the repeats")
    failed: str = ""
    untimed: list[int] = Field(
        default_factory=list,
        description="repeats that were accepted, but whose time could not be known: the median leaves them out",
    )
    runs: list[FinalTime]


class RankChange(Strict):
    """A team's rank in each repeat by itself. Where the time of a repeat is unknown, the team stands there by the
    median of its others."""

    team: str
    final: int | None
    ranks: list[int | None]

    @property
    def changed(self) -> bool:
        return len(set(self.ranks)) > 1


class RankChanges(Strict):
    """How much the ranking depends on the repeat. ``swaps``: pairs of teams that two repeats in a row put into another
    order, of ``pairs`` such comparisons."""

    teams: list[RankChange]
    changed: int
    swaps: int
    pairs: int


class Machine(Strict):
    """Where a final can run."""

    name: str
    device: str
    model: str = ""
    worker: str


class FinalView(Strict):
    """A final, for staff; for all once the results are out."""

    competition: str
    state: FinalState | None = Field(default=None, description="none where none was started")
    done: bool = False
    device: str | None = None
    machine: str | None = None
    repeats: int | None = None
    judged: int = 0
    failed: int = Field(
        default=0, description="of the platform's own failures; starting again queues them again"
    )
    total: int = 0
    left_out: int = Field(
        default=0, description="entries of finalists that are not judged: their sources were deleted"
    )
    started_at: datetime | None = None
    finalists: list[str]
    entries: list[FinalEntry] = Field(default_factory=list)
    rank_changes: RankChanges | None = None
    machines: list[Machine] = Field(default_factory=list)
