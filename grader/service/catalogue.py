"""The challenges of a platform, as they are shown."""

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
from grader.service.devices import served_devices
from grader.service.platform import Platform

log = get_logger(__name__)


def list_challenges(platform: Platform, found: Sequence[Challenge] | None = None) -> ChallengeList:
    """Every valid challenge, by its track's place in the curriculum and its own in the track. ``found``: what
    ``valid_challenges`` said already."""
    catalogue = platform.catalogue
    found = valid_challenges(catalogue) if found is None else found
    for problem in catalogue.prerequisite_problems(found):
        log.warning("challenge_invalid", error=problem.message)
    return views.listing(catalogue, found)


def valid_challenges(catalogue: Catalogue) -> list[Challenge]:
    """In the curriculum's order. An invalid one is left out and logged: it must not hide others."""
    found, wrong = catalogue.valid()
    for it in wrong:
        log.warning("challenge_invalid", error=it.error.message)
    return found


@dataclass(frozen=True)
class Heading:
    """What a page about a challenge's results is headed by."""

    slug: str
    title: str
    track: str
    languages: Sequence[Language]


def heading(platform: Platform, slug: str) -> Heading:
    """Also of a challenge whose folder is broken: what was judged by it stays. Raises UnknownChallenge."""
    try:
        manifest = platform.catalogue.load(slug).manifest
    except ChallengeInvalid as error:
        it = platform.catalogue.describe_broken(slug, error)
        return Heading(slug, it.title, it.track, list(Language))
    return Heading(slug, manifest.title, manifest.track, manifest.languages)


def get_challenge(platform: Platform, slug: str) -> ChallengeDetail:
    """Raises UnknownChallenge, ChallengeInvalid."""
    challenge = platform.catalogue.load(slug)
    devices = served_devices(platform)
    with platform.sessions() as session:
        shown = versions.shown(session, slug)
        judged_with = histories.last_versions(session)
    served = [it for it in challenge.manifest.languages if any(serves(device, it) for device in devices)]
    detail = views.detail(challenge, served, judged_with)
    return detail.model_copy(update={"board_version": detail.version if shown is None else shown})


def titles(platform: Platform, slugs: Sequence[str]) -> dict[str, str]:
    """Slug -> title of those that exist."""
    found = {}
    for slug in slugs:
        with suppress(UnknownChallenge):
            found[slug] = heading(platform, slug).title
    return found
