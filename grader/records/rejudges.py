"""Judgements of the same submissions under several versions of a challenge."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session, aliased, joinedload

from grader.records.models import SubmissionRow, VersionRow
from grader.records.order import PRIORITIES
from grader.records.states import UNFINISHED
from grader.schemas.submission import JudgingReason, SetAside, State

# Runs are no judgements of a version, and what a final times is another's sizes.
_NOT_COMPARED = (JudgingReason.RUN, JudgingReason.FINAL)


def counting(row: type[SubmissionRow] = SubmissionRow) -> ColumnElement[bool]:
    """Judgements that count, or would if staff had not voided them: one of each submission and version."""
    return row.set_aside.is_(None) | (row.set_aside == SetAside.VOID)


def _is_of(version: int, challenge: str) -> tuple[ColumnElement[bool], ...]:
    row = SubmissionRow
    return (row.challenge == challenge, row.version == version)


def first_judgements(session: Session, challenge: str, below: int) -> Sequence[SubmissionRow]:
    """What students submitted and what was judged under a version below ``below``, the oldest first, without those
    that are judged, or about to be, under ``below`` already.
    """
    row, again = SubmissionRow, aliased(SubmissionRow)
    repeated = (
        select(again.id)
        .where(
            again.rejudge_of == row.id,
            again.version == below,
            again.kind == JudgingReason.REJUDGE,
            again.state.not_in([State.FAILED, State.CANCELLED]),
            counting(again),
        )
        .exists()
    )
    return session.scalars(
        select(row)
        .where(
            row.challenge == challenge,
            row.version < below,
            row.rejudge_of.is_(None),
            row.kind != JudgingReason.RUN,
            row.state == State.DONE,
            row.set_aside.is_distinct_from(SetAside.VOID),
            ~repeated,
        )
        .order_by(row.created_at, row.id)
    ).all()


def again(first: SubmissionRow, version: int, set_aside: SetAside | None = None) -> SubmissionRow:
    """A row that has ``first`` judged under ``version``. It keeps the time at which its author handed it in: boards
    give the older of two equal entries the upper place.
    """
    return SubmissionRow(
        user_id=first.user_id,
        challenge=first.challenge,
        version=version,
        language=first.language,
        device=first.device,
        source=first.source,
        filename=first.filename,
        source_sha256=first.source_sha256,
        kind=JudgingReason.REJUDGE,
        priority=PRIORITIES[JudgingReason.REJUDGE],
        rejudge_of=first.id,
        competition_id=first.competition_id,
        team_id=first.team_id,
        created_at=first.created_at,
        set_aside=set_aside,
    )


def unfinished(session: Session, challenge: str, version: int) -> int:
    """How many are still to be judged again under ``version``."""
    row = SubmissionRow
    count = session.scalar(
        select(func.count()).where(
            *_is_of(version, challenge), row.kind == JudgingReason.REJUDGE, row.state.in_(UNFINISHED)
        )
    )
    return count or 0


def judgements(session: Session, challenge: str) -> dict[int, int]:
    """Version -> how many submissions have a verdict under it."""
    row = SubmissionRow
    found = session.execute(
        select(row.version, func.count().label("judged"))
        .where(
            row.challenge == challenge, row.state == State.DONE, row.kind.not_in(_NOT_COMPARED), counting()
        )
        .group_by(row.version)
    )
    return {it.version: it.judged for it in found}


def under(session: Session, challenge: str, version: int) -> dict[int, SubmissionRow]:
    """Id of what was submitted -> its judgement, or what is to become it, under ``version``."""
    row = SubmissionRow
    rows = session.scalars(
        select(row)
        .where(
            *_is_of(version, challenge), row.state.not_in([State.CANCELLED]), row.kind.not_in(_NOT_COMPARED)
        )
        .where(counting())
        .options(joinedload(row.user))
        .order_by(row.id)
    )
    # A rejudge that failed may have been ordered again: the later one stands.
    return {it.rejudge_of or it.id: it for it in rows}


def public_ids(session: Session, rows: Sequence[int]) -> dict[int, str]:
    """Row id -> the id that people know."""
    if not rows:
        return {}
    row = SubmissionRow
    found = session.execute(select(row.id, row.public_id).where(row.id.in_(rows)))
    return {it.id: it.public_id for it in found}


def judged_again(session: Session, rows: Sequence[int], drafts: bool) -> dict[int, list[SubmissionRow]]:
    """Id of what was submitted -> its judgements that staff ordered, in their order, as far as they are published; with
    ``drafts`` also those under versions that are not.
    """
    row = SubmissionRow
    found: dict[int, list[SubmissionRow]] = {}
    if not rows:
        return found
    for it in session.scalars(
        select(row)
        .join(VersionRow, (VersionRow.challenge == row.challenge) & (VersionRow.version == row.version))
        # Done, as a condition that does not search all that is done.
        .where(row.rejudge_of.in_(rows), row.verdict.is_not(None), row.state != State.FAILED)
        .where(row.kind == JudgingReason.REJUDGE, row.set_aside.is_distinct_from(SetAside.REGRADE))
        .where(*([] if drafts else [VersionRow.published_at.is_not(None)]))
        .order_by(row.version, row.id)
    ):
        assert it.rejudge_of is not None
        found.setdefault(it.rejudge_of, []).append(it)
    return found
