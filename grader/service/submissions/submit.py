from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader import limits
from grader.challenge.loader import Challenge
from grader.challenge.own_case import own_case
from grader.challenge.source import check_taken, decode, language_of
from grader.device_kinds import kind_of as device_kind
from grader.device_kinds import serves, takes
from grader.errors import BadRequest, Conflict, LanguageNotServed, UnknownDevice
from grader.languages import ON_EMULATED, ON_GPU, Language
from grader.logs import get_logger
from grader.records.engine import clock, writing
from grader.records.models import CompetitionRow, ReportRow, SubmissionRow, UserRow
from grader.records.order import PRIORITIES
from grader.schemas.submission import (
    JudgingReason,
    RunBody,
    SetAside,
    SourceBody,
    State,
    SubmissionView,
    SubmitBody,
)
from grader.schemas.verdict import ours
from grader.service.accounts.accounts import User
from grader.service.challenges import publication, versions
from grader.service.competitions import teams
from grader.service.courses import admission
from grader.service.devices import served_devices
from grader.service.operation.queues import kind_of
from grader.service.platform import Platform
from grader.service.submissions import budgets, quotas
from grader.service.submissions.submissions import get_submission, view_of_new

log = get_logger(__name__)

_KEY_CHARS = 128


def submit(
    platform: Platform, user: User, body: SubmitBody, idempotency_key: str | None = None
) -> SubmissionView:
    """A repeated key returns its first submission; ``body.reuse`` an identical judged one, marked ``reused``, without
    an attempt. A competition's limits replace all others. Raises UnknownChallenge, UnknownLanguage, UnknownDevice,
    LanguageNotServed, BadSource, BadRequest, TooMany, NotAllowed (an assignment's language or device), Conflict (the
    key's first request differs), ChallengeChanged; in a competition also NotFound, Conflict (no participant, or not
    their time)."""
    return take(platform, user, SubmitOrder.of(body, idempotency_key), _counted, body.reuse)


def _counted(session: Session, platform: Platform, user: User, row: SubmissionRow) -> int | None:
    budgets.admit(session, platform.settings, user, row)
    if row.competition_id is None:
        of_assignments = admission.admit(session, user, row)
        remaining = quotas.take(session, platform.settings, user, row.challenge, row.created_at)
        return remaining if of_assignments is None else min(remaining, of_assignments)
    quotas.take_waiting(session, platform.settings, user, row.created_at)
    return teams.assign_to_team(session, session.get_one(CompetitionRow, row.competition_id), user, row)


def take(
    platform: Platform, user: User, what: SubmitOrder, count: Count, reuse: bool = False
) -> SubmissionView:
    """Raises as ``submit``."""
    # Before anything that may have changed or that waits: a client that keeps sending costs one read.
    if (earlier := sent_before(platform, user, what)) is not None:
        return get_submission(platform, user, earlier)
    row = row_of(platform, user, what)
    return answer(platform, user, row, store(platform, user, row, what, count, reuse))


# In the storing transaction. Returns how many more are possible (None: any number). Raises TooMany.
Count = Callable[[Session, Platform, User, SubmissionRow], int | None]


@dataclass(frozen=True)
class SubmitOrder:
    """``sha256``: of everything that distinguishes requests under one ``key``."""

    body: SourceBody
    run: bool
    source: str
    language: Language
    key: str | None
    sha256: str

    @classmethod
    def of(cls, body: SourceBody, key: str | None, run: bool = False) -> SubmitOrder:
        """Raises BadRequest, BadSource, UnknownLanguage."""
        if key is not None and not 0 < len(key) <= _KEY_CHARS:
            raise BadRequest(f"An idempotency key must have 1 to {_KEY_CHARS} characters.")
        # Lone surrogates in JSON get the error of other text that is not UTF-8.
        source = decode(body.source.encode("utf-8", "surrogatepass"))
        language = language_of(body.filename, body.language)
        parts = [body.challenge, language, body.device or "", source]
        if run:
            parts.append(JudgingReason.RUN)
            if isinstance(body, RunBody) and body.case is not None:
                parts.append(f"case {body.case.stored()}")
        elif isinstance(body, SubmitBody) and body.competition is not None:
            parts.append(f"competition {body.competition}")
        return cls(body, run, source, language, key, _digest(*parts))


@dataclass(frozen=True)
class StoredSubmission:
    """``new``: stored now. ``remaining``: possible for this challenge."""

    public_id: str
    new: bool
    reused: bool
    remaining: int | None = None


def _digest(*parts: str) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def row_of(platform: Platform, user: User, what: SubmitOrder) -> SubmissionRow:
    """Raises UnknownChallenge, UnknownLanguage, UnknownDevice, LanguageNotServed, ChallengeChanged, BadRequest, and
    as ``teams.competition_for``."""
    body, language = what.body, what.language
    challenge = publication.load(platform, user, body.challenge)
    check_taken(challenge.slug, challenge.manifest.languages, language)
    versions.check_served(platform, challenge)
    kind, competition, devices = kind_of(platform, challenge), None, served_devices(platform)
    if isinstance(body, SubmitBody) and not what.run:
        with platform.sessions() as session:
            competition = teams.competition_for(
                session, user, body.competition, challenge.slug, language, body.device
            )
            # This clock sets the time of receipt.
            if competition is not None and clock(session) < competition.ends_at:
                kind = JudgingReason.COMPETITION
    if competition is not None:
        # The first is the default.
        devices = [device for device in competition.devices if device in devices]
    device = _device(devices, body.device, language, challenge)
    return SubmissionRow(
        user_id=user.id,
        challenge=challenge.slug,
        version=challenge.manifest.version,
        language=language,
        device=device,
        own_case=_own_case(challenge, body, device, language),
        source=what.source,
        source_sha256=_digest(what.source),
        filename=_filename(body.filename, language),
        idempotency_key=what.key,
        request_sha256=what.sha256 if what.key is not None else None,
        kind=JudgingReason.RUN if what.run else kind,
        priority=PRIORITIES[kind],
        competition_id=competition.id if competition is not None else None,
    )


def _own_case(challenge: Challenge, body: SourceBody, device: str, language: Language) -> str | None:
    """Raises BadRequest, Conflict (another version)."""
    if not isinstance(body, RunBody) or body.case is None:
        return None
    if body.case.step is not None and not (language.compiled and device_kind(device).on == ON_EMULATED):
        raise BadRequest(
            f"No block of a {language.display_name} kernel can be stepped through on the board {device}.",
            "Leave out step, or run a CUDA kernel on the board emulated.",
        )
    if body.case.tool is not None and device_kind(device).on != ON_GPU:
        raise BadRequest(
            f"{body.case.tool.label} runs on a GPU, and the board {device} has none.",
            "Choose a board of a GPU, or leave out the tool: the board emulated checks and counts in every run.",
        )
    own_case(challenge, body.case, device_kind(device))
    return body.case.stored()


def store(
    platform: Platform, user: User, row: SubmissionRow, what: SubmitOrder, count: Count, reuse: bool
) -> StoredSubmission:
    """Raises TooMany, Conflict, NotAllowed."""
    with writing(platform.sessions) as session:
        # One user's submissions take turns, so keys cannot race. Rows may still refer to the user, as a partner's do.
        session.execute(select(UserRow.id).where(UserRow.id == user.id).with_for_update(key_share=True))
        if (earlier := _of_key(session, user, what)) is not None:
            return StoredSubmission(earlier, new=False, reused=False)
        if reuse and (earlier := _judged_before(session, row)) is not None:
            return StoredSubmission(earlier, new=False, reused=True)
        row.created_at = clock(session)
        if user.token is not None and user.token.limited:
            row.token_key = user.token.key
        within = row.competition_id is not None or what.run
        publication.check_takes(session, user, row.challenge, row.created_at, within)
        remaining = count(session, platform, user, row)
        session.add(row)
        session.flush()
        return StoredSubmission(row.public_id, new=True, reused=False, remaining=remaining)


def answer(platform: Platform, user: User, row: SubmissionRow, stored: StoredSubmission) -> SubmissionView:
    """Issues the wake-up of a new one."""
    if not stored.new:
        view = get_submission(platform, user, stored.public_id)
        return view.model_copy(update={"reused": stored.reused})
    announce(platform, user, row, stored)
    return view_of_new(platform, user, row).model_copy(update={"remaining": stored.remaining})


def announce(platform: Platform, user: User, row: SubmissionRow, stored: StoredSubmission) -> None:
    log.info(
        "submitted",
        submission=stored.public_id,
        user=user.name,
        challenge=row.challenge,
        device=row.device,
        kind=row.kind.value,
    )
    platform.wakeups.announce(row.device, row.language)


def sent_before(platform: Platform, user: User, what: SubmitOrder) -> str | None:
    """None if the key is new. Raises Conflict."""
    if what.key is None:
        return None
    with platform.sessions() as session:
        return _of_key(session, user, what)


def _of_key(session: Session, user: User, what: SubmitOrder) -> str | None:
    if what.key is None:
        return None
    found = session.execute(
        select(SubmissionRow.public_id, SubmissionRow.request_sha256).where(
            SubmissionRow.user_id == user.id, SubmissionRow.idempotency_key == what.key
        )
    ).one_or_none()
    if found is None:
        return None
    if found.request_sha256 not in (None, what.sha256):  # None: from an earlier release
        raise Conflict(
            f"This idempotency key was used before with another source, challenge, language or device: "
            f"it belongs to submission {found.public_id}.",
            "Send a new key with a new submission.",
        )
    return str(found.public_id)


def _judged_before(session: Session, row: SubmissionRow) -> str | None:
    """The same source and version, with a report. Runs differ in kind."""
    same = SubmissionRow
    # In the index's order: few texts repeat.
    return session.scalar(
        select(same.public_id)
        .join(ReportRow, (ReportRow.submission_id == same.id) & (ReportRow.attempt == same.attempt))
        .where(same.user_id == row.user_id, same.source_sha256 == row.source_sha256)
        .where(same.challenge == row.challenge, same.version == row.version, same.language == row.language)
        .where(same.device == row.device, same.kind == row.kind, same.rejudge_of.is_(None))
        .where(same.competition_id == row.competition_id, same.set_aside.is_distinct_from(SetAside.VOID))
        .where(same.state == State.DONE, same.verdict.not_in(ours()))
        .order_by(same.id.desc())
        .limit(1)
    )


def _device(devices: list[str], chosen: str | None, language: Language, challenge: Challenge) -> str:
    """By default the first with the language and enough GPUs."""
    if chosen is not None and chosen not in devices:
        raise UnknownDevice(f"This platform has no device '{chosen}'.", f"Devices: {', '.join(devices)}.")
    gpus = challenge.manifest.gpus
    fitting = [device for device in ([chosen] if chosen else devices) if takes(device, gpus)]
    if not fitting:
        raise UnknownDevice(_why_no_board(challenge, chosen), _board_hint(challenge, devices))
    for device in fitting:
        if serves(device, language):
            return device
    where = f"The device '{chosen}'" if chosen else "This platform"
    raise LanguageNotServed(
        f"{where} has no GPU, so it cannot run {language}.",
        "`grader test` compiles it and shows the compiler's errors. Judging it needs a worker with a GPU.",
    )


def _why_no_board(challenge: Challenge, chosen: str | None) -> str:
    gpus, where = challenge.manifest.gpus, f"The board '{chosen}'" if chosen else "This platform"
    if gpus == 1:
        return f"{where} is for challenges on several GPUs, and {challenge.slug} is for one."
    has = f"has fewer than {gpus}" if chosen else f"has no board with {gpus}"
    return f"{challenge.slug} runs on {gpus} GPUs, and {where[0].lower()}{where[1:]} {has} GPUs."


def _board_hint(challenge: Challenge, devices: list[str]) -> str:
    fitting = [device for device in devices if takes(device, challenge.manifest.gpus)]
    if fitting:
        return f"Boards for it: {', '.join(fitting)}."
    return (
        "Your file was not taken, and no attempt is counted. `grader test` judges it on the emulated GPU. Staff: "
        "`grader worker --gpu 0+1` serves two GPUs together."
    )


def _filename(name: str, language: Language) -> str:
    """The last part, without control characters. Raises BadRequest (too long)."""
    last = PurePosixPath(name.replace("\\", "/")).name
    clean = "".join(char for char in last if unicodedata.category(char)[0] != "C")
    if len(clean) > limits.FILENAME_CHARS:
        raise BadRequest(
            f"The file name has {len(clean)} characters; the limit is {limits.FILENAME_CHARS}.",
            "Rename it.",
        )
    # Names of dots alone are folders.
    return clean if clean.strip(".") else f"solution{language.suffix}"
