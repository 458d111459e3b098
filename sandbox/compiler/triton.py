"""Compiles the kernels of a Triton source ahead, in a box without a GPU, to spare the GPU's box the compiler's time.
Nothing depends on it: a kernel that is missing or does not fit is compiled when called."""

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
# They determine contents and names in Triton's cache.
_RECIPE = (
    PROGRAM,
    "kernel_cache.py",
    "triton_loader.py",
    "host_compiler.py",
    "triton_driver.py",
    "large_kernels.py",
    "function_form.py",
    "copy_kernel.py",
)
# Mostly text: the fastest level makes it eight times smaller.
_LEVEL = 1

# An argument of a call: ``{"dtype", "shape"}`` or ``{"value"}``.
Argument = dict[str, Any]


@dataclass(frozen=True)
class KernelsRequest:
    source: str
    parameters: tuple[str, ...]
    #: The signature that a student implements.
    declaration: str
    #: The arguments of each call, in the order of ``parameters``.
    calls: tuple[tuple[Argument, ...], ...]
    #: For example sm_90a.
    arch: str
    #: See ``grader.sandbox.compiler.nvcc.compile_spec``.
    background: bool = True
    #: Of a challenge that takes Functions, see ``sandbox/runner/function_form.py``.
    autograd: dict[str, Any] | None = None

    def key(self) -> str:
        """A hash of everything that matters, except Triton's version, which Triton checks itself."""
        parts = (self.source, self.parameters, self.autograd, self.calls, self.arch, recipe())
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@functools.cache
def recipe() -> str:
    """A hash of the programs that compile ahead."""
    return hashlib.sha256(b"".join((_RUNNER / name).read_bytes() for name in _RECIPE)).hexdigest()


def compile_ahead(
    boxes: BoxMaker, request: KernelsRequest, interrupt: Callable[[], None] = lambda: None
) -> bytes:
    """Triton's cache as a compressed tar file; empty if nothing came of it. ``interrupt`` is called regularly and
    raises if that is unwanted. Raises BoxUnavailable if there is no box."""
    box = boxes.start(kernels_spec(request.background))
    try:
        allowance = Allowance(limits.KERNELS_CPU_SECONDS, box.cpu_seconds, patience=limits.CLOCK_PATIENCE)
        talk = Conversation(box.connection, allowance, interrupt)
        asked = {
            "source": request.source,
            "parameters": request.parameters,
            "declaration": request.declaration,
            "autograd": request.autograd,
            "calls": request.calls,
            "arch": request.arch,
            "seconds": limits.KERNELS_SECONDS,
            "artefact_bytes": limits.ARTEFACT_BYTES // 2,
        }
        try:
            too_much = talk.run(asked)
        except (OSError, EOFError):  # the source ended its box: everything until then is complete
            too_much = ""
        except BoxUnavailable:  # this host has no time for it
            return b""
    finally:
        box.kill()
    return b"" if too_much else packed(bytes(talk.library))


def kernels_spec(background: bool = True) -> BoxSpec:
    return replace(compile_spec(background), program=PROGRAM, compute_libraries=True)  # torch loads them


def packed(archive: bytes) -> bytes:
    """Empty without files, or if it is larger than allowed."""
    found = zlib.compress(archive, _LEVEL) if archive.strip(b"\0") else b""
    return found if len(found) <= limits.ARTEFACT_BYTES else b""


def unpacked(stored: bytes) -> bytes:
    """Empty if it is invalid or too large."""
    most = limits.ARTEFACT_BYTES
    unzip = zlib.decompressobj()
    try:
        archive = unzip.decompress(stored, most)
    except zlib.error:
        return b""
    return b"" if unzip.unconsumed_tail else archive
