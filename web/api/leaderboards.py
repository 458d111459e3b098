from __future__ import annotations

from flask import Response
from pydantic import BaseModel, ConfigDict, Field

from grader import limits
from grader.languages import Language
from grader.schemas.leaderboard import Leaderboard, RecordHistory, TrackBoard
from grader.service.boards import leaderboard, track_board
from grader.service.boards.leaderboard import Wanted
from grader.web.access import READERS, open_to
from grader.web.answers import cheap
from grader.web.api.resource import resource
from grader.web.auth.identity import is_staff, viewer
from grader.web.current import platform

api = resource("leaderboards", "Leaderboards")

_DEVICE = "a board's device; default: the platform's"


class LeaderboardPath(BaseModel):
    slug: str


class TrackPath(BaseModel):
    track: str = Field(description="its title")


class DeviceQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    device: str | None = Field(default=None, description=_DEVICE)


class PartQuery(DeviceQuery):
    limit: int | None = Field(
        default=None, ge=1, le=limits.LISTED_MOST, description="at most this many; default: all"
    )
    offset: int = Field(default=0, ge=0, le=limits.LISTED_MOST, description="how many to skip")


class BoardQuery(DeviceQuery):
    language: Language | None = Field(default=None, description="only entries in this language")
    version: int | None = Field(
        default=None, ge=1, le=2**31 - 1, description="of the challenge; default: the published one"
    )


class LeaderboardQuery(BoardQuery, PartQuery):
    pass


def _wanted(query: BoardQuery) -> Wanted:
    return {
        "device": query.device,
        "language": query.language,
        "version": query.version,
        "drafts": is_staff(),
    }


@api.get("/leaderboards/<slug>", responses={200: Leaderboard})
@open_to(READERS)
def get_leaderboard(path: LeaderboardPath, query: LeaderboardQuery) -> Response:
    """Each user's best entry. Overlapping intervals share a rank; staff are not ranked."""
    board = leaderboard.leaderboard(
        platform(),
        path.slug,
        limit=query.limit,
        offset=query.offset,
        viewer=viewer(),
        **_wanted(query),
    )
    return cheap(board)


@api.get("/leaderboards/<slug>/records", responses={200: RecordHistory})
@open_to(READERS)
def get_records(path: LeaderboardPath, query: BoardQuery) -> Response:
    """How a board's best time improved, oldest first."""
    found = leaderboard.records_over_time(platform(), path.slug, viewer=viewer(), **_wanted(query))
    return cheap(found)


@api.get("/tracks/<track>/leaderboard", responses={200: TrackBoard})
@open_to(READERS)
def get_track_leaderboard(path: TrackPath, query: PartQuery) -> Response:
    """Everyone who solved a challenge of the track: by the number solved, then by speed."""
    found = track_board.track_board(
        platform(),
        path.track,
        device=query.device,
        limit=query.limit,
        offset=query.offset,
        viewer=viewer(),
    )
    return cheap(found)
