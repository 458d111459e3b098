from __future__ import annotations

from flask import Response
from pydantic import BaseModel, ConfigDict, Field

from grader.schemas.budget import Budget, BudgetBody, BudgetList, Payer
from grader.schemas.queue import (
    ChallengeKind,
    KindBody,
    OwnQuotas,
    PauseBody,
    QueueList,
    WorkerList,
)
from grader.service.operation import queues
from grader.service.submissions import budgets, quotas
from grader.web.access import OWNER, SIGNED_IN, STAFF, open_to
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


class QuotaQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    challenge: str | None = Field(default=None, max_length=64, description="also its limits")


class BudgetPath(BaseModel):
    payer: Payer
    name: str


class TokenPath(BaseModel):
    number: str


@api.get("/me/quotas", responses={200: OwnQuotas})
@open_to(SIGNED_IN)
def get_quotas(query: QuotaQuery) -> Response:
    """What is left of your limits, and the GPU seconds that you used."""
    return answer(quotas.own_quotas(platform(), current_user(), query.challenge))


@api.get("/budgets", responses={200: BudgetList})
@open_to(STAFF)
def list_budgets() -> Response:
    """Users, courses and competitions with a budget of GPU seconds, or that used a GPU (staff only)."""
    return answer(budgets.list_budgets(platform(), current_user()))


@api.put("/budgets/<payer>/<name>", responses={200: Budget})
@open_to(STAFF)
def set_budget(path: BudgetPath, body: BudgetBody) -> Response:
    """Set the budget of a user, course or competition (staff only)."""
    return answer(budgets.set_budget(platform(), current_user(), path.payer, path.name, body))


@api.put("/tokens/<number>/budget", responses={200: Budget})
@open_to(OWNER)
def set_token_budget(path: TokenPath, body: BudgetBody) -> Response:
    """Set the budget of one of your tokens, by its number."""
    return answer(budgets.set_budget(platform(), current_user(), Payer.TOKEN, path.number, body))
