from __future__ import annotations

from pathlib import Path

import pytest

from grader.errors import Conflict, JudgeFailure
from grader.queue.calibrate import calibrate
from grader.queue.gpu_lock import hold, holder, lock_folder
from grader.records import ceilings
from grader.records.ceilings import CalibrationKey
from grader.sandbox.gpu import nvidia_driver
from grader.service.platform import Platform
from grader.settings import Settings
from tests.queue.gpus import H200
from tests.service.world import make_settings


class Meter:
    torch_version = "2.8"
    device_model = "NVIDIA H200"
    architecture = "sm_90a"

    def __init__(self, *found: dict[str, float]) -> None:
        self._found = list(found)
        self.closed = 0

    def calibrate(self) -> dict[str, float]:
        if not self._found:
            raise JudgeFailure("no GPU")
        return self._found.pop(0)

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def settings(tmp_path: Path, redis_url: str) -> Settings:
    return make_settings(tmp_path, redis_url, lock_dir=tmp_path / "locks")


def test_the_last_calibration_is_kept(platform: Platform, settings: Settings) -> None:
    meter = Meter({"bandwidth": 1.0, "rate:float32": 2.0}, {"bandwidth": 3.0})
    for found in ({"bandwidth": 1.0, "rate:float32": 2.0}, {"bandwidth": 3.0}):
        assert calibrate(settings, H200, meter) == found
        with platform.sessions() as session:
            assert ceilings.read(session, CalibrationKey(H200.uuid, nvidia_driver(), "2.8")) == found
            assert ceilings.read(session, CalibrationKey(H200.uuid, nvidia_driver(), "2.9")) == {}
            assert ceilings.read(session, CalibrationKey(H200.uuid, "999.1", "2.8")) == {}
    assert meter.closed == 2


def test_a_gpu_in_service_is_not_calibrated(settings: Settings) -> None:
    meter = Meter({})
    with hold(H200.uuid, lock_folder(settings)), pytest.raises(Conflict, match="already in use"):
        calibrate(settings, H200, meter)


def test_a_failed_calibration_releases_gpu_and_judge(settings: Settings) -> None:
    meter = Meter()
    with pytest.raises(JudgeFailure, match="no GPU"):
        calibrate(settings, H200, meter)
    assert meter.closed == 1
    assert holder(H200.uuid, lock_folder(settings)) is None
