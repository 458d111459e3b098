"""Deadlines in a time zone, and how late a moment is.

Days are calendar days: when clocks change, the day after a deadline at 18:00 still ends at 18:00.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from grader.errors import BadRequest

_DAY = timedelta(days=1)
_LAST_SECOND = time(23, 59, 59)
_FORMS = "2026-01-31 18:00, 2026-01-31T18:00+01:00, or 2026-01-31 for the end of that day"


class WindowPhase(StrEnum):
    BEFORE = "before"
    OPEN = "open"
    LATE = "late"
    CLOSED = "closed"


@dataclass(frozen=True)
class Window:
    """In UTC. Without ``late_until`` nothing is accepted after ``due_at``."""

    open_at: datetime
    due_at: datetime
    late_until: datetime | None
    zone: ZoneInfo

    @property
    def closes_at(self) -> datetime:
        return self.late_until or self.due_at

    def phase(self, at: datetime) -> WindowPhase:
        if at < self.open_at:
            return WindowPhase.BEFORE
        if at <= self.due_at:
            return WindowPhase.OPEN
        return WindowPhase.LATE if at <= self.closes_at else WindowPhase.CLOSED

    def late_days(self, at: datetime) -> int:
        """Days begun after the deadline."""
        if at <= self.due_at:
            return 0
        # By what clocks show: they may change in between.
        behind = _wall(at, self.zone) - _wall(self.due_at, self.zone)
        return max(1, -(-behind // _DAY))


def _wall(at: datetime, zone: ZoneInfo) -> datetime:
    return at.astimezone(zone).replace(tzinfo=None)


def find_zone(name: str) -> ZoneInfo:
    """Raises BadRequest."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise BadRequest(
            f"There is no time zone '{name[:64]}'.", "Use a name of the IANA database, such as Europe/Berlin."
        ) from error


def zoned(at: datetime, zone: str) -> str:
    """``2027-03-01 09:00 CET``."""
    return at.astimezone(ZoneInfo(zone)).strftime("%Y-%m-%d %H:%M %Z")


def parse_moment(text: str, zone: ZoneInfo, *, end: bool) -> datetime:
    """In UTC. Without an offset, ``text`` is in ``zone``; a day alone means its beginning, or with ``end``
    the end of its last second. If clocks show a time twice, ``end`` takes the later one. Raises BadRequest,
    also for a time that clocks skip.
    """
    words = text.strip()
    try:
        at = datetime.fromisoformat(words)
    except ValueError as error:
        raise BadRequest(f"'{words[:40]}' is not a time.", f"Write it as {_FORMS}.") from error
    if len(words) == 10 and end:
        at = datetime.combine(at, _LAST_SECOND)
    if end and at.time() == _LAST_SECOND:
        at = at.replace(microsecond=999_999)
    try:
        if at.tzinfo is not None:
            return at.astimezone(UTC)
        found = at.replace(tzinfo=zone, fold=int(end)).astimezone(UTC)
    except OverflowError as error:
        raise BadRequest(f"'{words[:40]}' is too far away.", f"Write it as {_FORMS}.") from error
    if _wall(found, zone) != at:
        raise BadRequest(
            f"{at:%Y-%m-%d %H:%M} does not exist in {zone.key}: clocks go forward then.",
            f"Use {_wall(found, zone):%H:%M}.",
        )
    return found


def day_begins(at: datetime, zone: ZoneInfo) -> datetime:
    """Midnight in ``zone``, in UTC."""
    midnight = _wall(at, zone).replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight.replace(tzinfo=zone).astimezone(UTC)
