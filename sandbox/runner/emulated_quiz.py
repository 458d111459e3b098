"""Facts for questions about a call: see ``emulator/stepping/quiz.py``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from binding import Entry
from emulated import part

quiz = part("stepping.quiz")


def facts_of(
    launches: Any, arguments: Iterable[tuple[Entry, int | None]], seed: int, *, programs: bool = False
) -> list[dict[str, Any]]:
    """``arguments``: with addresses on the device, None for values."""
    arrays = {
        address: quiz.Array(entry["name"], entry["itemsize"])
        for entry, address in arguments
        # Padding moves elements, which questions name by place.
        if address is not None and entry["nbytes"] and entry.get("strides") is None
    }
    found: list[dict[str, Any]] = quiz.Quiz(launches, arrays, seed, programs=programs).facts()
    return found
