"""Feedback on what students hand in: comments on lines, a rubric, and requests to look again."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Self

from pydantic import Field, StrictBool, StrictFloat, StrictInt, model_validator

from grader import limits
from grader.schemas.strict import Strict


class Shown(StrEnum):
    """When students read the staff's comments and rubric points."""

    AT_ONCE = "at_once"
    ON_RELEASE = "on_release"


# ------------------------------------------------------------------------------------------------- comments


class CommentBody(Strict):
    """Body of POST /api/v1/submissions/<id>/comments. Without lines it is on the whole source; ``thread`` makes it a
    reply. A ``draft`` is for the course's staff until it is sent."""

    text: str = Field(min_length=1, max_length=limits.COMMENT_CHARS)
    first_line: StrictInt | None = Field(default=None, ge=1, le=limits.LISTED_LINES)
    last_line: StrictInt | None = Field(default=None, ge=1, le=limits.LISTED_LINES)
    thread: StrictInt | None = Field(default=None, ge=1, le=2**31 - 1)
    draft: StrictBool = False

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.thread is not None and self.first_line is not None:
            raise ValueError("a reply is on the lines of its thread")
        if self.last_line is not None and (self.first_line is None or self.last_line < self.first_line):
            raise ValueError("`last_line` comes after `first_line`")
        return self


class CommentChange(Strict):
    """Body of PATCH /api/v1/submissions/<id>/comments/<number>: what is left out stays. ``send`` shows a draft to the
    student; ``resolved`` is of a whole thread."""

    text: str | None = Field(default=None, min_length=1, max_length=limits.COMMENT_CHARS)
    send: StrictBool | None = None
    resolved: StrictBool | None = None


class EditView(Strict):
    """What a comment said before; for staff."""

    text: str
    until: datetime
    by: str | None


class CommentView(Strict):
    """``staff``: written as one of the staff. The text of one that was deleted is empty; ``edits`` are for staff."""

    number: int
    author: str | None
    staff: bool
    text: str
    draft: bool
    created_at: datetime
    edited_at: datetime | None = None
    deleted_at: datetime | None = None
    edits: list[EditView] = Field(default_factory=list)


class ThreadView(Strict):
    """A comment with its replies. ``number`` is that of its first comment; without lines it is on the whole source."""

    number: int
    first_line: int | None
    last_line: int | None
    resolved_at: datetime | None
    resolved_by: str | None
    comments: list[CommentView]


class CommentList(Strict):
    """By their lines. ``held``: the student reads none of the staff's before the assignment's feedback is released."""

    submission: str
    threads: list[ThreadView]
    may_comment: bool
    may_reply: bool
    held: bool


# ------------------------------------------------------------------------------------- rubric and settings


class CriterionBody(Strict):
    """``id`` keeps the points that were given for it; without one it is new."""

    id: StrictInt | None = Field(default=None, ge=1, le=2**31 - 1)
    title: str = Field(min_length=1, max_length=limits.TITLE_CHARS)
    about: str = Field(default="", max_length=limits.REASON_CHARS)
    points: StrictFloat | StrictInt = Field(gt=0, le=1_000_000, allow_inf_nan=False)


class FeedbackBody(Strict):
    """Body of PUT /api/v1/courses/<course>/assignments/<assignment>/feedback. ``rubric``: the criteria of each
    challenge; what is left out is removed. ``regrade_limit`` requests of each student, none: as many as they like, 0:
    none at all; until ``regrade_until``, as deadlines are written. ``revision`` is the one that was read: where
    somebody else changed it meanwhile, nothing is done."""

    shown: Shown = Shown.AT_ONCE
    regrade_limit: StrictInt | None = Field(default=3, ge=0, le=1000)
    regrade_until: str | None = Field(default=None, max_length=40)
    rubric: dict[str, list[CriterionBody]] = Field(default_factory=dict, max_length=100)
    revision: str | None = Field(default=None, max_length=64)


class CriterionView(Strict):
    id: int
    title: str
    about: str
    points: float


class FeedbackView(Strict):
    """``requests_left``: how many regrades the caller, a student, may still ask for; none: no limit. ``revision`` is
    another whenever settings or rubric changed."""

    course: str
    assignment: str
    shown: Shown
    released_at: datetime | None
    regrade_limit: int | None
    regrade_until: datetime | None
    requests_left: int | None = None
    rubric: dict[str, list[CriterionView]]
    revision: str


class ScoreBody(Strict):
    """Points for a criterion, and why; ``points`` none takes them back. ``seen``, where it is sent, are the points that
    one read there (none: nobody had given any): where there are others by now, nothing is done."""

    criterion: StrictInt = Field(ge=1, le=2**31 - 1)
    points: StrictFloat | StrictInt | None = Field(ge=0, le=1_000_000, allow_inf_nan=False)
    reason: str = Field(default="", max_length=limits.REASON_CHARS)
    seen: StrictFloat | StrictInt | None = Field(default=None, ge=0, le=1_000_000, allow_inf_nan=False)


class ScoresBody(Strict):
    """Body of PUT /api/v1/courses/<course>/assignments/<assignment>/scores."""

    student: str = Field(max_length=limits.NAME_CHARS)
    scores: list[ScoreBody] = Field(min_length=1, max_length=100)


class ScoreView(Strict):
    """``points`` none: nobody graded it yet, or it is not released."""

    criterion: CriterionView
    challenge: str
    points: float | None = None
    reason: str = ""
    made_by: str | None = None
    made_at: datetime | None = None


class ScoreSheet(Strict):
    student: str
    scores: list[ScoreView]


# --------------------------------------------------------------------------------------- regrade requests


class RequestState(StrEnum):
    OPEN = "open"
    GRANTED = "granted"
    DECLINED = "declined"
    WITHDRAWN = "withdrawn"


class RequestBody(Strict):
    """Body of POST /api/v1/courses/<course>/regrade-requests: what to look at again, and why."""

    assignment: str = Field(max_length=limits.SLUG_CHARS)
    challenge: str = Field(max_length=limits.SLUG_CHARS)
    submission: str | None = Field(default=None, max_length=32)
    text: str = Field(min_length=1, max_length=limits.COMMENT_CHARS)


class AnswerBody(Strict):
    """Body of PATCH /api/v1/courses/<course>/regrade-requests/<number>: ``withdrawn`` by the student, ``granted`` or
    ``declined`` with a reason by staff."""

    state: RequestState
    reason: str = Field(default="", max_length=limits.COMMENT_CHARS)


class RequestView(Strict):
    number: int
    assignment: str
    challenge: str
    submission: str | None
    student: str
    full_name: str
    text: str
    state: RequestState
    answer: str
    answered_by: str | None
    answered_at: datetime | None
    created_at: datetime


class RequestList(Strict):
    """The oldest open one first, then what is answered, the newest first."""

    course: str
    requests: list[RequestView]
