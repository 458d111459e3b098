"""Settings of the judge's own process that keep its cost per case small and even."""

from __future__ import annotations

import contextlib
import ctypes
import functools

_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
# Larger than any temporary of a correctness case, so freed memory is kept and used again: on a virtual machine,
# faulting it in again costs several times as much as filling it.
_KEPT_BYTES = 256 << 20
# The C library's maximum for this setting; it refuses more silently.
_FROM_HEAP_BYTES = 32 << 20


@functools.cache
def tune() -> None:
    """Use one torch thread (a second one would wait for the runner's core), and keep freed memory."""
    import torch

    torch.set_num_threads(1)
    with contextlib.suppress(OSError, AttributeError):  # a C library without mallopt: only slower
        libc = ctypes.CDLL(None)
        libc.mallopt(_M_MMAP_THRESHOLD, _FROM_HEAP_BYTES)
        libc.mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)
