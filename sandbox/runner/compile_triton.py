"""Compiles a Triton source's kernels without a GPU: calls it as the judge will, but launches nothing.

One request: ``{"source", "parameters", "declaration", "autograd", "calls", "arch", "seconds",
"artefact_bytes"}`` and the pipe's write end. ``calls``: the arguments of each call in order, ``{"dtype",
"shape"}`` or ``{"value"}``. Triton's cache leaves through the pipe (``kernel_cache.py``). One answer:
``{"calls"}``, how many succeeded.

Failures are harmless: Triton compiles missing kernels later.
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

# Of each architecture's first GPU; a source may compute with it.
_PROCESSORS = {80: 108, 89: 142, 90: 132, 100: 148}
# By then the source has caught OutOfTime.
_CAUGHT_SECONDS = 2.0


class OutOfTime(BaseException):
    """``except:`` in a submission still catches it."""


class _Utils:
    def __init__(self, architecture: int) -> None:
        self._processors = _PROCESSORS.get(architecture, triton_driver.PROPERTIES["multiprocessor_count"])

    def get_device_properties(self, number: int = 0) -> dict[str, int]:
        return {**triton_driver.PROPERTIES, "multiprocessor_count": self._processors}

    def load_binary(self, name: str, code: bytes, shared: int, number: int) -> tuple[Any, ...]:
        return None, None, 0, 0, 1024

    def unload_module(self, module: Any) -> None:
        pass


class _NoLaunch:
    def __init__(self, source: Any, metadata: Any) -> None:
        pass

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        pass


def prepare() -> host_compiler.LaunchersAhead | None:
    """Import torch and Triton before there is a request."""
    preload.caches_in_box()
    from triton_loader import prepare_without_gpu

    prepare_without_gpu()
    return host_compiler.use(without_driver=True)


def use_driver(architecture: int) -> None:
    """Compile for that GPU, and answer the source's questions about it."""
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
    """Tensors for a GPU are made in the host's memory."""
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
    """Nothing reads the tensors' contents, so their memory stays untouched."""
    import torch

    return [
        value["value"]
        if "value" in value
        else torch.empty(value["shape"], dtype=getattr(torch, value["dtype"]))
        if value.get("strides") is None
        else torch.empty_strided(value["shape"], value["strides"], dtype=getattr(torch, value["dtype"]))
        for value in call
    ]


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise OutOfTime after ``seconds``. If the body catches it, end this process: packed files are complete."""
    raised = False

    def late(*_: Any) -> None:
        nonlocal raised
        if raised:
            os._exit(0)
        raised = True
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
        solve = load(
            request["source"], request["parameters"], request["declaration"], request.get("autograd")
        )
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
    # First: the parent may pause this box while it loads.
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
    # Takes along what the source started: the parent waits until nobody holds the pipe.
    os._exit(0)


if __name__ == "__main__":
    main()
