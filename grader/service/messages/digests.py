"""Mails with a person's new notices, sent by a thread of one web process under a lease. Notices are marked with the
mail's Message-ID before sending; afterwards as sent, or unmarked if refused. After an unknown outcome the mail is
sent once more with the same Message-ID, by which programs recognise a copy."""

from __future__ import annotations

import hashlib
import hmac
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import func, select, update

from grader import limits
from grader.errors import Unreachable
from grader.logs import get_logger
from grader.records.engine import clock, writing
from grader.records.models import NoticeChoiceRow, NoticeRow, UserRow
from grader.schemas.notice import WORDS, NoticeChoice, NoticeKind, Unsubscribed
from grader.service.accounts import links
from grader.service.accounts.links import LinkUseless
from grader.service.messages import mail, notices
from grader.service.operation import chores
from grader.service.periodic import Periodic
from grader.service.platform import Platform
from grader.settings import Settings

log = get_logger(__name__)

CHORE = "digest"
_SECRET = "notices"  # noqa: S105 - the name of one
_ALL = "all"
_MAC_CHARS = 32
_LOOK_SECONDS = 60.0
# The server probably refuses everything.
_FAILURES = 3


def send_if_due(platform: Platform) -> int:
    """Sends every ``settings.digest_minutes``. Returns the number of mails."""
    if not mail.configured(platform.settings) or not platform.settings.digest_minutes:
        return 0
    every = timedelta(minutes=platform.settings.digest_minutes)
    if not chores.is_due(platform, CHORE, every):
        return 0
    held = chores.take(platform, CHORE)
    if held is None:
        return 0
    try:
        if not chores.is_due(platform, CHORE, every):  # another process did it just now
            return 0
        sent = send(platform, held.renew)
        if held.renew():
            chores.done(platform, CHORE)
        return sent
    finally:
        held.end()


def send(platform: Platform, may_go_on: Callable[[], bool] = lambda: True) -> int:
    """One per person, while ``may_go_on``; first mails with unknown outcome. Returns their number."""
    with platform.sessions() as session:
        people = session.execute(
            select(UserRow.id, UserRow.name, UserRow.email)
            .where(UserRow.id.in_(select(NoticeRow.user_id).where(NoticeRow.mail_due).distinct()))
            .order_by(UserRow.id)
        ).all()
    sent = failed = 0
    for user, name, email in people:
        for mail_id in (*_left_open(platform, user), None):
            if failed < _FAILURES and not may_go_on():
                log.warning("digests_taken_over")
                failed = _FAILURES
            if failed >= _FAILURES:
                break
            digest = _begin(platform, user, email, mail_id)
            if digest is None:
                continue
            if _sent(platform, name, digest):
                sent += 1
            else:
                failed += 1
    if sent:
        log.info("digests_sent", mails=sent)
    return sent


@dataclass(frozen=True)
class _Digest:
    """``first``: not tried before."""

    message_id: str
    user: int
    to: str
    notices: Sequence[NoticeRow]
    first: bool


def _left_open(platform: Platform, user: int) -> Sequence[str]:
    """Mails with unknown outcome, oldest first. The lease's holder calls it, so nobody is sending them."""
    query = select(NoticeRow.mail_id).where(
        NoticeRow.user_id == user, NoticeRow.mail_due, NoticeRow.mail_id.is_not(None)
    )
    with platform.sessions() as session:
        return [
            row
            for row in session.scalars(query.group_by(NoticeRow.mail_id).order_by(func.min(NoticeRow.id)))
            if row
        ]


def _begin(platform: Platform, user: int, to: str | None, mail_id: str | None) -> _Digest | None:
    """Marks notices of ``mail_id`` (None: in no mail yet). None without notices, address or tries."""
    # A count that is changing goes with the next mail.
    query = (
        select(NoticeRow)
        .where(NoticeRow.user_id == user, NoticeRow.mail_due, NoticeRow.mail_id == mail_id)
        .order_by(NoticeRow.id)
    )
    with writing(platform.sessions) as session:
        notices_of_it = session.scalars(query.with_for_update(skip_locked=True)).all()
        if not notices_of_it:
            return None
        tries = notices_of_it[0].mail_tries
        if to is None or tries >= limits.DIGEST_TRIES:
            if tries >= limits.DIGEST_TRIES:
                log.error("digest_given_up", message_id=mail_id, notices=len(notices_of_it))
            for unsent in notices_of_it:
                unsent.mail_due = False
            return None
        message_id = mail_id or _message_id(platform.settings, user, notices_of_it)
        now = clock(session)
        for taken_up in notices_of_it:
            taken_up.mail_id, taken_up.mail_begun_at, taken_up.mail_tries = message_id, now, tries + 1
    return _Digest(message_id, user, to, notices_of_it, tries == 0)


def _sent(platform: Platform, name: str, digest: _Digest) -> bool:
    """A refusal leaves the notices as before."""
    # Notices counted up meanwhile need another mail.
    own = update(NoticeRow).where(NoticeRow.user_id == digest.user, NoticeRow.mail_id == digest.message_id)

    def taken() -> None:
        with writing(platform.sessions) as session:
            session.execute(own.values(mail_due=False))

    try:
        _mail(platform.settings, name, digest, taken)
    except mail.NoAnswer as error:
        log.error("digest_not_answered", reason=error.message, message_id=digest.message_id)
        return False
    except Unreachable as error:
        log.error("digest_not_sent", reason=error.message)
        before: dict[str, Any] = {"mail_tries": NoticeRow.mail_tries - 1}
        if digest.first:
            before |= {"mail_id": None, "mail_begun_at": None}
        with writing(platform.sessions) as session:
            session.execute(own.values(before))
        return False
    return True


def _message_id(settings: Settings, user: int, of: Sequence[NoticeRow]) -> str:
    """Equal for equal notices and counts."""
    said = f"{user} {' '.join(f'{notice.id}:{notice.count}' for notice in of)}"
    # The first half would be a key for the text that it signs.
    mac = hmac.new(settings.secret(_SECRET), said.encode(), hashlib.sha256).hexdigest()[_MAC_CHARS:]
    return f"<{mac}.notices@{mail.domain(settings) or 'localhost'}>"


def _mail(settings: Settings, name: str, digest: _Digest, taken: Callable[[], None]) -> None:
    """Raises Unreachable."""
    user, waiting = digest.user, digest.notices
    base = links.base_url(settings)
    lines = [
        f"- {notice.text}{f' ({notice.count} times)' if notice.count > 1 else ''}\n  {base}{notice.path}"
        for notice in waiting[: limits.DIGEST_LINES]
    ]
    if len(waiting) > limits.DIGEST_LINES:
        lines.append(f"- and {len(waiting) - limits.DIGEST_LINES} more: {base}/notices")
    kinds = sorted(Counter(notice.kind for notice in waiting))
    fewer = "\n".join(f"  {WORDS[kind]}: {unsubscribe_link(settings, user, kind)}" for kind in kinds)
    everything = unsubscribe_link(settings, user, None)
    text = (
        f"Hello {name},\n\n" + "\n".join(lines) + "\n\n-- \nChoose your notices, on the site and by mail: "
        f"{base}/notices#choices\nTurn off mail about\n{fewer}\n  everything: {everything}\n"
    )
    one = len(waiting) == 1
    subject = waiting[0].text if one else f"{len(waiting)} notices"
    key = unsubscribe_key(settings, user, None)
    headers = {
        "List-Unsubscribe": f"<{base}/api/v1/notices/unsubscribe?key={key}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    }
    mail.send(settings, digest.to, subject, text, headers, message_id=digest.message_id, taken=taken)


# ---- turning mail off


def unsubscribe_key(settings: Settings, user: int, kind: NoticeKind | None) -> str:
    """Signed; works for ever without sign-in: old mails stay."""
    said = f"{user}.{kind.value if kind is not None else _ALL}"
    return f"{said}.{_mac(settings, said)}"


def _mac(settings: Settings, said: str) -> str:
    return hmac.new(settings.secret(_SECRET), said.encode(), hashlib.sha256).hexdigest()[:_MAC_CHARS]


def unsubscribe_link(settings: Settings, user: int, kind: NoticeKind | None) -> str:
    return f"{links.base_url(settings)}/notices/unsubscribe?key={unsubscribe_key(settings, user, kind)}"


def preview_unsubscribe(platform: Platform, key: str) -> Unsubscribed:
    """Raises LinkUseless."""
    return _read(platform, key)[1]


def unsubscribe(platform: Platform, key: str) -> Unsubscribed:
    """Notices on the site stay. Idempotent. Raises LinkUseless."""
    user, found = _read(platform, key)
    with writing(platform.sessions) as session:
        for kind in [found.kind] if found.kind is not None else list(NoticeKind):
            present = session.get(NoticeChoiceRow, (user, kind))
            site = present.site if present is not None else True
            notices.put_choice(session, user, NoticeChoice(kind=kind, site=site, mail=False))
    return found


def _read(platform: Platform, key: str) -> tuple[int, Unsubscribed]:
    said, _, mac = key.rpartition(".")
    if not hmac.compare_digest(mac.encode(), _mac(platform.settings, said).encode()):
        raise LinkUseless("Turn mail off on the page Notices.")
    user, _, kind = said.partition(".")
    with platform.sessions() as session:
        name = session.scalar(select(UserRow.name).where(UserRow.id == int(user)))
    if name is None:
        raise LinkUseless("The account no longer exists.")
    return int(user), Unsubscribed(user=name, kind=None if kind == _ALL else NoticeKind(kind))


class DigestSender(Periodic):
    """Runs in web processes."""

    def __init__(self, platform: Platform) -> None:
        super().__init__("digests", _LOOK_SECONDS)
        self._platform = platform

    def run_once(self) -> None:
        try:
            send_if_due(self._platform)
        except Exception as error:  # such as a lost database; retried
            log.warning("digests_failed", error=f"{type(error).__name__}: {error}")
