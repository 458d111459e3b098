"""CUDA sources become shared libraries, in a box without GPU, network or secrets: compiling runs strangers' code too
(macros, templates, includes), so nothing of what the box says is believed beyond its form and its size."""

from __future__ import annotations

import functools
import hashlib
import json
import re
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from cachetools import LRUCache

from grader import limits
from grader.errors import BoxUnavailable
from grader.sandbox.allowance import Allowance
from grader.sandbox.box import Box, BoxMaker, BoxPurpose, BoxSpec, EndReason
from grader.sandbox.compiler.conversation import BUSY, Conversation
from grader.sandbox.compiler.explain import clean_log, explain
from grader.sandbox.compiler.usage import KernelUsage, kernels_of
from grader.sandbox.control_groups import host_memory_kills
from grader.sandbox.processor import Share, background_cores
from grader.sandbox.toolkit import INSTALL, cuda_home, nvcc_version

CACHE_BYTES = 256 * limits.MIB
PROGRAM = "compile.py"
# What a student may call a file; anything else is compiled as solution.cu.
PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,120}\.cu")
ARCHITECTURE = re.compile(r"(?:sm|compute)_\d{2,3}[af]?")
ELF = b"\x7fELF"


@dataclass(frozen=True)
class CompileRequest:
    """``footer`` is appended to ``source`` and must define ``grader_entry``; ``arch`` is such as ``sm_90``, or
    ``compute_90a`` for PTX. ``compiler``: its name in ``grader.judge.compilation.COMPILERS``. ``background``: something
    may be timed by a clock on this host meanwhile, see ``compile_spec``."""

    source: str
    footer: str
    filename: str = "solution.cu"
    arch: str = "sm_90"
    compiler: str = "nvcc"
    background: bool = True

    def key(self, toolkit: str | None = None) -> str:
        """What the artefact depends on, as a hash; ``toolkit``: another version than this machine's."""
        parts = (
            self.source,
            self.footer,
            self.filename,
            self.arch,
            toolkit or str(nvcc_version()),
            recipe(),
        )
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@functools.cache
def recipe() -> str:
    """The flags, and what is added to a source, as a hash: that of the program which has both."""
    program = Path(__file__).resolve().parents[1] / "runner" / PROGRAM
    return hashlib.sha256(program.read_bytes()).hexdigest()


@dataclass(frozen=True)
class CompileResult:
    """``artefact`` is the shared library when ``ok``; ``log`` is for the student; ``seconds`` went by in this call;
    ``kernels``: what each takes of a multiprocessor; ``hint``: what to do about an error, where that is known."""

    ok: bool
    artefact: bytes | None
    log: str
    seconds: float
    kernels: tuple[KernelUsage, ...] = ()
    hint: str = ""


# The libraries compiled last. Several threads compile, so it is used under its lock.
cache: LRUCache[str, CompileResult] = LRUCache(
    CACHE_BYTES, getsizeof=lambda result: len(result.artefact or b"")
)
_cache_lock = threading.Lock()


def compile_cuda(
    boxes: BoxMaker, request: CompileRequest, interrupt: Callable[[], None] = lambda: None
) -> CompileResult:
    """Compile in a box of ``boxes``. A source that is at fault gives ``ok=False`` and a log that says why.

    ``interrupt`` is called now and then (see ``ASK_SECONDS``) and raises when the library is no longer wanted. Raises
    BoxUnavailable when there is no compiler, or no box, or the box failed for no fault of the source.
    """
    home = cuda_home()
    if home is None or nvcc_version() is None:
        raise BoxUnavailable("this machine has no CUDA compiler", INSTALL)
    if not ARCHITECTURE.fullmatch(request.arch):
        raise ValueError(f"architecture {request.arch!r}: expected one such as sm_90")
    started = time.monotonic()
    key = request.key()
    with _cache_lock:
        known = cache.get(key)
    if known is not None:
        return replace(known, seconds=time.monotonic() - started)
    box = boxes.start(compile_spec(request.background))
    try:
        compilation = _Compilation(box, request, str(home / "bin" / "nvcc"), interrupt)
        made = compilation.run()
    finally:
        box.kill()
    said = explain(clean_log(made.log), request.source, compilation.filename)
    seconds = time.monotonic() - started
    hint = "" if made.ok else said.hint
    result = CompileResult(made.ok, made.artefact, said.log, seconds, kernels_of(made.usage), hint)
    if result.ok:
        with _cache_lock, suppress(ValueError):  # a library larger than the whole cache
            cache[key] = result
    return result


def compile_spec(background: bool = True) -> BoxSpec:
    """The box that a compiler gets. In the background it yields to all else, and leaves cores to what is timed
    meanwhile; else it gets what a submission's box on this host's processor gets."""
    return BoxSpec(
        BoxPurpose.COMPILE,
        program=PROGRAM,
        memory_bytes=limits.COMPILE_MEMORY_BYTES,
        # Past this even a silent parent's box ends; the parent has a clock of its own.
        wall_seconds=limits.CLOCK_PATIENCE * limits.COMPILE_SECONDS
        + limits.BOX_START_PATIENCE * limits.BOX_START_SECONDS,
        share=Share.BACKGROUND if background else Share.YIELDING,
        cores=background_cores() if background else (),
        compute_libraries=False,  # a source could take one into itself
    )


def _allowance(box: Box) -> Allowance:
    """For all programs of the compiler together; by the clock, what one of them may take on a busy host."""
    patience = limits.CLOCK_PATIENCE / limits.COMPILE_PATIENCE
    seconds = limits.COMPILE_PATIENCE * limits.COMPILE_SECONDS
    return Allowance(seconds, box.cpu_seconds, exact=True, patience=patience)


@dataclass(frozen=True)
class _Made:
    """What came out of the box: bounded, and of the right types; nothing more is known of it."""

    ok: bool
    artefact: bytes | None
    log: str
    usage: str = ""


class _Compilation:
    """One conversation with ``compile.py``."""

    def __init__(self, box: Box, request: CompileRequest, nvcc: str, interrupt: Callable[[], None]) -> None:
        self._box = box
        self._memory_kills = host_memory_kills()
        self.filename = request.filename if PLAIN_NAME.fullmatch(request.filename) else "solution.cu"
        self._request = {
            "source": request.source,
            "footer": request.footer,
            "filename": self.filename,
            "arch": request.arch,
            "nvcc": nvcc,
            "log_bytes": limits.COMPILE_LOG_BYTES,
            "artefact_bytes": limits.ARTEFACT_BYTES,
            "cpu_seconds": limits.COMPILE_SECONDS,
        }
        self._talk = Conversation(box.connection, _allowance(box), interrupt)

    def run(self) -> _Made:
        try:
            fault = self._talk.run(self._request)
        except (OSError, EOFError):
            fault = self._why_it_ended()
        return _Made(False, None, fault) if fault else self._judge_answer()

    def _why_it_ended(self) -> str:
        end = self._box.end(wait_s=5.0)
        if end is not None and end.reason is EndReason.OUT_OF_MEMORY:
            return "[the compiler used more memory than it may]"
        if end is not None and end.reason is EndReason.OUTPUT_FLOOD:
            return "[the compiler printed more than it may]"
        how = end.sentence() if end else "it closed its connection"
        said = self._box.output().decode("utf-8", "replace")[-500:]
        raise BoxUnavailable(f"the box that compiles failed: {how}" + (f": {said}" if said else ""))

    def _judge_answer(self) -> _Made:
        try:
            answer = json.loads(self._talk.answer[4:])
            ok, log, usage, killed = answer["ok"], answer["log"], answer["usage"], answer["killed"]
        except (ValueError, KeyError, TypeError, RecursionError) as error:  # the last: brackets without end
            raise BoxUnavailable("the box that compiles gave an answer that makes no sense") from error
        if not (
            isinstance(ok, bool)
            and isinstance(log, str)
            and isinstance(usage, str)
            and isinstance(killed, bool)
        ):
            raise BoxUnavailable("the box that compiles gave an answer that makes no sense")
        if killed and not ok:
            # By the kernel for the memory of its box, or because the host has no more. What the compiler prints is no
            # proof of it: a source can put any words there (#line, #error), so the kernel's own count decides.
            if self._box.out_of_memory():
                log += "\n[the compiler used more memory than it may]\n"
            elif host_memory_kills() > self._memory_kills:
                raise BoxUnavailable(
                    "a program of the compiler was killed, and not by a limit of its box", BUSY
                )
        library = bytes(self._talk.library)
        if ok and not library.startswith(ELF):
            raise BoxUnavailable("the box that compiles gave no library")
        return _Made(ok, library if ok else None, log, usage)
