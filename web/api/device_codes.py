"""Signs in a program without a password (RFC 8628): it shows one code and polls with another."""

from __future__ import annotations

from flask import Response, request

from grader.schemas.token import DeviceCode, DeviceCodeBody, DevicePoll, TokenView
from grader.service.accounts import device_codes
from grader.web import throttle
from grader.web.access import ANYONE, open_to
from grader.web.answers import answer
from grader.web.api.resource import resource
from grader.web.api.tokens import shown
from grader.web.current import platform

api = resource("device codes", "Signing in a program")


@api.post("/device-codes", responses={201: DeviceCode})
@open_to(ANYONE)
@throttle.device_limit
def create_device_code(body: DeviceCodeBody) -> Response:
    """A code for the program and one for the user, who enters it at ``verification_uri`` within ``expires_in``
    seconds."""
    base = platform().settings.url or request.host_url.rstrip("/")
    return answer(device_codes.begin(platform(), body, request.remote_addr or "", base), 201)


@api.post("/device-codes/token", responses={201: TokenView})
@open_to(ANYONE)
def poll_device_code(body: DevicePoll) -> Response:
    """The token, once the code is approved. Until then 400 with the code ``authorization_pending``, ``slow_down``
    (polled too soon: add 5 s to the interval), ``access_denied`` or ``expired_token``."""
    user, issued = device_codes.poll(platform(), body.device_code)
    return answer(shown(user, issued), 201)
