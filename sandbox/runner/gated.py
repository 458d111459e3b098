"""Waiting for the device, while the gate is closed, would wait for ever: so it returns at once there.

Many students end ``solve`` with a synchronise, out of habit. Behind a closed gate nothing can be waited for: whatever
runs was enqueued ahead of "done" on the same stream, so leaving the wait out changes no result. A submission that
needs what it waits for (it reads a result on the host, or tunes a kernel) gets a wrong result or an error here. The
judge hears that a wait was left out, and calls it again with the gate open from the start; there every wait is a real
one. So is each from the moment on at which the judge opens the gate for a call that is late: every wait looks.

For torch the functions are replaced below; a CUDA library brings its own wrappers, linked in by the compiler
(``compile.py``), which ``register`` makes known here.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from cuda_driver import LEGACY_STREAM, PER_THREAD_STREAM

_DEFAULT_STREAMS = (0, LEGACY_STREAM, PER_THREAD_STREAM)


class Waits(Protocol):
    """Waits of one kind. From ``begin`` to ``end`` they return at once while the word ``gate`` is not ``number``."""

    def begin(self, gate: ctypes.c_uint32, number: int) -> None: ...

    def end(self) -> bool:
        """Whether one was left out."""


class TorchWaits:
    """See ``Waits``: torch's, which ``watch_torch`` replaces."""

    def __init__(self) -> None:
        self._gate: ctypes.c_uint32 | None = None
        self._number = 0
        self._left_out = False

    def begin(self, gate: ctypes.c_uint32, number: int) -> None:
        self._gate, self._number, self._left_out = gate, number, False

    def end(self) -> bool:
        self._gate = None
        return self._left_out

    def leaves_out(self) -> bool:
        """Whether a wait that is asked for now is to return at once."""
        gate = self._gate
        if gate is None or gate.value == self._number:
            return False
        self._left_out = True
        return True


_torch = TorchWaits()
_known: list[Waits] = [_torch]


def register(waits: Waits) -> None:
    """``waits`` heed the gate, too."""
    _known.append(waits)


class Held:
    """What is known of a call behind the gate when it has enqueued its work: whether it waited for something while the
    gate was closed."""

    waits_left_out = False


@contextlib.contextmanager
def behind(gate: ctypes.c_uint32, number: int) -> Iterator[Held]:
    """The time in which a call enqueues its work. ``gate``: the word that is ``number`` once the judge opens it."""
    held = Held()
    for waits in _known:
        waits.begin(gate, number)
    try:
        yield held
    finally:
        ended = [waits.end() for waits in _known]
        held.waits_left_out = any(ended)


def watch_torch() -> None:
    """Make torch's waits for the default stream, and for the whole device, heed the gate."""
    import torch

    stream_class: Any = torch.cuda.Stream

    def unless_closed(wait: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args, **kwargs: None if _torch.leaves_out() else wait(*args, **kwargs)

    torch.cuda.synchronize = unless_closed(torch.cuda.synchronize)
    if hasattr(torch, "accelerator"):
        torch.accelerator.synchronize = unless_closed(torch.accelerator.synchronize)
    wait_for_stream = stream_class.synchronize

    def synchronize(stream: Any) -> None:
        if not (stream.cuda_stream in _DEFAULT_STREAMS and _torch.leaves_out()):
            wait_for_stream(stream)

    stream_class.synchronize = synchronize
