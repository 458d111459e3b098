"""OpenID Connect with authorization code, PKCE, state and nonce. ``sign_on`` chooses the account."""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

from authlib.common.errors import AuthlibBaseError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oidc.core import CodeIDToken
from joserfc.errors import JoseError

from grader import limits
from grader.errors import NotFound, SignOnFailed, Unreachable
from grader.logs import get_logger
from grader.oidc_settings import OidcProvider
from grader.service import outbound
from grader.service.accounts import links
from grader.settings import Settings

log = get_logger(__name__)

_AGAIN = "Try again. If it fails again, tell an admin of this site."
_CLAIM_CHARS = 250


@dataclass(frozen=True)
class Person:
    """``authority`` and ``subject`` identify permanently; ``email`` is verified."""

    authority: str
    subject: str
    name: str
    email: str | None
    label: str


@dataclass(frozen=True)
class Begun:
    """Other fields than ``url`` check the browser's return."""

    url: str
    state: str
    nonce: str
    verifier: str


class _Discovered:
    """Cached for an hour."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[str, tuple[float, dict[str, Any]]] = {}

    def of(self, issuer: str) -> dict[str, Any]:
        with self._lock:
            kept = self._kept.get(issuer)
        now = time.monotonic()
        if kept is not None and now - kept[0] < limits.KEYS_KEPT_SECONDS:
            return kept[1]
        found = _discover(issuer)
        with self._lock:
            self._kept[issuer] = (now, found)
        return found

    def forget(self) -> None:
        with self._lock:
            self._kept.clear()


_DISCOVERED = _Discovered()


def forget() -> None:
    _DISCOVERED.forget()
    outbound.KEYS.forget()


def provider(settings: Settings, name: str) -> OidcProvider:
    """Raises NotFound."""
    if name not in settings.oidc:
        raise NotFound("There is no such sign-in provider.", "The sign-in page lists the providers.")
    return settings.oidc[name]


def label(settings: Settings, name: str) -> str:
    found = settings.oidc[name]
    return found.label or urlsplit(found.issuer).hostname or name


def redirect_uri(settings: Settings, name: str) -> str:
    return f"{links.base_url(settings)}/sign-in/with/{name}/back"


def begin(settings: Settings, name: str) -> Begun:
    """Raises NotFound, Unreachable, SignOnFailed."""
    found = provider(settings, name)
    said = _DISCOVERED.of(found.issuer)
    state, nonce, verifier = (secrets.token_urlsafe(size) for size in (24, 24, 48))
    with _session(settings, name, said) as session:
        url, _ = session.create_authorization_url(
            said["authorization_endpoint"], state=state, nonce=nonce, code_verifier=verifier
        )
    return Begun(url, state, nonce, verifier)


def finish(settings: Settings, name: str, query: Mapping[str, str], nonce: str, verifier: str) -> Person:
    """``query``: after its state was checked. Raises NotFound, SignOnFailed, Unreachable."""
    found = provider(settings, name)
    said = _DISCOVERED.of(found.issuer)
    if query.get("iss", found.issuer) != found.issuer:  # RFC 9207
        raise SignOnFailed("This answer is from another provider.", _AGAIN)
    if "error" in query or not query.get("code"):
        log.warning("sign_on_refused", provider=name, error=query.get("error", "")[:60])
        raise SignOnFailed(f"{label(settings, name)} did not sign you in.", _AGAIN)
    with _session(settings, name, said) as session:
        token = _exchange(session, said, query["code"], verifier)
        claims = dict(_claims(found, said, token, nonce))
        # Some ID tokens contain almost nothing.
        if said.get("userinfo_endpoint") and not ({"email", found.name_claim} <= claims.keys()):
            more = _userinfo(said["userinfo_endpoint"], str(token.get("access_token", "")), claims)
            claims = _joined(claims, more)
    return _person(settings, name, claims)


def reach(issuer: str) -> None:
    """Raises Unreachable, SignOnFailed."""
    said = _discover(issuer)
    outbound.KEYS.of(said["jwks_uri"], 0.0)


def _discover(issuer: str) -> dict[str, Any]:
    said = outbound.get_json(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
    if said.get("issuer") != issuer:
        raise SignOnFailed(
            f"The provider's issuer is '{str(said.get('issuer'))[:100]}', not '{issuer}'.",
            "If this is your provider, set its issuer to exactly that value.",
        )
    for each in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
        outbound.checked(str(said.get(each) or ""))
    if said.get("userinfo_endpoint"):
        outbound.checked(str(said["userinfo_endpoint"]))
    return said


def _session(settings: Settings, name: str, said: Mapping[str, Any]) -> OAuth2Session:
    found = settings.oidc[name]
    try:
        secret = found.secret()
    except OSError as error:
        raise SignOnFailed("This server cannot read the provider's client secret.", _AGAIN) from error
    known = said.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
    by_form = "client_secret_basic" not in known and "client_secret_post" in known
    return OAuth2Session(
        found.client_id,
        secret or None,
        token_endpoint_auth_method=(
            "none" if not secret else "client_secret_post" if by_form else "client_secret_basic"
        ),
        scope=found.scopes,
        redirect_uri=redirect_uri(settings, name),
        code_challenge_method="S256",
        default_timeout=outbound.TIMEOUT,
    )


def _exchange(session: OAuth2Session, said: Mapping[str, Any], code: str, verifier: str) -> dict[str, Any]:
    url = str(said["token_endpoint"])
    try:
        with outbound.reached(url):
            token = session.fetch_token(url, code=code, code_verifier=verifier, allow_redirects=False)
    except (AuthlibBaseError, ValueError, TypeError, AttributeError) as error:
        # The error may contain secrets.
        log.warning("sign_on_not_exchanged", host=urlsplit(url).hostname, error=type(error).__name__)
        raise SignOnFailed("The provider refused the code that it issued.", _AGAIN) from error
    return cast("dict[str, Any]", token)


def _claims(
    found: OidcProvider, said: Mapping[str, Any], token: Mapping[str, Any], nonce: str
) -> Mapping[str, Any]:
    raw = token.get("id_token")
    if not isinstance(raw, str):
        raise SignOnFailed("The provider did not send a user id.", _AGAIN)
    known = said.get("id_token_signing_alg_values_supported") or ["RS256"]
    algorithms = tuple(algorithm for algorithm in outbound.ALGORITHMS if algorithm in known)
    signed = outbound.KEYS.verify(str(said["jwks_uri"]), raw, algorithms or ("RS256",))
    claims = CodeIDToken(
        signed.claims,
        signed.header,
        {
            "iss": {"essential": True, "value": found.issuer},
            "aud": {"essential": True, "value": found.client_id},
        },
        {"nonce": nonce, "client_id": found.client_id, "access_token": token.get("access_token")},
    )
    try:
        claims.validate(leeway=limits.CLOCK_SKEW_SECONDS)
    except (JoseError, ValueError, TypeError) as error:
        log.warning("sign_on_not_believed", issuer=found.issuer, error=str(error)[:100])
        raise SignOnFailed("The provider's token is not valid.", f"{str(error)[:100]}.") from error
    if not hmac.compare_digest(str(claims.get("nonce", "")).encode(), nonce.encode()):
        raise SignOnFailed("The provider's token belongs to another sign-in.", _AGAIN)
    return cast("Mapping[str, Any]", claims)


def _userinfo(url: str, access_token: str, claims: Mapping[str, Any]) -> dict[str, Any]:
    try:
        more = outbound.get_json(url, {"Authorization": f"Bearer {access_token}"})
    except Unreachable as error:
        log.warning("sign_on_without_userinfo", error=error.message)
        return {}
    if more.get("sub") != claims["sub"]:
        raise SignOnFailed("The provider sent the data of another person.", _AGAIN)
    return more


def _joined(claims: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """``email_verified`` counts only with the address of the same source."""
    other = more if "email" in claims else claims if "email" in more else {}
    return {
        key: value
        for said in (more, claims)
        for key, value in said.items()
        if not (key == "email_verified" and said is other)
    }


def _person(settings: Settings, name: str, claims: Mapping[str, Any]) -> Person:
    found = settings.oidc[name]
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 0 < len(subject) <= _CLAIM_CHARS:
        raise SignOnFailed("The provider did not send a user id.", _AGAIN)
    email = claims.get("email")
    verified = claims.get("email_verified", True if found.trust_email else None)
    if not isinstance(email, str) or verified not in (True, "true"):
        email = None
    called = claims.get(found.name_claim)
    return Person(
        authority=found.issuer,
        subject=subject,
        name=str(called)[:_CLAIM_CHARS] if isinstance(called, str | int) else "",
        email=email,
        label=label(settings, name),
    )
