"""Log lines: key and value, to standard error; JSON where nobody sits at a terminal. Never a source text."""

from __future__ import annotations

import sys

import structlog


def configure() -> None:
    """Set up structlog for this process. The first call counts; a later one changes nothing."""
    if structlog.is_configured():
        return
    renderer: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer() if sys.stderr.isatty() else structlog.processors.JSONRenderer()
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        # Looked up at each call, so that a test or a daemon may redirect standard error.
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
    )
