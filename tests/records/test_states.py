from __future__ import annotations

import itertools
from typing import Any

import pytest
from sqlalchemy.exc import IntegrityError

from grader.records.engine import Sessions, writing
from grader.records.models import SubmissionRow
from grader.records.states import ACTIVE, FOLLOWS, move
from grader.schemas.report import Verdict
from grader.schemas.submission import State
from tests.records.rows import add_submission, add_user, read


def _verdict(state: State) -> dict[str, Any]:
    judged = state in (State.DONE, State.FAILED)
    return {"verdict": Verdict.WRONG_ANSWER if judged else None}


def test_every_state_has_its_followers_and_the_final_ones_have_none() -> None:
    assert set(FOLLOWS) == set(State)
    assert {state for state in State if not FOLLOWS[state]} == {state for state in State if state.final}


def test_each_transition_happens_exactly_where_it_is_allowed(sessions: Sessions) -> None:
    user = add_user(sessions)
    for here, there in itertools.product(State, State):
        row = add_submission(sessions, user, state=here, attempt=1, **_verdict(here))
        with writing(sessions) as session:
            moved = move(session, row, 1, there, **_verdict(there))
        allowed = there in FOLLOWS[here] or (here is there and here in ACTIVE)
        assert moved == allowed, (here, there)
        assert read(sessions, row).state is (there if allowed else here)


@pytest.mark.parametrize("attempt", [0, 2])
def test_another_attempts_fence_moves_nothing(sessions: Sessions, attempt: int) -> None:
    row = add_submission(sessions, add_user(sessions), state=State.TESTING, attempt=1)
    with writing(sessions) as session:
        assert not move(session, row, attempt, State.DONE, verdict=Verdict.ACCEPTED)
    assert read(sessions, row).state is State.TESTING


def test_a_verdict_without_an_end_cannot_be_stored(sessions: Sessions) -> None:
    row = add_submission(sessions, add_user(sessions))
    with pytest.raises(IntegrityError), writing(sessions) as session:
        session.get_one(SubmissionRow, row).verdict = Verdict.ACCEPTED
    active = add_submission(sessions, read(sessions, row).user_id, state=State.TESTING)
    with pytest.raises(IntegrityError), writing(sessions) as session:
        move(session, active, 0, State.DONE)
