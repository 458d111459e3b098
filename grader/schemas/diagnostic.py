"""What a compiler or Python said of a line of a source."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from grader.schemas.strict import Strict


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"


class Diagnostic(Strict):
    """``line`` and ``column`` count from 1. ``text`` is the line as it was submitted: a client that shows the message
    beside another text than that can tell whether the line is still the same.
    """

    line: int = Field(ge=1)
    column: int | None = Field(default=None, ge=1)
    severity: Severity
    message: str
    text: str


class DiagnosticList(Strict):
    """Of one submission, in the order of its lines."""

    submission: str
    language: str
    diagnostics: list[Diagnostic]
