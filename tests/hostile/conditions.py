"""Conditions for judging attacks: secrets to find, and limits that end a bomb sooner."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest import mock

from grader import limits
from grader.sandbox import image
from grader.schemas.report import Report
from tests.hostile.suite import Entry

# In this process's environment, as a worker's secrets are in the worker's.
CANARY_NAME, CANARY = "HOSTILE_CANARY", "canary-that-no-box-may-sing"
ENVIRONMENT = "environment"
# Shorter lines are words that may be anywhere.
_LINE_CHARS = 12


@contextmanager
def around(entry: Entry) -> Iterator[None]:
    """The entry's limits hold, and the canary is there to be found."""
    with ExitStack() as stack:
        stack.enter_context(mock.patch.dict(os.environ, {CANARY_NAME: CANARY}))
        shortened = entry.limits.get("COMPILE_SECONDS", limits.COMPILE_SECONDS)
        # A busy host gives a compiler little of its processor: the limit by the clock stays as long as it is.
        patience = limits.CLOCK_PATIENCE * limits.COMPILE_SECONDS / shortened
        for name, value in ({"CLOCK_PATIENCE": patience} | entry.limits).items():
            # Of a limit that is not there, or that is an integer, this makes no other.
            kind = type(getattr(limits, name))
            stack.enter_context(mock.patch.object(limits, name, kind(value)))
        yield


def leaked(entry: Entry, report: Report) -> str:
    """Which of the entry's secrets the report shows; empty where none."""
    text = report.model_dump_json()
    return next((name for name in entry.secrets if any(line in text for line in _lines(name))), "")


def _lines(secret: str) -> list[str]:
    """The lines of a file of this host, or the canary. What the box has of its own under the same name is none."""
    if secret == ENVIRONMENT:
        return [CANARY]
    own = {*image.PASSWD.splitlines(), *image.GROUP.splitlines()}
    try:
        lines = Path(secret).read_text(errors="replace").splitlines()
    except OSError:
        return []
    return [line for line in lines if len(line) >= _LINE_CHARS and line not in own]
