"""The emulated GPU of a submission in Python, between the judge and the submission's runner.

The judge's messages to the runner pass through here; by a second socket the runner asks for a driver's work.

The runner has copies of the judge's arrays, updated around each launch. While work is counted they hold
noise, so computing on the host, which is free in the model, gives a wrong result.
"""

from __future__ import annotations

import json
import mmap
import os
import select
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn, Protocol

import numpy as np

import protocol
from binding import Entry, storage_place
from connect import connect
from emulated import end_like, failure_of, part, record_call, sampled_of, step_of, write_all
from emulated_binding import EmulatedBinding
from emulated_quiz import facts_of
from emulated_writers import answer, unread

assembler, device, engine = part("assembler"), part("device"), part("engine")

_MOST_BYTES = 1 << 20
_PIECE_BYTES = 1 << 20
_LENGTH = struct.Struct("<I")
_LOOK_SECONDS = 20e-6
_END_SECONDS = 1.0


class RunnerProcess(Protocol):
    """As ``subprocess.Popen``."""

    def wait(self, timeout: float | None = None) -> int: ...
    def kill(self) -> None: ...


# Arguments: what the runner preloads, its connection, its GPU, and sockets that it must not keep.
StartRunner = Callable[[str, socket.socket, socket.socket, Sequence[socket.socket]], RunnerProcess]


def _execute(
    preload: str, connection: socket.socket, gpu: socket.socket, _ours: Sequence[socket.socket]
) -> RunnerProcess:
    ends = (connection.fileno(), gpu.fileno())
    command = [sys.executable, "-I", str(Path(__file__).with_name("main.py")), f"fd:{ends[0]}"]
    env = {**os.environ, "GRADER_PRELOAD": preload, "GRADER_GPU": str(ends[1])}
    return subprocess.Popen(command, pass_fds=ends, env=env, stdin=subprocess.DEVNULL)


class Relay:
    """``address``: the judge's. ``preload``: the runner's. ``programs``: Triton, whose compiler places
    barriers and may have several threads write one value.
    """

    def __init__(
        self, address: str, preload: str, *, programs: bool = True, start: StartRunner = _execute
    ) -> None:
        # No code of the submission runs in this process, and its processes must not look into this one.
        device.hide()
        self._judge = connect(address)
        self._programs = programs
        self._binding: EmulatedBinding | None = None
        self._copies: Copies | None = None
        self._counted = False
        self._quiz_seed: Any = None
        self._launches: Any = None
        self._recorder: Any = None
        # The runner's requests wait between a call's end and the judge's next message.
        self._over = False
        # Kernels' output while work is counted, which the runner must not read early.
        self._printed = b""
        # Noise that the runner got in a counted call -> the GPU's memory that it replaces.
        self._noise: dict[bytes, bytes] = {}
        self._runner, runners_end = socket.socketpair()
        self._requests, asking_end = socket.socketpair()
        with runners_end, asking_end:
            ours = (self._judge, self._runner, self._requests)
            self._process = start(preload, runners_end, asking_end, ours)
        self._device = self._new_device()  # after a fork: it may have threads

    @property
    def _check(self) -> Any:
        return engine.BUT_SHARED_RACES if self._programs else engine.EVERYTHING

    def _new_device(self, gpus: int = 1) -> Any:
        made = device.Device(engine.Engine(gpus=gpus), ptxas=assembler.tritons_ptxas(), relayed=True)
        made.engine.check = self._check
        return made

    def serve(self) -> None:
        """Until the judge closes the connection, or the runner ends: then end alike."""
        poll = select.poll()
        for end in (self._judge, self._runner, self._requests):
            poll.register(end, select.POLLIN)
        while True:
            poll.modify(self._requests, 0 if self._over else select.POLLIN)
            ready = dict(poll.poll())
            try:
                if self._requests.fileno() in ready:
                    if self._over:
                        raise EOFError
                    self._answer()
                if self._runner.fileno() in ready:
                    self._forward()
            except EOFError:
                self._end()
            if self._judge.fileno() in ready:
                try:
                    message, descriptors = protocol.receive(self._judge)
                except EOFError:
                    return
                self._take(message, descriptors)

    def _answer(self) -> None:
        kind, size = device.HEADER.unpack(_exactly(self._requests, device.HEADER.size))
        if size > device.MOST_BYTES:
            raise EOFError
        body = _exactly(self._requests, size)
        copies = self._copies
        if kind == device.LAUNCH and copies is not None:
            self._take_changes(copies)
        if kind == device.COPY and self._counted:
            body = self._with_contents(body)
        status, reply = self._device.answer(kind, body)
        if kind == device.LAUNCH and copies is not None and not self._counted:
            copies.bring_up_to_date()
        if kind == device.COPY and self._counted and reply:
            reply = self._as_noise(reply)
        self._printed += self._device.engine.printed()
        if not self._counted:
            self._print()
        try:
            self._requests.sendall(device.REPLY.pack(status, len(reply)) + reply)
        except OSError:
            raise EOFError from None

    def _take_changes(self, copies: Copies) -> None:
        for size in copies.take_changes(self._device.engine.works_begun):
            self._device.written_by_host(size)

    def _print(self) -> None:
        write_all(self._printed)
        self._printed = b""

    def _as_noise(self, contents: bytes) -> bytes:
        """Memory that the runner may hand back but not read."""
        noise = os.urandom(len(contents))
        self._noise[noise] = contents
        return noise

    def _with_contents(self, body: bytes) -> bytes:
        head, given = body[: device.COPY_HEAD.size], body[device.COPY_HEAD.size :]
        return head + self._noise.get(given, given)

    def _take(self, message: dict[str, Any], descriptors: list[int]) -> None:
        """Passes it on; the GPU gets a binding's buffers too."""
        if message["op"] == "writers":
            protocol.close_all(descriptors)
            protocol.send(self._judge, {"op": "writers", **self._writers(message)})
            return
        self._over = False
        if message["op"] in ("bind", "unbind"):
            self._unbind()
        sent = descriptors
        if message["op"] == "bind":
            self._binding = EmulatedBinding(message["entries"], descriptors)
            self._binding.check = self._check
            self._device.engine.sample = self._binding.sample()
            self._copies = Copies(self._binding)
            for entry in message["entries"]:
                if entry["kind"] == "buffer":
                    # torch may have written it on the host.
                    entry["device"] = self._binding.adopt(self._device, entry, written=True)
            message["memory"] = "client"
            sent = self._copies.descriptors
        if message["op"] == "load":
            if (gpus := message.get("gpus", 1)) > 1:
                self._device = self._new_device(gpus)  # the other one has nothing of a submission
            self._device.engine.tags_prints = bool(message.pop("tag_prints", False))
        if message["op"] == "call":
            asked = {name: message.pop(name, None) for name in ("count", "sample", "unchecked", "watch")}
            self._counted = bool(asked["count"])
            # The runner must not know the questions.
            self._quiz_seed = message.pop("quiz", None)
            self._launches = self._device.engine.keep_launches() if self._quiz_seed else None
            record = message.pop("record", None)
            self._recorder = (
                record_call(self._device.engine, record, programs=self._programs) if record else None
            )
            if self._binding is not None:
                self._binding.asked = asked
                self._binding.prepare(self._device)
            self._noise.clear()
            self._device.begin(counted=self._counted, watched=bool(asked["watch"]))
            if self._copies is not None:
                self._copies.forget_changes()
        body = json.dumps(message).encode()
        try:
            if sent:
                socket.send_fds(self._runner, [_LENGTH.pack(len(body))], sent)
                self._runner.sendall(body)
            else:
                self._runner.sendall(_LENGTH.pack(len(body)) + body)
        except OSError:
            self._end()
        finally:
            protocol.close_all(descriptors)

    def _writers(self, message: dict[str, Any]) -> dict[str, Any]:
        if self._binding is None or self._copies is None:
            return {}
        for entry in self._binding.entries:
            if entry["name"] == message["array"] and "device" in entry:
                later = self._copies.changed_later(entry)
                found = answer(self._device, entry, entry["device"], message, later, programs=self._programs)
                given = [
                    (other, other["device"])
                    for other in self._binding.entries
                    if other["name"] in message["given"] and "device" in other
                ]
                return {**found, "unread": unread(self._device, given)} if found else {}
        return {}

    def _unbind(self) -> None:
        if self._binding is not None and self._copies is not None:
            for entry in self._binding.entries:
                if "device" in entry:
                    self._device.forget(entry["device"])
            self._copies.close()
            self._binding.close()
            self._device.engine.sample = None
        self._binding = self._copies = None

    def _forward(self) -> None:
        """Encodes again, so the judge reads only checked bytes."""
        (length,) = _LENGTH.unpack(_exactly(self._runner, _LENGTH.size))
        if length > _MOST_BYTES:
            raise EOFError
        try:
            message = json.loads(_exactly(self._runner, length))
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            raise EOFError
        kind = message.get("op")
        if kind == "returned":
            self._return(message)
            return
        protocol.send(self._judge, message)
        if kind == "queued" and self._binding is not None and self._copies is not None:
            self._open(message.get("round"))

    def _open(self, number: Any) -> None:
        """Update the runner's arrays, then open its gate."""
        assert self._binding is not None
        assert self._copies is not None
        if not isinstance(number, int):
            raise EOFError
        judge = select.poll()
        judge.register(self._judge, select.POLLHUP | select.POLLRDHUP)
        while not self._binding.flags.is_open(number):
            if judge.poll(0):
                os._exit(0)
            time.sleep(_LOOK_SECONDS)
        if self._counted:
            self._copies.fill_with_noise()
        else:
            self._copies.bring_up_to_date()
        self._copies.open(number)

    def _return(self, message: dict[str, Any]) -> None:
        if self._binding is not None and self._copies is not None:
            self._take_changes(self._copies)
            number = message.get("round")
            self._binding.flags.set_done(number if isinstance(number, int) else 0)
        returned = self._device.returned()
        self._over = True
        self._print()
        theirs = message.get("error")
        if isinstance(theirs, dict) and theirs.get("kind") == "ours":  # only this process may say so
            theirs["kind"] = "exception"
        message["error"] = failure_of(returned, programs=self._programs) or _why(theirs, returned)
        if not self._programs and isinstance(message["error"], dict):
            said = str(message["error"].get("message", ""))
            message["error"]["message"] = said.replace("a __syncthreads()", "cute.arch.sync_threads()")
        message["modelled_us"] = 1e6 * returned.modelled if returned.modelled is not None else None
        message["profile"] = returned.profile
        message["constructs"] = returned.constructs
        message["step"] = step_of(self._recorder) if self._recorder is not None else None
        self._recorder = self._device.engine.recorder = None
        message["sampled"] = sampled_of(self._device.engine.sample)
        message["instructions"] = returned.instructions
        message["quiz"] = self._quiz() if message["error"] is None else None
        self._device.engine.recorder = self._launches = None
        protocol.send(self._judge, message)

    def _quiz(self) -> list[dict[str, Any]] | None:
        if self._launches is None or self._binding is None:
            return None
        arguments = [(entry, entry.get("device")) for entry in self._binding.entries]
        return facts_of(self._launches, arguments, self._quiz_seed, programs=self._programs)

    def _end(self) -> NoReturn:
        self._runner.close()
        self._requests.close()
        try:
            end_like(self._process.wait(_END_SECONDS))
        except subprocess.TimeoutExpired:
            self._process.kill()
            os._exit(1)


class Copies:
    def __init__(self, binding: EmulatedBinding) -> None:
        self.descriptors: list[int] = []
        self._gate = mmap.mmap(self._memory(mmap.PAGESIZE), mmap.PAGESIZE)
        self._arrays = []
        self._names: list[str] = []
        # By array and element: launches and copies before the runner's last change; -1: none.
        self._changed: dict[str, np.ndarray[Any, Any]] = {}
        for entry in binding.entries:
            if entry["kind"] != "buffer":
                continue
            if entry.get("large") is not None:
                # Too large to copy: use on the host ends in SIGBUS.
                self._memory(0)
                continue
            mapped = mmap.mmap(self._memory(entry["mapped"]), entry["mapped"])
            if entry["nbytes"]:
                real = np.frombuffer(binding.memory(entry), dtype=np.uint8)
                copy = np.frombuffer(mapped, dtype=np.uint8, count=entry["nbytes"], offset=entry["offset"])
                size = entry["itemsize"]
                self._arrays.append(tuple(array.reshape(-1, size) for array in (real, copy, copy.copy())))
                self._names.append(entry["name"])

    def _memory(self, size: int) -> int:
        descriptor = os.memfd_create("copy", os.MFD_CLOEXEC)
        os.truncate(descriptor, size)
        self.descriptors.append(descriptor)
        return descriptor

    def close(self) -> None:
        protocol.close_all(self.descriptors)
        self._arrays.clear()

    def open(self, number: int) -> None:
        memoryview(self._gate).cast("I")[0] = number

    def bring_up_to_date(self) -> None:
        for real, copy, known in self._arrays:
            copy[:] = real
            known[:] = real

    def fill_with_noise(self) -> None:
        """Without the usual fill bytes 0, 1 and -1, so each write shows. It repeats, because drawing as much
        takes seconds.
        """
        noise = 2 + np.frombuffer(os.urandom(_PIECE_BYTES), dtype=np.uint8) % 253
        for _, copy, known in self._arrays:
            known.reshape(-1)[:] = np.resize(noise, known.size)
            copy[:] = known

    def take_changes(self, works: int) -> list[int]:
        """The bytes that the runner wrote, by array. ``works``: launches and copies up to now."""
        sizes = []
        for name, (real, copy, known) in zip(self._names, self._arrays, strict=True):
            step, size = max(1, _PIECE_BYTES // copy.shape[1]), 0
            for first in range(0, len(copy), step):
                piece = slice(first, first + step)
                now = copy[piece].copy()
                if np.array_equal(now.view(np.uint8), known[piece].view(np.uint8)):
                    continue
                changed = (now != known[piece]).any(axis=1)
                real[piece][changed] = now[changed]
                known[piece] = now
                if name not in self._changed:
                    self._changed[name] = np.full(len(copy), -1, dtype=np.int32)
                self._changed[name][piece][changed] = works
                size += int(np.count_nonzero(changed)) * copy.shape[1]
            if size:
                sizes.append(size)
        return sizes

    def forget_changes(self) -> None:
        self._changed.clear()

    def changed_later(self, entry: Entry) -> Callable[[int, int], bool] | None:
        """Whether the runner changed an element (by place) after a work (by number)."""
        changed = self._changed.get(entry["name"])
        if changed is None:
            return None
        return lambda place, work: bool(changed[storage_place(entry, place)] > work)


def _why(error: Any, returned: Any) -> Any:
    """With the GPU's sentence if it refused something."""
    if returned.misuses and isinstance(error, dict) and error.get("type") == "GpuError":
        return {**error, "message": returned.misuses[0].message}
    return error


def _exactly(connection: socket.socket, size: int) -> bytes:
    parts = bytearray(size)
    view, at = memoryview(parts), 0
    while at < size:
        try:
            some = connection.recv_into(view[at:])
        except OSError:
            some = 0
        if some == 0:
            raise EOFError
        at += some
    return bytes(parts)
