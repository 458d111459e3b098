"""A worker with a made-up GPU: what it serves, and what happens when the GPU is bad."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import select

from grader.errors import BoxUnavailable, Conflict, JudgeFailure
from grader.languages import Language
from grader.queue.finaliser import Finaliser
from grader.queue.gpu_lock import hold, holder, lock_folder
from grader.queue.worker import run_worker
from grader.records import ceilings, workers
from grader.records.ceilings import CalibrationKey
from grader.records.engine import writing
from grader.records.models import SubmissionRow, WorkerRow, utcnow
from grader.sandbox.gpu import nvidia_driver
from grader.schemas.report import Verdict
from grader.schemas.submission import State
from grader.service.accounts.accounts import User
from grader.service.operation.health import health
from grader.service.platform import Platform
from grader.service.submissions.submissions import get_submission
from grader.service.submissions.submit import submit
from grader.settings import Settings
from tests.queue.fakes import FakeCompiler, FakeJudge, NoBoxes, judged, raises
from tests.queue.gpus import H200, SECOND
from tests.service.world import body, make_settings

LOST = JudgeFailure("The GPU fell off the bus.")


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Finaliser, "pause_after_failure_s", 0.0)


@pytest.fixture
def settings(tmp_path: Path, redis_url: str, database: str) -> Settings:
    return make_settings(tmp_path, redis_url, devices="cpu,h200", lock_dir=tmp_path / "locks")


def _send(platform: Platform, student: User) -> str:
    return submit(platform, student, body(filename="a.cu", device="h200")).id


def _run(settings: Settings, judge: FakeJudge) -> None:
    run_worker(settings, burst=True, judge=judge, boxes=NoBoxes(), gpu=H200, compiler=FakeCompiler())


def _row(platform: Platform, public_id: str) -> SubmissionRow:
    with platform.sessions() as session:
        return session.scalars(select(SubmissionRow).where(SubmissionRow.public_id == public_id)).one()


def test_a_gpu_worker_serves_its_models_board_and_locks_its_gpu(
    platform: Platform, student: User, settings: Settings
) -> None:
    sent = _send(platform, student)
    submit(platform, student, body(device="cpu"))
    held: list[int | None] = []

    class Looks(FakeJudge):
        def probe(self) -> None:
            held.append(holder(H200.uuid, lock_folder(settings)))
            super().probe()

    judge = Looks()
    _run(settings, judge)
    assert [(job.device, job.language) for job in judge.jobs] == [("h200", Language.CUDA)]
    assert get_submission(platform, student, sent).verdict is Verdict.ACCEPTED
    assert None not in held
    assert holder(H200.uuid, lock_folder(settings)) is None
    assert judge.closed


def test_two_workers_never_serve_one_gpu(platform: Platform, settings: Settings) -> None:
    judge = FakeJudge()
    with hold(H200.uuid, lock_folder(settings)), pytest.raises(Conflict, match="holds it"):
        _run(settings, judge)
    assert judge.probes == 0
    with platform.sessions() as session:
        assert session.query(WorkerRow).count() == 0


def test_a_bad_gpu_ends_its_worker_and_costs_no_attempt(
    platform: Platform, student: User, settings: Settings
) -> None:
    sent = [_send(platform, student) for _ in range(3)]

    class GoesBad(FakeJudge):
        def probe(self) -> None:
            super().probe()
            self.trouble = "CUDA_ERROR_UNKNOWN"

    judge = GoesBad(raises(LOST))
    with pytest.raises(BoxUnavailable, match=r"GPU 0 is out of service: CUDA_ERROR_UNKNOWN") as caught:
        _run(settings, judge)
    assert H200.uuid in caught.value.hint
    # The first failure was counted, the second had the GPU probed: the worker took no third.
    assert (len(judge.jobs), judge.probes, judge.closed) == (2, 2, True)
    rows = [_row(platform, public_id) for public_id in sent]
    assert {row.state for row in rows} == {State.QUEUED}
    assert sum(row.failures for row in rows) == 1
    assert platform.wakeups.waiting("compile") >= 1
    with platform.sessions() as session:
        assert workers.alive(session, utcnow(), 60) == []

    seen = health(platform)
    (alert,) = seen.alerts
    assert "CUDA_ERROR_UNKNOWN" in alert.text
    assert "h200" in alert.text
    assert f"grader worker --gpu {H200.uuid}" in alert.hint
    assert not seen.parts["workers"].ok

    # Repaired: the next worker of this GPU clears the alert and judges the waiting ones.
    repaired = FakeJudge(judged())
    _run(settings, repaired)
    assert health(platform).alerts == []
    assert {get_submission(platform, student, public_id).verdict for public_id in sent} == {Verdict.ACCEPTED}


def test_a_judge_failure_on_a_good_gpu_does_not_end_the_worker(
    platform: Platform, student: User, settings: Settings
) -> None:
    sent = [_send(platform, student) for _ in range(2)]
    broken = raises(BoxUnavailable("the engine does not answer"))
    judge = FakeJudge(broken, broken, judged(Verdict.INTERNAL_ERROR), judged())
    _run(settings.model_copy(update={"attempts": 9}), judge)
    assert judge.probes == 3  # at the start, and after the second and the third failure in a row
    assert health(platform).alerts == []
    assert {get_submission(platform, student, public_id).verdict for public_id in sent} == {Verdict.ACCEPTED}


def test_a_single_failure_does_not_probe_the_gpu(
    platform: Platform, student: User, settings: Settings
) -> None:
    for _ in range(3):
        _send(platform, student)
    judge = FakeJudge(raises(LOST), judged(), raises(LOST), judged(), judged())
    _run(settings, judge)
    assert (len(judge.jobs), judge.probes) == (5, 1)


def test_without_retries_the_first_failure_probes_the_gpu(
    platform: Platform, student: User, settings: Settings
) -> None:
    sent = _send(platform, student)
    judge = FakeJudge(raises(LOST), judged())
    _run(settings.model_copy(update={"attempts": 1}), judge)
    assert judge.probes == 2
    assert _row(platform, sent).state is State.FAILED


def test_a_gpu_bad_from_the_start_claims_nothing_and_alerts_once(
    platform: Platform, student: User, settings: Settings
) -> None:
    sent = _send(platform, student)
    judge = FakeJudge()
    judge.trouble = "torch finds no NVIDIA GPU"
    for _ in range(3):  # as a supervisor would
        with pytest.raises(BoxUnavailable, match="torch finds no NVIDIA GPU"):
            _run(settings, judge)
    assert judge.jobs == []
    assert _row(platform, sent).attempt == 0
    assert len(health(platform).alerts) == 1
    with platform.sessions() as session:
        assert session.query(WorkerRow).count() == 1


def test_another_gpu_of_the_model_keeps_serving(
    platform: Platform, student: User, settings: Settings
) -> None:
    with writing(platform.sessions) as session:
        workers.register(session, "other", "h200", list(Language), utcnow(), SECOND.uuid)
        workers.register(session, "cpu", "cpu", [Language.TRITON], utcnow())
    judge = FakeJudge()
    judge.trouble = "broken"
    with pytest.raises(BoxUnavailable):
        _run(settings, judge)
    seen = health(platform)
    assert seen.ok
    assert len(seen.alerts) == 1
    assert seen.parts["workers"].detail == "cpu: 1 alive, h200: 1 alive"


def test_stored_ceilings_reach_the_judge(platform: Platform, student: User, settings: Settings) -> None:
    mine = CalibrationKey(H200.uuid, nvidia_driver(), FakeJudge.torch_version)
    with writing(platform.sessions) as session:
        ceilings.store(session, mine, {"bandwidth": 4e12, "rate:float16": 7e14})
        ceilings.store(session, CalibrationKey(SECOND.uuid, mine.driver, mine.torch), {"bandwidth": 1.0})
    _send(platform, student)
    submit(platform, student, body(device="cpu"))
    judge, host_judge = FakeJudge(), FakeJudge()
    _run(settings, judge)
    run_worker(settings, burst=True, judge=host_judge, boxes=NoBoxes())
    assert [job.ceilings for job in judge.jobs] == [{"bandwidth": 4e12, "rate:float16": 7e14}]
    assert [job.ceilings for job in host_judge.jobs] == [{}]


def test_the_worker_of_a_gpu_imports_no_torch() -> None:
    code = (
        "import sys, grader.queue.worker, grader.queue.calibrate, grader.cli.up, grader.judge.process;"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
