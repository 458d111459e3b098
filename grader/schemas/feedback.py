from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Self

from pydantic import Field, StrictBool, StrictFloat, StrictInt, model_validator

from grader import limits
from grader.schemas.strict import Strict


class Shown(StrEnum):
    """When students see comments and rubric points."""

    AT_ONCE = "at_once"
    ON_RELEASE = "on_release"


# ------------------------------------------------------------------------------------------------- comments


class CommentBody(Strict):
    """Body of POST /api/v1/submissions/<id>/comments."""

    text: str = Field(min_length=1, max_length=limits.COMMENT_CHARS)
    first_line: StrictInt | None = Field(
        default=None, ge=1, le=limits.LISTED_LINES, description="null: about the whole source"
    )
    last_line: StrictInt | None = Field(default=None, ge=1, le=limits.LISTED_LINES)
    thread: StrictInt | None = Field(default=None, ge=1, le=2**31 - 1, description="replies to this thread")
    draft: StrictBool = Field(default=False, description="only the course's staff see it until it is sent")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.thread is not None and self.first_line is not None:
            raise ValueError("a reply takes the lines of its thread: omit `first_line`")
        if self.last_line is not None and (self.first_line is None or self.last_line < self.first_line):
            raise ValueError("`last_line` must not come before `first_line`, and needs one")
        return self


class CommentChange(Strict):
    """Body of PATCH /api/v1/submissions/<id>/comments/<number>; omitted fields stay unchanged."""

    text: str | None = Field(default=None, min_length=1, max_length=limits.COMMENT_CHARS)
    send: StrictBool | None = Field(default=None, description="shows a draft to the student")
    resolved: StrictBool | None = Field(default=None, description="of the whole thread")


class EditView(Strict):
    """An earlier text, for staff."""

    text: str
    until: datetime
    by: str | None


class CommentView(Strict):
    number: int
    author: str | None
    staff: bool = Field(description="its author wrote as staff")
    text: str = Field(description="empty if it was deleted")
    draft: bool
    created_at: datetime
    edited_at: datetime | None = None
    deleted_at: datetime | None = None
    edits: list[EditView] = Field(default_factory=list, description="for staff")


class ThreadView(Strict):
    """A comment with its replies."""

    number: int = Field(description="of its first comment")
    first_line: int | None = Field(description="null: about the whole source")
    last_line: int | None
    resolved_at: datetime | None
    resolved_by: str | None
    comments: list[CommentView]


class CommentList(Strict):
    """In the order of lines."""

    submission: str
    threads: list[ThreadView]
    may_comment: bool
    may_reply: bool
    held: bool = Field(
        description="the student sees no comments of staff until the assignment's feedback is released"
    )


# ------------------------------------------------------------------------------------- rubric and settings


class CriterionBody(Strict):
    id: StrictInt | None = Field(
        default=None, ge=1, le=2**31 - 1, description="keeps the points given for it; null: a new criterion"
    )
    title: str = Field(min_length=1, max_length=limits.TITLE_CHARS)
    about: str = Field(default="", max_length=limits.REASON_CHARS)
    points: StrictFloat | StrictInt = Field(gt=0, le=1_000_000, allow_inf_nan=False)


class FeedbackBody(Strict):
    """Body of PUT /api/v1/courses/<course>/assignments/<assignment>/feedback."""

    shown: Shown = Shown.AT_ONCE
    regrade_limit: StrictInt | None = Field(
        default=3, ge=0, le=1000, description="regrade requests per student; null: any number"
    )
    regrade_until: str | None = Field(default=None, max_length=40, description="written like a deadline")
    rubric: dict[str, list[CriterionBody]] = Field(
        default_factory=dict, max_length=100, description="criteria by challenge; omitted ones are removed"
    )
    revision: str | None = Field(
        default=None,
        max_length=64,
        description="the revision that was read: nothing changes if it is outdated",
    )


class CriterionView(Strict):
    id: int
    title: str
    about: str
    points: float


class FeedbackView(Strict):
    course: str
    assignment: str
    shown: Shown
    released_at: datetime | None
    regrade_limit: int | None
    regrade_until: datetime | None
    requests_left: int | None = Field(
        default=None, description="regrades that the caller, a student, may still request; null: no limit"
    )
    rubric: dict[str, list[CriterionView]]
    revision: str = Field(description="changes with settings and rubric")


class ScoreBody(Strict):
    criterion: StrictInt = Field(ge=1, le=2**31 - 1)
    points: StrictFloat | StrictInt | None = Field(
        ge=0, le=1_000_000, allow_inf_nan=False, description="null removes them"
    )
    reason: str = Field(default="", max_length=limits.REASON_CHARS)
    seen: StrictFloat | StrictInt | None = Field(
        default=None,
        ge=0,
        le=1_000_000,
        allow_inf_nan=False,
        description="the points that were read, null if there were none: nothing changes if there are others by now; "
        "omit it to skip this check",
    )


class ScoresBody(Strict):
    """Body of PUT /api/v1/courses/<course>/assignments/<assignment>/scores."""

    student: str = Field(max_length=limits.NAME_CHARS)
    scores: list[ScoreBody] = Field(min_length=1, max_length=100)


class ScoreView(Strict):
    criterion: CriterionView
    challenge: str
    points: float | None = Field(default=None, description="null: not graded yet, or not released")
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
    """Body of POST /api/v1/courses/<course>/regrade-requests."""

    assignment: str = Field(max_length=limits.SLUG_CHARS)
    challenge: str = Field(max_length=limits.SLUG_CHARS)
    submission: str | None = Field(default=None, max_length=32)
    text: str = Field(
        min_length=1, max_length=limits.COMMENT_CHARS, description="what to look at again, and why"
    )


class AnswerBody(Strict):
    """Body of PATCH /api/v1/courses/<course>/regrade-requests/<number>."""

    state: RequestState = Field(description="withdrawn by the student; granted or declined by staff")
    reason: str = Field(default="", max_length=limits.COMMENT_CHARS, description="required of staff")


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
    """Open requests, oldest first, then answered ones, newest first."""

    course: str
    requests: list[RequestView]
