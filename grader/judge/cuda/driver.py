"""The CUDA driver, with errors as exceptions."""

from __future__ import annotations

import functools
from typing import Any

from grader.errors import BoxUnavailable

# Required attributes: the gate waits on a stream, the arena is mapped by file descriptor.
NEEDS = {
    "CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS": "stream memory operations",
    "CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED": "memory exported as file descriptors",
    "CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED": "virtual memory management",
}
NEEDS_MEND = (
    "Use a GPU of compute capability 7.0 or newer under Linux's own driver (not WSL, not every vGPU)."
)


class DriverError(Exception):
    """``name``: CUDA's name of the error."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


@functools.cache
def api() -> Any:
    """Raises BoxUnavailable if it or NVIDIA's driver is not installed."""
    try:
        from cuda.bindings import driver
    except ImportError as error:
        raise BoxUnavailable(
            "the package cuda-bindings is missing",
            "Run `pip install 'kernel-grader[cu13]'` (or [cu12]) on GPU workers.",
        ) from error
    try:
        driver.cuDriverGetVersion()
    except RuntimeError as error:  # only the first call looks for the driver's library
        raise BoxUnavailable(
            "NVIDIA's driver is missing: cuda-bindings finds no libcuda", "`nvidia-smi` must list the GPUs."
        ) from error
    return driver


def check(answer: Any) -> Any:
    """A call's results without its error code. Raises DriverError."""
    code, *results = answer if isinstance(answer, tuple) else (answer,)
    if int(code) != 0:
        raise DriverError(getattr(code, "name", str(code)))
    if not results:
        return None
    return results[0] if len(results) == 1 else tuple(results)


def lacking(index: int) -> list[str]:
    """Missing ``NEEDS``. Makes no context. Raises BoxUnavailable, DriverError."""
    check(api().cuInit(0))
    return [words for name, words in NEEDS.items() if not attribute(name, index)]


def can_reach(index: int, other: int) -> bool:
    cu = api()
    return bool(check(cu.cuDeviceCanAccessPeer(check(cu.cuDeviceGet(index)), check(cu.cuDeviceGet(other)))))


def attribute(name: str, index: int) -> int:
    """``name``: such as ``CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_64``."""
    cu = api()
    device = check(cu.cuDeviceGet(index))
    return int(check(cu.cuDeviceGetAttribute(getattr(cu.CUdevice_attribute, name), device)))
