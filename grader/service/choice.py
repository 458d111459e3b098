"""Which board is meant, and which others there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict, Unpack

from sqlalchemy.orm import Session

from grader.errors import ChallengeInvalid, NotFound, UnknownDevice, UnknownLanguage
from grader.languages import Language, names
from grader.records import ranks, versions
from grader.records.ranks import Board
from grader.service.platform import Platform


class Wanted(TypedDict, total=False):
    """A caller's words for a board of a challenge. What is absent or None means the platform's first device, all
    languages, and the version that is shown. ``drafts``: versions that are not published may be seen, as staff may.
    """

    device: str | None
    language: str | None
    version: int | None
    drafts: bool


@dataclass(frozen=True)
class Choice:
    """A board that was asked for, with what else could have been."""

    board: Board
    devices: list[str]
    versions: list[int]


def choose(
    platform: Platform,
    session: Session,
    served: list[str],
    slug: str,
    **wanted: Unpack[Wanted],
) -> Choice:
    """Which board the words of a caller mean; ``served`` are the platform's devices.

    Raises UnknownChallenge, UnknownDevice, UnknownLanguage, NotFound where the version is not published, and
    ChallengeInvalid where the folder is broken and nothing was ever judged by it.
    """
    device, version, drafts = wanted.get("device"), wanted.get("version"), wanted.get("drafts", False)
    language = _language(wanted.get("language"))
    known = versions.history(session, slug)
    present = _present(platform, slug, [row.version for row in known])
    published = [row.version for row in known if row.published_at is not None]
    if version is None:
        version = versions.shown(session, slug) or present
    elif not drafts and version in {row.version for row in known} - set(published):
        raise NotFound(
            f"Version {version} of {slug} is not published yet.",
            f"Published: {', '.join(map(str, published)) or 'none'}.",
        )
    devices = with_old(served, ranks.boards(session, slug, version))
    if device is not None and device not in devices:
        raise UnknownDevice(f"There is no board for '{device}'.", f"Boards: {', '.join(devices)}.")
    board = Board(slug, version, device or devices[0], language)
    return Choice(board, devices, [row.version for row in known] if drafts else published)


def _present(platform: Platform, slug: str, known: list[int]) -> int:
    """The folder's version. What was judged stays on its boards while the folder is broken. Raises UnknownChallenge,
    and ChallengeInvalid where nothing was."""
    try:
        return platform.course.load(slug).manifest.version
    except ChallengeInvalid:
        if not known:
            raise
        return max(known)


def with_old(served: list[str], with_entries: set[str]) -> list[str]:
    """The platform's own in their order, then those that only old entries know."""
    return served + sorted(with_entries - set(served))


def _language(name: str | None) -> Language | None:
    if name is None:
        return None
    try:
        return Language.named(name)
    except ValueError as error:
        raise UnknownLanguage(f"There is no language '{name[:32]}'.", f"Languages: {names()}.") from error
