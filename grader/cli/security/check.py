"""What one check of the host's security found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """``BAD``: a way into the host or into other people's data stands open. ``WARN``: one wall fewer than could be,
    or something that spoils timings."""

    OK = "ok"
    WARN = "warn"
    BAD = "bad"


@dataclass(frozen=True)
class Check:
    """``mend`` says what to do; empty where all is well."""

    area: str
    name: str
    level: Level
    text: str
    mend: str = ""


def numbers(version: str) -> tuple[int, ...]:
    """``20.10.24+dfsg1`` is (20, 10, 24). A part that does not begin with a digit ends it."""
    found: list[int] = []
    for part in version.strip().removeprefix("v").split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        found.append(int(digits))
    return tuple(found)
