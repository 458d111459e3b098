"""POST /tokens buys an API token with name and password; DELETE /tokens/current gives it back."""

from __future__ import annotations

from flask import Response, session

from grader.schemas.submission import ErrorEnvelope, TokenBody, TokenView
from grader.service import accounts
from grader.web import throttle
from grader.web.answers import answer
from grader.web.api.resource import SIGNED_IN, resource
from grader.web.auth import sessions
from grader.web.auth.identity import bearer_token, current_user
from grader.web.current import platform

api = resource("tokens", "Tokens for programs", signed_in=False)


@api.post("/tokens", responses={201: TokenView, 401: ErrorEnvelope, 429: ErrorEnvelope})
@throttle.sign_in_limit
def create_token(body: TokenBody) -> Response:
    """A new API token. It is shown this once and stored only as a hash."""
    user = accounts.authenticate(platform(), body.name, body.password)
    token = accounts.issue_token(platform(), user, body.label)
    return answer(TokenView(token=token, user=user.name, role=user.role), 201)


@api.delete("/tokens/current", responses={204: None, 401: ErrorEnvelope}, security=SIGNED_IN)
def delete_token() -> Response:
    """Revoke the token that this call is made with."""
    current_user()
    token = bearer_token() or session.get(sessions.TOKEN_KEY, "")
    accounts.revoke_token(platform(), token)
    return Response(status=204)
