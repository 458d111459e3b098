from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field, StrictBool

from grader import limits
from grader.languages import Language
from grader.schemas.leaderboard import Leaderboard as Leaderboard
from grader.schemas.leaderboard import LeaderboardEntry as LeaderboardEntry
from grader.schemas.own_case import OwnCase
from grader.schemas.report import Flag, Score, Verdict
from grader.schemas.strict import Strict


class State(StrEnum):
    """After a failure of the platform it goes back to ``queued``, at most three times, then to ``failed``."""

    QUEUED = "queued"
    COMPILING = "compiling"
    WAITING = "waiting"
    TESTING = "testing"
    TIMING = "timing"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"

    @property
    def final(self) -> bool:
        return self in (State.DONE, State.CANCELLED, State.FAILED)


class JudgingReason(StrEnum):
    """Why something is judged, which decides its place in the queue. The platform decides this, never the
    submitter.

    ``run``: public cases only; on no board, uses no attempt. ``final``: a finalist of a competition, judged
    again on one particular machine.
    """

    COMPETITION = "competition"
    COURSE = "course"
    PRACTICE = "practice"
    REJUDGE = "rejudge"
    RUN = "run"
    FINAL = "final"

    @property
    def chosen(self) -> bool:
        """Staff may choose it for a challenge's submissions."""
        return self in (JudgingReason.COMPETITION, JudgingReason.COURSE, JudgingReason.PRACTICE)


class SetAside(StrEnum):
    """Why a judgement does not count: its regrade is not published; a published regrade replaced it; or staff
    voided the result.
    """

    REGRADE = "regrade"
    REPLACED = "replaced"
    VOID = "void"


class WaitReason(StrEnum):
    """Strongest reason first."""

    PAUSED = "paused"
    NO_COMPILER = "no_compiler"
    NO_WORKER = "no_worker"
    NO_SANDBOX = "no_sandbox"
    DRAINING = "draining"
    AHEAD = "ahead"
    NEXT = "next"


class WaitsFor(Strict):
    """Why a submission is not being judged yet."""

    reason: WaitReason
    text: str
    since: datetime | None = Field(default=None, description="since when this reason applies")


class ProgressView(Strict):
    """Steps: the public cases, then the timed workloads, then all hidden cases as one."""

    done: int = Field(default=0, description="steps")
    total: int = Field(default=0, description="steps")
    label: str = Field(default="", description="the present step, in words")
    since: datetime | None = Field(default=None, description="when the present state began, if known")


class JudgedAgain(Strict):
    """A later judgement, ordered by staff."""

    id: str = Field(description="names its report")
    version: int
    verdict: Verdict
    time_us: float | None = None
    speedup: float | None = None
    at: datetime | None = Field(default=None, description="of a published regrade")
    reason: str = Field(default="", description="of a published regrade")


class Voided(Strict):
    """A result that staff voided."""

    reason: str
    at: datetime


class CourseVoided(Voided):
    """Voided only in that course, by its staff."""

    course: str = Field(description="its slug")


class VoidBody(Strict):
    """Body of PUT /api/v1/submissions/<id>/void."""

    reason: str = Field(min_length=1, max_length=limits.REASON_CHARS, description="the author reads it")
    course: str | None = Field(
        default=None,
        description="void only in this course; by default everywhere for the platform's staff, and in their own "
        "courses for others",
    )


class RestoreQuery(Strict):
    """Query of DELETE /api/v1/submissions/<id>/void."""

    course: str | None = Field(default=None, description="restore only in this course")


class NoteBody(Strict):
    """Body of PUT /api/v1/submissions/<id>/note."""

    text: str = Field(max_length=limits.NOTE_CHARS, description="Markdown; empty removes the note")


class SubmissionView(Strict):
    id: str
    user: str
    challenge: str
    version: int
    language: Language
    device: str
    filename: str
    kind: JudgingReason = JudgingReason.COURSE
    competition: str | None = Field(default=None, description="the competition that it was submitted to")
    state: State
    verdict: Verdict | None = None
    score: Score | None = None
    attempt: int = Field(ge=0, description="number of times that a worker took it")
    progress: ProgressView = ProgressView()
    position: int | None = Field(default=None, description="1 = next; only while it waits")
    expected_wait_s: float | None = None
    waits_for: WaitsFor | None = Field(default=None, description="only while it waits")
    created_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    error: str = Field(default="", description="why the platform failed to judge it")
    rejudge_of: str | None = Field(default=None, description="the submission that this judges again")
    judged_again: list[JudgedAgain] = Field(
        default_factory=list,
        description="published judgements that staff ordered; the last one counts",
    )
    voided: Voided | None = Field(
        default=None, description="if the platform's staff decided that it counts nowhere"
    )
    course_voids: list[CourseVoided] = Field(
        default_factory=list, description="courses whose staff decided that it does not count there"
    )
    withdrawn_at: datetime | None = Field(
        default=None, description="when its author took it off the boards; it counts for grades as before"
    )
    note: str = Field(
        default="", description="the author's private note, in Markdown; only the author gets it"
    )
    reused: bool = Field(
        default=False,
        description="answer to a submit with reuse: this was judged before and is not judged again",
    )
    remaining: int | None = Field(
        default=None,
        description="in the answer to a submit: how many more the challenge accepts from you now",
    )
    comments: int = Field(
        default=0, description="number that you may read; only for a single submission that has ended"
    )
    questions: int = Field(
        default=0, description="on the kernel that its author has not settled; only for a single submission"
    )


class SubmissionList(Strict):
    submissions: list[SubmissionView]
    total: int


class SubmissionFilter(Strict):
    """All must match."""

    user: str | None = Field(default=None, max_length=limits.NAME_CHARS, description="the author's name")
    assignment: str | None = Field(
        default=None,
        max_length=2 * limits.SLUG_CHARS + 1,
        description="COURSE/ASSIGNMENT: submissions of the course's students for it; COURSE alone: for all its "
        "assignments",
    )
    verdict: Verdict | None = None
    flag: Flag | None = Field(default=None, description="with this flag (staff only)")
    since: str | None = Field(
        default=None,
        max_length=40,
        description="received at that time or later; without an offset in the course's zone, else UTC; a day means "
        "its beginning",
    )
    until: str | None = Field(
        default=None, max_length=40, description="received at that time or earlier; a day means its end"
    )


class SourceBody(Strict):
    challenge: str
    language: str | None = Field(default=None, description="cuda or triton; by default from the filename")
    source: str
    filename: str = "solution"
    device: str | None = Field(default=None, description="the device that judges; by default the platform's")


class RunBody(SourceBody):
    """The body of POST /api/v1/runs."""

    case: OwnCase | None = Field(
        default=None,
        description="run only this public case, with sizes and inputs of your own; by default every public case",
    )


class SubmitBody(SourceBody):
    """The body of POST /api/v1/submissions."""

    competition: str | None = Field(
        default=None,
        max_length=limits.SLUG_CHARS,
        description="the competition that it is for, or '' for none; by default the running one with this challenge "
        "that you take part in",
    )
    reuse: StrictBool = Field(
        default=False,
        description="if you submitted the same before, answer with that submission (200), which uses no attempt",
    )


class SourceView(Strict):
    id: str
    language: Language
    filename: str
    source: str


class Me(Strict):
    name: str
    role: str


class PartHealth(Strict):
    ok: bool
    detail: str = ""


class Alert(Strict):
    """A problem that staff must fix, although the platform can run with it."""

    text: str
    hint: str


class Health(Strict):
    ok: bool = Field(description="every part answers, and every configured device has a worker")
    version: str
    parts: dict[str, PartHealth]
    devices: list[str]
    alerts: list[Alert] = Field(default_factory=list)


class Probe(Strict):
    """The answer of /health and /ready."""

    ok: bool
    detail: str = Field(default="", description="why it is not ok")


class ErrorBody(Strict):
    code: str
    message: str
    hint: str = ""


class ErrorEnvelope(Strict):
    error: ErrorBody
