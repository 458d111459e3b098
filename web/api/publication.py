from __future__ import annotations

from flask import Response

from grader.schemas.publication import (
    BoardBody,
    BoardSettings,
    PublicationBody,
    PublicationList,
    PublicationView,
)
from grader.schemas.submission import ErrorEnvelope
from grader.service.boards import board_access
from grader.service.challenges import publication
from grader.service.courses.permissions import Action
from grader.web.access import TEACHERS, on_challenge, open_to
from grader.web.answers import answer
from grader.web.api.challenges import ChallengePath
from grader.web.api.resource import resource
from grader.web.auth.identity import current_user
from grader.web.current import platform

api = resource("publication", "Which challenges students see (staff only)")


@api.get("/challenge-states", responses={200: PublicationList})
@open_to(TEACHERS)
def list_states() -> Response:
    """Every challenge's folder: draft, scheduled, published or hidden, and whether it is broken."""
    return answer(publication.list_states(platform(), current_user()))


@api.put("/challenges/<slug>/state", responses={200: PublicationView, 409: ErrorEnvelope})
@open_to(TEACHERS, on_challenge(Action.CHALLENGE_PUBLISH))
def put_state(path: ChallengePath, body: PublicationBody) -> Response:
    """Publish a challenge, now or at a time, hide it, or make it a draft again."""
    return answer(publication.change(platform(), current_user(), path.slug, body))


@api.put("/challenges/<slug>/board", responses={200: BoardSettings, 409: ErrorEnvelope})
@open_to(TEACHERS, on_challenge(Action.CHALLENGE_BOARD))
def put_board(path: ChallengePath, body: BoardBody) -> Response:
    """Set whom the challenge's board names, and freeze it."""
    return answer(board_access.set_board(platform(), current_user(), path.slug, body))
