"""Taking a submission: refuse what cannot be judged, store the rest, issue its ticket."""

from __future__ import annotations

import unicodedata
from pathlib import PurePosixPath

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from grader import limits
from grader.challenge.loader import Challenge
from grader.challenge.source import decode, language_of
from grader.errors import BadRequest, LanguageNotServed, TooMany, UnknownDevice, UnknownLanguage
from grader.queue.tickets import first_queue
from grader.records.engine import writing
from grader.records.models import SubmissionRow, UserRow
from grader.records.states import UNFINISHED
from grader.schemas.report import Language
from grader.schemas.submission import SubmissionView, SubmitBody
from grader.service import versions
from grader.service.accounts import User
from grader.service.devices import served_devices, serves
from grader.service.platform import Platform
from grader.service.submissions import get_submission

_KEY_CHARS = 128


def submit(
    platform: Platform, user: User, body: SubmitBody, idempotency_key: str | None = None
) -> SubmissionView:
    """Store a submission and queue it. With a key that this user sent before, the first submission comes
    back.

    Raises UnknownChallenge, UnknownLanguage, UnknownDevice, LanguageNotServed, BadSource, BadRequest,
    TooMany, and ChallengeChanged where its folder is not what was served under its version.
    """
    if idempotency_key is not None and not 0 < len(idempotency_key) <= _KEY_CHARS:
        raise BadRequest(f"An idempotency key has 1 to {_KEY_CHARS} characters.")
    # Lone surrogates can come out of JSON; passed through, they meet the same refusal as any text that is not
    # UTF-8.
    source = decode(body.source.encode("utf-8", "surrogatepass"))
    challenge = platform.course.load(body.challenge)
    language = _language(challenge, body)
    versions.serve(platform, challenge)
    row = SubmissionRow(
        user_id=user.id,
        challenge=challenge.slug,
        version=challenge.manifest.version,
        language=language,
        device=_device(served_devices(platform), body.device, language),
        source=source,
        filename=_filename(body.filename, language),
        idempotency_key=idempotency_key,
    )
    public_id, stored = _store(platform, user, row)
    if stored:
        platform.tickets.enqueue(first_queue(row.device, row.language))
    return get_submission(platform, user, public_id)


def _store(platform: Platform, user: User, row: SubmissionRow) -> tuple[str, bool]:
    """The public id, and whether this call stored it (else the idempotency key was used before)."""
    with writing(platform.sessions) as session:
        # Submissions of one user take turns from here on, so neither key nor count can be raced on any
        # database.
        session.execute(select(UserRow.id).where(UserRow.id == user.id).with_for_update())
        if row.idempotency_key is not None:
            earlier = session.scalar(
                select(SubmissionRow.public_id).where(
                    SubmissionRow.user_id == user.id, SubmissionRow.idempotency_key == row.idempotency_key
                )
            )
            if earlier is not None:
                return earlier, False
        _check_quota(session, user)
        session.add(row)
        session.flush()
        return row.public_id, True


def _check_quota(session: Session, user: User) -> None:
    unfinished = session.scalar(
        select(func.count()).where(
            SubmissionRow.user_id == user.id,
            SubmissionRow.state.in_(UNFINISHED),
            SubmissionRow.rejudge_of.is_(None),
        )
    )
    if (unfinished or 0) >= limits.WAITING_PER_USER:
        raise TooMany(
            f"You have {unfinished} submissions that wait or run; {limits.WAITING_PER_USER} are the most.",
            "Wait for one to end, or cancel one.",
        )


def _language(challenge: Challenge, body: SubmitBody) -> Language:
    language = language_of(body.filename, body.language)
    if language not in challenge.manifest.languages:
        taken = ", ".join(challenge.manifest.languages)
        raise UnknownLanguage(f"{challenge.slug} does not take {language}.", f"It takes: {taken}.")
    return language


def _device(devices: list[str], chosen: str | None, language: Language) -> str:
    """The chosen device, else the platform's first that runs the language."""
    if chosen is not None and chosen not in devices:
        raise UnknownDevice(f"There is no device '{chosen}' here.", f"Devices: {', '.join(devices)}.")
    for device in [chosen] if chosen else devices:
        if serves(device, language):
            return device
    where = f"The device '{chosen}'" if chosen else "This platform"
    raise LanguageNotServed(
        f"{where} has no GPU, so it cannot run {language}.",
        "`grader test` compiles it and shows the compiler's errors; judging it needs a worker with a GPU.",
    )


def _filename(name: str, language: Language) -> str:
    """The last part of a path, without control characters. Raises BadRequest where it is too long."""
    last = PurePosixPath(name.replace("\\", "/")).name
    clean = "".join(char for char in last if unicodedata.category(char)[0] != "C")
    if len(clean) > limits.FILENAME_CHARS:
        raise BadRequest(
            f"The file's name has {len(clean)} characters; {limits.FILENAME_CHARS} are the most.",
            "Rename it.",
        )
    # Dots alone name folders.
    return clean if clean.strip(".") else f"solution{language.suffix}"
