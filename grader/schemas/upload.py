"""Challenges that staff upload: what is kept of each, how its check goes, and what using it would change."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Base64Bytes, Field, StrictBool, StrictInt

from grader import limits
from grader.schemas.proof import Proof
from grader.schemas.strict import Strict
from grader.schemas.version import ChangeView

Number = Annotated[int, Field(ge=1, le=2**31 - 1)]
Base = Annotated[
    StrictInt | None,
    Field(
        ge=0,
        le=2**31 - 1,
        description="the newest upload that was seen, 0 for none: another one since then is a conflict",
    ),
]
Note = Annotated[str, Field(max_length=limits.REASON_CHARS, description="what changed, for other staff")]


class CheckState(StrEnum):
    """How far the check of an upload is."""

    WAITING = "waiting"
    """For a worker."""
    RUNNING = "running"
    """A worker proves it in a box."""
    PROVEN = "proven"
    """Every check of it holds."""
    WEAK = "weak"
    """It loads, and some check found it weak or wrong: the findings say what."""
    BROKEN = "broken"
    """It does not load, so it cannot be used."""
    FAILED = "failed"
    """The platform failed to check it, which says nothing of the challenge. It can be checked again."""

    @property
    def ended(self) -> bool:
        return self not in (CheckState.WAITING, CheckState.RUNNING)


class UploadBody(Strict):
    """Body of POST /api/v1/uploads. ``archive`` holds ``challenges/SLUG`` and ``reference/SLUG``."""

    archive: Base64Bytes = Field(description="a ZIP archive, in base64")
    note: Note = ""
    base: Base = None


class SpecBody(Strict):
    """Body of PUT /api/v1/uploads/SLUG/spec: another text of spec.md, all else as it is."""

    text: str = Field(max_length=limits.SOURCE_BYTES)
    note: Note = ""
    base: Base = None


class UseBody(Strict):
    """Body of POST /api/v1/uploads/SLUG/NUMBER/use. ``unproven``: also one whose check did not pass or has not ended;
    what it says at the moment must be known all the same."""

    unproven: StrictBool = False


class CheckProgress(Strict):
    done: int = Field(ge=0)
    total: int = Field(ge=0)
    label: str


class UploadView(Strict):
    """``examined``: a worker ran its Python, so that it can be shown and used. ``in_use``: it is what the platform
    shows and judges by under this slug."""

    challenge: str
    number: int
    version: int
    title: str
    digest: str
    size: int = Field(description="bytes of all files")
    files: int
    note: str
    base: int | None = Field(description="the upload that it was made from")
    uploaded_by: str | None
    created_at: datetime
    examined: bool
    in_use: bool
    used_at: datetime | None
    check: CheckState
    progress: CheckProgress | None = None
    error: str = Field(description="why it is broken, or why checking it failed")
    check_began_at: datetime | None
    check_ended_at: datetime | None


class UploadList(Strict):
    """The newest first. ``folder``: the course's folder has a challenge of this slug, too."""

    uploads: list[UploadView]


class BaselineView(Strict):
    """One frozen time of the version in use."""

    workload: str
    baseline: str
    device_model: str
    time_us: float


class UploadDetail(Strict):
    """An upload beside what is in use now: ``against`` names that, "" where there is none.

    ``spec`` is a unified diff of spec.md. ``changes`` are those of what judging depends on. ``baselines`` are the
    frozen times of the version in use, which another version measures anew. ``means`` says in sentences what using it
    does, to ranks above all.
    """

    upload: UploadView
    against: str
    spec: list[str]
    files: list[ChangeView] = Field(description="files that were added, removed or changed, by path")
    changes: list[ChangeView]
    baselines: list[BaselineView]
    means: list[str]
    usable: bool
    findings: Proof | None = None
