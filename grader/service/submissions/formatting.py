"""Formats a source by clang-format or ruff, without environment and configuration file, and bounded in input, output,
memory and time."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from grader import limits
from grader.challenge.source import language_of
from grader.errors import BadRequest, BadSource, TooMany
from grader.languages import Language
from grader.schemas.formatting import FormatBody, FormatView

_STYLE = (
    "{BasedOnStyle: Google, IndentWidth: 4, ColumnLimit: 100, AccessModifierOffset: -2, SortIncludes: false}"
)
_COMMANDS: dict[bool, tuple[str, ...]] = {
    False: ("clang-format", "--assume-filename=solution.cu", f"--style={_STYLE}"),
    True: (
        "ruff",
        "format",
        "--isolated",
        "--no-cache",
        "--line-length=100",
        "--stdin-filename=solution.py",
        "-",
    ),
}
_ADVICE = "The editor's own indentation works without it; staff can install the extra 'format'."
_ERROR_CHARS = 300
# ruff's; other messages, as of a crash, help nobody.
_SYNTAX = re.compile(r"Failed to parse solution\.py:(\d+):\d+: (.+)")
_free = threading.BoundedSemaphore(limits.FORMATS_AT_ONCE)


@cache
def can_format(language: Language) -> bool:
    return _program(_COMMANDS[language.python][0]) is not None


def formatted(body: FormatBody) -> FormatView:
    """Raises UnknownLanguage, BadRequest without the formatter, BadSource with its reason, TooMany."""
    language = language_of("", body.language)
    command = _COMMANDS[language.python]
    program = _program(command[0])
    if program is None:
        raise BadRequest(f"This server has no formatter for {language.display_name}.", _ADVICE)
    text = body.source.encode("utf-8", "surrogatepass")
    if len(text) > limits.FORMAT_BYTES:
        raise BadSource(
            f"The source has {len(text):,} bytes; {limits.FORMAT_BYTES:,} at most are formatted.",
            "Format a part.",
        )
    if not _free.acquire(timeout=limits.FORMAT_SECONDS):
        raise TooMany("Others are formatting their sources.", "Try again in a moment.")
    try:
        return FormatView(source=_run([program, *command[1:]], text))
    finally:
        _free.release()


def _run(command: Sequence[str], text: bytes) -> str:
    """Raises BadSource."""
    # The kernel bounds the size of files, not of pipes.
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=err,
            env={"RAYON_NUM_THREADS": "1", "TMPDIR": "/nonexistent"},
            cwd="/",
            start_new_session=True,
        )
        try:
            for kind, most in _BOUNDS:
                resource.prlimit(process.pid, kind, (most, most))
            process.communicate(text, timeout=limits.FORMAT_SECONDS)
        except subprocess.TimeoutExpired:
            raise BadSource("The formatter takes too long on this source.", "Format a part of it.") from None
        finally:
            # clang-format's package starts a child process.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        out.seek(0)
        err.seek(0)
        if process.returncode != 0:
            said = _SYNTAX.search(err.read(_ERROR_CHARS).decode("utf-8", "replace"))
            why = f"line {said[1]}: {said[2]}." if said else "the formatter gave up."
            raise BadSource(f"It cannot be formatted: {why}", "Mend it first.")
        return out.read(limits.FORMAT_OUTPUT_BYTES).decode("utf-8", "surrogatepass")


_BOUNDS = (
    (resource.RLIMIT_AS, limits.FORMAT_MEMORY_BYTES),
    (resource.RLIMIT_CPU, int(limits.FORMAT_SECONDS)),
    (resource.RLIMIT_FSIZE, limits.FORMAT_OUTPUT_BYTES),
    (resource.RLIMIT_CORE, 0),
)


@cache
def _program(name: str) -> str | None:
    """Only from this environment: the operator installed it for this purpose."""
    near = Path(sys.prefix) / "bin" / name
    return str(near) if near.is_file() else None
