from __future__ import annotations

from datetime import datetime

from pydantic import Field

from grader.languages import Language
from grader.schemas.strict import Moment, Strict


class DraftBody(Strict):
    """Body of PUT /api/v1/drafts/{challenge}/{language}."""

    source: str
    based_on: Moment | None = Field(
        default=None,
        description="`updated_at` of the draft that this one was made from, null if there was none: 409 if the draft "
        "has changed since. Without this field the draft is replaced in any case",
    )


class DraftView(Strict):
    challenge: str
    language: Language
    bytes: int = Field(description="of the source in UTF-8")
    updated_at: datetime
    source: str
