"""Competitions for tests, and the passing of their time."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sqlalchemy import update

from grader.records.engine import writing
from grader.records.models import CompetitionRow, RegistrationRow, SubmissionRow, TeamRow, utcnow
from grader.schemas.competition import CompetitionBody, CompetitionView, RegisterBody
from grader.schemas.report import Verdict
from grader.schemas.submission import State
from grader.service.accounts.accounts import User, create_user
from grader.service.competitions import competitions, teams
from grader.service.platform import Platform
from grader.service.submissions.submit import submit
from tests.service.world import body


def competition_body(**values: Any) -> CompetitionBody:
    """Two hours, begun an hour ago, frozen for the last half hour."""
    now = utcnow()
    given: dict[str, Any] = {
        "slug": "cup",
        "title": "The cup",
        "challenges": [{"challenge": "scale"}],
        "starts_at": now - timedelta(hours=1),
        "ends_at": now + timedelta(hours=1),
        "freeze_minutes": 30,
    }
    return CompetitionBody.model_validate(given | values)


def make(platform: Platform, staff: User, **values: Any) -> CompetitionView:
    """Visible to everyone."""
    made = competitions.create_competition(platform, staff, competition_body(**values))
    return competitions.publish_competition(platform, staff, made.slug)


def enter(platform: Platform, user: User, slug: str = "cup", **values: Any) -> CompetitionView:
    return teams.register(platform, user, slug, RegisterBody(**values))


def people(platform: Platform, count: int) -> list[User]:
    return [create_user(platform, f"user{number}", "correct horse") for number in range(count)]


def elapse(platform: Platform, slug: str = "cup", **by: float) -> None:
    """Move everything in a competition into the past."""
    gone = timedelta(**by)
    with writing(platform.sessions) as session:
        row = session.query(CompetitionRow).filter_by(slug=slug).one()
        row.starts_at, row.ends_at = row.starts_at - gone, row.ends_at - gone
        for team in session.query(TeamRow).filter_by(competition_id=row.id):
            team.starts_at = team.starts_at - gone if team.starts_at else None
            team.ends_at = team.ends_at - gone if team.ends_at else None
        for entry in session.query(RegistrationRow).filter_by(competition_id=row.id):
            entry.joined_at -= gone
        for submission in session.query(SubmissionRow).filter_by(competition_id=row.id):
            submission.created_at -= gone


def hand_in(
    platform: Platform,
    user: User,
    time_us: float | None,
    speedup: float | None = None,
    verdict: Verdict = Verdict.ACCEPTED,
    **values: Any,
) -> str:
    """A submission that is judged at once; its public id."""
    sent = submit(platform, user, body(source=f"x = {time_us}\n", **values)).id
    judge(platform, sent, time_us, speedup, verdict)
    return sent


def judge(
    platform: Platform,
    public_id: str,
    time_us: float | None,
    speedup: float | None = None,
    verdict: Verdict = Verdict.ACCEPTED,
) -> None:
    with writing(platform.sessions) as session:
        session.execute(
            update(SubmissionRow)
            .where(SubmissionRow.public_id == public_id)
            .values(
                state=State.DONE,
                verdict=verdict,
                time_us=time_us,
                ci_lo_us=time_us,
                ci_hi_us=time_us,
                speedup=speedup,
                finished_at=utcnow(),
            )
        )
