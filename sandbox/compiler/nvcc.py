"""Compiles CUDA sources in a box without GPU, network or secrets, because compiling runs strangers' code
(macros, templates, includes).

Only form and size of its messages are trusted.
"""

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
from grader.sandbox.compute_libraries import LINKED, include_of
from grader.sandbox.control_groups import host_memory_kills
from grader.sandbox.kernel_headers import HEADER_LIBRARIES, HeaderLibrary, lacking
from grader.sandbox.processor import Share, background_cores
from grader.sandbox.toolkit import INSTALL, cuda_home, nvcc_version

CACHE_BYTES = 256 * limits.MIB
PROGRAM = "compile.py"
# Other files are compiled as solution.cu.
PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,120}\.(?:cu|hip)")
ARCHITECTURE = re.compile(r"(?:sm|compute)_\d{2,3}[af]?")
ELF = b"\x7fELF"


@dataclass(frozen=True)
class CompileRequest:
    source: str
    #: Appended to ``source``. Must define ``grader_entry``.
    footer: str
    filename: str = "solution.cu"
    #: ``sm_90``, or ``compute_90a`` for PTX.
    arch: str = "sm_90"
    #: A key of ``grader.judge.compilation.COMPILERS``.
    compiler: str = "nvcc"
    #: Leave cores to timings, see ``compile_spec``.
    background: bool = True
    #: Add the PTX of ``-G``, see ``sandbox/emulator/stepping/named.py``.
    names: bool = False
    #: Keys of ``grader.sandbox.kernel_headers`` that the source may include.
    headers: tuple[str, ...] = ()
    #: Keys of ``compute_libraries.LINKED`` that the challenge allows.
    libraries: tuple[str, ...] = ()

    def key(self, toolkit: str | None = None) -> str:
        """``toolkit``: another version than this machine's."""
        parts: tuple[str, ...] = (
            self.source,
            self.footer,
            self.filename,
            self.arch,
            toolkit or str(nvcc_version()),
            recipe(),
        )
        if self.names:
            parts = (*parts, "names")
        parts = (
            *parts,
            *(f"{name} {HEADER_LIBRARIES[name].flags}" for name in self.headers),
            *self.libraries,
        )
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@functools.cache
def recipe() -> str:
    """A hash of our program, its flags and the added code."""
    folder = Path(__file__).resolve().parents[1] / "runner"
    added = [library.before for library in HEADER_LIBRARIES.values() if library.before]
    return hashlib.sha256(b"".join((folder / name).read_bytes() for name in (PROGRAM, *added))).hexdigest()


@dataclass(frozen=True)
class CompileResult:
    """For the student, except for ``artefact``."""

    ok: bool
    #: The shared library if ``ok``.
    artefact: bytes | None
    log: str
    seconds: float
    kernels: tuple[KernelUsage, ...] = ()
    hint: str = ""


# Use it under its lock.
cache: LRUCache[str, CompileResult] = LRUCache(
    CACHE_BYTES, getsizeof=lambda result: len(result.artefact or b"")
)
_cache_lock = threading.Lock()


def compile_cuda(
    boxes: BoxMaker, request: CompileRequest, interrupt: Callable[[], None] = lambda: None
) -> CompileResult:
    """``interrupt`` is called every ``ASK_SECONDS`` and raises if the library is unwanted. Raises
    BoxUnavailable for failures that are not the source's.
    """
    home = cuda_home()
    if home is None or nvcc_version() is None:
        raise BoxUnavailable("this machine has no CUDA compiler", INSTALL)
    if lack := lacking(request.headers):
        raise BoxUnavailable(*lack)
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
        with _cache_lock, suppress(ValueError):  # larger than the whole cache
            cache[key] = result
    return result


def compile_spec(background: bool = True) -> BoxSpec:
    """In the background it yields and leaves cores to timings; otherwise it gets a submission's share."""
    return BoxSpec(
        BoxPurpose.COMPILE,
        program=PROGRAM,
        memory_bytes=limits.COMPILE_MEMORY_BYTES,
        # Ends the box even if the parent, which has its own clock, is silent.
        wall_seconds=limits.CLOCK_PATIENCE * limits.COMPILE_SECONDS
        + limits.BOX_START_PATIENCE * limits.BOX_START_SECONDS,
        share=Share.BACKGROUND if background else Share.YIELDING,
        cores=background_cores() if background else (),
        compute_libraries=False,  # a source could link one into itself
    )


def _allowance(box: Box) -> Allowance:
    """Of all the compiler's programs together; by the clock, what one takes on a busy host."""
    patience = limits.CLOCK_PATIENCE / limits.COMPILE_PATIENCE
    seconds = limits.COMPILE_PATIENCE * limits.COMPILE_SECONDS
    return Allowance(seconds, box.cpu_seconds, exact=True, patience=patience)


@dataclass(frozen=True)
class _Made:
    """Bounded and of the right types, otherwise untrusted."""

    ok: bool
    artefact: bytes | None
    log: str
    usage: str = ""


def _described(library: HeaderLibrary) -> dict[str, object]:
    """The box may have the package elsewhere."""
    return {
        "name": library.display_name,
        "folder": str(library.folder()),
        "package": library.package,
        "below": library.below,
        "header": library.needed or library.header,
        "flags": library.flags,
        "before": library.before,
        "elsewhere": library.elsewhere,
        "also": library.also,
        "standard": library.standard,
        "python": library.python,
    }


class _Compilation:
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
            "names": request.names,
            "headers": [_described(HEADER_LIBRARIES[name]) for name in request.headers],
            "libraries": [
                {
                    "header": LINKED[name].header,
                    "title": LINKED[name].title,
                    "include": include_of(name),
                }
                for name in request.libraries
            ],
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
        raise BoxUnavailable(f"the compiler's box failed: {how}" + (f": {said}" if said else ""))

    def _judge_answer(self) -> _Made:
        try:
            answer = json.loads(self._talk.answer[4:])
            ok, log, usage, killed = answer["ok"], answer["log"], answer["usage"], answer["killed"]
        except (ValueError, KeyError, TypeError, RecursionError) as error:  # endless brackets
            raise BoxUnavailable("the compiler's box sent a malformed answer") from error
        if not (
            isinstance(ok, bool)
            and isinstance(log, str)
            and isinstance(usage, str)
            and isinstance(killed, bool)
        ):
            raise BoxUnavailable("the compiler's box sent a malformed answer")
        if killed and not ok:
            # The kernel's count decides, since a source can print any words (#line, #error).
            if self._box.out_of_memory():
                log += "\n[the compiler used more memory than it may]\n"
            elif host_memory_kills() > self._memory_kills:
                raise BoxUnavailable(
                    "a program of the compiler was killed, and not by a limit of its box", BUSY
                )
        library = bytes(self._talk.library)
        if ok and not library.startswith(ELF):
            raise BoxUnavailable("the compiler's box sent no library")
        return _Made(ok, library if ok else None, log, usage)
