"""Makes waits for the device return at once while the gate is closed, when they could never end.

Many students end ``solve`` with a synchronise. All work is enqueued before "done" on the same stream, so omitting the
wait changes no result. A submission that needs it (to read a result on the host, or tune a kernel) gets a wrong result
or an error; the judge learns of each omitted wait and repeats the call with the gate open, where every wait is real.
Each wait also looks if the judge has opened the gate for a late call.

For torch, ``watch_torch`` replaces the functions. The compiler links wrappers into a CUDA library (``compile.py``), and
``register`` announces them.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from cuda_driver import LEGACY_STREAM, PER_THREAD_STREAM

_DEFAULT_STREAMS = (0, LEGACY_STREAM, PER_THREAD_STREAM)


class Waits(Protocol):
    """From ``begin`` to ``end``, waits return at once while the word ``gate`` is not ``number``."""

    def begin(self, gate: ctypes.c_uint32, number: int) -> None: ...

    def end(self) -> bool:
        """True if a wait was left out."""


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
        """True if a wait must return at once now."""
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
    """Whether a call waited while the gate was closed. Known once it has enqueued its work."""

    waits_left_out = False


@contextlib.contextmanager
def behind(gate: ctypes.c_uint32, number: int) -> Iterator[Held]:
    """A call enqueues its work in the body. ``gate``: a word that becomes ``number`` when the judge opens it."""
    held = Held()
    for waits in _known:
        waits.begin(gate, number)
    try:
        yield held
    finally:
        ended = [waits.end() for waits in _known]
        held.waits_left_out = any(ended)


def watch_torch() -> None:
    """Make torch's waits for the default stream and for the whole device heed the gate."""
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
