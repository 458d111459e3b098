"""What an API token may be used for. Reading takes ``read``, all else ``submit``; what decides over accounts takes
``account``; what is for staff asks ``user.staff``, which is false without ``staff``. A route that is new is guarded
like the others before anyone thinks of it.
"""

from __future__ import annotations

from flask import request

from grader.errors import NotAllowed
from grader.schemas.token import ALL_SCOPES, Scope
from grader.service.accounts.accounts import User

# Any token may ask whose it is, and end itself.
FREE = frozenset({("GET", "/api/v1/me"), ("DELETE", "/api/v1/tokens/current")})
# Of others, too: by a link for a new password or a deletion, staff could do to themselves what the token may not.
OF_ACCOUNTS = frozenset(
    f"/api/v1{rule}"
    for rule in (
        "/me/export",
        "/me/deletion",
        "/people/<name>/export",
        "/people/<name>/deletion",
        "/people/<name>/password-reset",
        "/sessions",
        "/tokens/<int:number>",
    )
)
_READING = ("GET", "HEAD", "OPTIONS")


def needed(method: str, rule: str) -> Scope | None:
    """The scope that a call of the API takes; ``rule`` is that of its route."""
    if (method, rule) in FREE:
        return None
    if rule in OF_ACCOUNTS:
        return Scope.ACCOUNT
    return Scope.READ if method in _READING else Scope.SUBMIT


def check(user: User) -> None:
    """Raises NotAllowed where the present call takes a scope that the user's token has not."""
    scope = needed(request.method, request.url_rule.rule if request.url_rule else "")
    if scope is not None and scope not in user.scopes:
        wanted = ",".join(it for it in ALL_SCOPES if it in user.scopes or it is scope)
        raise NotAllowed(
            f"This token has no scope '{scope.value}'.", f"`grader login --scope {wanted}` gets one that has."
        )
