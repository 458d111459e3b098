"""Log lines to standard error; as JSON unless that is a terminal.

Bound context, such as ``request`` and ``submission``, lets a search for one id find the whole story. Nothing
logs sources, passwords, tokens or hidden data; this module strikes them out of other libraries' exceptions.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import sys
from collections.abc import MutableMapping
from typing import Any, TextIO

import structlog

LEVELS = ("debug", "info", "warning", "error")
FORMATS = ("auto", "json", "text")
# Without characters that a terminal, log reader or header would interpret.
REQUEST_ID_CHARS = 64
_REQUEST_ID = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{7,{REQUEST_ID_CHARS - 1}}}")
# A traceback, not a source.
_VALUE_CHARS = 16_000
_HIDDEN = "(not logged)"
# Indented, so none can pass for a log line.
_OF_LINES = frozenset({"exception", "stack"})
_SECRET_KEYS = frozenset(
    "source password token secret authorization cookie seed_key database_url library body".split()
)
# Tokens, and the password in a URL.
_SECRET_TEXT = (
    (re.compile(r"grd_[A-Za-z0-9_-]{8,}"), "grd_***"),
    (re.compile(r"(?i)(bearer\s+)[A-Za-z0-9._~+/=-]{8,}"), r"\1***"),
    (re.compile(r"(://[^\s:/@]*:)[^\s@/]+(@)"), r"\1***\2"),
)
Line = MutableMapping[str, Any]


def configure(level: str = "", form: str = "") -> None:
    """By ``GRADER_LOG_LEVEL`` and ``GRADER_LOG_FORMAT`` if empty. Only the first call counts."""
    if structlog.get_config()["wrapper_class"] is not _Provisional:
        return
    chosen = _level(level or os.environ.get("GRADER_LOG_LEVEL", ""))
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        strike_out,
    ]
    rendering = _rendering(form or os.environ.get("GRADER_LOG_FORMAT", ""))
    structlog.configure(
        processors=[*shared, *rendering],
        wrapper_class=structlog.make_filtering_bound_logger(chosen),
        logger_factory=_to_standard_error,
    )
    _configure_others(shared, rendering, chosen)


def get_logger(name: str) -> Any:
    """Never prints to standard output, which holds a command's answer."""
    return structlog.get_logger(name)


def request_id() -> str | None:
    found = structlog.contextvars.get_contextvars().get("request")
    return found if isinstance(found, str) else None


def new_request_id(proposed: str | None = None) -> str:
    """``proposed`` if it is well-formed."""
    if proposed is not None and _REQUEST_ID.fullmatch(proposed):
        return proposed
    return secrets.token_hex(8)


def strike_out(_logger: object, _method: str, line: Line) -> Line:
    for key, value in line.items():
        if key in _SECRET_KEYS:
            line[key] = _HIDDEN
        elif isinstance(value, str):
            line[key] = _clean(value)
    return line


def _clean(text: str) -> str:
    for pattern, put in _SECRET_TEXT:
        text = pattern.sub(put, text)
    return text if len(text) <= _VALUE_CHARS else f"{text[:_VALUE_CHARS]} ... ({len(text)} characters)"


def _to_standard_error(*_: object) -> structlog.PrintLogger:
    return structlog.PrintLogger(sys.stderr)


class _Provisional(structlog.BoundLogger):
    """A process that did not call ``configure``."""


def _from_warning(_logger: object, method: str, line: Line) -> Line:
    """Commands show only warnings, unless ``GRADER_LOG_LEVEL`` asks for more."""
    least = _level(os.environ.get("GRADER_LOG_LEVEL") or "warning")
    if _level("error" if method in ("exception", "critical") else method) < least:
        raise structlog.DropEvent
    return line


def _level(name: str) -> int:
    return getattr(logging, name.upper()) if name in LEVELS else logging.INFO


def _rendering(form: str) -> list[structlog.typing.Processor]:
    if form == "text" or (form != "json" and sys.stderr.isatty()):
        return [escape, structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())]
    return [structlog.processors.JSONRenderer(default=str)]


def escape(_logger: object, _method: str, line: Line) -> Line:
    """A submission's text must not end a line or control a terminal. JSON escapes by itself."""
    for key, value in line.items():
        if key in _OF_LINES:
            line[key] = "\n".join(f"    {_escaped(each)}" for each in str(value).split("\n"))
        elif value is not None and not isinstance(value, bool | int | float):
            line[key] = _escaped(value if isinstance(value, str) else repr(value))
    return line


def _escaped(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def _configure_others(
    shared: list[structlog.typing.Processor], rendering: list[structlog.typing.Processor], level: int
) -> None:
    """The standard library's lines look alike; other libraries log from warnings on."""
    handler = _StandardError()
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared[:-1], structlog.stdlib.ExtraAdder(), shared[-1]],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, strike_out, *rendering],
        )
    )
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    logging.getLogger("grader").setLevel(level)


class _StandardError(logging.StreamHandler[TextIO]):
    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> TextIO:
        return sys.stderr

    @stream.setter
    def stream(self, _stream: TextIO) -> None:
        raise AttributeError("standard error is looked up at each line")


if not structlog.is_configured():
    structlog.configure(
        processors=[
            _from_warning,
            *structlog.get_config()["processors"][:-1],
            strike_out,
            structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback),
        ],
        wrapper_class=_Provisional,
        logger_factory=_to_standard_error,
    )
