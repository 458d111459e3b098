"""GET /leaderboards/{slug}: anyone may read them."""

from __future__ import annotations

from flask import Response
from pydantic import BaseModel, ConfigDict, Field

from grader import limits
from grader.schemas.report import Language
from grader.schemas.submission import Leaderboard
from grader.service import leaderboard
from grader.web.answers import cheap
from grader.web.api.resource import resource
from grader.web.auth.identity import is_staff
from grader.web.current import platform

api = resource("leaderboards", "Who is fastest", signed_in=False)


class LeaderboardPath(BaseModel):
    slug: str


class LeaderboardQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    device: str | None = Field(
        default=None, description="a board's device; the platform's default when absent"
    )
    language: Language | None = Field(default=None, description="only entries in this language")
    version: int | None = Field(
        default=None, ge=1, le=2**31 - 1, description="of the challenge; the published one when absent"
    )
    limit: int | None = Field(
        default=None, ge=1, le=limits.LISTED_MOST, description="so many; all when absent"
    )
    offset: int = Field(default=0, ge=0, le=limits.LISTED_MOST, description="to begin so many further down")


@api.get("/leaderboards/<slug>", responses={200: Leaderboard})
def get_leaderboard(path: LeaderboardPath, query: LeaderboardQuery) -> Response:
    """The best entry of each user. A rank is shared where intervals overlap."""
    board = leaderboard.leaderboard(
        platform(),
        path.slug,
        device=query.device,
        language=query.language,
        version=query.version,
        drafts=is_staff(),
        limit=query.limit,
        offset=query.offset,
    )
    return cheap(board)
