"""Reading needs ``read``, other calls ``submit``; accounts ``account``, staff's rights ``staff``. New routes are
guarded by default."""

from __future__ import annotations

from flask import request

from grader.errors import NotAllowed
from grader.schemas.token import ALL_SCOPES, Scope
from grader.service.accounts.accounts import User

# Any token may ask for its owner, and revoke itself.
FREE = frozenset({("GET", "/api/v1/me"), ("DELETE", "/api/v1/tokens/current")})
# Also for other accounts: a password link would bypass the token's scopes.
OF_ACCOUNTS = frozenset(
    f"/api/v1{rule}"
    for rule in (
        "/me/export",
        "/me/deletion",
        "/people/<name>/export",
        "/people/<name>/deletion",
        # No token may raise its own budget.
        "/tokens/<number>/budget",
    )
)
_READING = ("GET", "HEAD", "OPTIONS")


def needed(method: str, rule: str) -> Scope | None:
    """``rule``: the call's route."""
    if (method, rule) in FREE:
        return None
    if rule in OF_ACCOUNTS:
        return Scope.ACCOUNT
    return Scope.READ if method in _READING else Scope.SUBMIT


def check(user: User) -> None:
    """Raises NotAllowed."""
    scope = needed(request.method, request.url_rule.rule if request.url_rule else "")
    if scope is not None and scope not in user.scopes:
        wanted = ",".join(each for each in ALL_SCOPES if each in user.scopes or each is scope)
        raise NotAllowed(
            f"This token lacks the scope '{scope.value}'.",
            f"`grader login --scope {wanted}` gets a token that has it.",
        )
