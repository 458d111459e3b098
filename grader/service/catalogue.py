"""The challenges of a platform, as they are shown."""

from __future__ import annotations

import structlog

from grader.challenge import views
from grader.errors import ChallengeInvalid
from grader.schemas.challenge import ChallengeDetail, ChallengeList
from grader.service.devices import served_devices, serves
from grader.service.platform import Platform

log = structlog.get_logger(__name__)


def list_challenges(platform: Platform) -> ChallengeList:
    """Every valid challenge by track and place in it. An invalid one is left out and logged: it must not hide
    others.
    """
    found = []
    for slug in platform.course.slugs():
        try:
            found.append(platform.course.load(slug))
        except ChallengeInvalid as error:
            log.warning("challenge_invalid", challenge=slug, error=error.message)
    found.sort(key=lambda it: (it.manifest.track, it.manifest.order, it.slug))
    return ChallengeList(challenges=[views.summary(challenge) for challenge in found])


def get_challenge(platform: Platform, slug: str) -> ChallengeDetail:
    """Raises UnknownChallenge, ChallengeInvalid."""
    challenge = platform.course.load(slug)
    devices = served_devices(platform)
    served = [it for it in challenge.manifest.languages if any(serves(device, it) for device in devices)]
    return views.detail(challenge, served)
