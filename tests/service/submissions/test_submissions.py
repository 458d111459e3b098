from __future__ import annotations

from datetime import timedelta

import pytest

from grader.errors import Conflict, NotFound, UnknownDevice, UnknownLanguage
from grader.languages import Language
from grader.records import claims, leases
from grader.records.claims import Claim
from grader.records.engine import writing
from grader.records.models import utcnow
from grader.schemas.report import CaseReport, CaseVerdict, Report, Score, Verdict
from grader.schemas.submission import State
from grader.service.accounts.accounts import User
from grader.service.boards.leaderboard import leaderboard
from grader.service.platform import Platform
from grader.service.submissions.cancel import cancel
from grader.service.submissions.submissions import get_report, get_source, get_submission, list_submissions
from grader.service.submissions.submit import submit
from tests.service.world import body

pytestmark = pytest.mark.both_databases


def _take(platform: Platform) -> Claim:
    with writing(platform.sessions) as session:
        held = claims.claim(session, claims.ClaimRequest("cpu", list(Language), "w", utcnow(), 30.0)).held
    assert held is not None
    return held


def _report(**values: object) -> Report:
    given: dict[str, object] = {
        "verdict": Verdict.WRONG_ANSWER,
        "challenge": "scale",
        "version": 1,
        "language": Language.TRITON,
        "device": "cpu",
        "cases": [
            CaseReport(
                name="secret",
                category="nan",
                verdict=CaseVerdict.WRONG_ANSWER,
                detail="seed 5",
                seed=5,
                hidden=True,
            )
        ],
    }
    return Report.model_validate(given | values)


def _finish(platform: Platform, report: Report) -> None:
    held = _take(platform)
    with writing(platform.sessions) as session:
        assert leases.finish(session, held, report, utcnow())


def _accept(platform: Platform, time_us: float) -> None:
    passed = [CaseReport(name="basic", category="basic", verdict=CaseVerdict.ACCEPTED)]
    score = Score(time_us=time_us, ci=(time_us - 1, time_us + 1), speedup=2.0, passed=1, total=1)
    _finish(platform, _report(verdict=Verdict.ACCEPTED, cases=passed, score=score))


def test_a_submission_is_visible_to_its_author_and_staff_only(
    platform: Platform, student: User, other: User, staff: User
) -> None:
    view = submit(platform, student, body())
    for read in (get_submission, get_source, get_report, cancel):
        with pytest.raises(NotFound):
            read(platform, other, view.id)
    assert get_submission(platform, staff, view.id).user == "ada"
    assert get_source(platform, staff, view.id).source == "x = 1\n"


@pytest.mark.parametrize("name", ["", "0000000000", "'; DROP TABLE users; --", "x" * 10_000])
def test_an_unknown_submission_is_not_found(platform: Platform, student: User, name: str) -> None:
    with pytest.raises(NotFound):
        get_submission(platform, student, name)


def test_a_student_lists_only_own_submissions_newest_first(
    platform: Platform, student: User, other: User, staff: User
) -> None:
    mine = [submit(platform, student, body()).id for _ in range(3)]
    theirs = submit(platform, other, body())
    seen = list_submissions(platform, student, limit=2)
    assert ([submission.id for submission in seen.submissions], seen.total) == ([mine[2], mine[1]], 3)
    assert [
        submission.id for submission in list_submissions(platform, student, limit=2, offset=2).submissions
    ] == [mine[0]]
    assert list_submissions(platform, student, everyone=True).total == 3
    assert list_submissions(platform, staff, everyone=True).submissions[0].id == theirs.id
    assert list_submissions(platform, staff).total == 0
    assert list_submissions(platform, student, challenge="only_cuda").total == 0


def test_a_report_is_redacted_for_students_only(platform: Platform, student: User, staff: User) -> None:
    view = submit(platform, student, body())
    with pytest.raises(Conflict, match="queued"):
        get_report(platform, student, view.id)
    _finish(platform, _report())
    assert get_report(platform, staff, view.id).cases[0].seed == 5
    shown = get_report(platform, student, view.id).model_dump_json()
    assert "secret" not in shown
    assert "seed 5" not in shown


def test_position_and_wait_come_from_the_queue(platform: Platform, student: User, other: User) -> None:
    submit(platform, student, body())
    _finish(platform, _report())
    first, second = submit(platform, student, body()), submit(platform, other, body())
    assert get_submission(platform, student, first.id).position == 2
    assert get_submission(platform, other, second.id).position == 1
    assert get_submission(platform, other, second.id).expected_wait_s is None
    _take(platform)
    assert get_submission(platform, other, second.id).position is None
    assert get_submission(platform, student, first.id).position == 1


def test_cancelling_a_queued_submission_ends_it_at_once(platform: Platform, student: User) -> None:
    view = submit(platform, student, body())
    assert cancel(platform, student, view.id).state is State.CANCELLED
    again = cancel(platform, student, view.id)
    assert (again.state, again.verdict) == (State.CANCELLED, None)
    assert again.finished_at is not None


@pytest.mark.parametrize("state", [State.COMPILING, State.TESTING, State.TIMING])
def test_cancelling_a_running_submission_asks_the_worker(
    platform: Platform, student: User, state: State
) -> None:
    from grader.records.models import SubmissionRow

    view = submit(platform, student, body())
    held = _take(platform)
    with writing(platform.sessions) as session:
        session.get_one(SubmissionRow, held.id).state = state
    for _ in range(2):
        assert cancel(platform, student, view.id).state is state
    with platform.sessions() as session:
        assert leases.lease_state(session, held).cancel_requested


def test_cancelling_a_done_submission_is_refused(platform: Platform, student: User) -> None:
    view = submit(platform, student, body())
    _finish(platform, _report())
    with pytest.raises(Conflict, match="done"):
        cancel(platform, student, view.id)
    assert get_submission(platform, student, view.id).verdict is Verdict.WRONG_ANSWER


def test_cancelling_a_failed_submission_is_refused(platform: Platform, student: User) -> None:
    view = submit(platform, student, body())
    held = _take(platform)
    with writing(platform.sessions) as session:
        leases.give_back(session, held.id, held.attempt, utcnow() + timedelta(seconds=1), error="x", cap=1)
    with pytest.raises(Conflict, match="failed"):
        cancel(platform, student, view.id)


def test_the_board_shows_the_best_of_each(platform: Platform, student: User, other: User) -> None:
    for user, time_us in ((student, 20.0), (student, 10.0), (other, 15.0)):
        submit(platform, user, body())
        _accept(platform, time_us)
    board = leaderboard(platform, "scale")
    assert [(entry.rank, entry.user, entry.time_us) for entry in board.entries] == [
        (1, "ada", 10.0),
        (2, "bob", 15.0),
    ]
    assert (board.device, board.representative, board.devices) == ("cpu", False, ["cpu"])
    assert leaderboard(platform, "scale", language="cuda").entries == []
    assert leaderboard(platform, "scale", version=7).entries == []
    with pytest.raises(UnknownDevice):
        leaderboard(platform, "scale", device="h200")
    with pytest.raises(UnknownLanguage):
        leaderboard(platform, "scale", language="rust")
