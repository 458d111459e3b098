"""A compiler's box that its source took over: its messages cost bounded time and memory, and count as a fault
of the source or of the box.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from grader import limits
from grader.errors import BoxUnavailable
from grader.sandbox.box import BoxEnd, BoxSpec, EndReason
from grader.sandbox.compiler import nvcc
from grader.sandbox.compiler.nvcc import CompileRequest, CompileResult, compile_cuda
from tests.descriptors import none_left_open
from tests.sandbox.test_nvcc import FOOTER, SOURCE

pytestmark = pytest.mark.needs("nvcc")

Talk = Callable[[socket.socket, int], None]
LIBRARY = b"\x7fELF and more"
SILENT_SECONDS = 0.5


class FakeBox:
    """A box whose program is ``talk``, which gets the connection and the library's pipe."""

    id = "fake"

    def __init__(self, talk: Talk, full: bool = False) -> None:
        self._full = full
        self.connection, self._theirs = socket.socketpair()
        self._thread = threading.Thread(target=self._serve, args=(talk,), daemon=True)
        self._thread.start()

    def _serve(self, talk: Talk) -> None:
        with suppress(OSError):
            _, descriptors, _, _ = socket.recv_fds(self._theirs, 1 << 20, 4)
            with suppress(OSError):
                talk(self._theirs, descriptors[0])
            for descriptor in descriptors:
                os.close(descriptor)
            self._theirs.recv(1)  # like the program, until the parent ends it
        self._theirs.close()

    def end(self, wait_s: float = 0.0) -> BoxEnd | None:
        return BoxEnd(EndReason.EXITED, exit_code=1)

    def kill(self) -> BoxEnd:
        self.connection.close()
        self._thread.join(10)
        assert not self._thread.is_alive()
        return BoxEnd(EndReason.KILLED)

    def cpu_seconds(self) -> float:
        return time.monotonic()  # it is never idle

    def out_of_memory(self) -> bool:
        return self._full

    def output(self) -> bytes:
        return b""


class FakeBoxes:
    name = "fake"

    def __init__(self, talk: Talk, full: bool) -> None:
        self._talk, self._full = talk, full

    def start(self, spec: BoxSpec) -> FakeBox:
        return FakeBox(self._talk, self._full)

    def reap(self) -> int:
        return 0


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(limits, "COMPILE_PATIENCE", SILENT_SECONDS / limits.COMPILE_SECONDS)
    nvcc.cache.clear()
    with none_left_open():
        yield
        nvcc.cache.clear()


def compiled_by(talk: Talk, full: bool = False) -> CompileResult:
    """``full``: the host reports that the box reached its memory limit."""
    return compile_cuda(FakeBoxes(talk, full), CompileRequest(SOURCE, FOOTER))


def say(theirs: socket.socket, body: bytes) -> None:
    theirs.sendall(struct.pack("<I", len(body)) + body)


def answer(**changes: object) -> bytes:
    return json.dumps({"ok": True, "log": "", "usage": "", "killed": False, **changes}).encode()


def saying(body: bytes, library: bytes = LIBRARY) -> Talk:
    def talk(theirs: socket.socket, pipe: int) -> None:
        os.write(pipe, library)
        say(theirs, body)

    return talk


def test_the_fake_compiler_is_accepted_if_it_follows_the_protocol() -> None:
    result = compiled_by(saying(answer(log="fine")))
    assert (result.ok, result.artefact, result.log) == (True, LIBRARY, "fine")


def test_a_killed_compiler_is_the_sources_fault_only_if_the_box_was_full(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    killed = saying(answer(ok=False, log="nvcc error : 'cicc' died due to signal 9", killed=True))
    assert "more memory than it may" in compiled_by(killed, full=True).log
    assert not compiled_by(killed).ok, "a source can make the compiler print that"
    counts = iter(range(2))
    monkeypatch.setattr(nvcc, "host_memory_kills", lambda: next(counts))
    with pytest.raises(BoxUnavailable, match="killed, and not by a limit of its box"):
        compiled_by(killed)


def test_a_starved_compiler_is_our_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(FakeBox, "cpu_seconds", lambda _: time.monotonic() / 50)
    monkeypatch.setattr(limits, "CLOCK_PATIENCE", 2 * SILENT_SECONDS / limits.COMPILE_SECONDS)
    with pytest.raises(BoxUnavailable, match="did not finish within"):
        compiled_by(lambda theirs, pipe: theirs.recv(1))


NONSENSE = {
    "nesting": b"[" * 100_000,
    "objects": b'{"ok":' * 50_000,
    "digits": b"9" * 50_000,
    "not UTF-8": b"\xff" * 100,
    "empty": b"",
    "null": b"null",
    "list": b"[]",
    "half": b'{"ok": true}',
    "a number for yes": answer(ok=1),
    "no log": answer(log=None),
    "no usage": answer(usage=[]),
    "a log of fields": answer(log={"a": "b"}),
    "a word for no": answer(killed="no"),
}


@pytest.mark.parametrize("body", NONSENSE.values(), ids=NONSENSE.keys())
def test_a_malformed_answer_is_our_failure(body: bytes) -> None:
    with pytest.raises(BoxUnavailable, match="malformed answer"):
        compiled_by(saying(body))


@pytest.mark.parametrize("library", [b"", b"#!/bin/sh\n", b"\x7fEL"])
def test_an_artefact_must_be_a_library(library: bytes) -> None:
    with pytest.raises(BoxUnavailable, match="sent no library"):
        compiled_by(saying(answer(), library))


def drip_answer(theirs: socket.socket, pipe: int) -> None:
    theirs.sendall(struct.pack("<I", 1000))
    while True:
        theirs.sendall(b" ")
        time.sleep(0.001)


def drip_library(theirs: socket.socket, pipe: int) -> None:
    say(theirs, answer())
    while True:
        os.write(pipe, b"x")
        time.sleep(0.001)


def keep_the_pipe_open(theirs: socket.socket, pipe: int) -> None:
    os.write(pipe, LIBRARY)
    say(theirs, answer())
    theirs.recv(1)


@pytest.mark.parametrize("talk", [drip_answer, drip_library, keep_the_pipe_open])
def test_an_endless_conversation_is_stopped(talk: Talk) -> None:
    began = time.monotonic()
    result = compiled_by(talk)
    assert not result.ok
    assert "was stopped" in result.log
    assert time.monotonic() - began < SILENT_SECONDS + 3.0


def flood_answer(theirs: socket.socket, pipe: int) -> None:
    theirs.sendall(struct.pack("<I", 2**32 - 1))
    while True:
        theirs.sendall(b" " * (1 << 20))


def flood_library(theirs: socket.socket, pipe: int) -> None:
    while True:
        os.write(pipe, b"x" * (1 << 20))


@pytest.mark.parametrize(
    ("talk", "said"), [(flood_answer, "said more than it may"), (flood_library, "larger than")]
)
def test_a_flood_of_output_is_cut(monkeypatch: pytest.MonkeyPatch, talk: Talk, said: str) -> None:
    monkeypatch.setattr(limits, "COMPILE_PATIENCE", 1.0)
    monkeypatch.setattr(limits, "ARTEFACT_BYTES", 4 * limits.MIB)
    result = compiled_by(talk)
    assert not result.ok
    assert said in result.log


def test_an_early_end_is_our_failure() -> None:
    def talk(theirs: socket.socket, pipe: int) -> None:
        theirs.sendall(b"\x05\0")
        theirs.shutdown(socket.SHUT_RDWR)

    with pytest.raises(BoxUnavailable, match="the compiler's box failed"):
        compiled_by(talk)


def test_received_descriptors_are_closed() -> None:
    """The fixture checks that none is left."""

    def talk(theirs: socket.socket, pipe: int) -> None:
        os.write(pipe, LIBRARY)
        body = answer()
        socket.send_fds(theirs, [struct.pack("<I", len(body)) + body], [pipe] * 100)

    assert compiled_by(talk).ok


def test_a_log_of_terminal_codes_becomes_text() -> None:
    result = compiled_by(saying(answer(ok=False, log="\x1b[2J\ud800\0\u202e<b>")))
    assert result.log == "?<b>"
