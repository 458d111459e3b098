"""What a compiler said, with the lines that it names linked to those of the source on the same page."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from grader.languages import compiled_name

# `solution.cu(3): error` of nvcc, `solution.cu:3:10: error` of the host's compiler; a source is compiled by this name.
_PLACE = re.compile(compiled_name() + r"(?:\((\d{1,6})\)|:(\d{1,6})(?=[:,]))")


def linked(log: str, lines: int) -> Markup:
    """``log``, escaped. Only lines from 1 to ``lines`` are linked: the log is a stranger's text."""
    parts: list[Markup] = []
    end = 0
    for found in _PLACE.finditer(log):
        line = int(found[1] or found[2])
        if 1 <= line <= lines:
            parts += [
                escape(log[end : found.start()]),
                Markup('<a href="#L-{}">{}</a>').format(line, found[0]),
            ]
            end = found.end()
    return Markup("").join([*parts, escape(log[end:])])
