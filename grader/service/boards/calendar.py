from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, date, timedelta

from grader.records.activity import SubmissionEvent
from grader.schemas.profile import Activity, Day

WEEKS = 53
_ONE = timedelta(days=1)


def activity(events: Iterable[SubmissionEvent], today: date) -> Activity:
    """Counts submissions per day (UTC)."""
    begin = today - timedelta(days=today.weekday(), weeks=WEEKS - 1)
    submitted: Counter[date] = Counter()
    accepted: Counter[date] = Counter()
    for event in events:
        day = event.created_at.astimezone(UTC).date()
        if begin <= day <= today:
            submitted[day] += 1
            accepted[day] += event.accepted
    days = [Day(day=day, submitted=submitted[day], accepted=accepted[day]) for day in sorted(submitted)]
    return Activity(
        begin=begin,
        end=today,
        days=days,
        submitted=submitted.total(),
        accepted=accepted.total(),
        longest_streak=_streak([each.day for each in days]),
    )


def _streak(days: Sequence[date]) -> int:
    longest = present = 0
    before = None
    for day in days:
        present = present + 1 if before is not None and day - before == _ONE else 1
        longest, before = max(longest, present), day
    return longest
