from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from sqlalchemy import func, select

from grader.languages import Language
from grader.records import claims, leases
from grader.records.claims import Claim
from grader.records.engine import Sessions, writing
from grader.records.models import ReportRow, SubmissionRow, utcnow
from grader.schemas.report import Report, Verdict
from grader.schemas.submission import ProgressView, State
from tests.records.rows import DEVICE, accepted, add_submission, add_user, read, take, wrong


@pytest.fixture
def held(sessions: Sessions) -> Claim:
    add_submission(sessions, add_user(sessions))
    held = take(sessions)
    assert held is not None
    return held


def _finish(sessions: Sessions, held: Claim, report: Report) -> bool:
    with writing(sessions) as session:
        return leases.finish(session, held, report, utcnow())


def _reports(sessions: Sessions) -> int:
    with sessions() as session:
        return session.scalar(select(func.count()).select_from(ReportRow)) or 0


def test_parallel_claims_never_take_one_submission_twice(sessions: Sessions) -> None:
    users = [add_user(sessions, f"u{number}") for number in range(3)]
    rows = {add_submission(sessions, users[number % 3]) for number in range(24)}
    taken: list[int] = []

    def work(name: str) -> None:
        idle = 0
        # On PostgreSQL a claim may return nothing while others hold the wanted row, but only a few times in a
        # row.
        while idle < 20:
            held = take(sessions, name)
            if held is None:
                idle += 1
            else:
                idle = 0
                taken.append(held.id)

    threads = [threading.Thread(target=work, args=[f"w{number}"]) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == len(rows)
    assert set(taken) == rows
    assert all(read(sessions, row).attempt == 1 for row in rows)


def test_an_empty_queue_gives_no_claim(sessions: Sessions) -> None:
    assert take(sessions) is None


def test_a_worker_claims_only_what_its_device_runs(sessions: Sessions) -> None:
    user = add_user(sessions)
    add_submission(sessions, user, device="h200")
    add_submission(sessions, user, language=Language.CUDA)
    with writing(sessions) as session:
        assert (
            claims.claim(session, claims.ClaimRequest(DEVICE, [Language.TRITON], "w", utcnow(), 30.0)).held
            is None
        )


def test_a_verdict_is_stored_with_its_report(sessions: Sessions, held: Claim) -> None:
    assert _finish(sessions, held, accepted(10.0, 1.0))
    row = read(sessions, held.id)
    assert (row.state, row.verdict, row.time_us, row.ci_lo_us, row.ci_hi_us) == (
        State.DONE,
        Verdict.ACCEPTED,
        10.0,
        9.0,
        11.0,
    )
    assert row.worker is None
    assert row.lease_until is None
    assert row.finished_at is not None
    assert _reports(sessions) == 1


def test_a_second_result_is_dropped(sessions: Sessions, held: Claim) -> None:
    assert _finish(sessions, held, wrong())
    assert not _finish(sessions, held, accepted())
    assert read(sessions, held.id).verdict is Verdict.WRONG_ANSWER
    assert _reports(sessions) == 1


def test_a_late_result_of_a_worker_that_lost_its_lease_is_dropped(sessions: Sessions, held: Claim) -> None:
    later = utcnow() + timedelta(seconds=31)
    with writing(sessions) as session:
        assert leases.reclaim(session, held.id, held.attempt, later, 3) is State.QUEUED
    again = take(sessions, "other")
    assert again is not None
    assert not _finish(sessions, held, accepted())
    with writing(sessions) as session:
        assert not leases.progress(session, held, State.TIMING, ProgressView())
        assert not leases.renew(session, held, later)
    assert read(sessions, held.id).state is State.COMPILING
    assert _finish(sessions, again, wrong())
    assert read(sessions, held.id).verdict is Verdict.WRONG_ANSWER


@pytest.mark.parametrize("state", [State.COMPILING, State.TESTING, State.TIMING])
def test_late_progress_of_a_worker_that_lost_its_lease_is_dropped(
    sessions: Sessions, held: Claim, state: State
) -> None:
    """Its attempt is still the present one. If the state were accepted, nobody would compile it, and no lease
    would end.
    """
    with writing(sessions) as session:
        assert leases.reclaim(session, held.id, held.attempt, utcnow() + timedelta(seconds=31), 3)
    with writing(sessions) as session:
        assert not leases.progress(session, held, state, ProgressView(label="late"))
    row = read(sessions, held.id)
    assert (row.state, row.attempt, row.progress) == (State.QUEUED, held.attempt, {})
    assert take(sessions, "next") is not None


def test_a_lease_that_was_renewed_is_not_reclaimed(sessions: Sessions, held: Claim) -> None:
    later = utcnow() + timedelta(seconds=31)
    with writing(sessions) as session:
        assert leases.expired(session, later) == [(held.id, held.attempt)]
        assert leases.renew(session, held, later + timedelta(seconds=30))
        assert leases.reclaim(session, held.id, held.attempt, later, 3) is None
        assert leases.expired(session, later) == []
    assert read(sessions, held.id).state is State.COMPILING


def test_the_third_failure_of_ours_ends_it_and_names_us(sessions: Sessions) -> None:
    row = add_submission(sessions, add_user(sessions))
    for expected in (State.QUEUED, State.QUEUED, State.FAILED):
        held = take(sessions)
        assert held is not None
        with writing(sessions) as session:
            state = leases.give_back(session, held.id, held.attempt, utcnow(), error="disk full", cap=3)
        assert state is expected
    ended = read(sessions, row)
    assert (ended.verdict, ended.error, ended.attempt) == (Verdict.INTERNAL_ERROR, "disk full", 3)
    assert take(sessions) is None


def test_a_worker_that_stops_costs_no_failure(sessions: Sessions, held: Claim) -> None:
    with writing(sessions) as session:
        assert leases.give_back(session, held.id, held.attempt, utcnow()) is State.QUEUED
    row = read(sessions, held.id)
    assert (row.failures, row.attempt, row.error) == (0, 1, "")


def test_a_cancellation_outlives_the_worker(sessions: Sessions, held: Claim) -> None:
    with writing(sessions) as session:
        session.get_one(SubmissionRow, held.id).cancel_requested = True
    with writing(sessions) as session:
        later = utcnow() + timedelta(seconds=31)
        assert leases.reclaim(session, held.id, held.attempt, later, 3) is State.CANCELLED
    assert take(sessions) is None


def test_standing_reports_cancellation_and_loss(sessions: Sessions, held: Claim) -> None:
    with sessions() as session:
        assert leases.lease_state(session, held) == leases.LeaseState(held=True, cancel_requested=False)
    with writing(sessions) as session:
        session.get_one(SubmissionRow, held.id).cancel_requested = True
    with sessions() as session:
        assert leases.lease_state(session, held) == leases.LeaseState(held=True, cancel_requested=True)
    _finish(sessions, held, wrong())
    with sessions() as session:
        assert not leases.lease_state(session, held).held


def test_a_result_is_on_the_judged_versions_board(sessions: Sessions, held: Claim) -> None:
    _finish(sessions, held, accepted().model_copy(update={"version": 2}))
    assert read(sessions, held.id).version == 2


def test_rounding_does_not_lose_a_verdict(sessions: Sessions, held: Claim) -> None:
    report = accepted()
    score = report.score.model_copy(update={"ci": (10.000000001, 11.0)})
    assert _finish(sessions, held, report.model_copy(update={"score": score}))
    assert read(sessions, held.id).ci_lo_us == 10.0


def test_an_error_text_of_any_letters_can_be_stored(sessions: Sessions, held: Claim) -> None:
    with writing(sessions) as session:
        leases.give_back(session, held.id, held.attempt, utcnow(), error="a\0b\ud800c" + "x" * 10_000, cap=3)
    assert read(sessions, held.id).error.startswith("ab?cx")
