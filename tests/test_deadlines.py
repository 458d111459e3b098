from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from grader.deadlines import Window, WindowPhase, day_begins, parse_moment, zoned
from grader.errors import BadRequest

BERLIN = ZoneInfo("Europe/Berlin")


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc, arg-type]


@pytest.mark.parametrize(
    ("text", "end", "expected"),
    [
        ("2026-01-31 18:00", True, utc(2026, 1, 31, 17)),
        ("2026-07-31T18:00", True, utc(2026, 7, 31, 16)),
        ("2026-07-31T18:00Z", True, utc(2026, 7, 31, 18)),
        ("2026-07-31T18:00-05:00", True, utc(2026, 7, 31, 23)),
        # 23:59:59.7 is in time, whether the deadline is the day or its last second.
        ("2026-01-31", True, utc(2026, 1, 31, 22, 59, 59, 999_999)),
        ("2026-01-31 23:59:59", True, utc(2026, 1, 31, 22, 59, 59, 999_999)),
        ("2026-01-31 23:59", True, utc(2026, 1, 31, 22, 59)),
        ("2026-01-31", False, utc(2026, 1, 30, 23)),
        # On 25 October clocks show 02:30 twice: a deadline is the later one, an opening the earlier.
        ("2026-10-25 02:30", True, utc(2026, 10, 25, 1, 30)),
        ("2026-10-25 02:30", False, utc(2026, 10, 25, 0, 30)),
    ],
)
def test_common_time_formats_are_parsed(text: str, end: bool, expected: datetime) -> None:
    assert parse_moment(text, BERLIN, end=end) == expected


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("2026-03-29 02:30", "does not exist in Europe/Berlin"),
        ("tomorrow", "'tomorrow' is not a time"),
        ("1767225600", "is not a time"),
        ("0001-01-01 00:00", "too far away"),
    ],
)
def test_bad_times_are_refused(text: str, wrong: str) -> None:
    with pytest.raises(BadRequest, match=wrong):
        parse_moment(text, BERLIN, end=True)


def test_phases_and_late_days_follow_the_window() -> None:
    window = Window(utc(2026, 5, 1), utc(2026, 5, 8, 16), utc(2026, 5, 10, 16), BERLIN)
    expected = [
        (utc(2026, 4, 30, 23, 59), WindowPhase.BEFORE, 0),
        (utc(2026, 5, 8, 16), WindowPhase.OPEN, 0),
        (utc(2026, 5, 8, 16, 0, 1), WindowPhase.LATE, 1),
        (utc(2026, 5, 9, 16), WindowPhase.LATE, 1),
        (utc(2026, 5, 9, 16, 0, 1), WindowPhase.LATE, 2),
        (utc(2026, 5, 10, 16, 0, 1), WindowPhase.CLOSED, 3),
    ]
    assert [(window.phase(at), window.late_days(at)) for at, _, _ in expected] == [
        row[1:] for row in expected
    ]


def test_a_late_day_follows_the_calendar_when_clocks_change() -> None:
    """Due at 18:00 on the day before clocks go back: the first late day ends at 18:00, 25 hours later."""
    due = parse_moment("2026-10-24 18:00", BERLIN, end=True)
    window = Window(due - timedelta(days=7), due, None, BERLIN)
    assert window.late_days(due + timedelta(hours=25)) == 1
    assert window.late_days(due + timedelta(hours=25, seconds=1)) == 2


def test_a_deadline_in_a_repeated_hour_is_its_first_occurrence() -> None:
    due = parse_moment("2026-10-25 02:30", BERLIN, end=False)
    assert Window(due - timedelta(days=7), due, None, BERLIN).late_days(due + timedelta(minutes=30)) == 1


def test_days_begin_at_midnight_in_the_zone() -> None:
    assert day_begins(utc(2026, 7, 1, 22, 30), BERLIN) == utc(2026, 7, 1, 22)
    assert day_begins(utc(2026, 7, 1, 21, 30), BERLIN) == utc(2026, 6, 30, 22)


def test_a_time_is_shown_with_its_zone() -> None:
    assert zoned(utc(2027, 3, 1, 8), "Europe/Berlin") == "2027-03-01 09:00 CET"
