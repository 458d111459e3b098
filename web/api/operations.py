from __future__ import annotations

from flask import Response
from pydantic import BaseModel, ConfigDict, Field

from grader.schemas.course import AuditLog
from grader.schemas.operations import Operations
from grader.schemas.strict import Strict
from grader.schemas.submission import ErrorEnvelope
from grader.schemas.submission_search import Requeued
from grader.service import audit
from grader.service.audit import AuditFilter
from grader.service.operation import operations
from grader.web.access import STAFF, open_to
from grader.web.answers import answer, cheap
from grader.web.api.resource import resource
from grader.web.auth.identity import current_user
from grader.web.current import platform

api = resource("operations", "Operating the platform (staff only)")


class AuditQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    actor: str = Field(default="", max_length=64, description="who did it")
    action: str = Field(
        default="", max_length=48, description="an action, or its beginning, such as challenge."
    )
    subject: str = Field(
        default="", max_length=200, description="its subject, or the beginning, such as /courses/gpu"
    )
    limit: int = Field(default=100, ge=1, le=500)
    older_than: int | None = Field(default=None, ge=1, le=2**62)


class RetryBody(Strict):
    submissions: list[str] = Field(default_factory=list, max_length=500, description="empty: all that failed")


@api.get("/operations", responses={200: Operations})
@open_to(STAFF)
def get_operations() -> Response:
    """Queues, workers and GPUs, waiting times by hour, failures of the platform, and alerts."""
    return cheap(operations.overview(platform(), current_user()))


@api.post("/operations/retry", responses={200: Requeued, 409: ErrorEnvelope})
@open_to(STAFF)
def retry_failed(body: RetryBody) -> Response:
    """Queue again what the platform failed to judge."""
    return answer(operations.retry(platform(), current_user(), body.submissions))


@api.get("/audit", responses={200: AuditLog})
@open_to(STAFF)
def get_audit_log(query: AuditQuery) -> Response:
    """Actions of staff, newest first."""
    wanted = AuditFilter(query.actor, query.action, query.subject)
    return answer(audit.of_platform(platform(), current_user(), wanted, query.limit, query.older_than))
