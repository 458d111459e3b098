"""Settings of the judge's own process that keep its cost per case small and even."""

from __future__ import annotations

import contextlib
import ctypes
import functools

_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
# Larger than any temporary of a correctness case, so that freed memory is used again instead of given back: on a
# virtual machine, faulting it in once more costs several times what filling it does.
_KEPT_BYTES = 256 << 20
# The most that the C library takes for this one; more is refused silently.
_FROM_HEAP_BYTES = 32 << 20


@functools.cache
def tune() -> None:
    """One torch thread (a second one waits for a core that the runner has), and freed memory kept. Done once."""
    import torch

    torch.set_num_threads(1)
    with contextlib.suppress(OSError, AttributeError):  # a C library without mallopt: only slower
        libc = ctypes.CDLL(None)
        libc.mallopt(_M_MMAP_THRESHOLD, _FROM_HEAP_BYTES)
        libc.mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)
