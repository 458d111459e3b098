"""Spare boxes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from grader.sandbox.box import BoxMaker, BoxPurpose, BoxSpec, EndReason
from grader.sandbox.pool import IDLE_SECONDS, SpareBoxes
from tests.sandbox.talk import Silent, ask

SPEC = BoxSpec(BoxPurpose.RUN, program="probe.py", wall_seconds=30)


@pytest.fixture
def pool(boxes: BoxMaker) -> Iterator[SpareBoxes]:
    pool = SpareBoxes(boxes, SPEC, count=2)
    yield pool
    pool.close()


def fill(pool: SpareBoxes) -> None:
    pool.refill()
    pool.wait()


def test_each_spare_is_handed_out_once(pool: SpareBoxes) -> None:
    fill(pool)
    assert pool.ready() == 2
    made = [pool.start(SPEC) for _ in range(3)]
    assert len({box.id for box in made}) == 3
    assert pool.ready() == 0
    for box in made:
        assert ask(box, "see")["pid"]
        box.kill()
    fill(pool)
    assert pool.ready() == 2


def test_another_spec_gets_a_fresh_box(pool: SpareBoxes) -> None:
    fill(pool)
    box = pool.start(replace(SPEC, env={"A": "1"}))
    assert ask(box, "see")["env"]["A"] == "1"
    assert pool.ready() == 2
    box.kill()


def test_a_dead_spare_is_skipped(pool: SpareBoxes) -> None:
    fill(pool)
    pool._spares[0][0].kill()
    box = pool.start(SPEC)
    assert box.end() is None
    box.kill()


def test_spares_that_died_or_grew_old_are_replaced_before_they_are_needed(pool: SpareBoxes) -> None:
    """Protects the first user after a quiet hour against waiting for a box to start."""
    fill(pool)
    dead, old = [box for box, _ in pool._spares]
    dead.kill()
    pool._spares[1] = (old, time.monotonic() - IDLE_SECONDS)
    pool.trim()
    assert old.end() is not None
    fill(pool)
    assert pool.ready() == 2
    assert not {dead, old} & {box for box, _ in pool._spares}


def test_a_spares_clock_starts_when_handed_out(boxes: BoxMaker) -> None:
    spec = replace(SPEC, wall_seconds=1.0)
    pool = SpareBoxes(boxes, spec, count=1)
    fill(pool)
    box = pool._spares[0][0]
    assert box.end(wait_s=1.5) is None, "a spare does not age"
    assert pool.start(spec) is box
    with pytest.raises(Silent):
        ask(box, "spin")
    end = box.end(wait_s=5)
    assert end is not None
    assert end.reason is EndReason.WALL_CLOCK
    box.kill()
    pool.close()


def test_close_kills_the_spares(boxes: BoxMaker) -> None:
    pool = SpareBoxes(boxes, SPEC, count=1)
    fill(pool)
    spare = pool._spares[0][0]
    pool.close()
    assert spare.end() is not None
    fill(pool)
    assert pool.ready() == 0
