"""Mails that collect what somebody was told since the last one, and the links in them that turn mail off.

The web sends them, in a thread beside its answers: it has the mail server's settings and the secret that links are
signed with. Of all its processes one does it at a time, under a lease. What it has not sent when it dies another one
sends once the lease ended.

The notices of a mail are marked with its Message-ID before it is sent, and as sent the moment that the server took it.
Where the server refused it, they go with the next ones. Where nobody knows whether it took it (the process died, or the
server gave no answer), the mail is sent again: once, of the same notices and under the same Message-ID, by which mail
servers and programs know a copy. If that ends the same way, no mail tells of them; the site shows them.
"""

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
# Once the mail server takes nothing, asking it for each of hundreds helps nobody.
_FAILURES = 3


def send_now_and_then(platform: Platform) -> int:
    """Send what waits, where ``settings.digest_minutes`` have gone since somebody did. How many mails went."""
    if not mail.configured(platform.settings) or not platform.settings.digest_minutes:
        return 0
    every = timedelta(minutes=platform.settings.digest_minutes)
    if not chores.is_due(platform, CHORE, every):
        return 0
    held = chores.take(platform, CHORE)
    if held is None:
        return 0
    try:
        if not chores.is_due(platform, CHORE, every):  # another one did it just now
            return 0
        sent = send(platform, held.renew)
        if held.renew():
            chores.done(platform, CHORE)
        return sent
    finally:
        held.end()


def send(platform: Platform, may_go_on: Callable[[], bool] = lambda: True) -> int:
    """Send each person one mail of all that waits for them, while ``may_go_on`` says so, and before it what an earlier
    call left open. How many mails went."""
    row = NoticeRow
    with platform.sessions() as session:
        people = session.execute(
            select(UserRow.id, UserRow.name, UserRow.email)
            .where(UserRow.id.in_(select(row.user_id).where(row.mail_due).distinct()))
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
    """A mail to ``to``. ``first``: it was not tried before."""

    message_id: str
    user: int
    to: str
    notices: Sequence[NoticeRow]
    first: bool


def _left_open(platform: Platform, user: int) -> Sequence[str]:
    """The Message-IDs of mails of which nobody knows whether the server took them, the oldest first. Only who has the
    lease asks: whoever began them is gone, or got no answer."""
    row = NoticeRow
    query = select(row.mail_id).where(row.user_id == user, row.mail_due, row.mail_id.is_not(None))
    with platform.sessions() as session:
        return [it for it in session.scalars(query.group_by(row.mail_id).order_by(func.min(row.id))) if it]


def _begin(platform: Platform, user: int, to: str | None, mail_id: str | None) -> _Digest | None:
    """Mark the notices of ``mail_id``, or where that is None those of no mail yet, as being sent. None where nothing is
    to be sent: nothing is left, nobody to mail it to, or it was tried as often as may be."""
    row = NoticeRow
    # What is being counted up at this moment goes with the next one.
    query = select(row).where(row.user_id == user, row.mail_due, row.mail_id == mail_id).order_by(row.id)
    with writing(platform.sessions) as session:
        notices_of_it = session.scalars(query.with_for_update(skip_locked=True)).all()
        if not notices_of_it:
            return None
        tries = notices_of_it[0].mail_tries
        if to is None or tries >= limits.DIGEST_TRIES:
            if tries >= limits.DIGEST_TRIES:
                log.error("digest_given_up", message_id=mail_id, notices=len(notices_of_it))
            for it in notices_of_it:
                it.mail_due = False
            return None
        message_id = mail_id or _message_id(platform.settings, user, notices_of_it)
        now = clock(session)
        for it in notices_of_it:
            it.mail_id, it.mail_begun_at, it.mail_tries = message_id, now, tries + 1
    return _Digest(message_id, user, to, notices_of_it, tries == 0)


def _sent(platform: Platform, name: str, digest: _Digest) -> bool:
    """Whether the server took it. Where it refused it, the notices are as they were before."""
    row = NoticeRow
    # Not what was counted up meanwhile: that has no mail yet.
    own = update(row).where(row.user_id == digest.user, row.mail_id == digest.message_id)

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
        before: dict[str, Any] = {"mail_tries": row.mail_tries - 1}
        if digest.first:
            before |= {"mail_id": None, "mail_begun_at": None}
        with writing(platform.sessions) as session:
            session.execute(own.values(before))
        return False
    return True


def _message_id(settings: Settings, user: int, of: Sequence[NoticeRow]) -> str:
    """The same for the same notices, as often as each happened."""
    said = f"{user} {' '.join(f'{it.id}:{it.count}' for it in of)}"
    # The other half of the MAC: the first one would make a key of what it signs.
    mac = hmac.new(settings.secret(_SECRET), said.encode(), hashlib.sha256).hexdigest()[_MAC_CHARS:]
    return f"<{mac}.notices@{mail.domain(settings) or 'localhost'}>"


def _mail(settings: Settings, name: str, digest: _Digest, taken: Callable[[], None]) -> None:
    """Raises Unreachable."""
    user, waiting = digest.user, digest.notices
    base = links.base_url(settings)
    lines = [
        f"- {it.text}{f' ({it.count} times)' if it.count > 1 else ''}\n  {base}{it.path}"
        for it in waiting[: limits.DIGEST_LINES]
    ]
    if len(waiting) > limits.DIGEST_LINES:
        lines.append(f"- and {len(waiting) - limits.DIGEST_LINES} more: {base}/notices")
    kinds = sorted(Counter(it.kind for it in waiting))
    fewer = "\n".join(f"  {WORDS[kind]}: {unsubscribe_link(settings, user, kind)}" for kind in kinds)
    everything = unsubscribe_link(settings, user, None)
    text = (
        f"Hello {name},\n\n" + "\n".join(lines) + "\n\n-- \nWhat you are told, on the site and by mail: "
        f"{base}/notices#choices\nNo more mail about\n{fewer}\n  anything: {everything}\n"
    )
    one = len(waiting) == 1
    subject = waiting[0].text if one else f"{len(waiting)} notices"
    key = unsubscribe_key(settings, user, None)
    headers = {
        "List-Unsubscribe": f"<{base}/api/v1/notices/unsubscribe?key={key}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    }
    mail.send(settings, digest.to, subject, text, headers, message_id=digest.message_id, taken=taken)


# ----------------------------------------------------------------------------------- turning mail off


def unsubscribe_key(settings: Settings, user: int, kind: NoticeKind | None) -> str:
    """Signed: it names who and what, needs nobody to be signed in, and works for ever, as old mails stay."""
    said = f"{user}.{kind.value if kind is not None else _ALL}"
    return f"{said}.{_mac(settings, said)}"


def _mac(settings: Settings, said: str) -> str:
    return hmac.new(settings.secret(_SECRET), said.encode(), hashlib.sha256).hexdigest()[:_MAC_CHARS]


def unsubscribe_link(settings: Settings, user: int, kind: NoticeKind | None) -> str:
    return f"{links.base_url(settings)}/notices/unsubscribe?key={unsubscribe_key(settings, user, kind)}"


def whose(platform: Platform, key: str) -> Unsubscribed:
    """What the link of a mail would turn off. Raises LinkUseless."""
    return _read(platform, key)[1]


def unsubscribe(platform: Platform, key: str) -> Unsubscribed:
    """Turn mail off, of one kind or of all; on the site they are told as before. Doing so twice is no error. Raises
    LinkUseless."""
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
        raise LinkUseless("The account is gone.")
    return int(user), Unsubscribed(user=name, kind=None if kind == _ALL else NoticeKind(kind))


class DigestSender(Periodic):
    """Runs in a process that serves the web."""

    def __init__(self, platform: Platform) -> None:
        super().__init__("digests", _LOOK_SECONDS)
        self._platform = platform

    def turn(self) -> None:
        try:
            send_now_and_then(self._platform)
        except Exception as error:  # the database was away, say: the next turn tries again
            log.warning("digests_failed", error=f"{type(error).__name__}: {error}")
