"""Loads one submission in a box, and calls it when the gate opens.

Nothing that it says decides a verdict or a time, because the submission can change it.

Usage: python -I main.py ADDRESS [STATUS_ADDRESS]. STATUS_ADDRESS: see ``supervise.py``. Environment:
GRADER_PRELOAD, see ``preload.py``.
"""

from __future__ import annotations

import ctypes
import contextlib
import importlib
import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

sys.path.insert(0, str(Path(__file__).resolve().parent))

import protocol
from connect import connect
from failure import describe
import compiling
import preload
import timings
from binding import Binding, Call, CountedCall, Entry, MakeCall, RecordedCall
from supervise import supervise

if TYPE_CHECKING:
    from triton_loader import EmptyLaunches

Load = Callable[[dict[str, Any], list[int]], MakeCall]
# Calls its argument before the first use of a GPU.
Prepare = Callable[[Callable[[], None]], "EmptyLaunches | None"]
_libc = ctypes.CDLL(None)


def _preload(before_gpu: Callable[[], None]) -> EmptyLaunches | None:
    return preload.preload(os.environ.get("GRADER_PRELOAD", ""), before_gpu)


class Runner:
    """One submission (or control, or baseline), one binding at a time."""

    def __init__(self, address: str, prepare: Prepare = _preload) -> None:
        # From now on the judge holds the box.
        self.connection = connect(address)
        self.empty_launches = prepare(self._ask_for_gpu)
        self.make_call: MakeCall | None = None
        self.binding: Binding | None = None
        self.call: Call | None = None

    def _ask_for_gpu(self) -> None:
        """The judge gives no permission while it times something there. Raises EOFError."""
        self._send({"op": "imported"})
        message, descriptors = protocol.receive(self.connection)
        protocol.close_all(descriptors)
        assert message["op"] == "use_gpu"

    def serve(self) -> None:
        self._send({"op": "hello", "environment": _environment(), "seconds": timings.seconds})
        while True:
            try:
                message, descriptors = protocol.receive(self.connection)
            except EOFError:
                return
            try:
                self._answer(message, descriptors)
            finally:
                protocol.close_all(descriptors)

    def _answer(self, message: dict[str, Any], descriptors: list[int]) -> None:
        match message["op"]:
            case "load":
                self._load(message, descriptors)
            case "bind":
                self._bind(message, descriptors)
            case "unbind":
                self._unbind()
                self._send({"op": "bound"})
            case "call":
                self._call(message)
            case "writers":
                ask = getattr(self.call, "writers", None)
                self._send({"op": "writers", **(ask(message) if ask is not None else {})})

    def _load(self, message: dict[str, Any], descriptors: list[int]) -> None:
        try:
            self.make_call = _loader(message["loader"])(message, descriptors)
        except BaseException as error:  # a submission may raise SystemExit too
            self._send({"op": "loaded", "error": describe(error)})
        else:
            self._send({"op": "loaded"})

    def _bind(self, message: dict[str, Any], descriptors: list[int]) -> None:
        self._unbind()  # a GPU may lack room for both
        assert self.make_call is not None
        self.binding = _make_binding(message.get("memory", "host"), message["entries"], descriptors)
        self.call = self.make_call(self.binding)
        self._send({"op": "bound"})

    def _unbind(self) -> None:
        old, self.binding, self.call = self.binding, None, None
        if old is not None:
            old.close()

    def _call(self, message: dict[str, Any]) -> None:
        assert self.binding is not None
        assert self.call is not None
        number, mark, call, survey = message["round"], message.get("mark", ""), self.call, None
        if (ask := getattr(self.call, "ask", None)) is not None:
            ask(message)
        if message.get("count"):
            call = cast("CountedCall", self.call).counted
        elif message.get("record"):
            call = cast("RecordedCall", self.call).recorded
        elif message.get("quiz"):
            call = getattr(self.call, "quizzed", self.call)
        if message.get("survey"):
            from survey import TorchSurvey

            survey = TorchSurvey()
            call = survey.watching(call)

        def queued() -> None:
            compiling.stop()
            self._send({"op": "queued", "round": number})

        compiling.start(lambda kernel: self._send(_of_compiling(number, kernel)))
        failure = self.binding.run(number, call, queued)
        _flush(mark)
        answer = {"op": "returned", "round": number, "error": failure, "empty_launches": []}
        if self.empty_launches is not None:
            answer["empty_launches"] = self.empty_launches.take()
        if getattr(self.binding, "waits_left_out", False):
            answer["waits_left_out"] = True
        if survey is not None:
            answer["seen"] = survey.seen()
        took_us = getattr(self.call, "took_us", None)
        if took_us is not None and failure is None:
            answer["control_us"] = took_us()
        recorded = ("step",) if message.get("record") else ("quiz",) if message.get("quiz") else ()
        watched = ("constructs",) if message.get("watch") else ()
        for name in ("unfreed", "forgotten", "sampled", "instructions", *recorded, *watched):
            if (value := getattr(self.call, name, None)) is not None:
                answer[name] = value
        answer["remarks"] = getattr(self.call, "remarks", [])
        if message.get("count"):
            counted = cast("CountedCall", self.call)
            answer["modelled_us"], answer["profile"] = counted.modelled_us, counted.profile
        self._send(answer)

    def _send(self, message: dict[str, Any]) -> None:
        protocol.send(self.connection, message)


def _make_binding(memory: str, entries: list[Entry], descriptors: list[int]) -> Binding:
    """``memory``: host, cuda, emulated, or client (Triton's side of an emulated GPU). ``descriptors``: the
    gate's page, then one per buffer.
    """
    if memory == "cuda":
        from cuda_binding import CudaBinding
        from under_tool import OwnMemoryBinding, under_tool

        return (OwnMemoryBinding if under_tool() else CudaBinding)(entries, descriptors)
    if memory == "client":
        from emulated_triton import ClientBinding

        return ClientBinding(entries, descriptors)
    if memory == "emulated":
        from emulated_binding import EmulatedBinding

        return EmulatedBinding(entries, descriptors)
    from host_binding import HostBinding

    return HostBinding(entries, descriptors)


def _of_compiling(number: int, kernel: str | None) -> dict[str, Any]:
    if kernel is None:
        return {"op": "compiled", "round": number}
    return {"op": "compiling", "round": number, "kernel": kernel}


def _flush(mark: str) -> None:
    """Flush a call's output, then ``mark``, which separates it from the next call's."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # the submission may have replaced it
            stream.flush()
    _libc.fflush(None)
    with contextlib.suppress(OSError):
        os.write(1, mark.encode())


def _environment() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in ("torch", "triton", "cutlass"):
        if name in sys.modules:
            found[name] = str(getattr(sys.modules[name], "__version__", "?"))
    return found


def _load_reference(message: dict[str, Any], _descriptors: list[int]) -> MakeCall:
    from trusted import load_reference, reference_call

    reference = load_reference(message["source"], message.get("mode", "eager"), message.get("function", ""))
    return lambda binding: reference_call(reference, binding, message["outputs"], message.get("encoded", {}))


def _load_control(message: dict[str, Any], _descriptors: list[int]) -> MakeCall:
    def make(binding: Binding) -> Call:
        from host_binding import HostBinding

        if isinstance(binding, HostBinding):
            from trusted import control_call

            return control_call(binding, message["outputs"], message["duration_us"])
        from cuda_control import CudaControl
        from cuda_binding import CudaBinding

        assert isinstance(binding, CudaBinding)
        return CudaControl(binding, message["outputs"])

    return make


_ours: dict[str, Load] = {"reference": _load_reference, "control": _load_control}


def _loader(name: str) -> Load:
    """``name``: one of our programs, or a language's loader."""
    load: Load = _ours.get(name) or importlib.import_module(name).load_submission
    return load


if __name__ == "__main__":
    if sys.argv[2:]:
        supervise(*sys.argv[1:3])
    if tool := os.environ.pop("GRADER_TOOL", ""):
        from under_tool import become

        become(tool, sys.argv[1])
    if (relayed := preload.RELAYED.get(os.environ.get("GRADER_PRELOAD", ""))) is not None:
        from emulated_relay import Relay

        client, programs = relayed
        Relay(sys.argv[1], preload=client, programs=programs).serve()
    else:
        Runner(sys.argv[1]).serve()
