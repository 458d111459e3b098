"""Workers on real GPUs: one each, at the same time, and their ceilings."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.device_kinds import board_name
from grader.errors import Conflict
from grader.judge.process import JudgeProcess
from grader.queue.calibrate import calibrate
from grader.queue.gpu_lock import hold, lock_folder
from grader.queue.worker import run_worker
from grader.records import ceilings
from grader.records.ceilings import CalibrationKey
from grader.records.models import SubmissionRow
from grader.sandbox.gpu import Gpu, find_gpus, nvidia_driver
from grader.schemas.report import Report, Verdict
from grader.service.accounts.accounts import User, create_user
from grader.service.operation.health import health
from grader.service.platform import Platform, open_platform
from grader.service.submissions.submissions import get_report, get_submission
from grader.service.submissions.submit import submit
from grader.settings import Settings
from tests.service.fixtures import redis_server, redis_url  # noqa: F401 - fixtures
from tests.service.world import body, until

ROOT = Path(__file__).resolve().parents[2]
SOLUTION = (ROOT / "reference" / "vector_add" / "staff" / "solution.cu").read_text()
# Torch, contexts and first compilations of several workers at once.
PATIENCE_SECONDS = 240.0


@pytest.fixture
def settings(tmp_path: Path, redis_url: str) -> Settings:  # noqa: F811 - a fixture
    return Settings(
        data_dir=tmp_path / "data",
        redis_url=redis_url,
        challenges=ROOT,
        box="local",
        lock_dir=tmp_path / "locks",
    )


@pytest.fixture
def platform(settings: Settings) -> Iterator[Platform]:
    platform = open_platform(settings)
    yield platform
    platform.close()


@pytest.fixture
def student(platform: Platform) -> User:
    return create_user(platform, "ada", "correct horse")


StartWorker = Callable[[Gpu], "subprocess.Popen[bytes]"]


@pytest.fixture
def start_worker(settings: Settings) -> Iterator[StartWorker]:
    """Starts `grader worker --gpu UUID` processes and ends them."""
    from grader.cli.config import environment

    started: list[subprocess.Popen[bytes]] = []

    def start(gpu: Gpu) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "grader.cli.main", "worker", "--gpu", gpu.uuid]
        started.append(subprocess.Popen(command, env=environment(settings)))
        return started[-1]

    yield start
    for process in started:
        process.terminate()
    for process in started:
        process.wait(30)


def _judged(platform: Platform, student: User, sent: str) -> Report:
    until(lambda: get_submission(platform, student, sent).state.final, "an end", PATIENCE_SECONDS)
    return get_report(platform, student, sent)


def _send(platform: Platform, student: User, gpu: Gpu) -> str:
    sent = body(challenge="vector_add", filename="a.cu", source=SOLUTION, device=board_name(gpu.name))
    return submit(platform, student, sent).id


def test_a_worker_serves_the_board_of_its_gpu(
    platform: Platform, student: User, start_worker: StartWorker
) -> None:
    gpu = find_gpus()[0]
    worker = start_worker(gpu)
    until(lambda: board_name(gpu.name) in health(platform).devices, "its board", PATIENCE_SECONDS)
    assert _judged(platform, student, _send(platform, student, gpu)).verdict is Verdict.ACCEPTED
    assert worker.poll() is None
    with (
        pytest.raises(Conflict, match=f"process {worker.pid} holds it"),
        hold(gpu.uuid, lock_folder(platform.settings)),
    ):
        pass


def test_calibrated_ceilings_are_kept_and_used(platform: Platform, settings: Settings, student: User) -> None:
    gpu = find_gpus()[0]
    found = calibrate(settings, gpu)
    # A check of units, not of models: wider than all GPUs of the last decade and the next.
    assert 1e11 < found["bandwidth"] < 1e14
    assert found["rate:float16"] > found["rate:float32"] > 1e12
    with JudgeProcess("local", 0, board_name(gpu.name), gpu.index) as judge:
        gauge = CalibrationKey(gpu.uuid, nvidia_driver(), judge.torch_version)
    with platform.sessions() as session:
        assert ceilings.read(session, gauge) == pytest.approx(found)


def test_a_good_gpu_passes_its_probe_again_and_again() -> None:
    gpu = find_gpus()[0]
    with JudgeProcess("local", 0, board_name(gpu.name), gpu.index) as judge:
        judge.probe()
        first = judge.pid
        judge.probe()
        assert judge.pid != first


def test_several_gpus_serve_in_parallel(platform: Platform, student: User, start_worker: StartWorker) -> None:
    gpus = find_gpus()
    if len(gpus) < 2:
        pytest.skip("one GPU only")
    for gpu in gpus[:2]:
        start_worker(gpu)
    board = board_name(gpus[0].name)
    until(lambda: f"{board}: 2 alive" in health(platform).parts["workers"].detail, "two", PATIENCE_SECONDS)
    sent = [_send(platform, student, gpus[0]) for _ in range(6)]
    busy: set[frozenset[str]] = set()
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not all(get_submission(platform, student, submission).state.final for submission in sent):
        assert time.monotonic() < deadline
        with platform.sessions() as session:
            workers = session.query(SubmissionRow.worker).where(SubmissionRow.worker.is_not(None))
            busy.add(frozenset(name for (name,) in workers))
        time.sleep(0.02)
    assert {get_submission(platform, student, submission).verdict for submission in sent} == {
        Verdict.ACCEPTED
    }
    assert max(len(names) for names in busy) == 2


def test_the_worker_process_itself_has_no_context(settings: Settings, platform: Platform) -> None:
    """All of CUDA is in the judge's process: a worker in this very process starts and ends on the real GPU."""
    gpu = find_gpus()[0]
    thread = threading.Thread(target=run_worker, args=(settings,), kwargs={"burst": True, "gpu": gpu})
    thread.start()
    thread.join(PATIENCE_SECONDS)
    assert not thread.is_alive()
    assert health(platform).alerts == []
