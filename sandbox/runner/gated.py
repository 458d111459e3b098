"""Waiting for the device, while the gate is closed, would wait for ever: so it returns at once there.

Many students end ``solve`` with a synchronise, out of habit. Behind a closed gate nothing can be waited for: whatever
runs was enqueued ahead of "done" on the same stream, so leaving the wait out changes no result. A submission that
needs what it waits for (it reads a result on the host) gets a wrong result here, and is then called again with the
gate open from the start; there every wait is a real one. That is why this is a switch and no plain replacement.

For torch the functions are replaced below; a CUDA library brings its own wrappers, linked in by the compiler
(``compile.py``), and a switch that ``register`` makes known here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from cuda_driver import LEGACY_STREAM, PER_THREAD_STREAM

_DEFAULT_STREAMS = (0, LEGACY_STREAM, PER_THREAD_STREAM)

_closed = False
_switches: list[Callable[[bool], None]] = []


def register(switch: Callable[[bool], None]) -> None:
    """Call ``switch`` whenever a call begins or ends to be held behind a closed gate."""
    _switches.append(switch)


@contextlib.contextmanager
def while_closed(closed: bool) -> Iterator[None]:
    """The time in which a call enqueues its work. ``closed``: whether the gate holds that work back."""
    _set(closed)
    try:
        yield
    finally:
        _set(False)


def _set(closed: bool) -> None:
    global _closed
    _closed = closed
    for switch in _switches:
        switch(closed)


def watch_torch() -> None:
    """Make torch's waits for the default stream, and for the whole device, heed the gate."""
    import torch

    stream_class: Any = torch.cuda.Stream

    def unless_closed(wait: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args, **kwargs: None if _closed else wait(*args, **kwargs)

    torch.cuda.synchronize = unless_closed(torch.cuda.synchronize)
    if hasattr(torch, "accelerator"):
        torch.accelerator.synchronize = unless_closed(torch.accelerator.synchronize)
    wait_for_stream = stream_class.synchronize

    def synchronize(stream: Any) -> None:
        if not (_closed and stream.cuda_stream in _DEFAULT_STREAMS):
            wait_for_stream(stream)

    stream_class.synchronize = synchronize
