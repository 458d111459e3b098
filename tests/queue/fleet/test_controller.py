"""Decisions of a controller, whose provider is made up: what it launches twice, loses or pays too much for."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from grader.queue.fleet.controller import Controller, Decision
from grader.queue.fleet.plan import Fleet, Pool, SlurmOptions
from grader.queue.fleet.providers import Launch, Listed, ProviderError
from grader.records import queues, workers
from grader.records.engine import clock, writing
from grader.records.models import PilotRow, PilotState, PoolRow, utcnow
from grader.service.accounts.accounts import User
from grader.service.operation import fleets
from grader.service.operation.health import health
from grader.service.platform import Platform
from grader.service.submissions.cancel import cancel
from grader.service.submissions.submissions import get_submission
from grader.service.submissions.submit import submit
from tests.service.world import body


class Cluster:
    """Jobs by name; True: running."""

    def __init__(self) -> None:
        self.jobs: dict[str, bool] = {}
        self.launches = 0
        self.away = ""
        self.full = ""
        self.now = 0.0

    def time(self) -> float:
        return self.now

    def launch(self, wanted: Launch) -> str:
        if self.full:
            raise ProviderError(self.full)
        self.launches += 1
        self.jobs[wanted.name] = False
        return f"job-{wanted.name}"

    def list(self, pool: str) -> Sequence[Listed]:
        if self.away:
            raise ProviderError(self.away)
        return [Listed(name, f"job-{name}", running) for name, running in self.jobs.items()]

    def stop(self, handle: str) -> None:
        self.jobs.pop(handle.removeprefix("job-"), None)

    def run(self) -> None:
        self.jobs = dict.fromkeys(self.jobs, True)


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


def controller_of(
    platform: Platform, cluster: Cluster, name: str = "host:1", *, dry_run: bool = False, **settings: Any
) -> Controller:
    pool = Pool(device="cpu", max=3, target=10.0, seconds=10.0, slurm=SlurmOptions(), **settings)
    return Controller(
        Fleet(interval=5.0, pools={"cpus": pool}),
        {"cpus": cluster},
        platform.sessions,
        60.0,
        name,
        dry_run=dry_run,
        now=cluster.time,
    )


def decided(controller: Controller) -> Decision:
    (decision,) = controller.tick()
    return decision


def send(platform: Platform, student: User, count: int) -> list[str]:
    return [submit(platform, student, body(source=f"x = {n}\n")).id for n in range(count)]


def live(platform: Platform) -> dict[str, PilotState]:
    with platform.sessions() as session:
        rows = session.query(PilotRow).filter(PilotRow.ended_at.is_(None))
        return {row.name: row.state for row in rows}


def test_a_burst_gets_pilots_and_calm_calls_off_those_that_still_wait(
    platform: Platform, student: User, cluster: Cluster
) -> None:
    controller = controller_of(platform, cluster)
    assert decided(controller).launches == 0
    sent = send(platform, student, 2)
    first = decided(controller)
    assert (first.waiting, first.wanted, first.launches) == (2, 2, 2)
    assert [decided(controller).launches for _ in range(3)] == [0, 0, 0]
    running, pending = sorted(cluster.jobs)
    cluster.jobs[running] = True
    for each in sent:
        cancel(platform, student, each)
    assert decided(controller).stops == 0
    assert live(platform) == {running: PilotState.RUNNING, pending: PilotState.PENDING}
    cluster.now += 61.0
    assert decided(controller).stops == 1
    assert list(cluster.jobs) == [running]
    assert decided(controller).running == 1
    assert live(platform) == {running: PilotState.RUNNING}


def test_a_lost_pilot_is_replaced_and_one_that_comes_back_counts_again(
    platform: Platform, student: User, cluster: Cluster
) -> None:
    controller = controller_of(platform, cluster)
    send(platform, student, 1)
    decided(controller)
    cluster.run()
    decided(controller)
    (lost,) = cluster.jobs
    del cluster.jobs[lost]
    assert decided(controller).launches == 1
    assert lost not in live(platform)
    cluster.jobs[lost] = True
    assert decided(controller).running == 1
    assert set(live(platform)) == set(cluster.jobs)


def test_a_controller_that_died_after_a_launch_leaves_nothing_to_be_launched_twice(
    platform: Platform, student: User, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(platform, student, 1)

    def dies(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("grader.records.pilots.launched", dies)
    with pytest.raises(KeyboardInterrupt):
        controller_of(platform, cluster).tick()
    monkeypatch.undo()
    second = controller_of(platform, cluster, "host:2")
    assert decided(second).note == "another controller decides about this pool"
    with writing(platform.sessions) as session:
        session.query(PoolRow).update({"controlled_until": utcnow() - timedelta(seconds=1)})
    assert decided(second).launches == 0
    assert cluster.launches == 1
    with platform.sessions() as session:
        assert session.query(PilotRow.handle).scalar() == f"job-{next(iter(cluster.jobs))}"


def test_a_pilot_that_never_appears_is_given_up(platform: Platform, student: User, cluster: Cluster) -> None:
    controller = controller_of(platform, cluster)
    send(platform, student, 1)
    decided(controller)
    cluster.jobs.clear()
    assert decided(controller).launches == 0
    with writing(platform.sessions) as session:
        session.query(PilotRow).update({"launched_at": utcnow() - timedelta(seconds=61)})
    assert decided(controller).launches == 1


def test_only_one_of_two_controllers_decides(platform: Platform, student: User, cluster: Cluster) -> None:
    first, second = controller_of(platform, cluster), controller_of(platform, cluster, "host:2")
    send(platform, student, 1)
    decided(first)
    decided(second)
    first.close()
    assert decided(second).note == ""
    assert decided(first).note == "another controller decides about this pool"
    assert cluster.launches == 1


def test_while_the_provider_is_away_nothing_is_given_up(
    platform: Platform, student: User, cluster: Cluster
) -> None:
    controller = controller_of(platform, cluster)
    send(platform, student, 1)
    decided(controller)
    cluster.away = "squeue ended with 1: slurm_load_jobs error"
    assert decided(controller).note == cluster.away
    assert len(live(platform)) == 1
    (alert,) = [alert for alert in health(platform).alerts if "cpus" in alert.text]
    assert cluster.away in alert.text
    cluster.away = ""
    assert decided(controller).launches == 0


def test_a_provider_that_is_away_from_the_start_is_an_alert(platform: Platform, cluster: Cluster) -> None:
    cluster.away = "squeue is not installed here."
    decided(controller_of(platform, cluster))
    assert any(cluster.away in alert.text for alert in health(platform).alerts)


def test_a_database_that_is_away_for_a_while_ends_no_controller(
    platform: Platform, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    controller, ticks, stop = controller_of(platform, cluster), list[bool](), threading.Event()
    controller.fleet = controller.fleet.model_copy(update={"interval": 0.01})

    def tick() -> list[Decision]:
        ticks.append(True)
        if len(ticks) == 1:
            raise OperationalError("SELECT 1", None, ConnectionRefusedError("refused"))
        stop.set()
        return []

    monkeypatch.setattr(controller, "tick", tick)
    controller.run(stop)
    assert len(ticks) == 2


def test_a_failed_launch_is_tried_again_after_a_pause(
    platform: Platform, student: User, cluster: Cluster
) -> None:
    controller = controller_of(platform, cluster)
    send(platform, student, 1)
    cluster.full = "sbatch ended with 1: QOSMaxSubmitJobPerUserLimit"
    assert decided(controller).note == cluster.full
    cluster.full = ""
    assert decided(controller).launches == 0
    cluster.now += 11.0
    assert decided(controller).launches == 1
    assert len(live(platform)) == 1


def test_a_day_costs_no_more_than_its_cap(platform: Platform, student: User, cluster: Cluster) -> None:
    """A pilot may run for its whole lifetime: what is promised counts, too."""
    controller = controller_of(platform, cluster, lifetime=3600.0, cost_per_hour=4.0, cost_per_day=9.0)
    send(platform, student, 3)
    first = decided(controller)
    assert (first.wanted, first.launches) == (3, 2)
    assert "8.00" in decided(controller).note
    cluster.run()
    decided(controller)
    with writing(platform.sessions) as session:
        now = clock(session)
        at = max(now.replace(hour=0, minute=0, second=0, microsecond=0), now - timedelta(hours=1))
        session.query(PilotRow).update({"began_at": at})
    cluster.jobs.clear()
    third = decided(controller)
    hours = (now - at) / timedelta(hours=1)
    assert third.spent == pytest.approx(2 * 4.0 * hours, abs=0.02)
    assert third.launches == min(3, int((9.0 - third.spent) / 4.0))


def test_other_workers_and_pauses_count(platform: Platform, student: User, cluster: Cluster) -> None:
    controller = controller_of(platform, cluster)
    with writing(platform.sessions) as session:
        workers.register(session, "standing", "cpu", [], clock(session))
    send(platform, student, 2)
    assert decided(controller).launches == 1
    with writing(platform.sessions) as session:
        queues.pause(session, "cpu", "the exam", "staff", clock(session))
    paused = decided(controller)
    assert (paused.wanted, paused.paused, paused.note) == (0, "the queue is paused: the exam", "")


def test_a_pilot_near_its_end_is_replaced_ahead(platform: Platform, student: User, cluster: Cluster) -> None:
    controller = controller_of(platform, cluster, lifetime=3600.0)
    send(platform, student, 1)
    decided(controller)
    cluster.run()
    decided(controller)
    with writing(platform.sessions) as session:
        session.query(PilotRow).update({"began_at": clock(session) - timedelta(seconds=3540)})
    assert decided(controller).launches == 1


def test_a_dry_run_changes_nothing(platform: Platform, student: User, cluster: Cluster) -> None:
    controller = controller_of(platform, cluster, dry_run=True)
    send(platform, student, 2)
    assert decided(controller).launches == 2
    controller.close()
    with platform.sessions() as session:
        assert session.query(PilotRow).count() == session.query(PoolRow).count() == 0
    assert cluster.launches == 0


def test_students_and_staff_see_that_a_worker_is_being_started(
    platform: Platform, student: User, cluster: Cluster
) -> None:
    sent = send(platform, student, 1)[0]
    controller = controller_of(platform, cluster)
    decided(controller)
    waits = get_submission(platform, student, sent).waits_for
    assert waits is not None
    assert "is being started" in waits.text
    with platform.sessions() as session:
        (view,) = fleets.pools(session, clock(session))
    assert (view.controlled, view.wanted, view.pending) == (True, 1, 1)
    assert health(platform).parts["workers"].ok
    controller.close()
    assert not health(platform).parts["workers"].ok
