"""A final through the queue: on one machine, in one order, on hidden data, even if its worker dies."""

from __future__ import annotations

import hashlib
import json
import socket
import threading
from collections.abc import Iterator
from datetime import timedelta

import pytest

from grader import certificate
from grader.device_kinds import languages_of
from grader.errors import Conflict, JudgeFailure, NotAllowed, NotFound
from grader.judge.job import Job, Outcome
from grader.queue import finaliser
from grader.queue.direct import DirectCoordinator
from grader.queue.executor import Executor
from grader.queue.heartbeat import Heartbeat
from grader.queue.sweeper import sweep
from grader.records import claims, competition_draws, workers
from grader.records import competitions as record
from grader.records.engine import clock, writing
from grader.records.models import CompetitionRow, FinalRunRow, SubmissionRow, utcnow
from grader.schemas.competition import BoardKind, FinalBody, FinalistsBody, FinalView
from grader.schemas.report import Score, Verdict
from grader.schemas.submission import State, VoidBody
from grader.service import audit
from grader.service.accounts.accounts import User
from grader.service.boards.leaderboard import leaderboard
from grader.service.competitions import certificates, finals
from grader.service.competitions.competition_boards import board
from grader.service.platform import Platform
from grader.service.review import voids
from grader.service.submissions.cancel import cancel
from grader.service.submissions.submissions import get_submission
from grader.service.submissions.submit import submit
from tests.queue.fakes import Act, FakeJudge, judged, raises, report_for
from tests.service.competitions.builders import elapse, enter, hand_in, make, people
from tests.service.world import body

pytestmark = pytest.mark.both_databases

HERE = socket.gethostname()
# The time of each finalist's kernel, by its source; the last one varies with the repeat.
TIMES = {"x = 100.0\n": 90.0, "x = 200.0\n": 300.0, "x = 300.0\n": 80.0}


class Course:
    """Times by source, and the seed keys and workloads that came with the jobs."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []

    def __call__(self) -> Act:
        def act(job: Job, on_progress: object, cancelled: object) -> object:
            self.jobs.append(job)
            time_us = TIMES.get(job.source, 1000.0)
            score = Score(time_us=time_us, ci=(time_us, time_us), passed=1, total=1, speedup=2.0)
            return Outcome(report=report_for(job).model_copy(update={"score": score}))

        return act  # type: ignore[return-value]


@pytest.fixture
def worker(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> Iterator[Heartbeat]:
    monkeypatch.setattr(finaliser.Finaliser, "pause_after_failure_s", 0.0)
    with writing(platform.sessions) as session:
        workers.register(session, "w", "cpu", languages_of("cpu"), clock(session))
    heartbeat = Heartbeat(DirectCoordinator(platform, "w"))
    heartbeat.start()
    yield heartbeat
    heartbeat.close()


@pytest.fixture
def finalists(platform: Platform, staff: User) -> list[User]:
    """Three of four teams of a competition that has ended."""
    make(
        platform,
        staff,
        challenges=[{"challenge": "scale", "hidden_workloads": [{"sizes": {"n": 12}}]}],
        code_shown=True,
    )
    users = people(platform, 4)
    for number, user in enumerate(users):
        enter(platform, user)
        hand_in(platform, user, 100.0 * (number + 1))
    elapse(platform, hours=2)
    finals.choose_finalists(platform, staff, "cup", FinalistsBody(top=3))
    return users


def _executor(platform: Platform, heartbeat: Heartbeat, *acts: Act) -> Executor:
    return Executor(DirectCoordinator(platform, "w"), "cpu", FakeJudge(*acts), heartbeat, threading.Event())


def _start(platform: Platform, staff: User, repeats: int = 3, machine: str = HERE) -> FinalView:
    return finals.start_final(platform, staff, "cup", FinalBody(machine=machine, repeats=repeats))


def test_a_final_leads_from_finalists_to_results(
    platform: Platform, staff: User, finalists: list[User], worker: Heartbeat
) -> None:
    ordered = _start(platform, staff)
    assert (ordered.finalists, ordered.total, ordered.judged) == (["user0", "user1", "user2"], 9, 0)
    assert _start(platform, staff).total == 9, "it is not ordered twice"
    with platform.sessions() as session:
        assert session.query(FinalRunRow).count() == 9
        seed = session.query(CompetitionRow).one().hidden_seed
    course = Course()
    # The student's submission comes after the whole final, however long it has waited.
    waiting = submit(platform, finalists[3], body(competition="")).id
    assert _executor(platform, worker, course()).serve_one()
    view = get_submission(platform, finalists[3], waiting)
    assert view.state is State.DONE, "one wake-up serves all that is left of a final, and then the next"
    jobs = course.jobs[:-1]
    entries = [(str(team), "scale") for team in (1, 2, 3)]
    order = competition_draws.final_order(seed, entries, 3)
    assert [job.source for job in jobs] == [list(TIMES)[int(team) - 1] for _, (team, _) in order]
    assert [job.seed_key for job in jobs] == [
        competition_draws.final_key(seed, "scale", team) for team, _ in order
    ]
    assert {(workload.name, workload.sizes["n"]) for job in jobs for workload in job.workloads} == {
        ("n=12", 12)
    }
    done = finals.get_final(platform, staff, "cup")
    assert (done.done, done.judged) == (True, 9)
    assert done.rank_changes is not None
    assert (done.rank_changes.changed, done.rank_changes.swaps, done.rank_changes.pairs) == (0, 0, 6)
    # Until they are published, the results are for staff only.
    student = finalists[0]
    with pytest.raises(NotAllowed):
        finals.get_final(platform, student, "cup")
    with pytest.raises(NotFound):
        get_submission(platform, student, done.entries[0].runs[0].submission)
    finals.publish_results(platform, staff, "cup")
    ranks = [
        (row.team, row.rank, row.score, row.provisional_rank) for row in board(platform, student, "cup").rows
    ]
    # 80 and 90 are equal within this board's resolution: the earlier one comes first.
    assert ranks == [
        ("user0", 1, 90.0, 1),
        ("user2", 1, 80.0, 3),
        ("user1", 3, 300.0, 2),
        ("user3", 4, 400.0, 4),
    ]
    entries_outside = [entry.submission for entry in leaderboard(platform, "scale").entries]
    assert entries_outside == [waiting], "a final changes no board of the challenge"
    assert finals.get_code(platform, student, "cup", "user2", "scale").source == "x = 300.0\n"
    with pytest.raises(Conflict, match="results are already published"):
        _start(platform, staff)
    _check_certificate(platform, student, seed)


def _check_certificate(platform: Platform, viewer: User, seed: str) -> None:
    key = certificate.read_key(certificates.signing_key(platform).pem)
    signed = certificates.get_certificate(platform, viewer, "cup", "user2")
    assert signed == certificates.get_certificate(platform, viewer, "cup", "user2")
    checked = certificate.check(json.dumps(signed), key)
    assert checked.genuine
    said = checked.certificate
    assert (said["result"]["rank"], said["result"]["finalists"], said["final"]["seed"]) == (1, 3, seed)
    (challenge,) = said["challenges"]
    assert challenge["source_sha256"] == hashlib.sha256(b"x = 300.0\n").hexdigest()
    assert [repeat["time_us"] for repeat in challenge["repeats"]] == [80.0] * 3
    assert (platform.settings.data_dir / "secrets" / "signing_key").stat().st_mode & 0o777 == 0o600
    with pytest.raises(NotFound, match="not a finalist"):
        certificates.get_certificate(platform, viewer, "cup", "user3")


def test_a_result_can_be_voided_after_the_final(
    platform: Platform, staff: User, finalists: list[User], worker: Heartbeat
) -> None:
    _start(platform, staff, repeats=1)
    assert _executor(platform, worker, Course()()).serve_one()
    finals.publish_results(platform, staff, "cup")
    kept = {name: certificates.get_certificate(platform, None, "cup", name) for name in ("user0", "user2")}
    source = kept["user0"]["certificate"]["challenges"][0]["submission"]

    def ranks() -> list[tuple[str, int | None]]:
        return [(row.team, row.rank) for row in board(platform, finalists[0], "cup").rows]

    def changed(name: str) -> tuple[str, ...]:
        now = certificates.get_certificate(platform, None, "cup", name)
        return certificate.superseded(kept[name]["certificate"], now["certificate"])

    before = ranks()
    assert before == [("user0", 1), ("user2", 1), ("user1", 3), ("user3", 4)]
    voids.void(platform, staff, source, VoidBody(reason="Copied."))
    assert ranks() == [("user2", 1), ("user1", 2), ("user3", 3), ("user0", None)]
    assert changed("user0") == (
        "The rank is none now; the certificate says 1.",
        "The score is none now; the certificate says 90.",
        "scale: voided by the staff.",
    )
    assert changed("user2") == ()
    with pytest.raises(NotFound, match="no submission for scale that counts"):
        finals.get_code(platform, finalists[1], "cup", "user0", "scale")
    voids.restore(platform, staff, source)
    assert (ranks(), changed("user0")) == (before, ())
    log = audit.of_platform(platform, staff, audit.AuditFilter(subject="/competitions/cup/results")).entries
    assert [(entry.action, entry.before, entry.after, entry.reason) for entry in log[:2]] == [
        (
            "submissions.void",
            {"user0": None, "user1": 2, "user3": 3},
            {"user0": 1, "user1": 3, "user3": 4, "submission": source},
            "",
        ),
        (
            "submissions.void",
            {"user0": 1, "user1": 3, "user3": 4},
            {"user0": None, "user1": 2, "user3": 3, "submission": source},
            "Copied.",
        ),
    ]


def test_a_final_survives_a_lost_worker(
    platform: Platform, staff: User, finalists: list[User], worker: Heartbeat
) -> None:
    _start(platform, staff, repeats=2)
    course = Course()
    stopping = threading.Event()
    served = 0

    def die(job: Job, *rest: object) -> object:
        nonlocal served
        served += 1
        if served == 3:
            stopping.set()
        return course()(job, *rest)  # type: ignore[arg-type]

    Executor(DirectCoordinator(platform, "w"), "cpu", FakeJudge(die), worker, stopping).serve_one()  # type: ignore[arg-type]
    with writing(platform.sessions) as session:
        # It held the next one when its host died.
        request = claims.ClaimRequest("cpu", languages_of("cpu"), "w", clock(session), 1.0, machine=HERE)
        lost = claims.claim(session, request).held
        assert lost is not None
        again = claims.claim(session, request).held
        assert again is None, "nothing of a final is judged out of its order"
        session.get_one(SubmissionRow, lost.id).lease_until = utcnow() - timedelta(seconds=1)
    assert sweep(platform).reclaimed == 1
    assert _executor(platform, worker, course()).serve_one()
    done = finals.get_final(platform, staff, "cup")
    assert (done.done, done.judged, len(course.jobs)) == (True, 6, 6)
    with platform.sessions() as session:
        places = [run.place for run, _ in record.final_runs(session, 1)]
        finished = [row.finished_at for _, row in record.final_runs(session, 1)]
    assert places == list(range(6))
    assert finished == sorted(moment for moment in finished if moment is not None)


def test_restarting_a_final_repeats_our_failures(
    platform: Platform, staff: User, finalists: list[User], worker: Heartbeat
) -> None:
    _start(platform, staff, repeats=1)
    course = Course()
    broken = raises(JudgeFailure("The GPU fell off the bus."))
    executor = _executor(platform, worker, broken, broken, broken, course())
    assert executor.serve_one()
    view = finals.get_final(platform, staff, "cup")
    assert (view.done, view.failed, view.judged) == (False, 1, 2)
    with pytest.raises(Conflict, match="1 judgements of the final are missing"):
        finals.publish_results(platform, staff, "cup")
    assert _start(platform, staff, repeats=1).failed == 0
    assert executor.serve_one()
    assert finals.get_final(platform, staff, "cup").done


def test_a_wrong_repeat_leaves_no_time(
    platform: Platform, staff: User, finalists: list[User], worker: Heartbeat
) -> None:
    _start(platform, staff, repeats=1)
    course = Course()
    assert _executor(platform, worker, judged(Verdict.WRONG_ANSWER), course()).serve_one()
    view = finals.get_final(platform, staff, "cup")
    assert [entry.failed for entry in view.entries if entry.failed] == ["wrong_answer in repeat 1"]
    rows = board(platform, staff, "cup").rows
    assert len(rows) == 4


@pytest.mark.parametrize(("repeats", "why"), [(1, ["no time in repeat 1"]), (3, [])])
def test_a_repeat_without_a_time_is_ignored_if_most_have_one(
    platform: Platform, staff: User, finalists: list[User], worker: Heartbeat, repeats: int, why: list[str]
) -> None:
    def untimed(job: Job, on_progress: object, cancelled: object) -> Outcome:
        return Outcome(
            report=report_for(job).model_copy(update={"score": Score(time_us=None, passed=1, total=1)})
        )

    _start(platform, staff, repeats=repeats)
    assert _executor(platform, worker, untimed, Course()()).serve_one()
    view = finals.get_final(platform, staff, "cup")
    assert [entry.failed for entry in view.entries if entry.failed] == why
    assert [len(entry.runs) for entry in view.entries] == [repeats] * 3
    assert sum(entry.time_us is None for entry in view.entries) == len(why)
    assert [entry.untimed for entry in view.entries if entry.untimed] == [[1]]
    # Nobody moves up in the repeat in which somebody has no time.
    assert view.rank_changes is not None
    assert (view.rank_changes.changed, view.rank_changes.swaps) == (0, 0)


def test_only_the_named_machine_judges_a_final(
    platform: Platform, staff: User, finalists: list[User], worker: Heartbeat
) -> None:
    with pytest.raises(Conflict, match="No live worker of GPU-unknown"):
        _start(platform, staff, machine="GPU-unknown")
    _start(platform, staff)
    with writing(platform.sessions) as session:
        request = claims.ClaimRequest("cpu", languages_of("cpu"), "w2", clock(session), 1.0, machine="other")
        assert claims.claim(session, request).held is None
    with pytest.raises(Conflict, match="has already begun"):
        _start(platform, staff, repeats=4)
    finals.cancel_final(platform, staff, "cup")
    with platform.sessions() as session:
        assert {row.state for row in session.query(SubmissionRow) if row.machine} == {State.CANCELLED}
    assert _start(platform, staff, repeats=4).total == 12


def test_restarting_a_final_replaces_cancelled_repeats(
    platform: Platform, staff: User, finalists: list[User], worker: Heartbeat
) -> None:
    view = _start(platform, staff, repeats=1)
    cancel(platform, staff, view.entries[0].runs[0].submission)
    assert _start(platform, staff, repeats=1).total == 3
    assert _executor(platform, worker, Course()()).serve_one()
    assert finals.get_final(platform, staff, "cup").done


def test_a_replaced_repeat_stays_void(
    platform: Platform, staff: User, finalists: list[User], worker: Heartbeat
) -> None:
    (entry, *_) = _start(platform, staff, repeats=1).entries
    voids.void(platform, staff, entry.source, VoidBody(reason="Copied."))
    cancel(platform, staff, entry.runs[0].submission)
    _start(platform, staff, repeats=1)
    assert _executor(platform, worker, Course()()).serve_one()
    view = finals.get_final(platform, staff, "cup")
    assert [(entry.team, entry.failed) for entry in view.entries if entry.failed] == [
        (entry.team, "voided by the staff")
    ]
    assert board(platform, staff, "cup", kind=BoardKind.FINAL).rows[-1].team == entry.team


def test_a_final_starts_only_when_everything_is_judged(
    platform: Platform, staff: User, finalists: list[User], worker: Heartbeat
) -> None:
    with writing(platform.sessions) as session:
        row = session.query(SubmissionRow).first()
        assert row is not None
        row.state, row.verdict, row.finished_at = State.QUEUED, None, None
    with pytest.raises(Conflict, match="1 submissions received before the end"):
        _start(platform, staff)
    with pytest.raises(NotAllowed):
        finals.start_final(platform, finalists[0], "cup", FinalBody(machine=HERE))


def test_a_competition_uses_the_same_public_data_for_all(
    platform: Platform, staff: User, worker: Heartbeat
) -> None:
    made = make(platform, staff)
    course = Course()
    for user in people(platform, 2):
        enter(platform, user)
        submit(platform, user, body())
    executor = _executor(platform, worker, course())
    assert executor.serve_one()
    assert executor.serve_one()
    key = competition_draws.provisional_key(made.public_seed, "scale")
    assert [job.seed_key for job in course.jobs] == [key, key]
    assert [job.workloads for job in course.jobs] == [[], []]
