"""Loads a CUDA submission for the emulated GPU: the library's host code gets a process of its own, without any of the
judge's memory, and asks this one for memory, copies and launches."""

from __future__ import annotations

import os
import signal
from typing import Any, NoReturn

from binding import Binding, Call, MakeCall
from emulated import part
from emulated_binding import EmulatedBinding
from failure import Explained

device, engine, explain = part("device"), part("engine"), part("explain")
# So many sentences of one kernel's faults are shown.
_MOST_SHOWN = 3


def load_submission(_message: dict[str, Any], descriptors: list[int]) -> MakeCall:
    """See ``main.py``. Raises OSError where the library cannot be loaded."""
    host = Host(descriptors[0])

    def make(binding: Binding) -> Call:
        assert isinstance(binding, EmulatedBinding), "an emulated GPU has memory of its own"
        return lambda: host.call(binding)

    return make


class Host:
    """The process of the submission's host code, and the GPU that answers it."""

    def __init__(self, descriptor: int) -> None:
        # Nothing of the submission runs in this process, and none of its own may look into it.
        device.hide()
        # The linker takes paths only; this is the judge's own sealed memory.
        self._library = os.dup(descriptor)
        self._start()

    def _start(self) -> None:
        self._engine = engine.Engine()
        self._device = device.Device(self._engine)
        try:
            self._process = device.HostProcess(self._device, self._library)
        except device.LoadFailed as error:
            raise OSError(str(error)) from None
        except device.HostEnded as ended:
            _end_like(ended.status)

    def call(self, binding: EmulatedBinding) -> None:
        """Raises Explained for what the GPU found, or the host code got as an error. Where the host code's process
        ends, this one ends in the same way: that is what the judge asks a box for."""
        with binding.on(self._device) as values:
            try:
                returned = self._process.call(values)
            except device.HostEnded as ended:
                _end_like(ended.status)
        _write(returned.printed)
        try:
            _raise_for(returned)
        finally:
            if returned.fault is not None:  # a card's context would be lost, too
                self._process.close()
                self._engine.close()
                self._start()
        for note in _notes(returned):
            _write(f"[emulated GPU] {note}\n".encode())


def _raise_for(returned: Any) -> None:
    """Raises Explained where something was wrong."""
    if (unknown := returned.unsupported) is not None:
        raise Explained(type(unknown).__name__, "checker", str(unknown), unknown.place.line)
    found = [it for it in (returned.fault, *returned.findings) if it is not None]
    if found:
        raise Explained(found[0].kind, "checker", _sentences(found), explain.line_of(found[0]))
    if returned.code:
        raise Explained(returned.name, "cuda", returned.refused or returned.text, 0)


def _sentences(found: list[Any]) -> str:
    """Each kind of fault at each line once."""
    texts: list[str] = []
    seen = set()
    for it in found:
        key = (it.kind, explain.line_of(it), it.array)
        if key in seen:
            continue
        seen.add(key)
        line = explain.line_of(it)
        texts.append(f"line {line}: {explain.message_of(it)}" if texts and line else explain.message_of(it))
    more = len(texts) - _MOST_SHOWN
    return "\n".join(texts[:_MOST_SHOWN] + ([f"... and {more} more."] if more > 0 else []))


def _notes(returned: Any) -> list[str]:
    notes = []
    if returned.leaked:
        size = sum(size for _, size in returned.leaked)
        notes.append(
            f"{len(returned.leaked)} allocations of cudaMalloc, {size:,} bytes in all, were not freed."
        )
    if returned.forgotten:
        notes.append(
            f"{returned.forgotten} operations on streams of your own were never waited for, and not done."
        )
    return notes


def _write(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def _end_like(status: int | None) -> NoReturn:
    """End this process as the host code's did."""
    if status is not None and status < 0:
        if -status != signal.SIGKILL:
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit((status or 0) & 255)
