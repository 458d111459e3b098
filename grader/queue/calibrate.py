from __future__ import annotations

from contextlib import closing
from typing import Protocol

from grader.device_kinds import board_of
from grader.queue.gpu_lock import hold, lock_folder
from grader.queue.gpus import record_of
from grader.queue.worker import make_coordinator
from grader.records.ceilings import CalibrationKey
from grader.sandbox.gpu import GPU_KINDS, Gpu
from grader.settings import Settings


class Calibrator(Protocol):
    @property
    def torch_version(self) -> str: ...

    @property
    def device_model(self) -> str: ...

    @property
    def architecture(self) -> str: ...

    def calibrate(self) -> dict[str, float]:
        """Raises JudgeFailure."""

    def close(self) -> None: ...


def calibrate(settings: Settings, gpu: Gpu, judge: Calibrator | None = None) -> dict[str, float]:
    """Store ``bandwidth`` in bytes/s and ``rate:DTYPE`` in flop/s. Raises JudgeFailure, and Conflict if a
    worker holds the GPU.
    """
    with hold(gpu.uuid, lock_folder(settings)):
        judge = judge or _judge(settings, gpu)
        try:
            found = judge.calibrate()
            gauge = CalibrationKey(gpu.uuid, GPU_KINDS[gpu.kind].driver_version(), judge.torch_version)
            record = record_of(gpu, judge)
        finally:
            judge.close()
    with closing(make_coordinator(settings, "calibrate")) as coordinator:
        coordinator.keep_ceilings(gauge, found, record)
    return found


def _judge(settings: Settings, gpu: Gpu) -> Calibrator:
    from grader.judge.process import JudgeProcess

    indices = [each.index for each in gpu.every]
    return JudgeProcess(settings.box, 0, board_of(gpu), indices, options=settings.sandbox)
