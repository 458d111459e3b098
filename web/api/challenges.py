from __future__ import annotations

from flask import Response
from pydantic import BaseModel, Field

from grader.schemas.challenge import ChallengeDetail, ChallengeList
from grader.service.challenges import catalogue
from grader.web.access import ANYONE, open_to
from grader.web.answers import cheap
from grader.web.api.resource import resource
from grader.web.auth.identity import viewer
from grader.web.current import platform

api = resource("challenges", "The challenges")


class ChallengePath(BaseModel):
    slug: str = Field(description="the challenge's short name, such as vector_add")


@api.get("/challenges", responses={200: ChallengeList})
@open_to(ANYONE)
def list_challenges() -> Response:
    """Every challenge that the caller may see, in the order of its track."""
    return cheap(catalogue.list_challenges(platform(), viewer()))


@api.get("/challenges/<slug>", responses={200: ChallengeDetail})
@open_to(ANYONE)
def get_challenge(path: ChallengePath) -> Response:
    """One challenge: spec, signatures, starters, cases, reference."""
    return cheap(catalogue.get_challenge(platform(), path.slug, viewer()))
