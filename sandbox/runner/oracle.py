"""Runs an uploaded challenge's reference, away from the judge.

The first message is ``{"source"}``, answered by ``{"op": "ready"}``. A request is ``{"function", "device",
"tensors", "values", "count"}`` with a descriptor of the tensors' bytes. The answer is ``{"op": "answer",
"tensors"}`` with a descriptor, or with ``count`` ``operations``. With ``parts``, a checker gets a dict of
``PART/NAME``, and the answer has what it ``said``. Failures are ``{"op": "failed", "message"}``.

Usage: python -I oracle.py ADDRESS
"""

from __future__ import annotations

import array
import json
import math
import os
import socket
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import protocol
import torch
from connect import connect
from torch.utils._python_dispatch import TorchDispatchMode

Described = list[Any]


class _Recording(TorchDispatchMode):
    """Notes each operation's name, reads and writes."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.operations: list[dict[str, Any]] = []

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        if not getattr(function, "is_view", False):
            name = function.overloadpacket.__name__
            self.operations.append({"name": name, "reads": _tensors(args), "writes": _tensors(result)})
        return result


def _tensors(values: Any) -> list[Described]:
    if isinstance(values, torch.Tensor):
        return [_described(values)]
    return (
        [found for value in values for found in _tensors(value)] if isinstance(values, (list, tuple)) else []
    )


def _described(tensor: torch.Tensor) -> Described:
    return [str(tensor.dtype).removeprefix("torch."), list(tensor.shape)]


def _received(message: dict[str, Any], descriptor: int) -> dict[str, torch.Tensor]:
    data = bytearray(os.fstat(descriptor).st_size)
    with os.fdopen(os.dup(descriptor), "rb") as file:
        file.seek(0)
        file.readinto(data)
    found, at = {}, 0
    for name, dtype, shape, strides in message["tensors"]:
        kind = getattr(torch, dtype)
        count = math.prod(shape)
        flat = (
            torch.frombuffer(data, dtype=kind, count=count, offset=at)
            if count
            else torch.empty(0, dtype=kind)
        )
        found[name] = _laid_out(flat.reshape(shape).to(message["device"]), strides)
        at += count * kind.itemsize
    return found


def _laid_out(values: torch.Tensor, strides: list[int] | None) -> torch.Tensor:
    if strides is None:
        return values
    laid = torch.empty_strided(values.shape, strides, dtype=values.dtype, device=values.device)
    return laid.copy_(values)


def _run(
    function: Callable[..., Any], arguments: dict[str, Any], count: bool
) -> tuple[Any, list[dict[str, Any]]]:
    if not count:
        return function(**arguments), []
    with torch.no_grad(), _Recording() as recording:
        result = function(**arguments)
    return result, recording.operations


def _parts(arguments: dict[str, Any]) -> dict[str, dict[str, Any]]:
    parts: dict[str, dict[str, Any]] = {"given": {}, "got": {}, "want": {}}
    for name, value in arguments.items():
        part, _, name = name.partition("/")
        parts[part][name] = value
    return parts


def _send(connection: socket.socket, message: dict[str, Any], tensors: list[torch.Tensor]) -> None:
    descriptor = os.memfd_create("answer")
    try:
        with os.fdopen(os.dup(descriptor), "wb") as file:
            for tensor in tensors:
                file.write(tensor.view(torch.uint8).numpy().data if tensor.numel() else b"")
        body = json.dumps(message).encode()
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [descriptor]))]
        sent = connection.sendmsg([len(body).to_bytes(4, "little") + body], rights)
        connection.sendall((len(body).to_bytes(4, "little") + body)[sent:])
    finally:
        os.close(descriptor)


def _answer(
    connection: socket.socket, names: dict[str, Any], message: dict[str, Any], descriptor: int
) -> None:
    arguments = {**_received(message, descriptor), **message["values"]}
    if message["parts"]:
        said = names[message["function"]](**_parts(arguments))
        _send(connection, {"op": "answer", "said": said, "tensors": []}, [])
        return
    result, operations = _run(names[message["function"]], arguments, message["count"])
    if message["count"]:
        _send(connection, {"op": "answer", "operations": operations, "tensors": []}, [])
        return
    found = result if isinstance(result, tuple) else (result,)
    flat = [tensor.detach().cpu().contiguous().reshape(-1) for tensor in found]
    _send(connection, {"op": "answer", "tensors": [_described(tensor) for tensor in found]}, flat)


def main() -> None:
    connection = connect(sys.argv[1])
    request, _ = protocol.receive(connection)
    module = sys.modules["reference"] = types.ModuleType("reference")
    exec(compile(request["source"], "reference.py", "exec"), module.__dict__)  # noqa: S102 - the purpose of this box
    protocol.send(connection, {"op": "ready"})
    while True:
        try:
            message, descriptors = protocol.receive(connection)
        except EOFError:
            return
        try:
            _answer(connection, module.__dict__, message, descriptors[0])
        except Exception as error:
            protocol.send(connection, {"op": "failed", "message": f"{type(error).__name__}: {error}"[:2000]})
        finally:
            protocol.close_all(descriptors)


if __name__ == "__main__":
    main()
