"""Accepted attacks on the clock, decided by their time. A busy processor hides it, so nothing else runs at
the same time (``tests.groups.ALONE``).
"""

from __future__ import annotations

import pytest

from tests.hostile.conftest import judge_in_docker, parameters
from tests.hostile.range import Range
from tests.hostile.suite import OF_BOXES, Entry, load

TIMED = [
    entry
    for entry in load()
    if "cpu" in entry.devices and entry.surface not in OF_BOXES and entry.takes_us is not None
]


@pytest.mark.docker
@pytest.mark.parametrize("entry", parameters(TIMED))
def test_no_attack_is_charged_less_than_its_work_takes(entry: Entry, docker_range: Range) -> None:
    """Protects boards against submissions that work outside their time."""
    judge_in_docker(docker_range, entry)
