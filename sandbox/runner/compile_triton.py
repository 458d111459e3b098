"""Compiles the kernels that a Triton source launches, in a box without a GPU: calls it as the judge will, and launches
nothing.

One request: ``{"source", "parameters", "declaration", "calls", "arch", "seconds", "artefact_bytes"}`` and the pipe's
write end. ``calls``: the arguments of each call, in the signature's order: ``{"dtype", "shape"}`` or ``{"value"}``.
What Triton then has in its cache leaves through the pipe as a tar file (see ``kernel_cache.py``). One answer, when all
is done: ``{"calls"}``, how many went through.

Whatever fails here fails nothing: the judge runs the source, and Triton compiles what it does not find.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import host_compiler
import kernel_cache
import preload
import triton_driver
from connect import connect
from protocol import receive, send

# Of a GPU of each architecture, as of the first of its kind: a source may make a constant of it.
_PROCESSORS = {80: 108, 89: 142, 90: 132, 100: 148}
# A source that runs on for so long after its time has caught what was to end it.
_CAUGHT_SECONDS = 2.0


class OutOfTime(BaseException):
    """The calls together took longer than they may. A submission can catch it all the same, by ``except:`` say."""


class _Utils:
    """What Triton asks of a driver's helpers: nothing is loaded."""

    def __init__(self, architecture: int) -> None:
        self._processors = _PROCESSORS.get(architecture, triton_driver.PROPERTIES["multiprocessor_count"])

    def get_device_properties(self, number: int = 0) -> dict[str, int]:
        return {**triton_driver.PROPERTIES, "multiprocessor_count": self._processors}

    def load_binary(self, name: str, code: bytes, shared: int, number: int) -> tuple[Any, ...]:
        return None, None, 0, 0, 1024

    def unload_module(self, module: Any) -> None:
        pass


class _NoLaunch:
    """In place of what launches a compiled kernel."""

    def __init__(self, source: Any, metadata: Any) -> None:
        pass

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        pass


def prepare() -> host_compiler.LaunchersAhead | None:
    """Import torch and Triton, for no GPU yet. Done before there is a request."""
    preload.caches_in_box()
    from triton_loader import prepare_without_gpu

    prepare_without_gpu()
    return host_compiler.use(without_driver=True)


def use_driver(architecture: int) -> None:
    """Have Triton compile for that GPU, and source code find it as far as it must to come to its launches."""
    import torch
    import triton

    utils = _Utils(architecture)
    driver = triton_driver.Driver(architecture, utils, _NoLaunch)
    triton.runtime.driver.set_active(driver)
    found = utils.get_device_properties()
    properties = type("Properties", (), {"multi_processor_count": found["multiprocessor_count"]})()
    torch.cuda.synchronize = lambda device=None: None
    torch.cuda.current_device = lambda: 0
    torch.cuda.get_device_capability = lambda device=None: driver.get_device_capability()
    torch.cuda.get_device_properties = lambda device=None: properties


def on_host() -> Any:
    """While it is entered, what is made on a GPU is made in the host's memory."""
    import torch
    from torch.overrides import TorchFunctionMode

    class OnHost(TorchFunctionMode):
        def __torch_function__(self, function: Any, _types: Any, args: Any = (), kwargs: Any = None) -> Any:
            given = dict(kwargs or {})
            if given.get("device") is not None and torch.device(given["device"]).type == "cuda":
                given["device"] = "cpu"
            return function(*args, **given)

    return OnHost()


def arguments(call: list[dict[str, Any]]) -> list[Any]:
    """Of one call. Nothing is read from a tensor, so its memory is only promised."""
    import torch

    return [
        it["value"] if "value" in it else torch.empty(it["shape"], dtype=getattr(torch, it["dtype"]))
        for it in call
    ]


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    """Ends what runs within it, with OutOfTime; where that is caught on the way, this process: all that was packed by
    then is whole."""
    told = False

    def late(*_: Any) -> None:
        nonlocal told
        if told:
            os._exit(0)
        told = True
        raise OutOfTime

    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds, _CAUGHT_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def compile_kernels(
    request: dict[str, Any], launchers: host_compiler.LaunchersAhead | None, pack: kernel_cache.Pack
) -> int:
    from triton_loader import load

    done = 0
    use_driver(int("".join(filter(str.isdigit, request["arch"]))))
    with contextlib.suppress(BaseException), within(request["seconds"]), on_host():
        solve = load(request["source"], request["parameters"], request["declaration"])
        for call in request["calls"]:
            with contextlib.suppress(Exception):
                solve(*arguments(call))
                done += 1
            pack.add_new()
    if launchers is not None:
        launchers.finish()
    pack.add_new()
    return done


def main() -> None:
    # First: from then on the parent holds the box, and may pause it while it loads.
    connection = connect(sys.argv[1])
    launchers = prepare()
    try:
        request, descriptors = receive(connection)
    except EOFError:
        return
    with os.fdopen(descriptors[0], "wb") as stream:
        pack = kernel_cache.Pack(stream, request["artefact_bytes"])
        done = compile_kernels(request, launchers, pack)
        pack.close()
    send(connection, {"calls": done})
    # With it ends what the source has started, as the first process of its box: the parent waits until nobody has the
    # pipe any more.
    os._exit(0)


if __name__ == "__main__":
    main()
