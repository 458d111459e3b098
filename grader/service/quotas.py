"""What one user may hand in: how much at once, and how much for one challenge in a window of time."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Session

from grader.errors import TooMany
from grader.records import quotas
from grader.records.models import utcnow
from grader.schemas.queue import Quota, Quotas
from grader.service.accounts import User
from grader.service.platform import Platform
from grader.settings import Settings


def take(session: Session, settings: Settings, user: User, slug: str, now: datetime) -> int:
    """Count one submission for the challenge ``slug``; how many more it takes for now. Call it in the transaction that
    stores the submission, with the time at which it is created. Raises TooMany.
    """
    _take_waiting(session, settings, user, now)
    scope, window_s = quotas.of_challenge(slug), settings.quota_hours * 3600
    if not quotas.take(session, user.id, scope, settings.quota, now, window_s):
        use = quotas.read(session, user.id, scope, now, window_s)
        raise TooMany(
            f"You have handed in {use.used} submissions for {slug} within {_span(window_s)}; "
            f"{settings.quota} are the most.",
            _until(use.frees_at, now),
        )
    return settings.quota - quotas.read(session, user.id, scope, now, window_s).used


def _take_waiting(session: Session, settings: Settings, user: User, now: datetime) -> None:
    most = settings.waiting_per_user
    if quotas.take(session, user.id, quotas.WAITING, most, now):
        return
    # Before anybody is refused, the record itself is asked.
    quotas.recount_waiting(session, user.id)
    if quotas.take(session, user.id, quotas.WAITING, most, now):
        return
    used = quotas.read(session, user.id, quotas.WAITING, now).used
    raise TooMany(
        f"You have {used} submissions that wait or run; {most} are the most.",
        "Wait for one to end, or cancel one.",
    )


def get_quotas(platform: Platform, user: User, slug: str) -> Quotas:
    """What ``user`` has left for the challenge ``slug``. Raises UnknownChallenge."""
    challenge = platform.course.load(slug)
    settings, now = platform.settings, utcnow()
    window_s = settings.quota_hours * 3600
    with platform.sessions() as session:
        waiting = quotas.read(session, user.id, quotas.WAITING, now)
        handed_in = quotas.read(session, user.id, quotas.of_challenge(challenge.slug), now, window_s)
    return Quotas(
        challenge=challenge.slug,
        waiting=_quota(settings.waiting_per_user, waiting),
        submissions=_quota(settings.quota, handed_in),
        window_s=window_s,
    )


def _quota(limit: int, use: quotas.Use) -> Quota:
    return Quota(limit=limit, used=use.used, remaining=max(0, limit - use.used), frees_at=use.frees_at)


def _until(end: datetime | None, now: datetime) -> str:
    if end is None:
        return "Wait a moment and try again."
    return (
        f"The next ones are taken from {end:%Y-%m-%d %H:%M} UTC on, in {_span((end - now).total_seconds())}."
    )


def _span(seconds: float) -> str:
    """A time in the largest unit that says enough of it."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    if seconds < 90 * 60:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.3g} h"
