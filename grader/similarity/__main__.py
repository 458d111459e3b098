"""Compares the sources on standard input, JSON to JSON.

A separate process: no page waits, and a source made to keep a lexer busy is dropped after
``READING_SECONDS``.
"""

from __future__ import annotations

import json
import signal
import sys
from dataclasses import asdict
from types import FrameType

from grader.languages import LANGUAGES, Language
from grader.similarity.comparison import Comparison, Source
from grader.similarity.statements import Statement, statements

READING_SECONDS = 2.0


class TooLongError(Exception):
    """Reading a source took too long."""


def within_time(source: str, language: Language) -> list[Statement]:
    """Empty if reading takes too long."""
    signal.setitimer(signal.ITIMER_REAL, READING_SECONDS)
    try:
        return statements(source, language)
    except TooLongError:
        return []
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _too_long(_number: int, _frame: FrameType | None) -> None:
    raise TooLongError


def main() -> None:
    """``matches``: ids of two sources, whose similar lines are printed instead."""
    signal.signal(signal.SIGALRM, _too_long)
    asked = json.load(sys.stdin)
    language = LANGUAGES[asked["language"]]
    sources = [Source(language=language, **each) for each in asked["sources"]]
    comparison = Comparison(sources, language, asked["starter"], within_time)
    found = comparison.matches(*asked["matches"]) if asked.get("matches") else comparison.pairs()
    json.dump([asdict(each) for each in found], sys.stdout)


if __name__ == "__main__":
    main()
