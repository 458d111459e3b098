from __future__ import annotations

from flask import Response
from pydantic import BaseModel

from grader.schemas.submission import ErrorEnvelope
from grader.schemas.worker_token import NewWorkerToken, WorkerTokenBody, WorkerTokenList
from grader.service.operation import worker_tokens
from grader.web.access import STAFF, open_to
from grader.web.answers import answer
from grader.web.api.resource import resource
from grader.web.auth.identity import current_user
from grader.web.current import platform

api = resource("worker_tokens", "Tokens of workers on other hosts (staff only)")


class TokenPath(BaseModel):
    name: str


@api.get("/worker-tokens", responses={200: WorkerTokenList})
@open_to(STAFF)
def list_worker_tokens() -> Response:
    """Tokens of workers, expired ones too (staff only)."""
    return answer(worker_tokens.list_tokens(platform(), current_user()))


@api.post("/worker-tokens", responses={201: NewWorkerToken, 409: ErrorEnvelope})
@open_to(STAFF)
def issue_worker_token(body: WorkerTokenBody) -> Response:
    """Issue a token by which workers serve queues, and do nothing else (staff only)."""
    return answer(worker_tokens.issue(platform(), current_user(), body), 201)


@api.delete("/worker-tokens/<name>", responses={200: WorkerTokenList})
@open_to(STAFF)
def revoke_worker_token(path: TokenPath) -> Response:
    """Revoke one at once (staff only). What its workers hold goes back to the queue, uncounted."""
    return answer(worker_tokens.revoke(platform(), current_user(), path.name))
