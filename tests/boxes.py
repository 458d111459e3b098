"""Boxes for tests whose subject is not the box."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from grader.sandbox.forked_box import ForkedBoxes


@pytest.fixture(scope="session")
def forked_boxes() -> Iterator[ForkedBoxes]:
    """Each kind of runner imports torch once in this process's tests."""
    from grader.sandbox.forked_box import ForkedBoxes

    made = ForkedBoxes()
    yield made
    made.close()
