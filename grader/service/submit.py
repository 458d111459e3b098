"""Taking a submission: refuse what cannot be judged, store the rest, issue its ticket."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from dataclasses import dataclass
from pathlib import PurePosixPath

import structlog
from sqlalchemy import select
from sqlalchemy.orm import Session

from grader import limits
from grader.challenge.loader import Challenge
from grader.challenge.source import decode, language_of
from grader.errors import BadRequest, Conflict, LanguageNotServed, UnknownDevice, UnknownLanguage
from grader.queue.tickets import first_queue
from grader.records.engine import clock, writing
from grader.records.models import ReportRow, SubmissionRow, UserRow
from grader.records.order import PRIORITIES
from grader.schemas.report import Language, Verdict
from grader.schemas.submission import State, SubmissionView, SubmitBody
from grader.service import quotas, versions
from grader.service.accounts import User
from grader.service.devices import served_devices, serves
from grader.service.platform import Platform
from grader.service.queues import kind_of
from grader.service.submissions import get_submission

log = structlog.get_logger(__name__)

_KEY_CHARS = 128


def submit(
    platform: Platform, user: User, body: SubmitBody, idempotency_key: str | None = None
) -> SubmissionView:
    """Store a submission and queue it. With a key that this user sent before, the first submission comes back. With
    ``body.reuse``, so does one that was judged before and is the same; it is marked ``reused`` and costs no attempt.

    Raises UnknownChallenge, UnknownLanguage, UnknownDevice, LanguageNotServed, BadSource, BadRequest,
    TooMany, Conflict where the key was sent before with something else, and ChallengeChanged where its folder is not
    what was served under its version.
    """
    if idempotency_key is not None and not 0 < len(idempotency_key) <= _KEY_CHARS:
        raise BadRequest(f"An idempotency key has 1 to {_KEY_CHARS} characters.")
    # Lone surrogates can come out of JSON; passed through, they meet the same refusal as any text that is not
    # UTF-8.
    source = decode(body.source.encode("utf-8", "surrogatepass"))
    language = language_of(body.filename, body.language)
    request = Request(idempotency_key, _digest(body.challenge, language, body.device or "", source))
    # Before anything that may have changed since the first time: a challenge, or the devices that are served.
    if (earlier := _sent_before(platform, user, request)) is not None:
        return get_submission(platform, user, earlier)
    challenge = platform.course.load(body.challenge)
    _check_language(challenge, language)
    versions.serve(platform, challenge)
    kind = kind_of(platform, challenge)
    row = SubmissionRow(
        user_id=user.id,
        challenge=challenge.slug,
        version=challenge.manifest.version,
        language=language,
        device=_device(served_devices(platform), body.device, language),
        source=source,
        source_sha256=_digest(source),
        filename=_filename(body.filename, language),
        idempotency_key=idempotency_key,
        request_sha256=request.sha256 if idempotency_key is not None else None,
        kind=kind,
        priority=PRIORITIES[kind],
    )
    stored = _store(platform, user, row, request, body.reuse)
    if stored.new:
        log.info(
            "submitted",
            submission=stored.public_id,
            user=user.name,
            challenge=row.challenge,
            device=row.device,
        )
        platform.tickets.enqueue(first_queue(row.device, row.language))
    view = get_submission(platform, user, stored.public_id)
    return view.model_copy(update={"reused": stored.reused, "remaining": stored.remaining})


@dataclass(frozen=True)
class Request:
    """What was asked for, so that the same can be told from something else under the same key."""

    key: str | None
    sha256: str


@dataclass(frozen=True)
class Stored:
    """``new``: this call stored it. ``remaining``: how many more its challenge takes from this user for now."""

    public_id: str
    new: bool = False
    reused: bool = False
    remaining: int | None = None


def _digest(*parts: str) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _store(platform: Platform, user: User, row: SubmissionRow, request: Request, reuse: bool) -> Stored:
    with writing(platform.sessions) as session:
        # Submissions of one user take turns from here on, so no key can be raced on any database.
        session.execute(select(UserRow.id).where(UserRow.id == user.id).with_for_update())
        if (earlier := _of_key(session, user, request)) is not None:
            return Stored(earlier)
        if reuse and (earlier := _judged_before(session, row)) is not None:
            return Stored(earlier, reused=True)
        row.created_at = clock(session)
        remaining = quotas.take(session, platform.settings, user, row.challenge, row.created_at)
        session.add(row)
        session.flush()
        return Stored(row.public_id, new=True, remaining=remaining)


def _sent_before(platform: Platform, user: User, request: Request) -> str | None:
    with platform.sessions() as session:
        return _of_key(session, user, request)


def _of_key(session: Session, user: User, request: Request) -> str | None:
    """What this user handed in under the same key, if anything. Raises Conflict where that was something else."""
    if request.key is None:
        return None
    row = SubmissionRow
    found = session.execute(
        select(row.public_id, row.request_sha256).where(
            row.user_id == user.id, row.idempotency_key == request.key
        )
    ).one_or_none()
    if found is None:
        return None
    if found.request_sha256 not in (None, request.sha256):  # None: of an earlier release
        raise Conflict(
            f"This idempotency key was sent before with another source, challenge, language or device: "
            f"it stands for submission {found.public_id}.",
            "Send a new key with what is new.",
        )
    return str(found.public_id)


def _judged_before(session: Session, row: SubmissionRow) -> str | None:
    """The latest judgement of the same by the same user under the same version, as long as its report is kept."""
    same = SubmissionRow
    # In the order of their index: the same text again and again is rare, and few rows are left to look at.
    return session.scalar(
        select(same.public_id)
        .join(ReportRow, (ReportRow.submission_id == same.id) & (ReportRow.attempt == same.attempt))
        .where(same.user_id == row.user_id, same.source_sha256 == row.source_sha256)
        .where(same.challenge == row.challenge, same.version == row.version, same.language == row.language)
        .where(same.device == row.device, same.kind == row.kind, same.rejudge_of.is_(None))
        .where(same.state == State.DONE, same.verdict != Verdict.INTERNAL_ERROR)
        .order_by(same.id.desc())
        .limit(1)
    )


def _check_language(challenge: Challenge, language: Language) -> None:
    if language not in challenge.manifest.languages:
        taken = ", ".join(challenge.manifest.languages)
        raise UnknownLanguage(f"{challenge.slug} does not take {language}.", f"It takes: {taken}.")


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
