"""The list of workers, and draining them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from grader.errors import NotFound
from grader.records import workers
from grader.records.engine import writing
from grader.records.models import utcnow
from grader.schemas.queue import WorkerState
from grader.service.accounts.accounts import User
from grader.service.operation import queues
from grader.service.platform import Platform
from grader.service.submissions.submit import submit
from tests.service.queues.builders import register, take
from tests.service.world import body

pytestmark = pytest.mark.both_databases


class TestWorkers:
    def test_workers_are_listed_with_their_work(self, platform: Platform, student: User, staff: User) -> None:
        for name in ("w", "idle"):
            register(platform, name)
        register(platform, "compiler", "", compiles=True)
        with writing(platform.sessions) as session:
            workers.register(session, "old", "cpu", [], utcnow() - timedelta(minutes=5))
            workers.register(session, "older", "cpu", [], utcnow() - timedelta(days=5))
            workers.leave(session, "older", utcnow())
        sent = submit(platform, student, body()).id
        take(platform)
        found = {worker.name: worker for worker in queues.list_workers(platform, staff).workers}
        assert {name: worker.state for name, worker in found.items()} == {
            "w": WorkerState.WORKING,
            "idle": WorkerState.IDLE,
            "compiler": WorkerState.IDLE,
            "old": WorkerState.SILENT,
        }
        assert found["w"].submission == sent
        for name, state in (("w", WorkerState.DRAINING), ("idle", WorkerState.DRAINED)):
            queues.drain_worker(platform, staff, name)
            found = {worker.name: worker for worker in queues.drain_worker(platform, staff, name).workers}
            assert found[name].state is state
            assert found[name].drained_at is not None
        found = {worker.name: worker for worker in queues.resume_worker(platform, staff, "w").workers}
        assert (found["w"].state, found["w"].drained_at) == (WorkerState.WORKING, None)

    @pytest.mark.parametrize("act", [queues.drain_worker, queues.resume_worker])
    def test_an_unknown_worker_is_refused(
        self, platform: Platform, staff: User, act: Callable[..., object]
    ) -> None:
        with pytest.raises(NotFound, match="no worker"):
            act(platform, staff, "nobody")
