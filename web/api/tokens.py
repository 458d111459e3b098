from __future__ import annotations

from datetime import timedelta

from flask import Response, request, session

from grader.schemas.token import TokenBody, TokenView
from grader.service.accounts import accounts, tokens
from grader.service.accounts.accounts import User
from grader.service.accounts.tokens import Issued, TokenRequest
from grader.web import throttle
from grader.web.access import ANYONE, SIGNED_IN, open_to
from grader.web.answers import answer
from grader.web.api.resource import resource
from grader.web.auth import sessions
from grader.web.auth.identity import bearer_token, current_user
from grader.web.current import platform

api = resource("tokens", "Tokens for programs")


@api.post("/tokens", responses={201: TokenView})
@open_to(ANYONE)
def create_token(body: TokenBody) -> Response:
    """Get an API token with name and password. It is shown only now and stored as a hash."""
    with throttle.password_try(body.name):
        user = accounts.authenticate(platform(), body.name, body.password)
    lifetime = timedelta(days=body.days) if body.days is not None else None
    wish = TokenRequest(
        body.label,
        lifetime,
        body.scopes,
        address=request.remote_addr or "",
        per_day=body.per_day,
        at_once=body.at_once,
    )
    return answer(shown(user, tokens.issue(platform(), user, wish)), 201)


def shown(user: User, issued: Issued) -> TokenView:
    return TokenView(
        token=issued.token,
        user=user.name,
        role=user.role,
        expires_at=issued.expires_at,
        scopes=issued.scopes,
    )


@api.delete("/tokens/current", responses={204: None})
@open_to(SIGNED_IN)
def delete_token() -> Response:
    """Revoke the token of this call."""
    current_user()
    tokens.revoke_token(platform(), _present())
    return Response(status=204)


def _present() -> str:
    return bearer_token() or session.get(sessions.TOKEN_KEY, "")
