"""What a check of `grader doctor` found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Mark(StrEnum):
    """``MISSING`` hinders something that a person here may want; ``NOTE`` is fine as it is."""

    OK = "ok"
    NOTE = "note"
    MISSING = "missing"


@dataclass(frozen=True)
class Finding:
    """One check. ``for_what`` says which command needs it."""

    name: str
    mark: Mark
    text: str
    mend: str = ""
    for_what: str = ""
