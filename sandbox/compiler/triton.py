"""Compiles a Triton source's kernels ahead in a box without a GPU, to save the GPU's box time. Missing or
unfitting kernels are compiled when called.
"""

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
# Part of names and contents in Triton's cache.
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
# The fastest level makes text eight times smaller.
_LEVEL = 1

# ``{"dtype", "shape"}`` or ``{"value"}``.
Argument = dict[str, Any]


@dataclass(frozen=True)
class KernelsRequest:
    source: str
    parameters: tuple[str, ...]
    declaration: str
    #: Each in the order of ``parameters``.
    calls: tuple[tuple[Argument, ...], ...]
    #: For example sm_90a.
    arch: str
    #: As in ``nvcc``.
    background: bool = True
    #: See ``sandbox/runner/function_form.py``.
    autograd: dict[str, Any] | None = None

    def key(self) -> str:
        """Without Triton's version, which Triton checks itself."""
        parts = (self.source, self.parameters, self.autograd, self.calls, self.arch, recipe())
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@functools.cache
def recipe() -> str:
    return hashlib.sha256(b"".join((_RUNNER / name).read_bytes() for name in _RECIPE)).hexdigest()


def compile_ahead(
    boxes: BoxMaker, request: KernelsRequest, interrupt: Callable[[], None] = lambda: None
) -> bytes:
    """Triton's cache as a compressed tar file, maybe empty. ``interrupt`` raises if it is unwanted. Raises
    BoxUnavailable.
    """
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
        except (OSError, EOFError):  # what came before is complete
            too_much = ""
        except BoxUnavailable:
            return b""
    finally:
        box.kill()
    return b"" if too_much else packed(bytes(talk.library))


def kernels_spec(background: bool = True) -> BoxSpec:
    return replace(compile_spec(background), program=PROGRAM, compute_libraries=True)  # torch loads them


def packed(archive: bytes) -> bytes:
    """Empty without files or above the limit."""
    found = zlib.compress(archive, _LEVEL) if archive.strip(b"\0") else b""
    return found if len(found) <= limits.ARTEFACT_BYTES else b""


def unpacked(stored: bytes) -> bytes:
    """Empty if invalid or too large."""
    most = limits.ARTEFACT_BYTES
    unzip = zlib.decompressobj()
    try:
        archive = unzip.decompress(stored, most)
    except zlib.error:
        return b""
    return b"" if unzip.unconsumed_tail else archive
