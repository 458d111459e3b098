"""Kernels of a Triton source are compiled ahead, in a box without a GPU: what Triton cached there spares the GPU's box
the compiler's time. Nothing depends on it: what is missing or does not fit is compiled when it is called."""

from __future__ import annotations

import functools
import hashlib
import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grader import limits
from grader.errors import BoxUnavailable
from grader.sandbox.allowance import Allowance
from grader.sandbox.box import BoxMaker, BoxSpec
from grader.sandbox.compiler.conversation import Conversation
from grader.sandbox.compiler.nvcc import compile_spec

PROGRAM = "compile_triton.py"
_RUNNER = Path(__file__).resolve().parents[1] / "runner"
# What decides what lies in the cache, and under which name.
_RECIPE = (
    PROGRAM,
    "kernel_cache.py",
    "triton_loader.py",
    "host_compiler.py",
    "triton_driver.py",
    "large_kernels.py",
)
# Text for the most part; the quickest level halves it three times.
_LEVEL = 1

# An argument of a call: ``{"dtype", "shape"}`` or ``{"value"}``.
Argument = dict[str, Any]


@dataclass(frozen=True)
class KernelsRequest:
    """``calls``: the arguments of each, in the order of ``parameters``. ``declaration``: what a student implements.
    ``arch``: such as sm_90a. ``background``: see ``grader.sandbox.compiler.nvcc.compile_spec``."""

    source: str
    parameters: tuple[str, ...]
    declaration: str
    calls: tuple[tuple[Argument, ...], ...]
    arch: str
    background: bool = True

    def key(self) -> str:
        """What comes of it depends on this, as a hash. Not on Triton's version, which Triton looks at itself."""
        parts = (self.source, self.parameters, self.calls, self.arch, recipe())
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@functools.cache
def recipe() -> str:
    """How kernels are compiled ahead, as a hash: that of the programs that do it."""
    return hashlib.sha256(b"".join((_RUNNER / it).read_bytes() for it in _RECIPE)).hexdigest()


def compile_ahead(
    boxes: BoxMaker, request: KernelsRequest, interrupt: Callable[[], None] = lambda: None
) -> bytes:
    """Triton's cache as a tar file, compressed; empty where nothing came of it. ``interrupt`` is called now and then
    and raises when nobody wants it any more. Raises BoxUnavailable where there is no box."""
    box = boxes.start(kernels_spec(request.background))
    try:
        allowance = Allowance(limits.KERNELS_CPU_SECONDS, box.cpu_seconds, patience=limits.CLOCK_PATIENCE)
        talk = Conversation(box.connection, allowance, interrupt)
        asked = {
            "source": request.source,
            "parameters": request.parameters,
            "declaration": request.declaration,
            "calls": request.calls,
            "arch": request.arch,
            "seconds": limits.KERNELS_SECONDS,
            "artefact_bytes": limits.ARTEFACT_BYTES // 2,
        }
        try:
            too_much = talk.run(asked)
        except (OSError, EOFError):  # the source ended its box: what came until then is whole
            too_much = ""
        except BoxUnavailable:  # this host has no time for it
            return b""
    finally:
        box.kill()
    return b"" if too_much else packed(bytes(talk.library))


def kernels_spec(background: bool = True) -> BoxSpec:
    """The box that they are compiled in, which imports torch and Triton as it starts."""
    return replace(compile_spec(background), program=PROGRAM, compute_libraries=True)  # torch loads them


def packed(archive: bytes) -> bytes:
    """As it is stored; empty where there is no file in it, or more than may be stored."""
    found = zlib.compress(archive, _LEVEL) if archive.strip(b"\0") else b""
    return found if len(found) <= limits.ARTEFACT_BYTES else b""


def unpacked(stored: bytes) -> bytes:
    """The tar file for a box; empty where it is none, or larger than it can have been."""
    most = limits.ARTEFACT_BYTES
    unzip = zlib.decompressobj()
    try:
        archive = unzip.decompress(stored, most)
    except zlib.error:
        return b""
    return b"" if unzip.unconsumed_tail else archive
