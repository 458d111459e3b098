"""The emulated GPU within a box: where its package lies, what libraries for it are checked for, and what it tells.

It lies beside the runner's folder, on the host as in a box (``grader.sandbox.image.PROGRAMS``).
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
from typing import Any, NoReturn

_ABOVE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# So many sentences on what was wrong in one call are shown.
_MOST_SHOWN = 3
# Of a message, the judge takes twice as much.
_MOST_CHARS = 4000
# Threads of a block went past a barrier and returned: a card does not wait for them.
_PASSED_BY = "barrier_exited"
# So many launches of a sampled call are told.
_MOST_LAUNCHES = 64


def part(name: str) -> Any:
    """A module of the emulator, such as ``device``. Its folder's neighbours stay out of reach."""
    sys.path.insert(0, _ABOVE)
    try:
        return importlib.import_module(f"emulator.{name}")
    finally:
        sys.path.remove(_ABOVE)


def refused(library: bytes, filename: str) -> str:
    """The compiler's error, so to speak, for an instruction in ``library`` that the emulated GPU does not know; empty
    where it knows all. ``filename``: of the source."""
    engine, fatbin, lower, ptx = (part(name) for name in ("engine", "fatbin", "lower", "ptx"))
    for text in fatbin.ptx_of(fatbin.section_of(library)):
        try:
            engine.check(ptx.parse(text))
        except lower.Unsupported as error:
            at = f"{filename}({error.place.line})" if error.place.line else filename
            return f"{at}: error: {error}\n"
        except engine.TooMuchShared as error:
            return f"{error}\n"
        except ptx.BadPtx as error:
            return f"{filename}: error: the emulated GPU cannot read the PTX of this source: {error}\n"
    return ""


def failure_of(returned: Any, *, programs: bool = False) -> dict[str, Any] | None:
    """What the GPU found wrong in a call, as ``failure.describe`` has it; None: nothing. ``programs``: it is told of
    Triton's programs, not of threads."""
    explain = part("explain")
    if returned.broken:
        return {**told("emulator", returned.broken[-_MOST_CHARS:], 0), "kind": "ours"}
    if (unknown := returned.unsupported) is not None:
        return told(type(unknown).__name__, str(unknown), unknown.place.line)
    texts: dict[tuple[str, int, str], str] = {}
    found = [it for it in (returned.fault, *returned.findings) if it is not None]
    if all(it.kind == _PASSED_BY for it in found):
        found = []
    # Of two streams that do not wait for each other, that is the cause, and what was read too early its consequence.
    found.sort(key=lambda it: it.kind != "stream_race")
    if programs:
        # Threads of a program are the compiler's: several of them may read what one writes. That two of them write one
        # place from one line is the source's doing.
        found = [
            it
            for it in found
            if not it.kind.endswith("_race")
            or it.other is None
            or it.other.block != it.who.block
            or it.same_index
        ]
    for it in found:
        line = explain.line_of(it)
        text = explain.message_of(it, programs=programs, beside=found)
        texts.setdefault((it.kind, line, it.array), f"line {line}: {text}" if texts and line else text)
    if found:
        shown = list(texts.values())
        more = len(shown) - _MOST_SHOWN
        shown = shown[:_MOST_SHOWN] + ([f"... and {more} more."] if more > 0 else [])
        return told(found[0].kind, "\n".join(shown), explain.line_of(found[0]))
    if returned.code and returned.misuses:
        it = returned.misuses[0]
        return told(it.kind, it.message, it.line)
    if returned.code:
        return {**told(returned.name, returned.refused or returned.text, 0), "kind": "cuda"}
    return None


def told(name: str, message: str, line: int) -> dict[str, Any]:
    return {
        "kind": "checker",
        "type": name,
        "message": message[:_MOST_CHARS],
        "line": line or None,
        "trace": "",
        "hint": "",
    }


def unfreed_of(returned: Any) -> dict[str, Any] | None:
    """What was allocated and not freed, as the judge's message has it; None: all was freed."""
    if not returned.unfreed:
        return None
    lines = sorted({it.line for it in returned.unfreed if it.line})[:_MOST_SHOWN]
    size = sum(it.size for it in returned.unfreed)
    return {"bytes": size, "allocations": len(returned.unfreed), "lines": lines}


def sampled_of(sample: Any) -> dict[str, Any] | None:
    """What of a call was run, as the judge's message has it; None: everything."""
    if sample is None:
        return None
    launches = [{"blocks": it.blocks, "ran": it.ran, "fair": it.fair} for it in sample.launches]
    return {
        "launches": launches[:_MOST_LAUNCHES],
        "incomplete": sample.incomplete,
        "guessed": sample.guessed,
        "combined": sample.combined,
    }


def notes_of(returned: Any) -> list[str]:
    """What was not wrong in a call, but is worth a look."""
    notes = []
    if returned.heap_leaked[0]:
        count, size = returned.heap_leaked
        what = "1 allocation" if count == 1 else f"{count:,} allocations"
        notes.append(f"{what} of malloc or new in kernels, {size:,} bytes in all, not freed")
    if returned.forgotten:
        what = "1 operation" if returned.forgotten == 1 else f"{returned.forgotten} operations"
        notes.append(f"{what} on streams of your own: nobody waited for them, and they were not done")
    return notes


def remarks_of(returned: Any) -> list[str]:
    """Sentences for the report on what was no error, but is hardly meant."""
    explain = part("explain")
    said = [(it.line, it.message) for it in returned.remarks]
    said += [
        (explain.line_of(it), explain.message_of(it)) for it in returned.findings if it.kind == _PASSED_BY
    ]
    return [f"Line {line}: {text}" if line else text for line, text in said[:_MOST_SHOWN]]


def forgotten_of(returned: Any) -> dict[str, Any] | None:
    """What was left out because nobody waited for it, as the judge's message has it; None: nothing."""
    if not returned.forgotten:
        return None
    lines = sorted({it for it in returned.forgotten_lines if it})[:_MOST_SHOWN]
    return {"operations": returned.forgotten, "lines": lines}


def write_all(data: bytes) -> None:
    """Print it as the submission's."""
    while data:
        data = data[os.write(1, data) :]


def end_like(status: int | None) -> NoReturn:
    """End this process as another did. ``status``: as ``subprocess.Popen.returncode``."""
    if status is not None and status < 0:
        if -status != signal.SIGKILL:
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit((status or 0) & 255)
