"""When a sweeper may expire leases."""

from __future__ import annotations

import sqlite3
from datetime import datetime, timedelta

import pytest

from grader.languages import Language
from grader.queue import sweeper
from grader.queue.sweeper import ExpiryGuard, Swept, sweep
from grader.records import claims
from grader.records.engine import clock, writing
from grader.records.models import SubmissionRow, utcnow
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.service.submissions.submit import submit
from grader.settings import Settings
from tests.service.world import body


class Time:
    """Both clocks, and sleep. Leases are trusted after 8 s here: two beats."""

    def __init__(self, watch: type[ExpiryGuard]) -> None:
        self.moment, self.now = 1000.0, utcnow()
        self.watch: ExpiryGuard
        self._make = watch

    def monotonic(self) -> float:
        return self.moment

    def passes(self, seconds: float) -> None:
        self.moment += seconds
        self.now += timedelta(seconds=seconds)

    def look(self, took_s: float = 0.0) -> bool:
        return self.watch.may_expire(self.now, took_s)


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    """A watch that started long ago and saw nothing unusual."""
    time = Time(ExpiryGuard)
    monkeypatch.setattr(sweeper, "time", time)
    time.watch = ExpiryGuard(Settings(lease_s=20.0, heartbeat_s=4.0, sweep_s=4.0))
    for _ in range(3):
        time.passes(4)
        time.look()
    assert time.look()
    return time


def _trusts_again(time: Time) -> bool:
    """Not now, and not before two beats have passed."""
    first = time.look()
    time.passes(4)
    second = time.look()
    time.passes(5)
    return (first, second, time.look()) == (False, False, True)


def test_leases_are_not_expired_right_after_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    time = Time(ExpiryGuard)
    monkeypatch.setattr(sweeper, "time", time)
    time.watch = ExpiryGuard(Settings(lease_s=20.0, heartbeat_s=4.0, sweep_s=4.0))
    assert _trusts_again(time)


@pytest.mark.parametrize("step", [3600, -3600, 2])
def test_leases_are_not_expired_after_a_clock_step(time: Time, step: float) -> None:
    time.passes(4)
    time.now += timedelta(seconds=step)
    assert _trusts_again(time)


def test_leases_are_not_expired_after_a_pause(time: Time) -> None:
    time.passes(60)
    assert _trusts_again(time)


def test_leases_are_not_expired_after_a_long_lock_wait(time: Time) -> None:
    time.passes(12)
    assert not time.look(took_s=9.0)
    time.passes(9)
    assert time.look()


def test_leases_are_expired_after_a_quiet_time(time: Time) -> None:
    for _ in range(5):
        time.passes(4.3)
        assert time.look(took_s=0.5)


def _take(platform: Platform, now: datetime) -> None:
    with writing(platform.sessions) as session:
        assert claims.claim(
            session, claims.ClaimRequest("cpu", list(Language), "w", now, platform.settings.lease_s)
        ).held


def test_the_sweeper_expires_a_lease_once_the_clock_is_trusted(platform: Platform, student: User) -> None:
    submit(platform, student, body())
    _take(platform, utcnow() - timedelta(minutes=1))
    watch = ExpiryGuard(platform.settings)
    assert sweep(platform, watch=watch).reclaimed == 0
    watch._trusts_from = 0.0
    assert sweep(platform, watch=watch).reclaimed == 1


def test_a_database_outage_delays_expiry(platform: Platform, student: User) -> None:
    submit(platform, student, body())
    _take(platform, utcnow() - timedelta(minutes=1))
    watch = ExpiryGuard(platform.settings)
    watch._trusts_from = 0.0
    name = platform.engine.url.database
    if platform.engine.dialect.name != "sqlite" or name is None:
        pytest.skip("the lock of SQLite")
    with platform.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA busy_timeout = 10")
        holder = sqlite3.connect(name, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
    assert sweep(platform, watch=watch).reclaimed == 0
    holder.execute("ROLLBACK")
    holder.close()
    assert watch._trusts_from > 0.0


def test_a_clock_set_back_prolongs_no_lease(platform: Platform, student: User) -> None:
    submit(platform, student, body())
    _take(platform, utcnow() + timedelta(hours=1))
    assert sweep(platform) == Swept()
    with platform.sessions() as session:
        until = session.query(SubmissionRow.lease_until).scalar()
        assert until <= clock(session) + timedelta(seconds=platform.settings.lease_s)


def test_the_databases_clock_is_utc(platform: Platform) -> None:
    with platform.sessions() as session:
        assert abs((clock(session) - utcnow()).total_seconds()) < 5
