"""The manifest of exported sources."""

from __future__ import annotations

from datetime import datetime

from grader.languages import Language
from grader.schemas.strict import Strict


class ExportedSource(Strict):
    """A row of ``manifest.csv`` and ``manifest.json``. ``path`` is the file in the archive, empty where its author had
    everything deleted. ``counts``: it is the one that an assignment's points come of; none outside of assignments."""

    path: str
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
    counts: bool | None = None
