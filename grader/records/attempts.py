"""What one user handed in, reduced to what progress is made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from grader.records.models import SubmissionRow, VersionRow
from grader.schemas.report import Verdict
from grader.schemas.submission import State


@dataclass(frozen=True)
class Attempt:
    """One judgement. ``first`` is the row of what was handed in, whichever version this was judged under."""

    first: int
    challenge: str
    version: int
    device: str
    verdict: Verdict | None
    speedup: float | None

    @property
    def accepted(self) -> bool:
        return self.verdict is Verdict.ACCEPTED


def of_user(session: Session, user: int) -> list[Attempt]:
    """Everything that ``user`` handed in, as it counts today: one attempt each.

    What was judged again under a published version counts by that; anything else keeps its result. What was cancelled,
    or failed by our fault, is not there.
    """
    row = SubmissionRow
    draft = (
        select(VersionRow.id)
        .where(
            VersionRow.challenge == row.challenge,
            VersionRow.version == row.version,
            VersionRow.published_at.is_(None),
        )
        .exists()
    )
    found = session.execute(
        select(
            func.coalesce(row.rejudge_of, row.id).label("first"),
            row.challenge,
            row.version,
            row.device,
            row.verdict,
            row.speedup,
        ).where(
            row.user_id == user,
            row.state.not_in([State.CANCELLED, State.FAILED]),
            # Judged again: only once there is a verdict, and staff have published the version.
            row.rejudge_of.is_(None) | ((row.state == State.DONE) & ~draft),
        )
    )
    return _latest(
        Attempt(it.first, it.challenge, it.version, it.device, it.verdict, it.speedup) for it in found
    )


def _latest(judgements: Iterable[Attempt]) -> list[Attempt]:
    latest: dict[int, Attempt] = {}
    for it in sorted(judgements, key=lambda it: it.version):
        latest[it.first] = it
    return list(latest.values())
