"""When a judge of a GPU starts its spare boxes, and how many."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from grader import limits
from grader.judge.device import HostDevice
from grader.judge.spares import Spares
from grader.languages import Language
from grader.sandbox.box import BoxEnd, BoxSpec, EndReason
from tests.sandbox.talk import within


class Gpu(HostDevice):
    """As far as spares are concerned."""

    on_processor = False


class Ready:
    """A box whose runner has said hello."""

    def __init__(self) -> None:
        self.id = "ready"
        self.connection, self._runner = socket.socketpair()
        self._runner.send(b"hello")
        self.killed = False

    def end(self, wait_s: float = 0.0) -> BoxEnd | None:
        return BoxEnd(EndReason.KILLED) if self.killed else None

    def kill(self) -> BoxEnd:
        self.killed = True
        self.connection.close()
        self._runner.close()
        return BoxEnd(EndReason.KILLED)

    def live_for(self, seconds: float) -> None:
        """Its clock means nothing here."""


class Maker:
    name = about = "ready"

    def __init__(self) -> None:
        self.made: list[tuple[BoxSpec, Ready]] = []
        self.go_on = threading.Event()
        self.go_on.set()
        self.starting = 0

    def start(self, spec: BoxSpec) -> Any:
        self.starting += 1
        assert self.go_on.wait(60)
        self.made.append((spec, Ready()))
        return self.made[-1][1]

    def reap(self) -> int:
        return 0


@pytest.fixture
def maker() -> Maker:
    return Maker()


@pytest.fixture
def spares(maker: Maker) -> Iterator[Spares]:
    made = Spares(Gpu(), maker, 1)
    yield made
    maker.go_on.set()
    made.close()
    for _, box in maker.made:
        box.kill()


def _take(spares: Spares) -> None:
    spares.boxes.start(spares.boxes._spec)


def test_none_starts_while_there_is_one_and_nobody_says_that_nothing_is_judged(
    spares: Spares, maker: Maker
) -> None:
    spares.refill()
    spares.quiet()
    assert len(maker.made) == 2, "a control's and one of the language"
    spares.expect(Language.TRITON)
    _take(spares)
    spares.quiet()
    assert len(maker.made) == 2


def test_where_none_is_left_as_many_start_as_came_within_a_minute(
    maker: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    spares = Spares(Gpu(), maker, 1)
    for _ in range(5):
        spares._came[Language.TRITON].append(float("inf"))
    spares.expect(Language.TRITON)
    spares.quiet()
    assert spares.boxes.ready() == len(maker.made) == 6
    for _ in range(20):
        spares._came[Language.TRITON].append(float("inf"))
    assert spares._wanted(Language.TRITON) == limits.SPARE_BOXES
    # And when nobody comes any more, they are not kept.
    spares._came.clear()
    spares.refill()
    assert spares.boxes.ready() == 1
    spares.close()


def test_no_more_wait_than_can_start_side_by_side(maker: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    spares = Spares(Gpu(), maker, 1)
    for _ in range(5):
        spares._came[Language.TRITON].append(float("inf"))
    assert spares._wanted(Language.TRITON) == 2


def test_what_is_timed_waits_for_a_box_that_starts(spares: Spares, maker: Maker) -> None:
    maker.go_on.clear()
    spares.refill()
    assert within(60, lambda: maker.starting > 0)
    quiet = threading.Thread(target=spares.quiet)
    quiet.start()
    quiet.join(0.1)
    assert quiet.is_alive()
    maker.go_on.set()
    quiet.join(60)
    assert not quiet.is_alive()


def test_a_submission_takes_the_box_that_starts_instead_of_one_more(spares: Spares, maker: Maker) -> None:
    maker.go_on.clear()
    spares.expect(Language.TRITON)
    assert within(60, lambda: maker.starting == 1)
    taken = threading.Thread(target=_take, args=(spares,))
    taken.start()
    maker.go_on.set()
    taken.join(60)
    assert len(maker.made) == 1
