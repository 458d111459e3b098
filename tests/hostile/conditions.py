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

CANARY_NAME, CANARY = "HOSTILE_CANARY", "canary-that-no-box-may-sing"
ENVIRONMENT = "environment"
# Shorter lines may be ordinary words.
_LINE_CHARS = 12


@contextmanager
def around(entry: Entry) -> Iterator[None]:
    with ExitStack() as stack:
        stack.enter_context(mock.patch.dict(os.environ, {CANARY_NAME: CANARY}))
        shortened = entry.limits.get("COMPILE_SECONDS", limits.COMPILE_SECONDS)
        # On a busy host a compiler gets little of the processor, so its limit by the clock is not shortened.
        patience = limits.CLOCK_PATIENCE * limits.COMPILE_SECONDS / shortened
        for name, value in ({"CLOCK_PATIENCE": patience} | entry.limits).items():
            # Fails on an unknown limit, and keeps integers.
            kind = type(getattr(limits, name))
            stack.enter_context(mock.patch.object(limits, name, kind(value)))
        yield


def leaked(entry: Entry, report: Report) -> str:
    """The entry's secrets that the report shows."""
    text = report.model_dump_json()
    return next((name for name in entry.secrets if any(line in text for line in _lines(name))), "")


def _lines(secret: str) -> list[str]:
    """Lines of the host's file, or the canary. A file that the box has under the same name does not count."""
    if secret == ENVIRONMENT:
        return [CANARY]
    own = {*image.PASSWD.splitlines(), *image.GROUP.splitlines()}
    try:
        lines = Path(secret).read_text(errors="replace").splitlines()
    except OSError:
        return []
    return [line for line in lines if len(line) >= _LINE_CHARS and line not in own]
