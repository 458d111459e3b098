from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Row, select, update
from sqlalchemy.orm import Session

from grader.records import budgets, quotas
from grader.records.engine import changed
from grader.records.models import SubmissionRow
from grader.schemas.submission import JudgingReason, State

_ENDS = {State.DONE, State.CANCELLED, State.FAILED, State.QUEUED}

# waiting: compiled, and held by no worker. queued again: after a failure of ours, a stopped worker, or if its
# artefact is gone.
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

ACTIVE = (State.COMPILING, State.TESTING, State.TIMING)
# Held by nobody: a cancellation ends it at once.
FREE = (State.QUEUED, State.WAITING)
# Counts against the user's limit.
UNFINISHED = (*FREE, *ACTIVE)
_NOT_RUN = (*FREE, State.COMPILING)


def before(state: State) -> list[State]:
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
    """True if it happened.

    Not if ``fence`` is no longer the present attempt (its worker lost the lease), if ``to`` may not follow,
    or if a condition does not hold. A final state changes only with ``reopen``.

    GPU seconds until ``finished_at`` of ``values`` are charged, but not for a failure of ours.
    After a failure of ours, or a cancellation before it ran, the attempt is given back. Runs only after our
    failures: otherwise a user who cancels one after the other could keep the queue busy.
    """
    ending = _counted(session, submission) if to.final else None
    sources = [state for state in before(to) if state.final == reopen] + ([to] if to in ACTIVE else [])
    statement = (
        update(SubmissionRow)
        .where(SubmissionRow.id == submission, SubmissionRow.attempt == fence)
        .where(SubmissionRow.state.in_(sources), *conditions)
        .values(state=to, **values)
        .execution_options(synchronize_session=False)
    )
    moved = changed(session, statement) == 1
    if moved and ending is not None:
        if to is not State.FAILED and (end := values.get("finished_at")) is not None:
            budgets.charge(session, ending, end)
        _give_back(session, ending, to)
    return moved


def _give_back(session: Session, ending: Row[*tuple[Any, ...]], to: State) -> None:
    run = ending.kind is JudgingReason.RUN
    quotas.give_back(session, ending.user_id, quotas.RUNNING if run else quotas.WAITING)
    if to is State.FAILED or (to is State.CANCELLED and ending.state in _NOT_RUN and not run):
        if ending.competition_id is not None:
            return
        scope = quotas.RUNS if run else quotas.of_challenge(ending.challenge)
        quotas.give_back(session, ending.user_id, scope, ending.created_at)


def _counted(session: Session, submission: int) -> Row[*tuple[Any, ...]] | None:
    """Before the change; None for a rejudge."""
    table = SubmissionRow
    return session.execute(
        select(*budgets.CHARGED, table.challenge, table.created_at)
        .where(table.id == submission, table.rejudge_of.is_(None))
        .with_for_update()
    ).one_or_none()
