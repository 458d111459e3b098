"""Finds syntax errors of a Python source on the student's machine: at once, and without using up an attempt."""

from __future__ import annotations

import ast
import sys
import warnings

from grader.errors import BadSource
from grader.languages import Language

# Lines that are longer say nothing when they are shown whole.
_SHOWN_CHARS = 120


def syntax_error(source: str, language: Language) -> str:
    """What is wrong, with the line and a caret below it; empty where the source parses, and for what only a compiler
    can tell."""
    if not language.python:
        return ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(source)
    except SyntaxError as error:
        return _described(error, source)
    except (ValueError, RecursionError, MemoryError):
        return ""  # what Python cannot parse here, the judge explains
    return ""


def check_syntax(name: str, source: str, language: Language) -> None:
    """Raises BadSource where the source of the file ``name`` has a syntax error."""
    if wrong := syntax_error(source, language):
        version = ".".join(map(str, sys.version_info[:2]))
        raise BadSource(
            f"{name}: {wrong}",
            f"Nothing was sent. If the server runs a newer Python than {version}, --no-check sends it anyway.",
        )


def _described(error: SyntaxError, source: str) -> str:
    number, column = error.lineno or 0, error.offset or 0
    lines = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")  # as Python counts them
    if not 1 <= number <= len(lines):
        return f"{type(error).__name__}: {error.msg}"
    said = f"{type(error).__name__} in line {number}: {error.msg}"
    line = lines[number - 1]
    if len(line) > _SHOWN_CHARS:
        return said
    # Tabs stay tabs, so that the caret stands below its character however wide they are.
    before = "".join(char if char == "\t" else " " for char in line[: max(column - 1, 0)])
    return f"{said}\n    {line}\n    {before}^"
