"""Staff choose an assignment in a frame of their platform, which links to it."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from joserfc import jwt
from sqlalchemy import select, update

from grader.errors import NotFound, SignOnFailed
from grader.records.engine import changed, writing
from grader.records.models import (
    CourseRow,
    IdentityRow,
    LtiContextRow,
    LtiLaunchRow,
    LtiPlatformRow,
    UserRow,
    utcnow,
)
from grader.service.accounts.accounts import User, of_row
from grader.service.accounts.keys import digest, new_key
from grader.service.courses import assignments, courses
from grader.service.courses.permissions import Action
from grader.service.lti import platforms as lti_platforms
from grader.service.lti.claims import CLAIM, DEEP, Launch
from grader.service.lti.launch import context_of
from grader.service.platform import Platform

_TOKEN_SECONDS = 300


@dataclass(frozen=True)
class Choice:
    ticket: str  # allows one choice
    course: str
    assignments: list[tuple[str, str, float]]  # slug, title, points


def choose(platform: Platform, launch: Launch, state: str) -> Choice:
    """The frame has no session: the token names the user. Raises SignOnFailed."""
    user, context = _chooser(platform, launch)
    with platform.sessions() as session:
        slug = session.get_one(CourseRow, context.course_id).slug
    with courses.reading(platform, user, slug, Action.LTI_SELECT):
        found = assignments.list_assignments(platform, user, slug).assignments
    ticket = new_key()
    with writing(platform.sessions) as session:
        row = session.scalar(select(LtiLaunchRow).where(LtiLaunchRow.state_sha256 == digest(state)))
        assert row is not None
        row.ticket_sha256 = digest(ticket)
    return Choice(
        ticket,
        slug,
        [
            (assignment.slug, assignment.title, sum(part.points or 0 for part in assignment.parts))
            for assignment in found
        ],
    )


def _chooser(platform: Platform, launch: Launch) -> tuple[User, LtiContextRow]:
    with platform.sessions() as session:
        known = session.get_one(LtiPlatformRow, launch.platform)
        context = context_of(session, launch)
        identity = session.scalar(
            select(IdentityRow).where(
                IdentityRow.authority == lti_platforms.authority(known), IdentityRow.subject == launch.subject
            )
        )
        user = of_row(session.get_one(UserRow, identity.user_id)) if identity is not None else None
    if user is None or context is None:
        missing = "your account here" if user is None else "a course here"
        raise SignOnFailed(
            f"{known.name} is not connected to {missing} yet.",
            "First open this site from the course's menu there, then come back.",
        )
    return user, context


def chosen(platform: Platform, ticket: str, slug: str) -> tuple[str, str, Launch]:
    """Address, signed choice, launch. Raises SignOnFailed, NotFound, NotAllowed."""
    with writing(platform.sessions) as session:
        row = session.scalar(
            select(LtiLaunchRow).where(
                LtiLaunchRow.ticket_sha256 == digest(ticket), LtiLaunchRow.expires_at > utcnow()
            )
        )
        spend = update(LtiLaunchRow).where(
            LtiLaunchRow.id == (row.id if row else 0), LtiLaunchRow.ticket_sha256.is_not(None)
        )
        said = row.said if row is not None else None
        if said is None or not changed(session, spend.values(ticket_sha256=None)):
            raise SignOnFailed(
                "This choice was already made, or has expired.", "Start again in the learning platform."
            )
    launch = Launch(**(said | {"scopes": tuple(said["scopes"])}))
    user, context = _chooser(platform, launch)
    with platform.sessions() as session:
        known = session.get_one(LtiPlatformRow, launch.platform)
        course = session.get_one(CourseRow, context.course_id).slug
    with courses.reading(platform, user, course, Action.LTI_SELECT):
        listed: Iterable[Any] = assignments.list_assignments(platform, user, course).assignments
    found = next((assignment for assignment in listed if assignment.slug == slug), None)
    if found is None:
        raise NotFound(f"There is no assignment '{slug[:64]}' in {course}.", "Choose one from the list.")
    most = sum(part.points or 0 for part in found.parts)
    item = {
        "type": "ltiResourceLink",
        "title": found.title,
        "url": lti_platforms.tool(platform).launch_url,
        "window": {"targetName": "_blank"},
        "custom": {"assignment": f"{course}/{found.slug}"},
        "lineItem": {
            "scoreMaximum": most or 100.0,
            "label": found.title,
            "resourceId": f"{course}/{found.slug}",
        },
    }
    return launch.return_url, _signed_choice(platform, known, launch, item), launch


def _signed_choice(platform: Platform, known: LtiPlatformRow, launch: Launch, item: dict[str, Any]) -> str:
    key, now = lti_platforms.signing_key(platform), int(time.time())
    claims: dict[str, Any] = {
        "iss": known.client_id,
        "aud": known.issuer,
        "iat": now,
        "exp": now + _TOKEN_SECONDS,
        "nonce": secrets.token_urlsafe(24),
        f"{CLAIM}deployment_id": launch.deployment,
        f"{CLAIM}message_type": "LtiDeepLinkingResponse",
        f"{CLAIM}version": "1.3.0",
        f"{DEEP}content_items": [item],
    }
    if launch.data:
        claims[f"{DEEP}data"] = launch.data
    return jwt.encode({"alg": "RS256", "kid": str(key.kid)}, claims, key)


def frames(platform: Platform, number: int) -> list[str]:
    """Origins that may show our pages in a frame."""
    with platform.sessions() as session:
        row = session.get_one(LtiPlatformRow, number)
    addresses = [row.issuer, row.auth_url, row.token_url, *(f"https://{host}" for host in row.hosts)]
    found = {f"{url.scheme}://{url.netloc}" for url in map(urlsplit, addresses) if url.netloc}
    return sorted(found)
