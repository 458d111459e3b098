from __future__ import annotations

import ast
import itertools
import re
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import IntegrityError

import grader
from grader.records.engine import Sessions, writing
from grader.records.models import SubmissionRow
from grader.records.states import ACTIVE, FOLLOWS, move
from grader.schemas.report import Verdict
from grader.schemas.submission import State
from tests.records.rows import add_submission, add_user, read


def _verdict(state: State) -> dict[str, Any]:
    judged = state in (State.DONE, State.FAILED)
    return {"verdict": Verdict.WRONG_ANSWER if judged else None}


def test_every_state_has_its_followers_and_only_a_failure_of_ours_is_reopened() -> None:
    assert set(FOLLOWS) == set(State)
    ends = {state: set(later) for state, later in FOLLOWS.items() if state.final}
    assert ends == {State.DONE: set(), State.CANCELLED: set(), State.FAILED: {State.QUEUED}}


@pytest.mark.parametrize("reopen", [False, True])
def test_only_allowed_transitions_happen(sessions: Sessions, reopen: bool) -> None:
    user = add_user(sessions)
    for here, there in itertools.product(State, State):
        row = add_submission(sessions, user, state=here, attempt=1, **_verdict(here))
        with writing(sessions) as session:
            moved = move(session, row, 1, there, reopen=reopen, **_verdict(there))
        follows = there in FOLLOWS[here] and here.final == reopen
        allowed = follows or (here is there and here in ACTIVE)
        assert moved == allowed, (here, there)
        assert read(sessions, row).state is (there if allowed else here)


def test_nothing_but_the_state_machine_writes_a_state() -> None:
    root = Path(grader.__file__).parent
    folders = [root, *(link.resolve() for link in root.iterdir() if link.is_symlink())]
    files = {file for folder in folders for file in folder.rglob("*.py") if "node_modules" not in file.parts}
    writers = {file.relative_to(root.parent).as_posix() for file in files if _writes_state(file.read_text())}
    # The others write states of repositories, pilots, device codes, finals, requests and grades.
    assert writers == {
        "grader/records/catalogue_sources.py",
        "grader/records/pilots.py",
        "grader/records/states.py",
        "grader/service/accounts/device_codes.py",
        "grader/service/competitions/finals.py",
        "grader/service/lti/delivery.py",
        "grader/service/lti/passback.py",
        "grader/service/review/regrade_requests.py",
    }


@pytest.mark.parametrize(
    "source",
    [
        "update(SubmissionRow).values(state=State.DONE)",
        "row.state = State.DONE",
        "setattr(row, 'state', State.DONE)",
        "session.execute(text('UPDATE submissions SET state = 1'))",
        "session.query(SubmissionRow).update({'state': State.DONE})",
    ],
)
def test_the_scanner_finds_every_way_to_write_a_state(source: str) -> None:
    assert _writes_state(source)
    assert not _writes_state("self.state = row.state if SubmissionRow.state == State.DONE else None")


def _writes_state(source: str) -> bool:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(
                isinstance(target, ast.Attribute) and target.attr == "state" and _is_other(target.value)
                for target in targets
            ):
                return True
        elif isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called == "values" and any(keyword.arg == "state" for keyword in node.keywords):
                return True
            keys = [key for argument in node.args if isinstance(argument, ast.Dict) for key in argument.keys]
            words = [word.value for word in (*node.args, *keys) if isinstance(word, ast.Constant)]
            if called in ("setattr", "values", "update") and "state" in words:
                return True
            if any(
                isinstance(word, str) and re.search(r"(?i)update submissions\s+set.*\bstate\b", word)
                for word in words
            ):
                return True
    return False


def _is_other(value: ast.expr) -> bool:
    return not (isinstance(value, ast.Name) and value.id == "self")


@pytest.mark.parametrize("attempt", [0, 2])
def test_another_attempt_cannot_move_a_submission(sessions: Sessions, attempt: int) -> None:
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
