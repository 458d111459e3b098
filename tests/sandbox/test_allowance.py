"""A box's time limits: processor time first, the clock for idle boxes. The test sets the clock."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from grader import limits
from grader.sandbox import allowance as module
from grader.sandbox.allowance import Allowance

LIMIT = 10.0


class Host:
    """A clock, and a box that gets a ``share`` of one core."""

    def __init__(self) -> None:
        self.now = self.used = 100.0
        self.share = 1.0
        self.looks = 0

    def perf_counter(self) -> float:
        return self.now

    def cpu_seconds(self) -> float:
        self.looks += 1
        return self.used

    def run(self, seconds: float) -> None:
        self.now += seconds
        self.used += seconds * self.share

    def wait_for(self, allowance: Allowance) -> float:
        """Seconds by the clock until it is over."""
        began = self.now
        while left := allowance.left():
            self.run(left)
        return self.now - began


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Host:
    made = Host()
    monkeypatch.setattr(module, "time", made)
    monkeypatch.setattr(module, "os", SimpleNamespace(cpu_count=lambda: 2))
    return made


def allow(host: Host, **more: object) -> Allowance:
    return Allowance(LIMIT, host.cpu_seconds, **{"exact": True, **more})  # type: ignore[arg-type]


@pytest.mark.parametrize("share", [2.0, 1.0, 0.5, 0.1, 0.06])
def test_a_busy_host_gives_as_much_processor_time_as_an_idle_one(host: Host, share: float) -> None:
    host.share = share
    allowed = allow(host)
    assert host.wait_for(allowed) * share == pytest.approx(LIMIT, abs=2 * module._READING_SECONDS)
    assert allowed.burnt
    assert not allowed.starved


def test_a_sleeping_box_ends_by_the_clock(host: Host) -> None:
    host.share = limits.IDLE_SHARE / 2
    allowed = allow(host)
    assert limits.IDLE_PATIENCE * LIMIT <= host.wait_for(allowed) < limits.IDLE_PATIENCE * LIMIT + LIMIT
    assert not allowed.burnt
    assert not allowed.starved


def test_a_box_that_worked_and_then_sleeps_counts_as_sleeping(host: Host) -> None:
    """A source could otherwise compute a little, block its compiler, and pass for a victim of a busy host."""
    allowed = allow(host)
    host.run(LIMIT / 2)
    allowed.left()
    host.share = 0.0
    assert host.wait_for(allowed) < (limits.IDLE_PATIENCE + 1) * LIMIT
    assert not allowed.starved


def test_a_starved_box_ends_much_later(host: Host) -> None:
    host.share = 2 * limits.IDLE_SHARE
    allowed = allow(host)
    assert host.wait_for(allowed) == pytest.approx(limits.CLOCK_PATIENCE * LIMIT)
    assert allowed.starved
    assert allowed.sentence() == "200 s, in which it used 2.0 s of processor time"


def test_the_clock_decides_without_a_processor_count(host: Host) -> None:
    allowed = Allowance(LIMIT)
    assert host.wait_for(allowed) == pytest.approx(LIMIT)
    assert allowed.used is None
    assert (allowed.burnt, allowed.sentence()) == (False, "10 s")


def test_the_boxs_total_processor_time_is_limited(host: Host) -> None:
    assert host.wait_for(allowed := allow(host, total=103.0)) == pytest.approx(3.0, abs=2.1)
    assert allowed.burnt_in_total
    assert not allowed.burnt
    assert host.wait_for(allow(host, total=103.0)) == 0.0


def test_spinning_at_the_gate_is_free(host: Host) -> None:
    allowed = allow(host)
    host.run(7.0)
    allowed.begin(host.now)
    assert host.wait_for(allowed) == pytest.approx(LIMIT, abs=2 * module._READING_SECONDS)


def test_a_short_wait_reads_no_processor_time(host: Host) -> None:
    allowed = allow(host, exact=False)
    host.run(0.4)
    assert allowed.left() > 0
    assert host.looks == 0
