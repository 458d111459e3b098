"""Challenges uploaded by their staff."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Base64Bytes, Field, StrictBool, StrictInt

from grader import limits
from grader.schemas.affected import Affected
from grader.schemas.proof import Proof
from grader.schemas.strict import Strict
from grader.schemas.version import ChangeView

Number = Annotated[int, Field(ge=1, le=2**31 - 1)]
Base = Annotated[
    StrictInt | None,
    Field(
        ge=0,
        le=2**31 - 1,
        description="the newest upload that was seen, 0 for none: a newer one is a conflict",
    ),
]
Note = Annotated[str, Field(max_length=limits.REASON_CHARS, description="what changed, for other staff")]


class CheckState(StrEnum):
    WAITING = "waiting"
    """For a worker."""
    RUNNING = "running"
    """A worker checks it in a box."""
    PROVEN = "proven"
    """Every check passed."""
    WEAK = "weak"
    """It loads, but a check failed: see the findings."""
    BROKEN = "broken"
    """It does not load, so it cannot be used."""
    FAILED = "failed"
    """The platform failed to check it, which says nothing about the challenge. It can be checked again."""

    @property
    def ended(self) -> bool:
        return self not in (CheckState.WAITING, CheckState.RUNNING)


class SyncState(StrEnum):
    """The progress of a course's git repository towards being served."""

    NEW = "new"
    """It was never fetched."""
    WAITING = "waiting"
    """For a worker to fetch it."""
    FETCHING = "fetching"
    """A worker fetches it."""
    CHECKING = "checking"
    """Its changed challenges are being checked."""
    SERVED = "served"
    """The newest commit is served."""
    REFUSED = "refused"
    """The newest commit is not served: the one before goes on. The error says why."""
    FAILED = "failed"
    """It could not be fetched. The error says why."""


class UploadBody(Strict):
    """Body of POST /api/v1/uploads."""

    archive: Base64Bytes = Field(
        description="a ZIP archive, in base64, with `challenges/SLUG` and `reference/SLUG`"
    )
    note: Note = ""
    base: Base = None


class SpecBody(Strict):
    """Body of PUT /api/v1/uploads/SLUG/spec: replaces the text of spec.md only."""

    text: str = Field(max_length=limits.SOURCE_BYTES)
    note: Note = ""
    base: Base = None


class UseBody(Strict):
    """Body of POST /api/v1/uploads/SLUG/NUMBER/use."""

    unproven: StrictBool = Field(
        default=False,
        description="use it even if its check failed or has not ended; it must have been examined in any case",
    )


class CheckProgress(Strict):
    done: int = Field(ge=0)
    total: int = Field(ge=0)
    label: str


class UploadView(Strict):
    challenge: str
    number: int
    version: int
    title: str
    digest: str
    size: int = Field(description="bytes of all files")
    files: int
    note: str
    commit: str | None = Field(default=None, description="the git commit that it comes from")
    base: int | None = Field(description="the upload that it was made from")
    uploaded_by: str | None
    created_at: datetime
    examined: bool = Field(description="a worker ran its Python, so it can be shown and used")
    in_use: bool = Field(description="the platform shows this slug from it and judges by it")
    used_at: datetime | None
    check: CheckState
    progress: CheckProgress | None = None
    error: str = Field(description="why it is broken, or why checking it failed")
    check_began_at: datetime | None
    check_ended_at: datetime | None


class UploadList(Strict):
    """Newest first."""

    uploads: list[UploadView]


class BaselineView(Strict):
    """Of the version in use."""

    workload: str
    baseline: str
    device_model: str
    time_us: float


class UploadDetail(Strict):
    """An upload compared with the version in use."""

    upload: UploadView
    against: str = Field(description="what is in use now; empty if nothing is")
    spec: list[str] = Field(description="unified diff of spec.md")
    files: list[ChangeView] = Field(description="added, removed and changed files, by path")
    changes: list[ChangeView] = Field(description="changes that affect judging")
    baselines: list[BaselineView] = Field(
        description="frozen times of the version in use; another version measures new ones"
    )
    means: list[str] = Field(description="the effects of using it, above all on ranks, as sentences")
    affected: Affected | None = Field(
        default=None, description="whom using it affects; null if it is unusable"
    )
    usable: bool
    findings: Proof | None = None
