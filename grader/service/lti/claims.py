"""The token of a launch (LTI 1.3)."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast
from urllib.parse import parse_qs, urlsplit

from authlib.oidc.core import ImplicitIDToken
from joserfc.errors import JoseError

from grader import limits
from grader.errors import SignOnFailed
from grader.logs import get_logger
from grader.records.models import LtiPlatformRow
from grader.service import outbound

log = get_logger(__name__)

CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
_AGS = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"
DEEP = "https://purl.imsglobal.org/spec/lti-dl/claim/"
_MEMBER = "http://purl.imsglobal.org/vocab/lis/v2/membership"
AGAIN = "Follow the link in the course there again."


@dataclass(frozen=True)
class Launch:
    platform: int
    deployment: str
    subject: str
    name: str
    email: str
    account: str
    role: Literal["instructor", "assistant", "learner", "other"]
    context: str
    context_title: str
    resource: str = ""
    resource_title: str = ""
    assignment: str = ""  # COURSE/ASSIGNMENT or empty
    line_item: str = ""  # a column of the platform's gradebook
    scopes: tuple[str, ...] = ()
    selects: bool = False  # staff choose an assignment; the answer goes to ``return_url``
    return_url: str = ""
    data: str = ""


def verified(known: LtiPlatformRow, token: str, nonce: str) -> Mapping[str, Any]:
    signed = outbound.KEYS.verify(known.jwks_url, token, ("RS256",))
    claims = ImplicitIDToken(
        signed.claims,
        signed.header,
        {
            "iss": {"essential": True, "value": known.issuer},
            "aud": {"essential": True, "value": known.client_id},
        },
        {"nonce": nonce, "client_id": known.client_id},
    )
    try:
        claims.validate(leeway=limits.CLOCK_SKEW_SECONDS)
    except (JoseError, ValueError, TypeError) as error:
        log.warning("launch_not_believed", platform=known.name, error=str(error)[:100])
        raise SignOnFailed(
            f"The launch token from {known.name} is not valid: {str(error)[:100]}.",
            f"{AGAIN} If it fails again, ask an admin of this site to check the platform's registration.",
        ) from error
    if not hmac.compare_digest(str(claims.get("nonce", "")).encode(), nonce.encode()):
        raise SignOnFailed(f"The launch token from {known.name} belongs to another launch.", AGAIN)
    return cast("Mapping[str, Any]", claims)


def read(known: LtiPlatformRow, claims: Mapping[str, Any]) -> Launch:
    """Raises SignOnFailed (unknown kind, unregistered deployment)."""
    deployment = _text(claims.get(f"{CLAIM}deployment_id"))
    if deployment not in known.deployments:
        log.warning("launch_of_unknown_deployment", platform=known.name, deployment=deployment[:100])
        raise SignOnFailed(
            f"The deployment '{deployment[:100]}' of {known.name} is not registered here.",
            f"An admin of this site can add it: `grader lti change {known.id} --deployment ID`.",
        )
    if claims.get(f"{CLAIM}version") != "1.3.0":
        raise SignOnFailed(
            f"{known.name} sent a launch that is not LTI 1.3.", "Register this site there as an LTI 1.3 tool."
        )
    kind = claims.get(f"{CLAIM}message_type")
    if kind not in ("LtiResourceLinkRequest", "LtiDeepLinkingRequest"):
        raise SignOnFailed(
            f"This site does not support launches of type '{str(kind)[:60]}'.",
            "It supports resource links and deep linking.",
        )
    subject = _text(claims.get("sub"))
    if not subject:
        raise SignOnFailed(
            f"{known.name} did not send a user id.", "It must share its users' ids with this site."
        )
    context = _part(claims, f"{CLAIM}context")
    resource = _part(claims, f"{CLAIM}resource_link")
    custom = _part(claims, f"{CLAIM}custom")
    grading = _part(claims, _AGS)
    deep = _part(claims, f"{DEEP}deep_linking_settings")
    selects = kind == "LtiDeepLinkingRequest"
    if not selects and not _text(resource.get("id")):
        raise SignOnFailed(f"{known.name} did not send the id of the link.", AGAIN)
    return_url = _text(deep.get("deep_link_return_url"), limits.URL_CHARS)
    if selects and not return_url:
        raise SignOnFailed(f"{known.name} did not send the address that takes the choice.", AGAIN)
    if selects:
        outbound.checked(return_url)
    asked = parse_qs(urlsplit(_text(claims.get(f"{CLAIM}target_link_uri"), limits.URL_CHARS)).query)
    return Launch(
        platform=known.id,
        deployment=deployment,
        subject=subject,
        name=_text(claims.get("name"), limits.TITLE_CHARS) or _full_name(claims),
        email=_text(claims.get("email"), limits.EMAIL_CHARS),
        account=_text(claims.get("preferred_username"))
        or _text(_part(claims, f"{CLAIM}ext").get("user_username")),
        role=_role(claims.get(f"{CLAIM}roles")),
        context=_text(context.get("id")),
        context_title=_text(context.get("title") or context.get("label"), limits.TITLE_CHARS),
        resource=_text(resource.get("id")),
        resource_title=_text(resource.get("title"), limits.TITLE_CHARS),
        assignment=_text(custom.get("assignment")) or _text((asked.get("assignment") or [""])[0]),
        line_item=_text(grading.get("lineitem"), limits.URL_CHARS),
        scopes=tuple(scope for scope in grading.get("scope") or () if isinstance(scope, str))[:20],
        selects=selects,
        return_url=return_url,
        data=_text(deep.get("data"), limits.OUTBOUND_TOKEN_CHARS),
    )


def _part(claims: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = claims.get(name)
    return found if isinstance(found, dict) else {}


def _text(value: Any, most: int = limits.SUBJECT_CHARS) -> str:
    """Empty if too long: a shortened id would be somebody else's."""
    found = " ".join(value.split()) if isinstance(value, str) else ""
    return found if len(found) <= most else ""


def _full_name(claims: Mapping[str, Any]) -> str:
    parts = (_text(claims.get(name), 60) for name in ("given_name", "family_name"))
    return " ".join(part for part in parts if part)[: limits.TITLE_CHARS]


def _role(roles: Any) -> Literal["instructor", "assistant", "learner", "other"]:
    """Only roles in the course count."""
    found = {role for role in roles if isinstance(role, str)} if isinstance(roles, list) else set()
    if f"{_MEMBER}/Instructor#TeachingAssistant" in found:
        return "assistant"
    if found & {f"{_MEMBER}#Instructor", "Instructor"}:
        return "instructor"
    return "learner" if found & {f"{_MEMBER}#Learner", "Learner"} else "other"
