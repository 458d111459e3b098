"""Runs an uploaded challenge's reference in a box: the judge holds other people's times and hidden data."""

from __future__ import annotations

import functools
import json
import math
import os
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from grader import limits
from grader.challenge.dtypes import DType
from grader.challenge.loader import NAMED_BASELINE, Challenge, ChallengeReference
from grader.errors import ChallengeInvalid, JudgeFailure
from grader.sandbox.box import Box, BoxMaker, BoxSpec, Clocked, readable

if TYPE_CHECKING:
    import torch

_PROGRAM = "oracle.py"
_PATIENCE_SECONDS = 300.0
_LOOK_SECONDS = 0.5
_LENGTH_BYTES = 4
_MESSAGE_BYTES = 4 * limits.MIB
_DTYPES = frozenset([*(dtype.held for dtype in DType), "int16", "bool", "complex64", "complex128"])
# More than the largest case of the largest card.
_ANSWER_BYTES = 64 * limits.GIB


@dataclass(frozen=True)
class Operation:
    """Tensors are on the device ``meta``."""

    name: str
    reads: list[torch.Tensor]
    writes: list[torch.Tensor]


@dataclass
class ReferenceBox:
    """``interrupt`` is called while it waits; it raises to give up."""

    boxes: BoxMaker
    spec: BoxSpec
    slug: str
    source: str
    interrupt: Callable[[], None]
    part: str = "reference"
    #: Seconds of the clock for one answer.
    patience_s: float = _PATIENCE_SECONDS
    _box: Box | None = None
    #: When the box's wall clock ends it.
    _end: float = 0.0
    _pending: bytearray = field(default_factory=bytearray)
    _descriptors: list[int] = field(default_factory=list)

    def call(self, function: str, arguments: Mapping[str, Any]) -> Any:
        """Results are on the device of the first tensor. Raises ChallengeInvalid if the function fails, JudgeFailure
        if its box does."""
        message, data = self._ask(function, arguments)
        tensors = _read(message.get("tensors"), data)
        device = next(
            (argument.device for argument in arguments.values() if hasattr(argument, "device")), None
        )
        found = tuple(tensor.to(device) if device is not None else tensor for tensor in tensors)
        return found[0] if len(found) == 1 else found

    def operations(self, function: str, arguments: Mapping[str, Any]) -> list[Operation]:
        """Raises as ``call``."""
        message, _ = self._ask(function, arguments, count=True)
        try:
            return [
                Operation(str(operation["name"])[:200], _meta(operation["reads"]), _meta(operation["writes"]))
                for operation in message["operations"]
            ]
        except (KeyError, TypeError, ValueError) as error:
            raise JudgeFailure(f"the {self.part}'s box sent an invalid message") from error

    def judgement(self, function: str, arguments: Mapping[str, Any]) -> Any:
        """Takes dicts of arguments (``PART/NAME``), returns JSON. Raises as ``call``."""
        message, _ = self._ask(function, arguments, parts=True)
        return message.get("said")

    def close(self) -> None:
        box, self._box = self._box, None
        for descriptor in self._descriptors:
            os.close(descriptor)
        self._descriptors.clear()
        self._pending.clear()
        if box is not None:
            box.kill()

    def _ask(
        self, function: str, arguments: Mapping[str, Any], *, count: bool = False, parts: bool = False
    ) -> tuple[dict[str, Any], bytearray]:
        tensors = {name: value for name, value in arguments.items() if hasattr(value, "device")}
        values = {name: value for name, value in arguments.items() if name not in tensors}
        device = "cpu" if parts else next((tensor.device.type for tensor in tensors.values()), "cpu")
        body = {
            "function": function,
            "device": device,
            "tensors": [
                [
                    name,
                    str(tensor.dtype).removeprefix("torch."),
                    list(tensor.shape),
                    None if tensor.is_contiguous() else list(tensor.stride()),
                ]
                for name, tensor in tensors.items()
            ],
            "values": values,
            "count": count,
            "parts": parts,
        }
        from grader.judge.runner_client import sealed  # a circular import

        box = self._started()
        with sealed(b"".join(map(_bytes, tensors.values()))) as descriptor:
            self._send(box.connection, body, [descriptor])
        message = self._receive(box)
        if message.get("op") == "failed":
            raise ChallengeInvalid(f"{self.slug}: {function}(): {message.get('message')}")
        if message.get("op") != "answer" or not self._descriptors:
            raise JudgeFailure(f"the {self.part}'s box sent an invalid message")
        taken = self._descriptors.pop(0)
        try:
            return message, _contents(taken)
        finally:
            os.close(taken)

    def _started(self) -> Box:
        """Renew the box's time: questions may come for hours."""
        if self._box is not None and time.monotonic() > self._end:
            self.close()
        if self._box is None:
            self._box = self.boxes.start(replace(self.spec, program=_PROGRAM))
            self._send(self._box.connection, {"source": self.source}, [])
            if self._receive(self._box).get("op") != "ready":
                raise JudgeFailure(f"the {self.part}'s box sent an invalid message")
        else:
            clocked: Clocked = self._box  # type: ignore[assignment]
            clocked.live_for(self.spec.wall_seconds)
        self._end = time.monotonic() + self.spec.wall_seconds - self.patience_s
        return self._box

    def _send(self, connection: socket.socket, message: dict[str, Any], descriptors: list[int]) -> None:
        body = json.dumps(message).encode()
        data = len(body).to_bytes(_LENGTH_BYTES, "little") + body
        try:
            sent = socket.send_fds(connection, [data], descriptors)
            connection.sendall(data[sent:])
        except OSError as error:
            raise self._ended() from error

    def _receive(self, box: Box) -> dict[str, Any]:
        end = time.monotonic() + self.patience_s
        while (message := self._whole()) is None:
            self.interrupt()
            if time.monotonic() > end:
                raise JudgeFailure(f"the {self.part} of {self.slug} took longer than {self.patience_s:g} s")
            if not readable(_LOOK_SECONDS, box.connection):
                continue
            try:
                data, descriptors, _, _ = socket.recv_fds(box.connection, 64 * limits.KIB, 4)
            except OSError as error:
                raise self._ended() from error
            self._descriptors += descriptors
            if not data or len(self._pending) > _MESSAGE_BYTES:
                raise self._ended()
            self._pending += data
        return message

    def _whole(self) -> dict[str, Any] | None:
        length = int.from_bytes(self._pending[:_LENGTH_BYTES], "little")
        if len(self._pending) < _LENGTH_BYTES + length or len(self._pending) < _LENGTH_BYTES:
            return None
        body = bytes(self._pending[_LENGTH_BYTES : _LENGTH_BYTES + length])
        del self._pending[: _LENGTH_BYTES + length]
        try:
            message = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise JudgeFailure(f"the {self.part}'s box sent an invalid message") from error
        if not isinstance(message, dict):
            raise JudgeFailure(f"the {self.part}'s box sent an invalid message")
        return message

    def _ended(self) -> JudgeFailure:
        box = self._box
        said = box.output().decode("utf-8", "replace").strip()[-1000:] if box is not None else ""
        end = box.end(limits.BOX_END_SECONDS) if box is not None else None
        how = end.sentence() if end is not None else "it closed its connection"
        return JudgeFailure(f"the box of the {self.part} of {self.slug} ended: {how}. {said}".strip())


def _bytes(tensor: torch.Tensor) -> bytes:
    import torch

    flat = tensor.detach().cpu().contiguous().reshape(-1)
    return flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""


def _contents(descriptor: int) -> bytearray:
    """Read once, never mapped: the box may still change this memory."""
    size = os.fstat(descriptor).st_size
    if size > _ANSWER_BYTES:
        raise JudgeFailure("the reference's box returned more bytes than any case has")
    data = bytearray(size)
    with os.fdopen(os.dup(descriptor), "rb", buffering=0) as file:
        file.seek(0)
        at = 0
        while at < size and (count := file.readinto(memoryview(data)[at:])):
            at += count
    if at < size:
        raise JudgeFailure("the reference's box shortened its answer while it was read")
    return data


def _read(described: Any, data: bytearray) -> list[torch.Tensor]:
    import torch

    found, at = [], 0
    try:
        for dtype, shape in described:
            kind = _kind(dtype)
            count = math.prod(_shape(shape))
            size = count * kind.itemsize
            if at + size > len(data):
                raise ValueError("too few bytes")
            flat = (
                torch.frombuffer(data, dtype=kind, count=count, offset=at)
                if count
                else torch.empty(0, dtype=kind)
            )
            found.append(flat.reshape(shape))
            at += size
    except (TypeError, ValueError) as error:
        raise JudgeFailure("the reference's box returned invalid tensors") from error
    return found


def _meta(described: Any) -> list[torch.Tensor]:
    import torch

    return [torch.empty(_shape(shape), dtype=_kind(dtype), device="meta") for dtype, shape in described]


def _kind(name: Any) -> torch.dtype:
    import torch

    if name not in _DTYPES:
        raise ValueError("no such type")
    found: torch.dtype = getattr(torch, name)
    return found


def _shape(shape: Any) -> list[int]:
    if not all(isinstance(size, int) and 0 <= size < 1 << 48 for size in shape):
        raise ValueError("no such shape")
    return list(shape)


@dataclass(frozen=True)
class BoxedFunction:
    box: ReferenceBox
    name: str

    @property
    def __name__(self) -> str:
        return self.name

    def __call__(self, **arguments: Any) -> Any:
        return self.box.call(self.name, arguments)

    def operations(self, arguments: Mapping[str, Any]) -> list[Operation]:
        return self.box.operations(self.name, arguments)


@dataclass(frozen=True)
class BoxedChallenge(Challenge):
    box: ReferenceBox | None = None

    @functools.cached_property
    def reference(self) -> ChallengeReference:
        assert self.box is not None
        made = {name: BoxedFunction(self.box, name) for name in self.functions}
        named = {name: function for name, function in made.items() if name.startswith(NAMED_BASELINE)}
        return ChallengeReference(made["reference"], made.get("magnitude"), made.get("baseline"), named)


def boxed(challenge: Challenge, box: ReferenceBox) -> BoxedChallenge:
    return BoxedChallenge(
        challenge.slug, challenge.manifest, challenge.folder, challenge.reference_folder, box=box
    )
