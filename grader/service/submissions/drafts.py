from __future__ import annotations

from datetime import UTC, datetime

from grader import limits
from grader.challenge.source import check_taken, language_of
from grader.errors import BadSource, Conflict, NotFound
from grader.languages import Language
from grader.records import drafts
from grader.records.drafts import DraftKey
from grader.records.engine import writing
from grader.records.models import DraftRow
from grader.schemas.draft import DraftBody, DraftView
from grader.service.accounts.accounts import User
from grader.service.challenges import publication
from grader.service.platform import Platform


class DraftChanged(Conflict):
    """Somebody, likely the same person, changed it in another window."""

    code = "draft_changed"


def of_challenge(platform: Platform, user: User, challenge: str) -> dict[Language, DraftView]:
    with platform.sessions() as session:
        return {row.language: _view(row) for row in drafts.of_challenge(session, user.id, challenge)}


def get_draft(platform: Platform, user: User, challenge: str, language: str) -> DraftView:
    """Raises UnknownLanguage, NotFound."""
    place = _place(user, challenge, language)
    with platform.sessions() as session:
        row = drafts.read(session, place)
    if row is None:
        raise NotFound(f"You have no draft for {challenge[:64]} in {place.language}.")
    return _view(row)


def keep_draft(platform: Platform, user: User, challenge: str, language: str, body: DraftBody) -> DraftView:
    """Also an empty source. Raises UnknownChallenge, UnknownLanguage, BadSource, DraftChanged (``body.based_on`` is
    not stored)."""
    source = _checked(body.source)
    place = _place(user, challenge, language)
    manifest = publication.load(platform, user, challenge).manifest
    check_taken(challenge, manifest.languages, place.language)
    with writing(platform.sessions) as session:
        drafts.lock(session, user.id)
        if "based_on" in body.model_fields_set:
            _check_base(drafts.read(session, place), body.based_on)
        return _view(drafts.keep(session, place, source))


def remove_draft(platform: Platform, user: User, challenge: str, language: str) -> None:
    """Idempotent. Raises UnknownLanguage."""
    place = _place(user, challenge, language)
    with writing(platform.sessions) as session:
        drafts.remove(session, place)


def _place(user: User, challenge: str, language: str) -> DraftKey:
    return DraftKey(user.id, challenge, language_of("", language))


def _check_base(row: DraftRow | None, based_on: datetime | None) -> None:
    if based_on is not None and based_on.tzinfo is None:
        based_on = based_on.replace(tzinfo=UTC)
    if (row.updated_at if row is not None else None) != based_on:
        raise DraftChanged(
            "This draft was changed in another window.", "Load it, and choose which of the two to keep."
        )


def _checked(source: str) -> str:
    try:
        raw = source.encode("utf-8")
    except UnicodeEncodeError as error:
        raise BadSource("The source is not text.") from error
    if len(raw) > limits.SOURCE_BYTES:
        raise BadSource(
            f"The source has {len(raw):,} bytes; the limit is {limits.SOURCE_BYTES:,}.",
            "Leave out data and generated tables.",
        )
    if "\0" in source:
        raise BadSource("The source contains NUL characters.", "Paste plain source text.")
    return source


def _view(row: DraftRow) -> DraftView:
    return DraftView(
        challenge=row.challenge,
        language=row.language,
        bytes=len(row.source.encode()),
        updated_at=row.updated_at,
        source=row.source,
    )
