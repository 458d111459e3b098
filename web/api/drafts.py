from __future__ import annotations

from flask import Response
from pydantic import BaseModel, Field

from grader.schemas.draft import DraftBody, DraftView
from grader.schemas.submission import ErrorEnvelope
from grader.service.submissions import drafts
from grader.web import throttle
from grader.web.access import OWNER, SIGNED_IN, open_to
from grader.web.answers import answer
from grader.web.api.resource import resource
from grader.web.auth.identity import current_user
from grader.web.current import platform

api = resource("drafts", "Code in the editor")


class DraftPath(BaseModel):
    challenge: str = Field(max_length=64)
    language: str = Field(max_length=16)


@api.get("/drafts/<challenge>/<language>", responses={200: DraftView})
@open_to(OWNER)
def get_draft(path: DraftPath) -> Response:
    """One of your drafts."""
    return answer(drafts.get_draft(platform(), current_user(), path.challenge, path.language))


@api.put("/drafts/<challenge>/<language>", responses={200: DraftView, 409: ErrorEnvelope})
@open_to(SIGNED_IN)
@throttle.draft_limit
def keep_draft(path: DraftPath, body: DraftBody) -> Response:
    """Save a draft. 409 if `based_on` is given and is not the saved version."""
    return answer(drafts.keep_draft(platform(), current_user(), path.challenge, path.language, body))


@api.delete("/drafts/<challenge>/<language>", responses={204: None})
@open_to(SIGNED_IN)
def remove_draft(path: DraftPath) -> Response:
    """Delete a draft. Repeating it is not an error."""
    drafts.remove_draft(platform(), current_user(), path.challenge, path.language)
    return Response(status=204)
