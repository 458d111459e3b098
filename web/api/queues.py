from __future__ import annotations

from flask import Response
from pydantic import BaseModel

from grader.schemas.queue import (
    ChallengeKind,
    KindBody,
    PauseBody,
    QueueList,
    WorkerList,
)
from grader.service.operation import queues
from grader.web.access import SIGNED_IN, STAFF, open_to
from grader.web.answers import answer, cheap
from grader.web.api.challenges import ChallengePath
from grader.web.api.resource import resource
from grader.web.auth.identity import current_user
from grader.web.current import platform

api = resource("queues", "Queues, workers and quotas")


class QueuePath(BaseModel):
    queue: str


class WorkerPath(BaseModel):
    worker: str


@api.get("/queues", responses={200: QueueList})
@open_to(SIGNED_IN)
def list_queues() -> Response:
    """Every queue: submissions waiting and running, workers, and whether staff paused it."""
    current_user()
    return cheap(queues.list_queues(platform()))


@api.post("/queues/<queue>/pause", responses={200: QueueList})
@open_to(STAFF)
def pause_queue(path: QueuePath, body: PauseBody) -> Response:
    """Pause a device's queue, `compile`, or `all` (staff only). New submissions wait."""
    return answer(queues.pause_queue(platform(), current_user(), path.queue, body.reason))


@api.post("/queues/<queue>/resume", responses={200: QueueList})
@open_to(STAFF)
def resume_queue(path: QueuePath) -> Response:
    """Resume a queue (staff only). Repeating it is not an error."""
    return answer(queues.resume_queue(platform(), current_user(), path.queue))


@api.get("/workers", responses={200: WorkerList})
@open_to(STAFF)
def list_workers() -> Response:
    """Workers, their work, and which are drained (staff only)."""
    return cheap(queues.list_workers(platform(), current_user()))


@api.post("/workers/<worker>/drain", responses={200: WorkerList})
@open_to(STAFF)
def drain_worker(path: WorkerPath) -> Response:
    """Let a worker finish its submission, take no more and end (staff only)."""
    return answer(queues.drain_worker(platform(), current_user(), path.worker))


@api.post("/workers/<worker>/resume", responses={200: WorkerList})
@open_to(STAFF)
def resume_worker(path: WorkerPath) -> Response:
    """Let a worker work again, now or when it is started (staff only)."""
    return answer(queues.resume_worker(platform(), current_user(), path.worker))


@api.get("/challenges/<slug>/kind", responses={200: ChallengeKind})
@open_to(STAFF)
def get_kind(path: ChallengePath) -> Response:
    """The kind of a challenge's submissions, which decides their priority (staff only)."""
    return answer(queues.get_kind(platform(), current_user(), path.slug))


@api.post("/challenges/<slug>/kind", responses={200: ChallengeKind})
@open_to(STAFF)
def set_kind(path: ChallengePath, body: KindBody) -> Response:
    """Set the kind of a challenge's future submissions (staff only)."""
    return answer(queues.set_kind(platform(), current_user(), path.slug, body.kind))
