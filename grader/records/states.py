"""The life of a submission, written once: which state follows which, and the one fenced UPDATE that changes
it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, select, update
from sqlalchemy.orm import Session

from grader.records import quotas
from grader.records.engine import changed
from grader.records.models import SubmissionRow
from grader.schemas.submission import JudgingReason, State

_ENDS = {State.DONE, State.CANCELLED, State.FAILED, State.QUEUED}

# compiling: a worker took it, which for a compiled language most often is one that compiles and hands it on. waiting:
# compiled, and held by no worker. queued again: a failure of ours, a worker that was asked to stop, or what it was
# compiled to is gone. No state follows done and cancelled. Only staff can reopen what failed, see ``move``.
FOLLOWS: dict[State, frozenset[State]] = {
    State.QUEUED: frozenset({State.COMPILING, State.CANCELLED}),
    State.COMPILING: frozenset({State.WAITING, State.TESTING} | _ENDS),
    State.WAITING: frozenset({State.QUEUED, State.COMPILING, State.TESTING, State.CANCELLED}),
    State.TESTING: frozenset({State.TIMING} | _ENDS),
    State.TIMING: frozenset(_ENDS),
    State.DONE: frozenset(),
    State.CANCELLED: frozenset(),
    State.FAILED: frozenset({State.QUEUED}),
}

# A worker holds it under a lease.
ACTIVE = (State.COMPILING, State.TESTING, State.TIMING)
# Nobody holds it: a worker may claim it, and a cancellation ends it at once.
FREE = (State.QUEUED, State.WAITING)
# Counts against the user's waiting limit.
UNFINISHED = (*FREE, *ACTIVE)
# Nothing of it has run yet: who cancels it now has used nothing up.
_NOT_RUN = (*FREE, State.COMPILING)


def before(state: State) -> list[State]:
    """The states that ``state`` may follow."""
    return [earlier for earlier, later in FOLLOWS.items() if state in later]


def move(
    session: Session,
    submission: int,
    fence: int,
    to: State,
    *conditions: ColumnElement[bool],
    reopen: bool = False,
    **values: Any,
) -> bool:
    """Change the state of one submission; True where it happened.

    It does not happen when ``fence`` is no longer the present attempt (a late result of a worker that lost
    its lease), when ``to`` may not follow the present state (a verdict is never overwritten), or when a
    condition does not hold. An active state may follow itself: that is progress within it. A final state is left only
    with ``reopen``: a late worker must not.

    With its end its user's counters are moved back: one less waits, and where the failure was ours, or it was cancelled
    before it ran, the attempt is not used up. Of runs only our failures are given back: a user who takes back one after
    the other keeps the queue busy all the same.
    """
    ending = _counted(session, submission) if to.final else None
    sources = [it for it in before(to) if it.final == reopen] + ([to] if to in ACTIVE else [])
    statement = (
        update(SubmissionRow)
        .where(SubmissionRow.id == submission, SubmissionRow.attempt == fence)
        .where(SubmissionRow.state.in_(sources), *conditions)
        .values(state=to, **values)
        .execution_options(synchronize_session=False)
    )
    moved = changed(session, statement) == 1
    if moved and ending is not None:
        _give_back(session, ending, to)
    return moved


def _give_back(
    session: Session, ending: Row[int, str, datetime, State, JudgingReason, int | None], to: State
) -> None:
    run = ending.kind is JudgingReason.RUN
    quotas.give_back(session, ending.user_id, quotas.RUNNING if run else quotas.WAITING)
    if to is State.FAILED or (to is State.CANCELLED and ending.state in _NOT_RUN and not run):
        if ending.competition_id is not None:
            return  # its caps are counted from the submissions themselves
        scope = quotas.RUNS if run else quotas.of_challenge(ending.challenge)
        quotas.give_back(session, ending.user_id, scope, ending.created_at)


def _counted(
    session: Session, submission: int
) -> Row[int, str, datetime, State, JudgingReason, int | None] | None:
    """What its user's counters need of it, as it stands until this transaction changes it; None for a rejudge."""
    table = SubmissionRow
    return session.execute(
        select(
            table.user_id, table.challenge, table.created_at, table.state, table.kind, table.competition_id
        )
        .where(table.id == submission, table.rejudge_of.is_(None))
        .with_for_update()
    ).one_or_none()
