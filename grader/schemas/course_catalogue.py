from __future__ import annotations

from datetime import datetime

from pydantic import Field

from grader.schemas.publication import PublicationState
from grader.schemas.strict import Strict
from grader.schemas.upload import CheckState, SyncState


class RepositoryBody(Strict):
    """Body of PUT /api/v1/courses/COURSE/catalogue/source."""

    url: str = Field(
        min_length=1,
        max_length=500,
        description="an address with https; a name and a token in it are stored apart and never shown",
    )
    branch: str = Field(default="main", min_length=1, max_length=200)
    prefix: str = Field(
        default="",
        pattern=r"^([a-z0-9][a-z0-9_]{0,15})?$",
        description="put before the names of its folders, such as s27_, if another course has challenges of these "
        "names from the same repository",
    )


class RepositoryView(Strict):
    url: str
    branch: str
    prefix: str
    private: bool = Field(description="a name and a token are stored for it")
    hook: bool = Field(description="a webhook's address was made for it")
    state: SyncState
    error: str = Field(description="why the newest commit is not served, or which of its challenges are not")
    asked_at: datetime | None
    commit: str | None = Field(description="the commit that was fetched last")
    served_commit: str | None = Field(description="the commit that is served")
    served_at: datetime | None


class HookView(Strict):
    """Shown once: whoever knows the address can only start a synchronisation."""

    url: str


class CatalogueChallenge(Strict):
    challenge: str
    title: str
    state: PublicationState
    in_use: int | None = Field(description="the number of the upload in use")
    version: int | None = Field(description="its version")
    newest: int = Field(description="the number of the newest upload")
    check: CheckState = Field(description="of the newest upload")


class CourseCatalogue(Strict):
    course: str
    challenges: list[CatalogueChallenge]
    source: RepositoryView | None
