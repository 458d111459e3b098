"""Baselines are fixed for one challenge version, device model and torch, and measured again for any other."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from grader.judge.job import Job, JudgingProgress, Outcome
from grader.queue.direct import DirectCoordinator
from grader.queue.executor import Executor
from grader.queue.heartbeat import Heartbeat
from grader.records import baselines
from grader.records.baselines import BaselineKey, Times
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.service.submissions.submit import submit
from tests.queue.fakes import FakeJudge, judged, report_for
from tests.service.world import body

BOTH: Times = {"small": {"eager": 5.0, "compile": 4.0}}


@pytest.fixture
def serve(platform: Platform, student: User) -> Iterator[Callable[[FakeJudge], Job]]:
    heartbeat = Heartbeat(DirectCoordinator(platform, "w"))
    heartbeat.start()

    def one(judge: FakeJudge) -> Job:
        submit(platform, student, body())
        assert Executor(
            DirectCoordinator(platform, "w"), "cpu", judge, heartbeat, threading.Event()
        ).serve_one()
        return judge.jobs[-1]

    yield one
    heartbeat.close()


@pytest.mark.parametrize(("what", "value"), [("device_model", "cardboard"), ("torch_version", "1")])
def test_baselines_are_kept_by_model_and_torch(
    serve: Callable[[FakeJudge], Job], what: str, value: str
) -> None:
    other = FakeJudge(judged(baselines={"small": {"eager": 9.0}}), judged())
    setattr(other, what, value)
    assert serve(FakeJudge(judged(baselines=BOTH))).baselines == {}
    assert serve(FakeJudge()).baselines == BOTH
    assert serve(other).baselines == {}
    assert serve(other).baselines == {"small": {"eager": 9.0}}
    assert serve(FakeJudge()).baselines == BOTH


def test_missing_baselines_are_added_and_frozen_ones_stay(serve: Callable[[FakeJudge], Job]) -> None:
    judge = FakeJudge(judged(baselines={"small": {"eager": 5.0}}), judged(baselines=BOTH), judged())
    assert [serve(judge).baselines for _ in range(3)] == [{}, {"small": {"eager": 5.0}}, BOTH]


def test_a_baseline_too_short_to_measure_stays_frozen(serve: Callable[[FakeJudge], Job]) -> None:
    found: Times = {"small": {"eager": None, "compile": 4.0}}
    serve(FakeJudge(judged(baselines=found)))
    assert serve(FakeJudge()).baselines == found


def test_a_new_version_has_new_baselines(platform: Platform, serve: Callable[[FakeJudge], Job]) -> None:
    serve(FakeJudge(judged(baselines=BOTH)))
    manifest = platform.catalogue.root / "challenges" / "scale" / "challenge.toml"
    manifest.write_text(manifest.read_text().replace("version = 1", "version = 2"))
    assert serve(FakeJudge()).baselines == {}


def test_baselines_belong_to_the_judged_version(
    platform: Platform, serve: Callable[[FakeJudge], Job]
) -> None:
    def newer(
        job: Job, on_progress: Callable[[JudgingProgress], None], cancelled: Callable[[], bool]
    ) -> Outcome:
        return Outcome(report=report_for(job).model_copy(update={"version": 2}), baselines=BOTH)

    serve(FakeJudge(newer))
    with platform.sessions() as session:
        found = [baselines.read(session, BaselineKey("scale", version, "paper", "0")) for version in (1, 2)]
    assert found == [{}, BOTH]
