"""Kernels that compute something wrong, or right. Any box shows that, and forked ones start in milliseconds.
Their server stays alive, so they are not in test_attacks.py, which counts processes.
"""

from __future__ import annotations

import pytest

from grader.sandbox.forked_box import ForkedBoxes
from tests.hostile.conftest import parameters
from tests.hostile.range import QuickHost, Range
from tests.hostile.suite import CONTROL, Entry
from tests.hostile.test_attacks import ON_CPU

OF_VALUES = ("specification", CONTROL)


@pytest.fixture(scope="module")
def forked(forked_boxes: ForkedBoxes) -> Range:
    return Range(forked_boxes, QuickHost())


@pytest.mark.parametrize("entry", parameters(entry for entry in ON_CPU if entry.surface in OF_VALUES))
def test_no_wrong_kernel_is_accepted_and_no_right_one_refused(entry: Entry, forked: Range) -> None:
    """Protects boards against kernels that compute something other than the specification."""
    finding = forked.judge(entry)
    assert not finding.failed, finding
