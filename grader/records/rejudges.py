from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session, aliased, joinedload

from grader.records.models import SubmissionRow, VersionRow
from grader.records.order import PRIORITIES
from grader.records.states import UNFINISHED
from grader.schemas.submission import JudgingReason, SetAside, State

# Runs judge incompletely, finals use other sizes.
_NOT_COMPARED = (JudgingReason.RUN, JudgingReason.FINAL)


def counting(table: type[SubmissionRow] = SubmissionRow) -> ColumnElement[bool]:
    """One per submission and version, voided or not."""
    return table.set_aside.is_(None) | (table.set_aside == SetAside.VOID)


def _is_of(version: int, challenge: str) -> tuple[ColumnElement[bool], ...]:
    table = SubmissionRow
    return (table.challenge == challenge, table.version == version)


def first_judgements(session: Session, challenge: str, below: int) -> Sequence[SubmissionRow]:
    """Students' submissions judged below, oldest first, except those judged or waiting under ``below``."""
    table, again = SubmissionRow, aliased(SubmissionRow)
    repeated = (
        select(again.id)
        .where(
            again.rejudge_of == table.id,
            again.version == below,
            again.kind == JudgingReason.REJUDGE,
            again.state.not_in([State.FAILED, State.CANCELLED]),
            counting(again),
        )
        .exists()
    )
    return session.scalars(
        select(table)
        .where(
            table.challenge == challenge,
            table.version < below,
            table.rejudge_of.is_(None),
            table.kind != JudgingReason.RUN,
            table.state == State.DONE,
            table.set_aside.is_distinct_from(SetAside.VOID),
            ~repeated,
        )
        .order_by(table.created_at, table.id)
    ).all()


def again(first: SubmissionRow, version: int, set_aside: SetAside | None = None) -> SubmissionRow:
    """Keeps the time of submission: boards put the older of two equal entries first."""
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
        withdrawn_at=first.withdrawn_at,
        set_aside=set_aside,
    )


def unfinished(session: Session, challenge: str, version: int) -> int:
    table = SubmissionRow
    count = session.scalar(
        select(func.count()).where(
            *_is_of(version, challenge), table.kind == JudgingReason.REJUDGE, table.state.in_(UNFINISHED)
        )
    )
    return count or 0


def judgements(session: Session, challenge: str) -> dict[int, int]:
    table = SubmissionRow
    found = session.execute(
        select(table.version, func.count().label("judged"))
        .where(
            table.challenge == challenge,
            table.state == State.DONE,
            table.kind.not_in(_NOT_COMPARED),
            counting(),
        )
        .group_by(table.version)
    )
    return {row.version: row.judged for row in found}


def under(session: Session, challenge: str, version: int) -> dict[int, SubmissionRow]:
    """Submission (id) -> judgement, perhaps unfinished."""
    table = SubmissionRow
    rows = session.scalars(
        select(table)
        .where(
            *_is_of(version, challenge),
            table.state.not_in([State.CANCELLED]),
            table.kind.not_in(_NOT_COMPARED),
        )
        .where(counting())
        .options(joinedload(table.user))
        .order_by(table.id)
    )
    # Of failed rejudges, the later one counts.
    return {row.rejudge_of or row.id: row for row in rows}


def public_ids(session: Session, rows: Sequence[int]) -> dict[int, str]:
    if not rows:
        return {}
    table = SubmissionRow
    found = session.execute(select(table.id, table.public_id).where(table.id.in_(rows)))
    return {row.id: row.public_id for row in found}


def judged_again(session: Session, rows: Sequence[int], drafts: bool) -> dict[int, list[SubmissionRow]]:
    """Submission (id) -> published judgements that staff ordered, in order; ``drafts``: also unpublished
    ones.
    """
    table = SubmissionRow
    found: dict[int, list[SubmissionRow]] = {}
    if not rows:
        return found
    for row in session.scalars(
        select(table)
        .join(VersionRow, (VersionRow.challenge == table.challenge) & (VersionRow.version == table.version))
        # This means done, without searching everything done.
        .where(table.rejudge_of.in_(rows), table.verdict.is_not(None), table.state != State.FAILED)
        .where(table.kind == JudgingReason.REJUDGE, table.set_aside.is_distinct_from(SetAside.REGRADE))
        .where(*([] if drafts else [VersionRow.published_at.is_not(None)]))
        .order_by(table.version, table.id)
    ):
        assert row.rejudge_of is not None
        found.setdefault(row.rejudge_of, []).append(row)
    return found
