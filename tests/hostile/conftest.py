"""Which entries of the suite a run judges."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from grader.challenge.catalogue import Catalogue
from grader.judge.launch import submission_spec
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.sandbox.local_box import LocalBoxes
from grader.sandbox.pool import SpareBoxes
from tests.components import need
from tests.hostile.host_state import settled, take
from tests.hostile.range import CATALOGUE, QuickHost, Range
from tests.hostile.suite import Entry
from tests.judge.conftest import catalogue, judge  # noqa: F401 - the same fixtures serve both folders


@pytest.fixture(scope="session")
def boxes() -> BoxMaker:
    """Each is a process with its own limits."""
    return LocalBoxes()


@pytest.fixture(scope="module")
def docker_range() -> Iterator[Range]:
    """The servers' kind of box, and one spare: it starts while an entry is judged. Afterwards the host must
    be as before.
    """
    need("docker")
    from grader.sandbox.choose import make_boxes

    maker = make_boxes("docker")
    before = take([CATALOGUE])
    device = QuickHost()
    memory = Catalogue(CATALOGUE).load("twice").manifest.limits.memory_bytes
    pool = SpareBoxes(maker, submission_spec(device, Language.TRITON, memory), count=1)
    pool.refill()
    yield Range(pool, device)
    pool.close()
    maker.reap()
    assert settled(before, [CATALOGUE]).changed_since(before) == {}, "the suite changed the host"


def judge_in_docker(range_: Range, entry: Entry) -> None:
    assert isinstance(range_.boxes, SpareBoxes)
    range_.boxes.refill()
    finding = range_.judge(entry)
    assert not finding.failed, finding


def parameters(
    entries: Iterable[Entry], in_turn: Callable[[Entry], bool] = lambda _: False, shares: int = 1
) -> list[Any]:
    """One for each entry. A run tries every mechanism once, or one of ``shares`` of them at each commit; of the
    entries that repeat a mechanism, and of those that ``in_turn`` names, the full matrix takes a sixth at
    each commit, and `make hostile` all.
    """
    number = itertools.count()

    def turn(entry: Entry) -> pytest.MarkDecorator:
        if entry.like or in_turn(entry):
            return pytest.mark.in_turn
        return pytest.mark.in_turn(share=(next(number), shares))

    return [pytest.param(entry, id=f"{entry.surface}-{entry.name}", marks=[turn(entry)]) for entry in entries]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Docker's and bubblewrap's boxes run the same compiler behind the same filter: `make test` takes one of
    them, and the full matrix a sixth of the other.
    """
    for item in items:
        run = getattr(item, "callspec", None)
        entry = run.params.get("entry") if run else None
        if (
            isinstance(entry, Entry)
            and entry.surface == "compile"
            and run.params.get("range_") == "bubblewrap"
        ):
            item.add_marker(pytest.mark.in_turn)
