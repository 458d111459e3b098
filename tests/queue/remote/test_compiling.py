"""Compile workers and calibrations over HTTPS."""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path

import pytest

from grader import limits
from grader.queue import calibrate
from grader.queue.compile_executor import CompileExecutor
from grader.queue.coordinator import Registration
from grader.queue.heartbeat import Heartbeat
from grader.queue.worker import run_compile_worker, run_worker
from grader.records import artefacts, ceilings, gpus
from grader.records.ceilings import CalibrationKey
from grader.records.engine import writing
from grader.records.gpus import GpuRecord
from grader.records.models import ArtefactRow, WorkerRow, utcnow
from grader.sandbox.gpu import GPU_KINDS
from grader.schemas.artefact import Artefact
from grader.schemas.report import Verdict
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.service.submissions.submissions import get_submission
from grader.service.submissions.submit import submit
from grader.settings import Settings
from tests.queue.fakes import LIBRARY, FakeCompiler, FakeJudge, NoBoxes
from tests.queue.gpus import H200
from tests.queue.remote.conftest import MakeCoordinator, Served
from tests.service.world import body

COMPILES = Registration("", [], None, compiles=True)


@pytest.fixture
def platform(platform: Platform) -> Platform:
    with writing(platform.sessions) as session:
        gpus.register(session, GpuRecord("GPU-1", "h200", "NVIDIA H200", "sm_90a"), utcnow())
    return platform


def test_one_host_compiles_and_another_runs(
    platform: Platform, student: User, remote_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = submit(platform, student, body(filename="a.cu", device="h200")).id
    run_compile_worker(remote_settings, "c", burst=True, boxes=NoBoxes(), compiler=FakeCompiler())
    monkeypatch.setattr("grader.queue.worker.nvcc_version", lambda: None)
    monkeypatch.setattr("grader.queue.executor.nvcc_version", lambda: None)
    settings = remote_settings.model_copy(update={"lock_dir": remote_settings.data_dir / "locks"})
    judge = FakeJudge()
    run_worker(settings, "r", burst=True, judge=judge, boxes=NoBoxes(), gpu=H200)
    assert get_submission(platform, student, sent).verdict is Verdict.ACCEPTED
    (job,) = judge.jobs
    assert job.artefact is not None
    assert job.artefact.library == LIBRARY
    with platform.sessions() as session:
        found = session.query(WorkerRow).filter_by(name="r").one()
        assert (found.gpu, found.device) == (H200.uuid, "h200")
        assert gpus.architectures(session)["h200"] == judge.architecture


@pytest.mark.parametrize("reserved", [True, False])
def test_a_large_library_is_sent_in_parts(
    platform: Platform,
    student: User,
    served: Served,
    make_coordinator: MakeCoordinator,
    monkeypatch: pytest.MonkeyPatch,
    reserved: bool,
) -> None:
    monkeypatch.setattr(limits, "ARTEFACT_PART_BYTES", 1000)
    coordinator = make_coordinator("c")
    coordinator.register(COMPILES)
    library = bytes(range(256)) * 10
    artefact = Artefact(
        key="k", arch="sm_90a", toolkit="13", library=library, sha256=hashlib.sha256(library).hexdigest()
    )
    if reserved:
        assert coordinator.reserve_kernels("k", student.id)
        assert not coordinator.reserve_kernels("k", student.id)
        coordinator.fill_kernels(artefact)
    else:
        coordinator.keep_artefact(artefact)
        assert coordinator.use_artefact("k")
    assert served.calls.count("artefact/part") == 3
    assert coordinator.artefact("k") == artefact
    with platform.sessions() as session:
        assert session.query(ArtefactRow).count() == 1, "the parts are gone"
        assert artefacts.read(session, "k") == artefact


def test_a_compiler_over_https_gives_back_what_it_cannot_finish(
    platform: Platform, student: User, make_coordinator: MakeCoordinator
) -> None:
    sent = submit(platform, student, body(filename="a.cu", device="h200")).id
    coordinator, stopping = make_coordinator("c"), threading.Event()
    coordinator.register(COMPILES)
    compiler = FakeCompiler(lambda interrupt: (stopping.set(), interrupt())[1])  # type: ignore[arg-type,func-returns-value]
    executor = CompileExecutor(coordinator, compiler, Heartbeat(coordinator), stopping)
    assert executor.serve_one()
    assert get_submission(platform, student, sent).state == "queued"
    assert platform.wakeups.waiting("compile") == 2


def test_a_calibration_over_https_is_stored(
    platform: Platform, remote_settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Calibrator(FakeJudge):
        def calibrate(self) -> dict[str, float]:
            return {"bandwidth": 3e12}

    settings = remote_settings.model_copy(update={"lock_dir": tmp_path / "locks"})
    assert calibrate.calibrate(settings, H200, Calibrator()) == {"bandwidth": 3e12}
    key = CalibrationKey(H200.uuid, GPU_KINDS[H200.kind].driver_version(), "0")
    with platform.sessions() as session:
        assert ceilings.read(session, key) == {"bandwidth": 3e12}
