"""How the times of one person for a challenge went on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from grader import limits
from grader.languages import Language
from grader.records import times
from grader.schemas.report import Interval
from grader.service.accounts import User
from grader.service.platform import Platform
from grader.service.submissions import find


@dataclass(frozen=True)
class PastTime:
    """One accepted submission; ``time_us`` and its 95 % interval in microseconds per call."""

    id: str
    language: Language
    time_us: float
    ci_us: Interval
    created_at: datetime


def past_times(platform: Platform, user: User, submission: str) -> list[PastTime]:
    """Those of the owner of ``submission`` for the same challenge, version and device, the oldest first, at most
    ``limits.PAST_TIMES``. Raises NotFound where ``user`` may not see the submission."""
    with platform.sessions() as session:
        rows = times.latest(session, find(session, user, submission), limits.PAST_TIMES)
        return [
            PastTime(
                id=row.public_id,
                language=row.language,
                time_us=row.time_us or 0.0,
                ci_us=(row.ci_lo_us or 0.0, row.ci_hi_us or 0.0),
                created_at=row.created_at,
            )
            for row in rows
        ]
