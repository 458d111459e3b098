"""Messages of compilers and Python about lines of a source."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from grader.schemas.strict import Strict


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"


class Diagnostic(Strict):
    line: int = Field(ge=1)
    column: int | None = Field(default=None, ge=1)
    severity: Severity
    message: str
    text: str = Field(
        description="the line as it was submitted, so an editor can tell whether its text is still the same"
    )


class DiagnosticList(Strict):
    """In the order of lines."""

    submission: str
    language: str
    diagnostics: list[Diagnostic]
