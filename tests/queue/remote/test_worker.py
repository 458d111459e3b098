"""Workers over HTTPS, with a judge that judges nothing, and the application in this process."""

from __future__ import annotations

import stat
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from grader.challenge import bundle, fingerprint
from grader.errors import BadBundle, BadRequest, Conflict, NotAllowed, NotSignedIn, Unreachable
from grader.judge.job import Job, JudgingProgress, Outcome
from grader.judge.process import Cancelled
from grader.languages import Language
from grader.queue import finaliser, worker
from grader.queue.coordinator import Registration, ServerAway, Standing
from grader.queue.loop import Stopper
from grader.queue.remote import RemoteCoordinator
from grader.queue.worker import make_coordinator as make
from grader.queue.worker import run_worker
from grader.queue.worker_calls import WaitCall
from grader.records import gpus, workers
from grader.records.engine import writing
from grader.records.gpus import GpuRecord
from grader.records.models import ReportRow, SubmissionRow, WorkerRow, WorkerTokenRow, utcnow
from grader.schemas.report import Verdict
from grader.schemas.submission import ProgressView, State
from grader.schemas.worker_token import WorkerTokenBody
from grader.service.accounts.accounts import User
from grader.service.challenges import versions
from grader.service.operation import queues, worker_tokens
from grader.service.operation.queues import issue_missing_wakeups
from grader.service.platform import Platform
from grader.service.submissions.submissions import get_report, get_submission
from grader.service.submissions.submit import submit
from grader.settings import Settings
from tests.queue.fakes import FakeJudge, NoBoxes, judged
from tests.queue.remote.conftest import MakeCoordinator, Served
from tests.service.world import body, until

ON_CPU = Registration("cpu", [Language.TRITON], None, compiles=False)
COMPILES = Registration("", [Language.CUDA], None, compiles=True)


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finaliser, "_WRITE_PAUSES_S", (0.0, 0.0, 0.0))
    monkeypatch.setattr(worker, "_DATABASE_PAUSE_S", 0.0)
    monkeypatch.setattr("grader.queue.remote._PAUSE_SECONDS", 0.0)


def test_a_host_without_database_and_redis_judges(
    platform: Platform, student: User, remote_settings: Settings
) -> None:
    sent = [submit(platform, student, body()).id for _ in range(2)]
    judge = FakeJudge(judged(Verdict.WRONG_ANSWER, {"small": {"eager": 5.0}}), judged())
    run_worker(remote_settings, "w", burst=True, judge=judge, boxes=NoBoxes())
    seen = [get_submission(platform, student, public_id) for public_id in sent]
    assert [(view.state, view.verdict) for view in seen] == [
        (State.DONE, Verdict.WRONG_ANSWER),
        (State.DONE, Verdict.ACCEPTED),
    ]
    assert get_report(platform, student, sent[0]).cases[0].detail == "0 is not 1"
    assert [job.baselines for job in judge.jobs] == [{}, {"small": {"eager": 5.0}}]


def test_a_claim_whose_answer_is_lost_is_answered_again(
    platform: Platform, student: User, served: Served, make_coordinator: MakeCoordinator
) -> None:
    """Protects against a submission that nobody judges until its lease ends."""
    sent = submit(platform, student, body()).id
    coordinator = make_coordinator()
    coordinator.register(ON_CPU)
    served.lose += ["claim"]
    with pytest.raises(ServerAway):
        coordinator.claim("cpu", None, "here")
    assert get_submission(platform, student, sent).state is State.TESTING or _attempt(platform) == 1
    held = coordinator.claim("cpu", None, "here")
    assert held is not None
    assert (held.public_id, held.attempt, _attempt(platform)) == (sent, 1, 1)
    assert coordinator.claim("cpu", None, "here") is None


def test_a_lost_answer_to_compile_is_given_again(
    platform: Platform, student: User, served: Served, make_coordinator: MakeCoordinator
) -> None:
    sent = submit(platform, student, body(filename="a.cu", device="h200")).id
    coordinator = make_coordinator("c")
    coordinator.register(COMPILES)
    with writing(platform.sessions) as session:
        gpus.register(session, GpuRecord("GPU-1", "h200", "paper", "sm_90a"), utcnow())
    served.lose += ["claim-to-compile"]
    with pytest.raises(ServerAway):
        coordinator.claim_to_compile()
    found = coordinator.claim_to_compile()
    assert found is not None
    assert (found.held.public_id, found.held.attempt, found.architecture) == (sent, 1, "sm_90a")


@pytest.mark.parametrize("fault", ["lose", "fail"])
@pytest.mark.parametrize("call", ["register", "wait", "claim", "archive", "draws", "progress", "finish"])
def test_a_submission_survives_a_fault_of_any_call(
    platform: Platform, student: User, served: Served, remote_settings: Settings, fault: str, call: str
) -> None:
    """Once: what was carried out but not answered is not done twice."""
    sent = submit(platform, student, body()).id
    getattr(served, fault).append(call)
    if call == "register":
        # It ends, and its supervisor starts it again.
        with pytest.raises(Unreachable):
            run_worker(remote_settings, "w", burst=True, judge=FakeJudge(), boxes=NoBoxes())
    for _ in range(3):
        issue_missing_wakeups(platform)
        run_worker(remote_settings, "w", burst=True, judge=FakeJudge(_tells), boxes=NoBoxes())
    seen = get_submission(platform, student, sent)
    assert (seen.state, seen.verdict) == (State.DONE, Verdict.ACCEPTED)
    assert served.calls.count(call) > (call != "progress")
    with platform.sessions() as session:
        assert session.query(ReportRow).count() == 1
        assert session.query(SubmissionRow.failures).scalar() == 0


def test_a_revoked_token_ends_its_worker_and_frees_its_submission(
    platform: Platform, student: User, staff: User, remote_settings: Settings, tmp_path: Path
) -> None:
    sent = submit(platform, student, body()).id

    def act(
        job: Job, on_progress: Callable[[JudgingProgress], None], cancelled: Callable[[], bool]
    ) -> Outcome:
        worker_tokens.revoke(platform, staff, "campus")
        until(cancelled, "the worker learns it")
        raise Cancelled

    with pytest.raises(NotSignedIn, match="not a valid worker token"):
        run_worker(remote_settings, "w", judge=FakeJudge(act), boxes=NoBoxes())
    seen = get_submission(platform, student, sent)
    assert (seen.state, seen.error) == (State.QUEUED, "")
    with platform.sessions() as session:
        assert session.query(SubmissionRow.failures).scalar() == 0
        assert session.query(WorkerRow).one().token_id is None
    assert platform.wakeups.waiting("run:cpu") == 1


def test_a_worker_writes_only_what_it_holds_itself(
    platform: Platform, student: User, staff: User, make_coordinator: MakeCoordinator
) -> None:
    submit(platform, student, body())
    first, second = make_coordinator("first"), make_coordinator("second")
    first.register(ON_CPU)
    second.register(ON_CPU)
    held = first.claim("cpu", None, "here")
    assert held is not None
    assert second.give_back(held, "") is None
    assert second.look(held, beat=True, reading=None) == Standing(draining=False)
    assert first.look(held, beat=True, reading=None) == Standing(draining=False, held=True)
    strangers = make_coordinator(
        "first", worker_tokens.issue(platform, staff, WorkerTokenBody(name="rented")).token
    )
    with pytest.raises(NotAllowed, match="not a worker of this token"):
        strangers.give_back(held, "")
    with pytest.raises(Conflict, match="Another worker has this name"):
        strangers.register(ON_CPU)
    assert first.give_back(held, "") is State.QUEUED


def test_a_worker_does_not_take_the_name_of_one_with_the_databases_password(
    platform: Platform, make_coordinator: MakeCoordinator
) -> None:
    with writing(platform.sessions) as session:
        workers.register(session, "w", "cpu", [Language.TRITON], utcnow())
    with pytest.raises(Conflict, match="Another worker has this name"):
        make_coordinator().register(ON_CPU)


def test_a_token_serves_only_its_boards(
    platform: Platform, staff: User, make_coordinator: MakeCoordinator
) -> None:
    issued = worker_tokens.issue(platform, staff, WorkerTokenBody(name="narrow", devices=["h200"]))
    coordinator = make_coordinator("w", issued.token)
    with pytest.raises(NotAllowed, match="does not serve the board 'cpu'"):
        coordinator.register(ON_CPU)
    with pytest.raises(NotAllowed, match="does not serve the compile queue"):
        coordinator.register(COMPILES)
    coordinator.register(replace(ON_CPU, device="h200", compiles=True))
    assert coordinator.claim_to_compile() is None


def test_an_expired_token_is_refused(
    platform: Platform, token: str, make_coordinator: MakeCoordinator
) -> None:
    with writing(platform.sessions) as session:
        session.query(WorkerTokenRow).update({"expires_at": utcnow() - timedelta(seconds=1)})
    with pytest.raises(NotSignedIn, match="'campus' has expired"):
        make_coordinator().register(ON_CPU)


def test_a_worker_that_ends_holds_nothing(
    platform: Platform, student: User, served: Served, make_coordinator: MakeCoordinator
) -> None:
    sent = submit(platform, student, body()).id
    coordinator = make_coordinator()
    coordinator.register(ON_CPU)
    served.lose += ["claim"]
    with pytest.raises(ServerAway):
        coordinator.claim("cpu", None, "here")
    coordinator.leave()
    assert get_submission(platform, student, sent).state is State.QUEUED


def test_a_served_challenge_is_fetched_once_and_checked(
    platform: Platform, served: Served, make_coordinator: MakeCoordinator, tmp_path: Path
) -> None:
    coordinator = make_coordinator()
    coordinator.register(ON_CPU)
    first, second = coordinator.serve("scale"), coordinator.serve("scale")
    assert first.root == second.root
    assert first.root.is_relative_to(tmp_path / "node")
    assert served.calls.count("archive") == 1
    assert first.version == versions.serve(platform, platform.catalogue.load("scale"))
    assert fingerprint.content(first.challenge) == fingerprint.content(platform.catalogue.load("scale"))
    assert stat.S_IMODE((tmp_path / "node").stat().st_mode) == 0o700
    spec = platform.catalogue.root / "challenges" / "scale" / "spec.md"
    spec.write_text("other words\n")
    assert coordinator.serve("scale").challenge.folder.joinpath("spec.md").read_text() == "other words\n"
    assert served.calls.count("archive") == 2


def test_other_files_than_those_asked_for_are_not_used(tmp_path: Path, platform: Platform) -> None:
    packed = bundle.snapshot(platform.catalogue.load("scale"))
    with pytest.raises(BadBundle, match="not those that were asked for"):
        bundle.unpack_snapshot(packed.packed(), "scale", "0" * 64, tmp_path / "x")
    with pytest.raises(BadBundle, match="not a file of other"):
        bundle.unpack_snapshot(packed.packed(), "other", packed.digest, tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_a_signal_ends_a_worker_that_waits(
    platform: Platform, remote_settings: Settings, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopper = Stopper()
    monkeypatch.setattr("grader.queue.worker.Stopper", lambda: stopper)
    monkeypatch.setattr(
        "grader.web.waiting.ending", stopper.event
    )  # the server's thread shall end with the test
    threading.Thread(
        target=lambda: (until(lambda: "wait" in served.calls, "a wait"), stopper.stop()), daemon=True
    ).start()
    began = time.monotonic()
    run_worker(remote_settings, "w", judge=FakeJudge(), boxes=NoBoxes())
    assert time.monotonic() - began < 10
    with platform.sessions() as session:
        assert session.query(WorkerRow).one().ended_at is not None


def test_a_wakeup_for_a_worker_that_left_is_issued_again(
    platform: Platform, make_coordinator: MakeCoordinator
) -> None:
    coordinator = make_coordinator()
    coordinator.register(ON_CPU)
    coordinator.leave()
    platform.wakeups.enqueue("run:cpu")
    wait = WaitCall(worker="w", queues=["run:cpu"], seconds=0)
    assert coordinator._wait(wait, Stopper()) is None
    assert platform.wakeups.waiting("run:cpu") == 1


@pytest.mark.parametrize("server", ["http://grader.uni.edu", "ftp://x", "grader.uni.edu", ""])
def test_a_token_goes_over_no_network_in_the_clear(server: str, tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="cannot be a worker's server"):
        RemoteCoordinator(server, "grw_x", "w", tmp_path)


def test_a_server_without_a_token_is_refused(remote_settings: Settings) -> None:
    with pytest.raises(BadRequest, match="needs a worker's token"):
        make(remote_settings.model_copy(update={"worker_token": ""}), "w")


def test_a_draining_worker_over_https_ends(
    platform: Platform, student: User, staff: User, remote_settings: Settings
) -> None:
    sent = submit(platform, student, body()).id

    def act(
        job: Job, on_progress: Callable[[JudgingProgress], None], cancelled: Callable[[], bool]
    ) -> Outcome:
        queues.drain_worker(platform, staff, "w")
        assert not cancelled()
        return judged()(job, on_progress, cancelled)

    run_worker(remote_settings, "w", judge=FakeJudge(act), boxes=NoBoxes())
    assert get_submission(platform, student, sent).verdict is Verdict.ACCEPTED


def _tells(
    job: Job, on_progress: Callable[[JudgingProgress], None], cancelled: Callable[[], bool]
) -> Outcome:
    on_progress(JudgingProgress(state=State.TESTING, progress=ProgressView(done=1, total=3, label="seven")))
    return judged()(job, on_progress, cancelled)


def _attempt(platform: Platform) -> int:
    with platform.sessions() as session:
        return int(session.query(SubmissionRow.attempt).scalar())
