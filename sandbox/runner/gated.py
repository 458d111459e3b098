"""Makes waits for the device return at once while the gate is closed, when they could never end.

Students often end ``solve`` with a synchronise. "Done" is enqueued later on the same stream, so omitting that
wait changes no result. If a submission needs it (to read or tune), the result is wrong: the judge learns of
each omitted wait and repeats the call with the gate open.

``watch_torch`` replaces torch's functions; a CUDA library has wrappers (``compile.py``).
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from cuda_driver import LEGACY_STREAM, PER_THREAD_STREAM

_DEFAULT_STREAMS = (0, LEGACY_STREAM, PER_THREAD_STREAM)


class Waits(Protocol):
    """Between ``begin`` and ``end``, waits return at once while the word ``gate`` is not ``number``."""

    def begin(self, gate: ctypes.c_uint32, number: int) -> None: ...

    def end(self) -> bool:
        """Whether a wait was left out."""


class TorchWaits:
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
        """Whether a wait must return at once."""
        gate = self._gate
        if gate is None or gate.value == self._number:
            return False
        self._left_out = True
        return True


_torch = TorchWaits()
_known: list[Waits] = [_torch]


def register(waits: Waits) -> None:
    _known.append(waits)


class Held:
    """Whether a call waited at a closed gate."""

    waits_left_out = False


@contextlib.contextmanager
def behind(gate: ctypes.c_uint32, number: int) -> Iterator[Held]:
    """``gate`` becomes ``number`` when the judge opens it."""
    held = Held()
    for waits in _known:
        waits.begin(gate, number)
    try:
        yield held
    finally:
        ended = [waits.end() for waits in _known]
        held.waits_left_out = any(ended)


def watch_torch() -> None:
    """For the default stream and the whole device."""
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
