"""The emulated GPU as a device for the process (``host/``) that runs a student's host code.

To that process, device pointers are plain numbers.
"""

from .. import HOST
from .driver import MANAGED_TAKEN, Device
from .outcome import Misuse, Returned, Unfreed
from .process import HostEnded, HostProcess, LoadFailed, hide
from .requests import (
    ALLOCATE,
    COPY,
    COPY_HEAD,
    GPU,
    HEADER,
    KERNEL,
    KERNEL_FACTS,
    LAUNCH,
    LAUNCH_HEAD,
    MISUSED_HEAD,
    MODULE,
    MOST_BYTES,
    RANGE,
    RELEASE,
    REPLY,
    TIME,
    UNWRITTEN,
)

__all__ = [
    "ALLOCATE",
    "COPY",
    "COPY_HEAD",
    "GPU",
    "HEADER",
    "HOST",
    "KERNEL",
    "KERNEL_FACTS",
    "LAUNCH",
    "LAUNCH_HEAD",
    "MANAGED_TAKEN",
    "MISUSED_HEAD",
    "MODULE",
    "MOST_BYTES",
    "RANGE",
    "RELEASE",
    "REPLY",
    "TIME",
    "UNWRITTEN",
    "Device",
    "HostEnded",
    "HostProcess",
    "LoadFailed",
    "Misuse",
    "Returned",
    "Unfreed",
    "hide",
]
