"""The emulated GPU of a submission in Python: it stands between the judge and the runner that has the submission.

That runner is a process of its own, ``main.py`` again. It is loaded, bound and called as on any device, by messages
that pass through here, and asks by a second socket for what a driver does: modules, memory, launches. What the GPU
found goes into the answer to a call, in which the submission has no say.
"""

from __future__ import annotations

import json
import os
import select
import socket
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

import protocol
from connect import connect
from emulated import end_like, failure_of, part, write_all
from emulated_binding import EmulatedBinding

device, engine = part("device"), part("engine")

# Of an answer; the judge takes no longer one.
_MOST_BYTES = 1 << 20
_LENGTH = struct.Struct("<I")


class Relay:
    """Between ``address``, where the judge listens, and a runner that imports what ``preload`` says."""

    def __init__(self, address: str, preload: str) -> None:
        # Nothing of the submission runs in this process, and none of its own may look into it.
        device.hide()
        self._judge = connect(address)
        self._device = device.Device(engine.Engine())
        # Its barriers are the compiler's to place, which has several threads write the same value now and then.
        self._device.engine.check = engine.BUT_SHARED_RACES
        self._binding: EmulatedBinding | None = None
        self._runner, runners_end = socket.socketpair()
        self._requests, asking_end = socket.socketpair()
        with runners_end, asking_end:
            ends = (runners_end.fileno(), asking_end.fileno())
            command = [sys.executable, "-I", str(Path(__file__).with_name("main.py")), f"fd:{ends[0]}"]
            env = {**os.environ, "GRADER_PRELOAD": preload, "GRADER_GPU": str(ends[1])}
            self._process = subprocess.Popen(command, pass_fds=ends, env=env, stdin=subprocess.DEVNULL)

    def serve(self) -> None:
        """Until the judge closes the connection, or the runner ends: then this process ends like it."""
        poll = select.poll()
        for end in (self._judge, self._runner, self._requests):
            poll.register(end, select.POLLIN)
        while True:
            ready = {descriptor for descriptor, _ in poll.poll()}
            try:
                if self._requests.fileno() in ready:
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
        """One request of the runner's to the GPU."""
        kind, size = device.HEADER.unpack(_exactly(self._requests, device.HEADER.size))
        if size > device.MOST_BYTES:
            raise EOFError
        status, reply = self._device.answer(kind, _exactly(self._requests, size))
        write_all(self._device.engine.printed())
        try:
            self._requests.sendall(device.REPLY.pack(status, len(reply)) + reply)
        except OSError:
            raise EOFError from None

    def _take(self, message: dict[str, Any], descriptors: list[int]) -> None:
        """The judge's message goes to the runner; of a binding, the GPU has the buffers too."""
        if message["op"] in ("bind", "unbind"):
            self._unbind()
        if message["op"] == "bind":
            self._binding = EmulatedBinding(message["entries"], descriptors)
            for entry in message["entries"]:
                if entry["kind"] == "buffer":
                    # What torch wrote there on the host is not known, so it counts as written.
                    entry["device"] = self._binding.adopt(self._device, entry, written=True)
            message["memory"] = "client"
        if message["op"] == "call":
            self._device.begin(counted=message.pop("count", False))
        body = json.dumps(message).encode()
        try:
            if descriptors:
                socket.send_fds(self._runner, [_LENGTH.pack(len(body))], descriptors)
                self._runner.sendall(body)
            else:
                self._runner.sendall(_LENGTH.pack(len(body)) + body)
        except OSError:
            self._end()
        finally:
            protocol.close_all(descriptors)

    def _unbind(self) -> None:
        if self._binding is not None:
            for entry in self._binding.entries:
                if "device" in entry:
                    self._device.forget(entry["device"])
            self._binding.close()
            self._binding = None

    def _forward(self) -> None:
        """The runner's message goes to the judge, as it is but for what the GPU found."""
        (length,) = _LENGTH.unpack(_exactly(self._runner, _LENGTH.size))
        if length > _MOST_BYTES:
            raise EOFError
        body = _exactly(self._runner, length)
        try:
            message = json.loads(body)
        except ValueError:
            message = None
        if isinstance(message, dict) and message.get("op") == "returned":
            returned = self._device.returned()
            message["error"] = failure_of(returned, programs=True) or message.get("error")
            message["modelled_us"] = 1e6 * returned.modelled if returned.modelled is not None else None
            protocol.send(self._judge, message)
        else:
            self._judge.sendall(_LENGTH.pack(length) + body)

    def _end(self) -> NoReturn:
        """End this process as the runner's did."""
        self._runner.close()
        self._requests.close()
        end_like(self._process.wait())


def _exactly(connection: socket.socket, size: int) -> bytes:
    """Raises EOFError where the other end is gone."""
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
