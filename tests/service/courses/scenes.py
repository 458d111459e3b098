"""Courses with students, assignments and judged submissions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import delete, select, update

from grader.languages import Language
from grader.records.engine import writing
from grader.records.models import (
    AskedRow,
    MemberRow,
    NoticeRow,
    StayRow,
    SubmissionRow,
    new_public_id,
)
from grader.schemas.assignment import AssignmentBody, AssignmentView, PartBody
from grader.schemas.course import RosterBody
from grader.schemas.notice import NoticeKind
from grader.schemas.report import Verdict
from grader.schemas.submission import State
from grader.service.accounts.accounts import User
from grader.service.courses import assignments, rosters
from grader.service.platform import Platform

NOW = datetime.now(UTC)
LONG_AGO = NOW - timedelta(days=3_000)


def enrol(platform: Platform, teacher: User, *users: User, section: str = "A") -> None:
    """Students who joined long ago, so that no notice of it disturbs tests that count notices."""
    text = "account,section\n" + "".join(f"{user.name},{section}\n" for user in users)
    rosters.import_roster(platform, teacher, "gpu", RosterBody(text=text, dry_run=False))
    with writing(platform.sessions) as session:
        session.execute(delete(NoticeRow).where(NoticeRow.kind == NoticeKind.COURSE))
    take_part(platform, *users)


def take_part(platform: Platform, *users: User, since: datetime = LONG_AGO) -> None:
    """Accept their places in all courses, at a time in the past."""
    with writing(platform.sessions) as session:
        for member in session.scalars(
            select(MemberRow).where(MemberRow.user_id.in_([user.id for user in users]))
        ):
            session.add(StayRow(member_id=member.id, accepted_at=since))


def assign(
    platform: Platform, teacher: User, slug: str = "week1", published: bool = True, **values: Any
) -> AssignmentView:
    """The challenge ``scale``, due in a day, published before it opened; times as ``timedelta`` from now."""
    given: dict[str, Any] = {
        "title": "Week 1",
        "parts": [PartBody(challenge="scale")],
        "open_at": timedelta(days=-7),
        "due_at": timedelta(days=1),
    }
    given |= values
    for name in ("open_at", "due_at", "late_until"):
        if isinstance(given.get(name), timedelta):
            given[name] = (NOW + given[name]).isoformat()
    found = assignments.put_assignment(platform, teacher, "gpu", slug, AssignmentBody(**given))
    if not published:
        return found
    found = assignments.publish_assignment(platform, teacher, "gpu", slug)
    asked_since(platform, LONG_AGO)
    return found


def asked_since(platform: Platform, at: datetime) -> None:
    """As if everything published now had been published then."""
    with writing(platform.sessions) as session:
        session.execute(update(AskedRow).values(asked_at=at))


def judged(platform: Platform, user: User, at: timedelta | datetime, **values: Any) -> str:
    """A judged submission that was received then; its public id."""
    received = NOW + at if isinstance(at, timedelta) else at
    given: dict[str, Any] = {
        "public_id": new_public_id(),
        "user_id": user.id,
        "challenge": "scale",
        "version": 1,
        "language": Language.TRITON,
        "device": "cpu",
        "source": "x = 1\n",
        "filename": "a.py",
        "state": State.DONE,
        "verdict": Verdict.ACCEPTED,
        "created_at": received,
        "claimed_at": received,
        "finished_at": received,
    }
    row = SubmissionRow(**(given | values))
    with writing(platform.sessions) as session:
        session.add(row)
    return row.public_id


def grading(platform: Platform, text: str, slug: str = "scale") -> None:
    path = platform.catalogue.root / "challenges" / slug / "challenge.toml"
    head, _, args = path.read_text().partition("\n[[args]]")
    path.write_text(f"{head}\n[grading]\n{text}\n\n[[args]]{args}")


def move(platform: Platform, public_id: str, **values: Any) -> None:
    with writing(platform.sessions) as session:
        session.execute(update(SubmissionRow).where(SubmissionRow.public_id == public_id).values(**values))
