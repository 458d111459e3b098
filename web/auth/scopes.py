"""What an API token may be used for. Reading takes ``read``, all else ``submit``; what is for staff asks
``user.staff``, which is false without ``staff``. A route that is new is guarded like the others before anyone thinks
of it.
"""

from __future__ import annotations

from flask import request

from grader.errors import NotAllowed
from grader.schemas.token import Scope
from grader.service.accounts.accounts import User

# Any token may ask whose it is, and end itself.
FREE = frozenset({("GET", "/api/v1/me"), ("DELETE", "/api/v1/tokens/current")})
_READING = ("GET", "HEAD", "OPTIONS")


def needed(method: str, path: str) -> Scope | None:
    """The scope that a call of the API takes."""
    if (method, path) in FREE:
        return None
    return Scope.READ if method in _READING else Scope.SUBMIT


def check(user: User) -> None:
    """Raises NotAllowed where the present call takes a scope that the user's token has not."""
    scope = needed(request.method, request.path)
    if scope is not None and scope not in user.scopes:
        raise NotAllowed(
            f"This token has no scope '{scope.value}'.",
            f"`grader login --scope {scope.value}` gets one that has.",
        )
