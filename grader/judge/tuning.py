"""Process settings that keep the judge's cost per case small and even."""

from __future__ import annotations

import contextlib
import ctypes
import functools

_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
# Keeps a case's temporaries: on a virtual machine, faulting them in costs several times as much as filling them.
_KEPT_BYTES = 256 << 20
# The C library's maximum: it refuses more silently.
_FROM_HEAP_BYTES = 32 << 20


@functools.cache
def tune() -> None:
    """A second torch thread would wait for the runner's core."""
    import torch

    torch.set_num_threads(1)
    with contextlib.suppress(OSError, AttributeError):  # a C library without mallopt is only slower
        libc = ctypes.CDLL(None)
        libc.mallopt(_M_MMAP_THRESHOLD, _FROM_HEAP_BYTES)
        libc.mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)
