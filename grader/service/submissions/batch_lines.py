"""Reads the lines of a batch. A bad one has an error of its own; the others are taken."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from grader import limits
from grader.errors import BadRequest, ChallengeInvalid, GraderError
from grader.languages import Language
from grader.schemas.batch import BatchLine
from grader.schemas.submission import ErrorBody, RunBody, SubmitBody
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.service.submissions.submit import SubmitOrder, row_of


@dataclass(frozen=True)
class ReadLine:
    """``key`` is the sender's id's, or a bad line's own; ``sha256`` is the content's."""

    number: int
    key: str
    sha256: str
    sender_id: str | None
    size: int
    request: BatchLine | None = None
    error: ErrorBody | None = None


def read(platform: Platform, user: User, raw: bytes, first: int) -> list[ReadLine]:
    checks = _Checks(platform, user)
    return [checks.line(text, number) for number, text in _numbered(raw, first)]


def order_of(line: BatchLine) -> SubmitOrder:
    """Raises BadSource, UnknownLanguage."""
    same: dict[str, Any] = line.model_dump(exclude={"id", "run"})
    # A program's entries compete for no prize.
    body = RunBody(**same) if line.run else SubmitBody(**same, competition="")
    return SubmitOrder.of(body, None, run=line.run)


def refusal(error: GraderError) -> ErrorBody:
    if isinstance(error, ChallengeInvalid):
        # Its message names files of the server.
        return ErrorBody(
            code=error.code,
            message="This challenge cannot be used now: its folder on the server is broken.",
            hint="Tell the staff, and send the line again under another id once it works.",
        )
    return ErrorBody(code=error.code, message=_storable(error.message), hint=_storable(error.hint))


def in_use(line: ReadLine) -> ReadLine:
    """The same id came before with other contents."""
    error = BadRequest(
        f"The id '{line.sender_id}' belongs to a line with other contents in this batch.",
        "Give it another id, or send it in a batch of another name.",
    )
    return _bad(
        line.number, line.sha256, line.sender_id, line.size, error, _own_key(line.number, line.sha256)
    )


def _numbered(raw: bytes, first: int) -> Iterator[tuple[int, bytes]]:
    for number, text in enumerate(raw.split(b"\n"), first):
        if line := text.strip():
            yield number, line


class _Checks:
    """Lines of a part mostly share challenge, language and device, which are checked once."""

    def __init__(self, platform: Platform, user: User) -> None:
        self._platform, self._user = platform, user
        self._known: dict[tuple[str, Language, str | None, bool], GraderError | None] = {}

    def line(self, text: bytes, number: int) -> ReadLine:
        sha256, sender = _digest(text), None
        try:
            value = _json(text)
            sender = _id_of(value)
            line = _valid(value)
            self._check(line)
        except GraderError as error:
            key = _own_key(number, sha256) if sender is None else _key_of(sender)
            return _bad(number, sha256, sender, len(text), error, key)
        return ReadLine(number, _key_of(line.id), sha256, line.id, len(text), request=line)

    def _check(self, line: BatchLine) -> None:
        order = order_of(line)
        case = (line.challenge, order.language, line.device, line.run)
        if case not in self._known:
            self._known[case] = None
            try:
                row_of(self._platform, self._user, order)
            except GraderError as error:
                self._known[case] = error
        if (found := self._known[case]) is not None:
            raise found


def _json(text: bytes) -> Any:
    if len(text) > limits.BATCH_LINE_BYTES:
        raise BadRequest(
            f"it has {len(text):,} bytes; at most {limits.BATCH_LINE_BYTES:,} are taken.", "Send less source."
        )
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadRequest(
            "it is not JSON.", 'Write each request on one line: {"id": ..., "challenge": ..., "source": ...}.'
        ) from error


def _id_of(value: Any) -> str | None:
    found = value.get("id") if isinstance(value, dict) else None
    usable = isinstance(found, str) and 0 < len(found) <= limits.BATCH_ID_CHARS and found.isprintable()
    return found if usable else None


def _valid(value: Any) -> BatchLine:
    try:
        return BatchLine.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part)[:60] for part in first["loc"]) or "the line"
        said = first["msg"].removeprefix("Value error, ")
        raise BadRequest(
            f"{where}: {said}.",
            "It needs id, challenge and source, and may have language, filename, device and run.",
        ) from error


def _bad(number: int, sha256: str, sender: str | None, size: int, error: GraderError, key: str) -> ReadLine:
    found = refusal(error)
    said = found.model_copy(update={"message": f"Line {number}: {found.message}"})
    return ReadLine(number, key, sha256, sender, size, error=said)


def _own_key(number: int, sha256: str) -> str:
    """A line without a usable id is known again by its place and contents."""
    return _digest(f"line {number} {sha256}".encode())


def _key_of(sender: str) -> str:
    return _digest(f"id {sender}".encode())


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _storable(text: str) -> str:
    """PostgreSQL accepts neither NUL nor half a surrogate pair."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
