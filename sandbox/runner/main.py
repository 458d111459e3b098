"""The runner: the program inside a box that loads one submission and calls it when the gate opens.

It is untrusted from the moment it loads the submission: nothing that it says decides a verdict or a time.
Usage: python -I main.py ADDRESS. Environment: GRADER_PRELOAD = triton, torch or nothing.
"""

from __future__ import annotations

import contextlib
import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import protocol
from arguments import Binding
from connect import connect
from failure import describe
from memory import Flags

Call = Callable[[], Any]


class Runner:
    """One submission (or control, or baseline), one connection, one binding at a time."""

    def __init__(self, address: str) -> None:
        self.empty_launches: Any = None
        self._preload()
        self.connection = connect(address)
        self.make_call: Callable[[Binding], Call] | None = None
        self.binding: Binding | None = None
        self.flags: Flags | None = None
        self.call: Call | None = None

    def _preload(self) -> None:
        wanted = os.environ.get("GRADER_PRELOAD", "")
        if wanted == "triton":
            from triton_loader import prepare_interpreter

            self.empty_launches = prepare_interpreter()
        elif wanted == "torch":
            import torch  # noqa: F401

    def serve(self) -> None:
        """Answer messages until the judge closes the connection."""
        self._send({"op": "hello", "environment": _environment()})
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
                self._load(message)
            case "bind":
                self._bind(message, descriptors)
            case "call":
                self._call(message["round"])

    def _load(self, message: dict[str, Any]) -> None:
        try:
            self.make_call = _loaders[message["language"]](message)
        except BaseException as error:  # a submission may raise anything, SystemExit too
            failure = describe(error)
            failure["hint"] = getattr(error, "hint", "")
            self._send({"op": "loaded", "error": failure})
        else:
            self._send({"op": "loaded"})

    def _bind(self, message: dict[str, Any], descriptors: list[int]) -> None:
        old, self.call = self.binding, None
        flags, *buffers = descriptors
        self.flags = Flags(flags)
        self.binding = Binding(message["entries"], buffers)
        if old is not None:
            old.close()
        assert self.make_call is not None
        self.call = self.make_call(self.binding)
        self._send({"op": "bound"})

    def _call(self, round_number: int) -> None:
        assert self.flags is not None
        assert self.call is not None
        failure = None
        self._send({"op": "queued", "round": round_number})
        self.flags.wait_open(round_number)
        try:
            self.call()
        except BaseException as error:  # as above
            failure = describe(error)
        self.flags.set_done(round_number)
        _flush()
        empty = self.empty_launches.take() if self.empty_launches else []
        self._send({"op": "returned", "round": round_number, "error": failure, "empty_launches": empty})

    def _send(self, message: dict[str, Any]) -> None:
        protocol.send(self.connection, message)


def _flush() -> None:
    """Let what was printed during a call leave before the answer does."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # the submission may have closed or replaced it
            stream.flush()


def _environment() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in ("torch", "triton"):
        if name in sys.modules:
            found[name] = str(getattr(sys.modules[name], "__version__", "?"))
    return found


def _load_triton(message: dict[str, Any]) -> Callable[[Binding], Call]:
    from triton_loader import load

    solve = load(message["source"], message["parameters"], message["declaration"])

    def make(binding: Binding) -> Call:
        values = list(binding.tensors().values())
        return lambda: solve(*values)

    return make


def _load_reference(message: dict[str, Any]) -> Callable[[Binding], Call]:
    from trusted import load_reference, reference_call

    reference = load_reference(message["source"])
    return lambda binding: reference_call(reference, binding, message["outputs"])


def _load_control(message: dict[str, Any]) -> Callable[[Binding], Call]:
    from trusted import control_call

    return lambda binding: control_call(binding, message["outputs"], message["duration_us"])


_loaders: dict[str, Callable[[dict[str, Any]], Callable[[Binding], Call]]] = {
    "triton": _load_triton,
    "reference": _load_reference,
    "control": _load_control,
}


if __name__ == "__main__":
    Runner(sys.argv[1]).serve()
