from __future__ import annotations

from flask import Response
from pydantic import Field

from grader.schemas.similarity import DecisionBody, SimilarityReport, SimilarSources
from grader.service.courses.permissions import Action
from grader.service.review import similarity
from grader.web import throttle
from grader.web.access import PARTY, open_to
from grader.web.answers import answer
from grader.web.api.assignments import AssignmentPath
from grader.web.api.resource import resource
from grader.web.auth.identity import current_user
from grader.web.current import platform

api = resource("similarity", "Which submissions resemble each other")

_AT = "/courses/<course>/assignments/<assignment>/similarity"


class PairPath(AssignmentPath):
    number: int = Field(ge=1, le=2**31 - 1)


@api.get(_AT, responses={200: SimilarityReport})
@open_to(PARTY, action=Action.SIMILARITY)
def get_similarity(path: AssignmentPath) -> Response:
    """The last comparison's pairs, most similar first (staff only)."""
    return answer(similarity.read(platform(), current_user(), path.course, path.assignment))


@api.post(_AT, responses={200: SimilarityReport})
@open_to(PARTY, action=Action.SIMILARITY)
@throttle.costly_limit
def compare_sources(path: AssignmentPath) -> Response:
    """Compare each student's counting submission now; hundreds of sources take a few seconds (staff only)."""
    return answer(similarity.compare(platform(), current_user(), path.course, path.assignment))


@api.get(f"{_AT}/<int:number>", responses={200: SimilarSources})
@open_to(PARTY, action=Action.SIMILARITY)
@throttle.costly_limit
def get_pair(path: PairPath) -> Response:
    """A pair's sources, and which of their lines match (staff only)."""
    return answer(similarity.sources(platform(), current_user(), path.course, path.assignment, path.number))


@api.put(f"{_AT}/<int:number>", responses={200: SimilarityReport})
@open_to(PARTY, action=Action.SIMILARITY_DECIDE)
def decide_pair(path: PairPath, body: DecisionBody) -> Response:
    """Confirm, dismiss or reopen a pair. A confirmed one is marked for both students."""
    found = similarity.decide(platform(), current_user(), path.course, path.assignment, path.number, body)
    return answer(found)
