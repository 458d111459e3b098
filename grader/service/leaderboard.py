"""The board of one challenge version on one device."""

from __future__ import annotations

from grader.errors import NotFound, UnknownDevice, UnknownLanguage
from grader.records import ranks, versions
from grader.schemas.report import Language
from grader.schemas.submission import Leaderboard
from grader.service.devices import representative, served_devices
from grader.service.platform import Platform


def leaderboard(
    platform: Platform,
    slug: str,
    device: str | None = None,
    language: str | None = None,
    version: int | None = None,
    drafts: bool = False,
    limit: int | None = None,
    offset: int = 0,
) -> Leaderboard:
    """By default the version that is shown on the platform's first device, all languages, all entries; with ``limit``
    so many of these, from the one after ``offset`` on.

    ``drafts``: the caller may see versions that are not published yet, as staff may.
    Raises UnknownChallenge, UnknownDevice, UnknownLanguage, NotFound.
    """
    challenge = platform.course.load(slug)
    chosen = _language(language)
    with platform.sessions() as session:
        known = versions.history(session, slug)
        published = [row.version for row in known if row.published_at is not None]
        if version is None:
            version = versions.shown(session, slug) or challenge.manifest.version
        elif not drafts and version in {row.version for row in known} - set(published):
            raise NotFound(
                f"Version {version} of {slug} is not published yet.",
                f"Published: {', '.join(map(str, published)) or 'none'}.",
            )
        devices = _devices(served_devices(platform), ranks.boards(session, slug, version))
        if device is not None and device not in devices:
            raise UnknownDevice(f"There is no board for '{device}'.", f"Boards: {', '.join(devices)}.")
        shown = device or devices[0]
        entries = ranks.ranked(session, slug, version, shown, chosen, limit, offset)
    return Leaderboard(
        challenge=slug,
        version=version,
        device=shown,
        language=chosen,
        representative=representative(shown),
        entries=entries,
        devices=devices,
        versions=published if not drafts else [row.version for row in known],
    )


def _devices(served: list[str], with_entries: set[str]) -> list[str]:
    """The platform's own in their order, then those that only old entries know."""
    return served + sorted(with_entries - set(served))


def _language(name: str | None) -> Language | None:
    if name is None:
        return None
    try:
        return Language(name)
    except ValueError as error:
        raise UnknownLanguage(f"There is no language '{name[:32]}'.", "Languages: cuda, triton.") from error
