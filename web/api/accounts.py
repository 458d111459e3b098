"""Signing up, and new passwords by link."""

from __future__ import annotations

from flask import Response

from grader.schemas.account import ForgottenBody, MessageSent, SignUpBody
from grader.schemas.submission import ErrorEnvelope, Me
from grader.service.accounts import resets, sign_up
from grader.web import throttle
from grader.web.access import ANYONE, open_to
from grader.web.answers import answer
from grader.web.api.resource import resource
from grader.web.current import platform

api = resource("accounts", "Signing up; new passwords")


@api.post("/accounts", responses={201: Me, 409: ErrorEnvelope})
@open_to(ANYONE)
def create_account(body: SignUpBody) -> Response:
    """Create an account, if sign-up is open or with the key of an invitation or mailed link."""
    throttle.count_sign_up(body.key)
    with throttle.join_code(body.key):
        user = sign_up.sign_up(platform(), body)
    return answer(Me(name=user.name, role=user.role), 201)


@api.post("/password-resets", responses={202: MessageSent, 409: ErrorEnvelope})
@open_to(ANYONE)
@throttle.mailed_link_limit
def ask_for_password(body: ForgottenBody) -> Response:
    """Mail a link that sets a new password. The answer is the same for every name."""
    resets.ask(platform(), body.name)
    return answer(MessageSent(message=resets.ANSWER), 202)
