"""Imports the emulator's package for a runner, and words its findings.

The package is next to the runner's folder (``grader.sandbox.image.PROGRAMS``).
"""

from __future__ import annotations

import importlib
import os
import signal
import re
import sys
from typing import Any, NoReturn

_ABOVE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_MOST_SHOWN = 3
# Half of what the judge accepts.
_MOST_CHARS = 4000
# Threads returned while others waited: a card does not wait for them.
_PASSED_BY = "barrier_exited"
_MOST_LAUNCHES = 64


# The parser's; shown as ptxas says it.
_TOO_MUCH_SHARED = re.compile(r"(\S+) has ([\d,]+) bytes of shared memory, and may have ([\d,]+)")


def part(name: str) -> Any:
    """A module such as ``device``. The folder's neighbours stay out of reach."""
    sys.path.insert(0, _ABOVE)
    try:
        return importlib.import_module(f"emulator.{name}")
    finally:
        sys.path.remove(_ABOVE)


def refused(library: bytes, filename: str) -> str:
    """An error, in the compiler's form, about an instruction that the emulated GPU lacks; else empty."""
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
            if found := _TOO_MUCH_SHARED.search(str(error)):
                size, most = (int(found[group].replace(",", "")) for group in (2, 3))
                return (
                    f"ptxas error   : Entry function '{found[1]}' uses too much shared data "
                    f"({size:#x} bytes, {most:#x} max)\n"
                )
            return f"{filename}: error: the emulated GPU cannot read the PTX of this source: {error}\n"
    return ""


def failure_of(returned: Any, *, programs: bool = False) -> dict[str, Any] | None:
    """In ``failure.describe``'s form. ``programs``: speak of Triton's programs, not threads."""
    explain = part("explain")
    if returned.broken:
        return {**finding("emulator", returned.broken[-_MOST_CHARS:], 0), "kind": "ours"}
    if (unknown := returned.unsupported) is not None:
        return finding(type(unknown).__name__, str(unknown), unknown.place.line)
    texts: dict[tuple[str, int, str], str] = {}
    found = [fault for fault in (returned.fault, *returned.findings) if fault is not None]
    if all(fault.kind == _PASSED_BY for fault in found):
        found = []
    # An early read is a consequence of a race of streams.
    found.sort(key=lambda fault: fault.kind != "stream_race")
    if programs:
        found = [fault for fault in found if not explain.is_compilers(fault)]
    for fault in found:
        line = explain.line_of(fault)
        text = explain.message_of(fault, programs=programs, beside=found)
        texts.setdefault((fault.kind, line, fault.array), f"line {line}: {text}" if texts and line else text)
    if found:
        shown = list(texts.values())
        more = len(shown) - _MOST_SHOWN
        shown = shown[:_MOST_SHOWN] + ([f"... and {more} more."] if more > 0 else [])
        return finding(found[0].kind, "\n".join(shown), explain.line_of(found[0]))
    if returned.code and returned.misuses:
        misuse = returned.misuses[0]
        return finding(misuse.kind, misuse.message, misuse.line)
    if returned.code:
        return {**finding(returned.name, returned.refused or returned.text, 0), "kind": "cuda"}
    return None


def finding(name: str, message: str, line: int) -> dict[str, Any]:
    return {
        "kind": "checker",
        "type": name,
        "message": message[:_MOST_CHARS],
        "line": line or None,
        "trace": "",
        "hint": "",
    }


def unfreed_of(returned: Any) -> dict[str, Any] | None:
    if not returned.unfreed:
        return None
    lines = sorted({memory.line for memory in returned.unfreed if memory.line})[:_MOST_SHOWN]
    size = sum(memory.size for memory in returned.unfreed)
    return {"bytes": size, "allocations": len(returned.unfreed), "lines": lines}


def sampled_of(sample: Any) -> dict[str, Any] | None:
    """The part of a call that ran; None: all."""
    if sample is None:
        return None
    launches = [
        {
            "blocks": launch.blocks,
            "ran": launch.ran,
            "fair": launch.fair,
            "instructions": launch.instructions,
        }
        for launch in sample.launches
    ]
    return {
        "launches": launches[:_MOST_LAUNCHES],
        "incomplete": sample.incomplete,
        "guessed": sample.guessed,
        "combined": sample.combined,
        "uneven": sample.uneven,
        "instructions": sum(launch.instructions for launch in sample.launches),
    }


def record_call(engine: Any, asked: Any, *, programs: bool = False) -> Any:
    """``asked``: see ``RunnerClient.recorded_call``."""
    if not isinstance(asked, dict):
        return engine.record(programs=programs)
    if "array" in asked:
        return engine.record(programs=programs, wanted=part("stepping.not_stored").Wanted.of(asked))
    return engine.record(
        part("stepping.recorder").Choice(asked["launch"], tuple(asked["block"])), programs=programs
    )


def step_of(recorder: Any) -> dict[str, Any] | None:
    """For the judge; None: nothing."""
    if not (recorder.bundle or recorder.why or recorder.reason):
        return None
    return {**recorder.told(), "reason": recorder.reason}


def notes_of(returned: Any) -> list[str]:
    notes = []
    if returned.heap_leaked[0]:
        count, size = returned.heap_leaked
        what = "1 allocation" if count == 1 else f"{count:,} allocations"
        notes.append(f"{what} of malloc or new in kernels, {size:,} bytes in all, not freed")
    if returned.forgotten:
        what = "1 operation" if returned.forgotten == 1 else f"{returned.forgotten} operations"
        notes.append(f"not run: {what} on your own streams, which nothing waited for")
    return notes


def remarks_of(returned: Any) -> list[str]:
    explain = part("explain")
    said = [(remark.line, remark.message) for remark in returned.remarks]
    said += [
        (explain.line_of(found), explain.message_of(found))
        for found in returned.findings
        if found.kind == _PASSED_BY
    ]
    return [f"Line {line}: {text}" if line else text for line, text in said[:_MOST_SHOWN]]


def forgotten_of(returned: Any) -> dict[str, Any] | None:
    """Operations that nothing waited for."""
    if not returned.forgotten:
        return None
    lines = sorted({line for line in returned.forgotten_lines if line})[:_MOST_SHOWN]
    return {"operations": returned.forgotten, "lines": lines}


def write_all(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def end_like(status: int | None) -> NoReturn:
    """``status``: a ``subprocess.Popen.returncode``."""
    if status is not None and status < 0:
        if -status != signal.SIGKILL:
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit((status or 0) & 255)
