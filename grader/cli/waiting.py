"""What a submission waits for, in words."""

from __future__ import annotations

from datetime import UTC, datetime

from grader.schemas.submission import SubmissionView, WaitReason


def waiting_words(view: SubmissionView) -> str:
    """``place 3, about 20 s`` while it waits, and why nothing moves, where nothing does; empty otherwise."""
    why = obstacle(view)
    return place_words(view) + (f". {why}" if why and view.position is not None else "")


def place_words(view: SubmissionView) -> str:
    """``place 3, about 20 s``; empty where it has no place."""
    if view.position is None:
        return ""
    wait = "" if view.expected_wait_s is None else f", about {duration(view.expected_wait_s)}"
    return f"place {view.position}{wait}"


def obstacle(view: SubmissionView) -> str:
    """What must change before it moves at all, which the place alone does not tell; empty where it moves."""
    waits_for = view.waits_for
    if waits_for is None or waits_for.reason in (WaitReason.AHEAD, WaitReason.NEXT):
        return ""
    since = f" (since {waits_for.since.astimezone():%Y-%m-%d %H:%M})" if waits_for.since else ""
    return f"{waits_for.text}{since}"


def elapsed_s(view: SubmissionView, now: datetime | None = None) -> float:
    """Seconds since it was handed in, up to its end. Never below 0: clocks differ."""
    end = view.finished_at or now or datetime.now(UTC)
    return max(0.0, (end - view.created_at).total_seconds())


def duration(seconds: float) -> str:
    """``21 s``, ``2 min``, ``3 h``: as exactly as a forecast is."""
    for unit, scale, most in (("s", 1, 99.5), ("min", 60, 99.5), ("h", 3600, float("inf"))):
        if seconds / scale < most:
            return f"{seconds / scale:.0f} {unit}"
    raise AssertionError("the last unit takes every value")


def clock(seconds: float) -> str:
    """``0:07``, ``12:34``, ``1:02:03``."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
