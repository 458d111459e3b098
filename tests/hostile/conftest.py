"""Which entries of the suite a run judges."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from grader.sandbox.box import BoxMaker
from grader.sandbox.local_box import LocalBoxes
from tests.hostile.suite import Entry
from tests.judge.conftest import catalogue, judge  # noqa: F401 - the same fixtures serve both folders


@pytest.fixture(scope="session")
def boxes() -> BoxMaker:
    """Each is a process with its own limits."""
    return LocalBoxes()


def parameters(entries: Iterable[Entry], matrix: Callable[[Entry], bool] = lambda _: False) -> list[Any]:
    """One for each entry. What tries another one's mechanism, and what ``matrix`` says, is left to the full matrix."""
    return [
        pytest.param(
            entry,
            id=f"{entry.surface}-{entry.name}",
            marks=[pytest.mark.matrix] if entry.like or matrix(entry) else [],
        )
        for entry in entries
    ]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Docker's boxes and bubblewrap's run the same compiler behind the same filter: `make test` takes one of them."""
    for item in items:
        run = getattr(item, "callspec", None)
        entry = run.params.get("entry") if run else None
        if (
            isinstance(entry, Entry)
            and entry.surface == "compile"
            and run.params.get("range_") == "bubblewrap"
        ):
            item.add_marker(pytest.mark.matrix)
