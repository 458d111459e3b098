from __future__ import annotations

from datetime import datetime

from pydantic import Field

from grader.languages import Language
from grader.schemas.strict import Strict


class ExportedSource(Strict):
    """A row of ``manifest.csv`` and ``manifest.json``."""

    path: str = Field(description="the file in the archive; empty if its author's data was deleted")
    submission: str
    student_id: int
    student: str
    full_name: str = ""
    student_number: str = ""
    section: str = ""
    team: str = ""
    challenge: str
    version: int
    language: Language
    device: str
    received_at: datetime
    state: str
    verdict: str | None
    time_us: float | None
    speedup: float | None
    void: bool
    counts: bool | None = Field(
        default=None, description="the assignment's points come from it; null outside of assignments"
    )
