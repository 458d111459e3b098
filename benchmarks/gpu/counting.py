"""What the emulated GPU counts in one call of a source: without a box and without the checker, so in seconds at sizes
that take a card tens of microseconds. Every block is counted; none is left out and extrapolated.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch
from emulated_program import BEGIN

from grader.challenge.cases import Case
from grader.challenge.loader import Challenge
from grader.challenge.model import Kind
from grader.judge.arena import Arena
from grader.judge.compare import compare
from grader.judge.counted_calls import most_whole
from grader.judge.oracle import Question, scalar_values
from grader.sandbox.emulator import device as gpu
from grader.sandbox.emulator.assembler import tritons_ptxas
from grader.sandbox.emulator.engine import BUT_SHARED_RACES, EVERYTHING, NOTHING, Engine
from grader.sandbox.emulator.explain import message_of
from grader.sandbox.emulator.model import Launch
from grader.sandbox.emulator.sample import CountedSample

HERE = Path(__file__).resolve().parent
_FORMATS = {"float32": "<f", "float64": "<d", "int64": "<q", "int32": "<i"}
# Seconds of silence after which a Triton program hangs.
_PATIENCE_SECONDS = 120.0


@dataclass(frozen=True)
class Counted:
    """``copies``: also memsets, of ``copied`` bytes in all; ``modelled``: seconds; ``took``: seconds here; ``wrong``:
    what is wrong with the result, or empty."""

    launches: tuple[Launch, ...]
    copies: int
    copied: int
    modelled: float
    took: float
    wrong: str


def count(
    challenge: Challenge, case: Case, question: Question, program: Path, *, sampled: bool = False
) -> Counted:
    """``program``: a library for the emulated GPU, or a Triton source. ``sampled``: as a board counts, a
    sample of the blocks if all are too much work; its results are not compared. Raises RuntimeError where it fails."""
    found, sample = _counted(challenge, case, question, program, CountedSample([], 1) if sampled else None)
    if sample is None:
        return found
    work = sum(launch.instructions for launch in sample.launches)
    if work <= most_whole(uneven=sample.uneven) or sample.incomplete:
        found, _ = _counted(challenge, case, question, program, None)
    return found


def _counted(
    challenge: Challenge, case: Case, question: Question, program: Path, sample: CountedSample | None
) -> tuple[Counted, CountedSample | None]:
    engine = Engine(1)
    engine.sample = sample
    triton = program.suffix != ".so"
    engine.check = NOTHING if sample is None else BUT_SHARED_RACES if triton else EVERYTHING
    device = gpu.Device(engine, ptxas=tritons_ptxas(), relayed=triton)
    arena = Arena(challenge.manifest, case.sizes, scalar_values(challenge.manifest, case))
    began = time.perf_counter()
    try:
        arena.reveal(question.inputs)
        returned = (_library if program.suffix == ".so" else _program)(device, arena, program)
        taken = device.call
        found = [finding for finding in (returned.fault, *returned.findings) if finding is not None]
        if returned.unsupported is not None or returned.refused or found:
            told = [message_of(fault) for fault in found[:1]]
            raise RuntimeError(str(returned.unsupported or returned.refused or told[0]))
        if returned.code:
            raise RuntimeError(f"CUDA error {returned.code}: {returned.name}")
        wrong = ""
        if sample is None and (mismatch := compare(arena, arena.snapshot(), question)) is not None:
            wrong = f"{mismatch.argument}{mismatch.index}: {mismatch.got}"
        assert returned.modelled is not None
        took = time.perf_counter() - began
        return Counted(returned.counted, taken.copies, taken.copied, returned.modelled, took, wrong), sample
    finally:
        arena.close()
        engine.close()


def _adopt(device: gpu.Device, arena: Arena) -> list[dict[str, object]]:
    """The arena's entries, buffers with their address on the device."""
    entries = arena.entries()
    for entry in entries:
        if entry["kind"] == "buffer":
            buffer = arena.buffers[entry["name"]]
            data = buffer.values.data_ptr() if entry["nbytes"] else 0
            written = buffer.argument.kind is not Kind.OUTPUT
            entry["device"] = device.adopt(data, entry["nbytes"], entry["name"], written=written)
    return entries


def _library(device: gpu.Device, arena: Arena, library: Path) -> gpu.Returned:
    values = [
        struct.pack("<Q", argument["device"])
        if argument["kind"] == "buffer"
        else struct.pack(_FORMATS[str(argument["dtype"])], argument["value"])
        for argument in _adopt(device, arena)
    ]
    host = gpu.HostProcess(device, library)
    try:
        return host.call(values, counted=True)
    finally:
        host.close()


def _program(device: gpu.Device, arena: Arena, source: Path) -> gpu.Returned:
    descriptors = arena.descriptors()
    ours, theirs = socket.socketpair()
    ours.settimeout(_PATIENCE_SECONDS)
    with TemporaryDirectory(prefix="grader-count-") as name, ours:
        entries = Path(name, "entries.json")
        entries.write_text(json.dumps(_adopt(device, arena)))
        with theirs, Path(name, "said").open("w+") as said:
            process = subprocess.Popen(
                [sys.executable, HERE / "emulated_program.py", source, entries, *map(str, descriptors)],
                pass_fds=[theirs.fileno(), *descriptors],
                env={**os.environ, "GRADER_GPU": str(theirs.fileno()), "TMPDIR": name},
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
            )
            theirs.close()
            _serve(device, ours, arena)
            if process.wait(_PATIENCE_SECONDS):
                said.seek(0)
                raise RuntimeError(said.read().strip()[-250:])
    return device.returned()


def _serve(device: gpu.Device, connection: socket.socket, arena: Arena) -> None:
    """Until the other end is gone. What the program does ahead of ``BEGIN`` warms it up, and is not counted. What it
    writes to results between launches counts as by the platform (``emulated_relay.py``)."""
    results = [arena.buffers[argument.name].words for argument in arena.manifest.results]
    known = [words.clone() for words in results]

    def take_changes() -> None:
        for words, before in zip(results, known, strict=True):
            size = words.element_size()
            differ = words.view(torch.uint8) != before.view(torch.uint8)
            if changed := int(differ.view(-1, size).any(dim=1).sum()):
                device.written_by_host(changed * size)

    while head := _exactly(connection, gpu.HEADER.size):
        kind, size = gpu.HEADER.unpack(head)
        body = _exactly(connection, size)
        if kind == BEGIN:
            device.begin(counted=True)
            status, reply = 0, b""
        else:
            if kind == gpu.LAUNCH:
                take_changes()
            status, reply = device.answer(kind, body)
            if kind == gpu.LAUNCH:
                for words, before in zip(results, known, strict=True):
                    before.copy_(words)
        connection.sendall(gpu.REPLY.pack(status, len(reply)) + reply)
    take_changes()


def _exactly(connection: socket.socket, size: int) -> bytes:
    """Empty where the other end is gone."""
    parts = bytearray()
    while len(parts) < size:
        data = connection.recv(min(size - len(parts), 1 << 20))
        if not data:
            return b""
        parts += data
    return bytes(parts)
