from __future__ import annotations

import socket
from collections.abc import Callable

from grader import limits
from grader.errors import BoxUnavailable, GraderError
from grader.logs import get_logger
from grader.queue.coordinator import FAILED, Coordinator
from grader.queue.gpus import record_of
from grader.queue.judge import Judge
from grader.records.ceilings import CalibrationKey
from grader.sandbox.gpu import GPU_KINDS, Gpu
from grader.service.operation.health import fix_of

log = get_logger(__name__)


class GpuHealth:
    """``stop`` makes the worker take no other submission."""

    def __init__(self, coordinator: Coordinator, judge: Judge, gpu: Gpu, stop: Callable[[], None]) -> None:
        self._coordinator = coordinator
        self._judge = judge
        self._gpu = gpu
        self._stop = stop
        self._driver = GPU_KINDS[gpu.kind].driver_version()
        self._failures = 0
        self.trouble = ""

    @property
    def gpu_uuid(self) -> str:
        return self._gpu.uuid

    def probe_first(self) -> None:
        """Put a good GPU into service. Raises BoxUnavailable if it is bad."""
        if self._is_bad():
            raise self.error()
        self._coordinator.put_in_service(record_of(self._gpu, self._judge))

    def record_success(self) -> None:
        self._failures = 0

    def record_failure(self) -> bool:
        """True if the GPU turns out to be bad."""
        self._failures += 1
        if self._failures < min(limits.BAD_GPU_FAILURES, self._coordinator.attempts):
            return False
        return self._is_bad()

    @property
    def calibration_key(self) -> CalibrationKey:
        return CalibrationKey(self._gpu.uuid, self._driver, self._judge.torch_version)

    def error(self) -> BoxUnavailable:
        hint = fix_of(self._gpu.uuid, socket.gethostname())
        return BoxUnavailable(f"GPU {self._gpu.index} is out of service: {self.trouble}", hint)

    def _is_bad(self) -> bool:
        try:
            self._judge.probe()
        except GraderError as error:
            self.trouble = f"{error.message} {error.hint}".strip()
        else:
            return False
        log.error("gpu_out_of_service", gpu=self._gpu.uuid, reason=self.trouble)
        self._stop()
        try:
            self._coordinator.take_out_of_service(self._gpu.uuid, self.trouble)
        except FAILED as error:
            log.warning("alert_not_written", error=type(error).__name__)
        return True
