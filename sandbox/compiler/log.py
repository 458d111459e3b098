"""What a compiler printed, made fit for a student: bounded, printable, without the box's own paths."""

from __future__ import annotations

import re

from grader import limits

# ptxas and the linker name nvcc's intermediate files: tmpxft_00000007_00000000-6_solution.ptx.
_STEP = re.compile(r"tmpxft_[0-9a-f]+_[0-9a-f]+-\d+_")
_FOLDER = re.compile(r"/tmp/(?:[\w.+-]+/)*")  # noqa: S108 - the box's
# Where headers and programs of this platform lie: a message needs only their names. Not in lines of the source, which
# the compiler repeats indented.
_ABSOLUTE = re.compile(r"(?<![^\s\"'(`])/(?:[\w.+-]+/)+(?=[\w.+-])")
_NAMES_A_FILE = re.compile(r"^\S|\b(?:of|from) \"?/")
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_CONTROL = re.compile(r"[^\S\n\t ]|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def clean_log(text: str) -> str:
    """``text`` cut to ``limits.COMPILE_LOG_BYTES`` bytes of printable UTF-8."""
    for pattern in (_ESCAPE, _FOLDER, _STEP, _CONTROL):
        text = pattern.sub("", text)
    text = "\n".join(
        _ABSOLUTE.sub("", line) if _NAMES_A_FILE.search(line) else line for line in text.split("\n")
    )
    encoded = text.strip().encode("utf-8", "replace")
    return encoded[: limits.COMPILE_LOG_BYTES].decode("utf-8", "ignore")
