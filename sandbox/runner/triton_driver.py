"""A driver for Triton: for a GPU in the neighbouring process, or for none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# Triton and submissions read these.
PROPERTIES = {
    "multiprocessor_count": 132,
    "max_shared_mem": 232448,
    "max_num_regs": 65536,
    "warpSize": 32,
    "sm_clock_rate": 1410000,
    "mem_clock_rate": 1215000,
    "mem_bus_width": 5120,
}


class Driver:
    """``architecture``: such as 90. ``utils`` loads kernels, ``launcher`` launches them."""

    def __init__(self, architecture: int, utils: Any, launcher: Any) -> None:
        self.architecture = architecture
        self.utils = utils
        self.launcher_cls = launcher

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, number: int) -> None:
        pass

    def get_current_stream(self, number: int | None = None) -> int:
        return 0

    def get_device_capability(self, number: int | None = None) -> tuple[int, int]:
        return divmod(self.architecture, 10)

    def get_current_target(self) -> Any:
        from triton.backends.compiler import GPUTarget

        return GPUTarget("cuda", self.architecture, 32)

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cpu")

    def get_benchmarker(self) -> Callable[..., list[float]]:
        """Runs each configuration once."""

        def run_once(kernel_call: Callable[[], Any], quantiles: Any = None, **_: Any) -> list[float]:
            return [self.milliseconds(kernel_call)] * len(quantiles or (0.5, 0.2, 0.8))

        return run_once

    def milliseconds(self, kernel_call: Callable[[], Any]) -> float:
        kernel_call()
        return 1.0

    def get_empty_cache_for_benchmark(self) -> Any:
        import torch

        return torch.empty(0)

    def clear_cache(self, cache: Any) -> None:
        pass
