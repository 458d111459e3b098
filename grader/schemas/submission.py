"""A submission as API, CLI and pages see it, and the states that it goes through."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field, StrictBool

from grader import limits
from grader.languages import Language
from grader.schemas.leaderboard import Leaderboard as Leaderboard
from grader.schemas.leaderboard import LeaderboardEntry as LeaderboardEntry
from grader.schemas.report import Flag, Score, Verdict
from grader.schemas.strict import Strict


class State(StrEnum):
    """Where a submission is. ``failed`` is ours: it goes back to ``queued``, at most three times."""

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
    """Why something is judged, which decides its place in the queue. The platform says so, never who submits.

    ``run``: the public cases only, to look at. It is no submission: it is on no board and counts as no attempt.
    ``final``: a finalist of a competition, judged once more on one named machine.
    """

    COMPETITION = "competition"
    COURSE = "course"
    PRACTICE = "practice"
    REJUDGE = "rejudge"
    RUN = "run"
    FINAL = "final"

    @property
    def chosen(self) -> bool:
        """Whether staff may say that a challenge's submissions are this."""
        return self in (JudgingReason.COMPETITION, JudgingReason.COURSE, JudgingReason.PRACTICE)


class SetAside(StrEnum):
    """Why a judgement does not count: it is a regrade's, which is not published or was discarded; a published regrade
    took its place; or staff voided the result."""

    REGRADE = "regrade"
    REPLACED = "replaced"
    VOID = "void"


class WaitReason(StrEnum):
    """What a submission waits for, the strongest first."""

    PAUSED = "paused"
    NO_COMPILER = "no_compiler"
    NO_WORKER = "no_worker"
    NO_SANDBOX = "no_sandbox"
    DRAINING = "draining"
    AHEAD = "ahead"
    NEXT = "next"


class WaitsFor(Strict):
    """Why a submission is not being judged yet, in words, and since when that is so."""

    reason: WaitReason
    text: str
    since: datetime | None = None


class ProgressView(Strict):
    """How far judging has come: ``done`` of ``total`` steps, which are the public cases, then the timed workloads, then
    the hidden cases as one; and in words what is under way. ``since``: when it came into the present state, where that
    is known."""

    done: int = 0
    total: int = 0
    label: str = ""
    since: datetime | None = None


class JudgedAgain(Strict):
    """What became of a submission when staff had it judged again. ``id`` holds the report. ``at`` and ``reason`` are
    those of a published regrade."""

    id: str
    version: int
    verdict: Verdict
    time_us: float | None = None
    speedup: float | None = None
    at: datetime | None = None
    reason: str = ""


class Voided(Strict):
    """Why staff voided a result, and when."""

    reason: str
    at: datetime


class CourseVoided(Voided):
    """The same by the staff of a course (its slug), for that course alone."""

    course: str


class VoidBody(Strict):
    """Body of PUT /api/v1/submissions/<id>/void. The author reads the reason."""

    reason: str = Field(min_length=1, max_length=limits.REASON_CHARS)
    course: str | None = Field(
        default=None,
        description="void in this course alone; else everywhere for the platform's staff, and in their own courses "
        "for others",
    )


class RestoreQuery(Strict):
    """Query of DELETE /api/v1/submissions/<id>/void."""

    course: str | None = Field(default=None, description="of this course alone")


class SubmissionView(Strict):
    id: str
    user: str
    challenge: str
    version: int
    language: Language
    device: str
    filename: str
    kind: JudgingReason = JudgingReason.COURSE
    competition: str | None = Field(default=None, description="the one that it was handed in within")
    state: State
    verdict: Verdict | None = None
    score: Score | None = None
    attempt: int = Field(ge=0, description="how many times a worker took it")
    progress: ProgressView = ProgressView()
    position: int | None = Field(default=None, description="1 = next to be served; only while it waits")
    expected_wait_s: float | None = None
    waits_for: WaitsFor | None = Field(default=None, description="only while it waits")
    created_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    error: str = Field(default="", description="why we failed, where we did")
    rejudge_of: str | None = Field(default=None, description="the submission that this judges again")
    judged_again: list[JudgedAgain] = Field(
        default_factory=list,
        description="judgements that staff ordered, as far as they are published; the last one counts",
    )
    voided: Voided | None = Field(
        default=None, description="where it counts nowhere, by a decision of the platform's staff"
    )
    course_voids: list[CourseVoided] = Field(
        default_factory=list, description="courses in which it does not count, by a decision of their staff"
    )
    reused: bool = Field(
        default=False,
        description="an answer to a submit with reuse: this was judged before and is not judged again",
    )
    remaining: int | None = Field(
        default=None,
        description="in the answer to a submit: how many more the challenge takes from you for now",
    )
    comments: int = Field(
        default=0, description="how many you may read on it, where one submission is asked for and has ended"
    )


class SubmissionList(Strict):
    submissions: list[SubmissionView]
    total: int


class SubmissionFilter(Strict):
    """Which submissions are listed: those that everything holds for that is said."""

    user: str | None = Field(default=None, max_length=limits.NAME_CHARS, description="of this account")
    assignment: str | None = Field(
        default=None,
        max_length=2 * limits.SLUG_CHARS + 1,
        description="COURSE/ASSIGNMENT: what the course's students submitted for it; COURSE alone: for all that it "
        "assigns",
    )
    verdict: Verdict | None = None
    flag: Flag | None = Field(default=None, description="with this mark for staff (staff only)")
    since: str | None = Field(
        default=None,
        max_length=40,
        description="received then or later; without an offset a time of the course's zone, else UTC; a day is its "
        "beginning",
    )
    until: str | None = Field(
        default=None, max_length=40, description="received then or earlier; a day is its end"
    )


class RunBody(Strict):
    """The body of POST /api/v1/runs: a source, and what judges it."""

    challenge: str
    language: str | None = Field(
        default=None, description="cuda or triton; taken from the filename when absent"
    )
    source: str
    filename: str = "solution"
    device: str | None = Field(
        default=None, description="the device to judge on; the platform's default when absent"
    )


class SubmitBody(RunBody):
    """The body of POST /api/v1/submissions."""

    competition: str | None = Field(
        default=None,
        max_length=limits.SLUG_CHARS,
        description="the competition that it is for, or '' for none; when absent, the running one that you take part "
        "in and that has the challenge",
    )
    reuse: StrictBool = Field(
        default=False,
        description="if you submitted the same before, answer with that submission (200), which costs no attempt",
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
    """Something that staff must fix, though the platform can run without it."""

    text: str
    hint: str


class Health(Strict):
    """``ok``: every part answers, and every device that the settings name has a worker."""

    ok: bool
    version: str
    parts: dict[str, PartHealth]
    devices: list[str]
    alerts: list[Alert] = Field(default_factory=list)


class Probe(Strict):
    """What /health and /ready answer: ``detail`` says why not."""

    ok: bool
    detail: str = ""


class ErrorBody(Strict):
    code: str
    message: str
    hint: str = ""


class ErrorEnvelope(Strict):
    """Every error answer of the API."""

    error: ErrorBody
