from __future__ import annotations

from flask import Response
from pydantic import BaseModel, ConfigDict, Field

from grader import limits
from grader.schemas.regrade import RegradeBody, RegradeDecision, RegradeList, RegradeView
from grader.schemas.strict import Switch
from grader.schemas.submission import ErrorEnvelope
from grader.service.review import regrade
from grader.web.access import PARTY, TEACHERS, open_to
from grader.web.answers import answer
from grader.web.api.resource import resource
from grader.web.auth.identity import current_user
from grader.web.current import platform

api = resource("regrades", "Submissions judged again (staff only)")


class RegradePath(BaseModel):
    number: int = Field(ge=1, le=2**31 - 1)


class RegradesQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    course: str | None = Field(default=None, max_length=limits.SLUG_CHARS, description="only this course's")


class RegradeQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    counts: Switch = Field(default=False, description="without submissions and grades")


@api.get("/regrades", responses={200: RegradeList})
@open_to(TEACHERS)
def list_regrades(query: RegradesQuery) -> Response:
    """Regrades that you may decide on, newest first."""
    return answer(regrade.list_regrades(platform(), current_user(), query.course))


@api.post("/regrades", responses={200: RegradeView, 409: ErrorEnvelope})
@open_to(TEACHERS, lambda user, _: regrade.check(platform(), user))
def start_regrade(body: RegradeBody) -> Response:
    """Judge a submission, a student, an assignment or a challenge again, behind all students. Ordering it twice gives
    the same regrade."""
    return answer(regrade.start(platform(), current_user(), body))


@api.get("/regrades/<int:number>", responses={200: RegradeView})
@open_to(PARTY)
def get_regrade(path: RegradePath, query: RegradeQuery) -> Response:
    """What it changes: submissions, grades, and ranks in competitions."""
    return answer(regrade.get(platform(), current_user(), path.number, whole=not query.counts))


@api.post("/regrades/<int:number>/publish", responses={200: RegradeView, 409: ErrorEnvelope})
@open_to(PARTY)
def publish_regrade(path: RegradePath, body: RegradeDecision) -> Response:
    """Make the new results count, and tell the authors why."""
    return answer(regrade.publish(platform(), current_user(), path.number, body))


@api.post("/regrades/<int:number>/discard", responses={200: RegradeView, 409: ErrorEnvelope})
@open_to(PARTY)
def discard_regrade(path: RegradePath) -> Response:
    """Discard it; nothing changes."""
    return answer(regrade.discard(platform(), current_user(), path.number))
