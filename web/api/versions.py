from __future__ import annotations

from flask import Response
from pydantic import BaseModel, ConfigDict, Field

from grader.schemas.submission import ErrorEnvelope
from grader.schemas.version import (
    Comparison,
    PublishBody,
    Rejudge,
    RejudgeBody,
    VersionContent,
    VersionList,
)
from grader.service.challenges import rejudge as rejudging
from grader.service.challenges import versions
from grader.web.access import STAFF, open_to
from grader.web.answers import answer
from grader.web.api.challenges import ChallengePath
from grader.web.api.resource import resource
from grader.web.auth.identity import current_user
from grader.web.current import platform

api = resource("versions", "Versions of a challenge (staff only)")


class VersionPath(ChallengePath):
    version: int = Field(ge=1, le=2**31 - 1)


class ComparisonQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    before: int | None = Field(default=None, ge=1, le=2**31 - 1, description="default: the version shown")
    after: int | None = Field(default=None, ge=1, le=2**31 - 1, description="default: the folder's version")


@api.get("/challenges/<slug>/versions", responses={200: VersionList})
@open_to(STAFF)
def list_versions(path: ChallengePath) -> Response:
    """Every version that was served, and whose board students see."""
    return answer(versions.list_versions(platform(), current_user(), path.slug))


@api.get("/challenges/<slug>/versions/<version>", responses={200: VersionContent})
@open_to(STAFF)
def get_version(path: VersionPath) -> Response:
    """Everything that judging depended on in that version, hidden cases included."""
    return answer(versions.get_content(platform(), current_user(), path.slug, path.version))


@api.post("/challenges/<slug>/rejudge", responses={200: Rejudge, 409: ErrorEnvelope})
@open_to(STAFF)
def rejudge(path: ChallengePath, body: RejudgeBody) -> Response:
    """Judge submissions again under the folder's version, behind all students; nothing is overwritten."""
    return answer(rejudging.rejudge(platform(), current_user(), path.slug, body.ranked))


@api.get("/challenges/<slug>/comparison", responses={200: Comparison, 409: ErrorEnvelope})
@open_to(STAFF)
def get_comparison(path: ChallengePath, query: ComparisonQuery) -> Response:
    """Verdicts, times and ranks that differ between two versions."""
    return answer(rejudging.compare(platform(), current_user(), path.slug, query.before, query.after))


@api.post("/challenges/<slug>/publish", responses={200: VersionList, 409: ErrorEnvelope})
@open_to(STAFF)
def publish(path: ChallengePath, body: PublishBody) -> Response:
    """Show the board of the folder's version from now on."""
    return answer(versions.publish(platform(), current_user(), path.slug, body.force))
