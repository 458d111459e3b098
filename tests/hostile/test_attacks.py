"""Attacks and controls on a CPU, in the servers' kind of box, with the host counted around them. Those that
depend on time are in test_timed_attacks.py.
"""

from __future__ import annotations

import pytest

from tests.hostile.conftest import judge_in_docker, parameters
from tests.hostile.range import Range
from tests.hostile.suite import CONTROL, OF_BOXES, SURFACES, Entry, load

ENTRIES = load()
ON_CPU = [entry for entry in ENTRIES if "cpu" in entry.devices and entry.surface not in OF_BOXES]
# test_values.py judges specifications and controls. The full matrix also judges a sixth of the controls here:
# Docker's walls must not stop them.
IN_DOCKER = [entry for entry in ON_CPU if entry.surface != "specification" and entry.takes_us is None]
FEWEST_ATTACKS, FEWEST_CONTROLS = 60, 12


def test_there_are_as_many_as_we_say() -> None:
    controls = [entry for entry in ENTRIES if entry.surface == CONTROL]
    assert len(controls) >= FEWEST_CONTROLS
    assert len(ENTRIES) - len(controls) >= FEWEST_ATTACKS
    assert {entry.surface for entry in ENTRIES} >= {*SURFACES, CONTROL} - {*OF_BOXES}
    assert len({entry.name for entry in ENTRIES}) == len(ENTRIES)


@pytest.mark.docker
@pytest.mark.parametrize(
    "entry", parameters(IN_DOCKER, in_turn=lambda entry: entry.surface == CONTROL, shares=2)
)
def test_no_attack_gets_through_and_no_control_is_refused(entry: Entry, docker_range: Range) -> None:
    """Protects verdicts, times and hidden data against submissions that attack the judge, and honest kernels
    against a judge that is too strict.
    """
    judge_in_docker(docker_range, entry)
