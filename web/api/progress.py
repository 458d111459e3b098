"""GET /progress: how far the caller has come."""

from __future__ import annotations

from flask import Response
from pydantic import BaseModel, ConfigDict, Field

from grader.schemas.progress import Progress
from grader.service.submissions.progress import progress
from grader.web.answers import cheap
from grader.web.api.resource import resource
from grader.web.auth.identity import current_user
from grader.web.current import platform

api = resource("progress", "What is solved, track by track", signed_in=True)


class ProgressQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    user: str | None = Field(
        default=None, max_length=64, description="whose (staff only); one's own when absent"
    )


@api.get("/progress", responses={200: Progress})
def get_progress(query: ProgressQuery) -> Response:
    """Solved, attempted and all challenges of each track, the best speedup, and what to do next."""
    return cheap(progress(platform(), current_user(), query.user))
