"""Until when people submit for a challenge: the deadlines that are ahead, and those just past."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from grader.records.models import AssignmentPartRow, AssignmentRow, CompetitionRow


@dataclass(frozen=True)
class Closing:
    """When what is open closes or lately closed: by challenge the last assignment, by its number a competition."""

    challenges: Mapping[str, datetime]
    competitions: Mapping[int, datetime]

    def of(self, challenge: str, competition: int | None) -> datetime | None:
        """None: it has no end."""
        if competition is not None:
            return self.competitions.get(competition)
        return self.challenges.get(challenge)


def closing(session: Session, now: datetime, lately: timedelta = timedelta()) -> Closing:
    """Of what is open ``now``, or was within ``lately``."""
    row, part, contest = AssignmentRow, AssignmentPartRow, CompetitionRow
    assigned = session.execute(
        select(part.challenge, func.max(row.due_at).label("closes"))
        .join(row, row.id == part.assignment_id)
        .where(row.published_at.is_not(None), row.open_at <= now, row.due_at > now - lately)
        .group_by(part.challenge)
    )
    contests = session.execute(
        select(contest.id, contest.ends_at).where(contest.starts_at <= now, contest.ends_at > now - lately)
    )
    return Closing({it.challenge: it.closes for it in assigned}, {it.id: it.ends_at for it in contests})
