from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from grader.challenge import views
from grader.challenge.catalogue import Catalogue
from grader.challenge.loader import Challenge
from grader.device_kinds import serves
from grader.errors import ChallengeInvalid, UnknownChallenge
from grader.languages import Language
from grader.logs import get_logger
from grader.records import histories, versions
from grader.schemas.challenge import ChallengeDetail, ChallengeList
from grader.service.accounts.accounts import User
from grader.service.challenges import publication
from grader.service.devices import served_devices
from grader.service.platform import Platform

log = get_logger(__name__)


def list_challenges(
    platform: Platform, user: User | None = None, found: Sequence[Challenge] | None = None
) -> ChallengeList:
    """By track. ``found``: the result of ``seen_challenges``, if known."""
    found = seen_challenges(platform, user) if found is None else found
    listed = views.listing(platform.catalogue, found)
    known = {challenge.slug for challenge in found}
    return listed.model_copy(
        update={
            "challenges": [
                challenge.model_copy(
                    update={"prerequisites": [each for each in challenge.prerequisites if each in known]}
                )
                for challenge in listed.challenges
            ]
        }
    )


def seen_challenges(platform: Platform, user: User | None) -> list[Challenge]:
    """In the curriculum's order."""
    seen = publication.visible(platform, user)
    found = valid_challenges(platform.catalogue)
    for problem in platform.catalogue.prerequisite_problems(found):
        log.warning("challenge_invalid", error=problem.message)
    return [challenge for challenge in found if challenge.slug in seen]


def valid_challenges(catalogue: Catalogue) -> list[Challenge]:
    """Invalid ones are left out and logged."""
    found, wrong = catalogue.valid()
    for broken in wrong:
        log.warning("challenge_invalid", error=broken.error.message)
    return found


@dataclass(frozen=True)
class Heading:
    slug: str
    title: str
    track: str
    languages: Sequence[Language]


def heading(platform: Platform, slug: str, user: User | None = None) -> Heading:
    """Also for broken folders. Raises UnknownChallenge."""
    publication.check_visible(platform, user, slug)
    try:
        manifest = platform.catalogue.load(slug).manifest
    except ChallengeInvalid as error:
        broken = platform.catalogue.describe_broken(slug, error)
        return Heading(slug, broken.title, broken.track, list(Language))
    return Heading(slug, manifest.title, manifest.track, manifest.languages)


def get_challenge(platform: Platform, slug: str, user: User | None = None) -> ChallengeDetail:
    """Raises UnknownChallenge, ChallengeInvalid."""
    challenge = publication.load(platform, user, slug)
    devices = served_devices(platform)
    with platform.sessions() as session:
        seen = publication.visible_to(session, user)
        shown = versions.shown(session, slug)
        judged_with = histories.last_versions(session)
    served = [
        language
        for language in challenge.manifest.languages
        if any(serves(device, language) for device in devices)
    ]
    detail = views.detail(challenge, served, judged_with)
    return detail.model_copy(
        update={
            "board_version": detail.version if shown is None else shown,
            "prerequisites": [slug for slug in detail.prerequisites if slug in seen],
        }
    )


def titles(platform: Platform, slugs: Sequence[str], user: User | None = None) -> dict[str, str]:
    found = {}
    for slug in slugs:
        with suppress(UnknownChallenge):
            found[slug] = heading(platform, slug, user).title
    return found
