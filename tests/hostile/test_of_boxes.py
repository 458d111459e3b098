"""Attacks on the compiler and on the box, in the servers' kinds of box: each ends as its header says, shows
no secret of the host, and leaves the host as it was. (A CUDA source is compiled and loaded; no GPU runs it.)
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.components import need
from tests.hostile.conditions import CANARY
from tests.hostile.conftest import parameters
from tests.hostile.host_state import settled, take
from tests.hostile.range import CATALOGUE, DEFENDED, Range
from tests.hostile.suite import Entry, load

ON_BOXES = [entry for entry in load(("box",)) if "cpu" in entry.devices]
ON_COMPILER = [entry for entry in load(("compile",)) if "cpu" in entry.devices]
FEWEST = 28
# Both kinds run the same compiler behind the same filter, and each attack takes seconds. In bubblewrap's
# boxes the full matrix takes one attack of each mechanism, a sixth of those at each commit; GRADER_PROVE=all
# takes all.
EVERY_BOX = os.environ.get("GRADER_PROVE") == "all"
# A terminal or a page would act on these.
CONTROLS = {*map(chr, range(32)), "\x7f", *map(chr, range(0x80, 0xA0)), "\u202e", "\u2066"} - {"\n", "\t"}


@pytest.fixture(
    scope="module",
    params=[
        pytest.param("docker", marks=pytest.mark.docker),
        pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
    ],
)
def range_(request: pytest.FixtureRequest) -> Iterator[Range]:
    need(request.param)
    from grader.sandbox.choose import make_boxes

    maker = make_boxes(request.param)
    before = take([CATALOGUE])
    yield Range(maker)
    maker.reap()
    assert settled(before, [CATALOGUE]).changed_since(before) == {}, "the attacks changed the host"


def test_there_are_enough_attacks_on_boxes() -> None:
    assert len(ON_BOXES) + len(ON_COMPILER) >= FEWEST


@pytest.mark.parametrize("entry", parameters(ON_BOXES, shares=2))
def test_an_attack_on_the_box_ends_there(entry: Entry, range_: Range) -> None:
    """Protects the worker's host against a submission that leaves its box, exhausts the host or outlives its
    run.
    """
    finding = range_.judge(entry)
    assert finding.outcome == DEFENDED, finding


@pytest.mark.needs("nvcc")
@pytest.mark.parametrize("entry", parameters(ON_COMPILER, shares=2))
def test_an_attack_on_the_compiler_ends_there(entry: Entry, range_: Range) -> None:
    """Protects the worker's host against a source whose compilation reads files, fills the host or never
    ends.
    """
    if range_.boxes.name == "bubblewrap" and entry.like and not EVERY_BOX:
        pytest.skip("GRADER_PROVE=all judges all of these in bubblewrap boxes, too")
    finding = range_.judge(entry)
    assert finding.outcome == DEFENDED, finding
    assert not CONTROLS & set(finding.detail), finding


def test_a_secret_that_is_shown_would_be_seen(range_: Range) -> None:
    """Tests the range itself: a successful attack is no longer called defended."""
    source = f"def solve(x, out, n):\n    raise RuntimeError('{CANARY}')\n"
    entry = _entry(source, Defence="runtime_error", Secret="environment")
    finding = range_.judge(entry)
    assert (finding.outcome, finding.by) == ("VULNERABLE", "the report shows environment")


def _entry(source: str, **fields: str) -> Entry:
    first = load(("box",))[0]
    return Entry("of_the_test", "box", first.language, source, "", {"Challenge": "twice", **fields})
