from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Session

from grader import limits
from grader.errors import TooMany
from grader.records import quotas
from grader.records.models import utcnow
from grader.schemas.queue import AssignmentQuota, OwnQuotas, Quota, Quotas
from grader.service.accounts.accounts import User
from grader.service.challenges import publication
from grader.service.courses import admission
from grader.service.platform import Platform
from grader.service.submissions import budgets
from grader.settings import Settings

# Over all challenges.
RUN_WINDOW_S = 3600.0


def take(session: Session, settings: Settings, user: User, slug: str, now: datetime, leaving: int = 0) -> int:
    """Returns how many more are possible. Call it in the transaction that stores the submission, with its time.
    ``leaving``: places in the queue for others of the user. Raises TooMany."""
    take_waiting(session, settings, user, now, leaving)
    scope, window_s = quotas.of_challenge(slug), settings.quota_hours * 3600
    used = quotas.take(session, user.id, scope, settings.quota, now, window_s)
    if used is None:
        use = quotas.read(session, user.id, scope, now, window_s)
        raise TooMany(
            f"You have used {use.used} of {settings.quota} submissions for {slug} within {_span(window_s)}.",
            _until(use.frees_at, now),
        )
    return settings.quota - used


def _take_counted(session: Session, user: User, scope: str, most: int, now: datetime) -> bool:
    if quotas.take(session, user.id, scope, most, now) is not None:
        return True
    # Corrects the counter before refusing.
    quotas.recount_waiting(session, user.id, scope)
    return quotas.take(session, user.id, scope, most, now) is not None


def take_waiting(session: Session, settings: Settings, user: User, now: datetime, leaving: int = 0) -> None:
    """Raises TooMany."""
    take_of_token(session, user, now)
    most = max(1, settings.waiting_per_user - leaving)
    if _take_counted(session, user, quotas.WAITING, most, now):
        return
    used = quotas.read(session, user.id, quotas.WAITING, now).used
    raise TooMany(
        f"{used} of your submissions are waiting or running; the limit is {most}.",
        "Wait until one ends, or cancel one.",
    )


def take_of_token(session: Session, user: User, now: datetime) -> None:
    """A token's own limits hold besides its account's. The rows are counted: the transaction that stores one excludes
    the user's others. Raises TooMany."""
    token = user.token
    if token is None or not token.limited:
        return
    if token.at_once is not None and quotas.open_of_token(session, user.id, token.key) >= token.at_once:
        raise TooMany(
            f"The limit of this token is {token.at_once} waiting or running at once, which is reached.",
            "Wait until one ends, or cancel one.",
        )
    if token.per_day is not None:
        use = quotas.day_of_token(session, user.id, token.key, now)
        if use.used >= token.per_day:
            raise TooMany(
                f"The limit of this token is {token.per_day} within 24 h, which is reached.",
                _until(use.frees_at, now),
            )


def take_run(session: Session, settings: Settings, user: User, now: datetime, leaving: int = 0) -> int:
    """Returns how many more runs are possible. Raises TooMany."""
    take_of_token(session, user, now)
    most = max(1, settings.runs_at_once - leaving)
    if not _take_counted(session, user, quotas.RUNNING, most, now):
        running = quotas.read(session, user.id, quotas.RUNNING, now).used
        raise TooMany(
            f"{running} of your runs are waiting or running; the limit is {most} at once.",
            "Wait until one ends, or cancel one.",
        )
    used = quotas.take(session, user.id, quotas.RUNS, settings.run_limit, now, RUN_WINDOW_S)
    if used is None:
        use = quotas.read(session, user.id, quotas.RUNS, now, RUN_WINDOW_S)
        raise TooMany(
            f"You have used {use.used} of {settings.run_limit} runs within {_span(RUN_WINDOW_S)}.",
            _until(use.frees_at, now) + " Submissions are counted separately.",
        )
    return settings.run_limit - used


def take_card_tool(session: Session, user: User, now: datetime) -> None:
    """Tools of the CUDA toolkit hold a GPU for seconds. Raises TooMany."""
    most = limits.CARD_TOOL_RUNS_PER_HOUR
    if quotas.take(session, user.id, quotas.CARD_TOOLS, most, now, RUN_WINDOW_S) is None:
        use = quotas.read(session, user.id, quotas.CARD_TOOLS, now, RUN_WINDOW_S)
        raise TooMany(
            f"You have used {use.used} of {most} runs under a tool of the CUDA toolkit within {_span(RUN_WINDOW_S)}.",
            _until(use.frees_at, now) + " Runs without a tool are counted separately.",
        )


def get_quotas(platform: Platform, user: User, slug: str) -> Quotas:
    """Raises UnknownChallenge."""
    challenge = publication.load(platform, user, slug)
    settings, now = platform.settings, utcnow()
    window_s = settings.quota_hours * 3600
    with platform.sessions() as session:
        waiting = quotas.read(session, user.id, quotas.WAITING, now)
        handed_in = quotas.read(session, user.id, quotas.of_challenge(challenge.slug), now, window_s)
        running = quotas.read(session, user.id, quotas.RUNNING, now)
        runs = quotas.read(session, user.id, quotas.RUNS, now, RUN_WINDOW_S)
        of_assignments = admission.attempts_left(session, user.id, challenge.slug, now)
    return Quotas(
        challenge=challenge.slug,
        waiting=_quota(settings.waiting_per_user, waiting),
        submissions=_quota(settings.quota, handed_in),
        window_s=window_s,
        running=_quota(settings.runs_at_once, running),
        runs=_quota(settings.run_limit, runs),
        assignments=[
            AssignmentQuota(
                course=assignment.course.slug,
                assignment=assignment.row.slug,
                title=assignment.row.title,
                due_at=assignment.window.due_at,
                late_until=assignment.window.late_until,
                day=left.day,
                total=left.total,
                pending=left.pending,
            )
            for assignment, left in of_assignments
        ],
    )


def own_quotas(platform: Platform, user: User, slug: str | None = None) -> OwnQuotas:
    """Raises UnknownChallenge."""
    of_challenge = get_quotas(platform, user, slug) if slug is not None else None
    settings, now = platform.settings, utcnow()
    with platform.sessions() as session:
        return OwnQuotas(
            waiting=_quota(settings.waiting_per_user, quotas.read(session, user.id, quotas.WAITING, now)),
            running=_quota(settings.runs_at_once, quotas.read(session, user.id, quotas.RUNNING, now)),
            runs=_quota(settings.run_limit, quotas.read(session, user.id, quotas.RUNS, now, RUN_WINDOW_S)),
            challenge=of_challenge,
            gpu=budgets.own(platform, user),
        )


def _quota(limit: int, use: quotas.Use) -> Quota:
    return Quota(limit=limit, used=use.used, remaining=max(0, limit - use.used), frees_at=use.frees_at)


def _until(end: datetime | None, now: datetime) -> str:
    if end is None:
        return "Wait a moment and try again."
    return (
        f"The next ones are possible from {end:%Y-%m-%d %H:%M} UTC, in {_span((end - now).total_seconds())}."
    )


def _span(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    if seconds < 90 * 60:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.3g} h"
