from __future__ import annotations

from pydantic import Field

from grader.schemas.strict import Strict


class FormatBody(Strict):
    """Body of POST /api/v1/format."""

    language: str = Field(max_length=16, description="cuda or triton")
    source: str


class FormatView(Strict):
    source: str
