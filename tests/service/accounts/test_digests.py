"""Mails that collect notices, through a real SMTP server, and their signed links that turn mail off."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from datetime import timedelta
from subprocess import DEVNULL, PIPE, Popen
from typing import Any

import pytest
from sqlalchemy import update

from grader import limits
from grader.records.engine import writing
from grader.records.models import ChoreRow, NoticeRow, UserRow, utcnow
from grader.schemas.notice import NoticeKind, NoticesRead
from grader.service.accounts import accounts
from grader.service.accounts.links import LinkUseless
from grader.service.messages import digests, mail, notices
from grader.service.operation import chores
from grader.service.platform import Platform
from tests.service.accounts.conftest import PASSWORD, Open
from tests.service.postbox import Postbox
from tests.service.world import until


def tell(platform: Platform, user: int, text: str, kind: NoticeKind = NoticeKind.COMMENT) -> None:
    with writing(platform.sessions) as session:
        notices.notify(session, [user], kind, text, f"/submissions/{text[:3]}#comments")


def address(platform: Platform, user: int, email: str) -> None:
    with writing(platform.sessions) as session:
        values = {"email": email, "email_key": email}
        session.execute(update(UserRow).where(UserRow.id == user).values(**values))


def test_pending_notices_go_into_one_mail(opened: Open, box: Postbox) -> None:
    platform = opened(**box.settings())
    ada = accounts.create_user(platform, "ada", PASSWORD)
    bob = accounts.create_user(platform, "bob", PASSWORD)
    eve = accounts.create_user(platform, "eve", PASSWORD)
    for user in (ada, eve):
        address(platform, user.id, f"{user.name}@uni.example")
    tell(platform, ada.id, "one: a comment")
    tell(platform, ada.id, "one: a comment")
    tell(platform, ada.id, "two: an answer", NoticeKind.QUESTION)
    tell(platform, bob.id, "for who has no address")
    tell(platform, eve.id, "for who read it already")
    notices.mark_read(platform, eve, NoticesRead())

    assert digests.send_if_due(platform) == 1
    message = box.wait()
    assert message["To"] == "ada@uni.example"
    assert message["Subject"] == "grader: 2 notices"
    text = message.get_content().replace("\r\n", "\n")
    assert "one: a comment (2 times)\n  https://grader.uni.example/submissions/one#comments" in text
    assert "two: an answer" in text
    # Not twice, and the next one only after a while.
    tell(platform, ada.id, "three")
    assert digests.send_if_due(platform) == 0
    with writing(platform.sessions) as session:
        session.execute(update(ChoreRow).values(begun_at=utcnow() - timedelta(hours=1)))
    assert digests.send_if_due(platform) == 1
    assert len(box.mails) == 2
    assert "three" in box.mails[1]["Subject"]

    key = re.search(r"about\n  Comments.*key=(\S+)", text)
    assert key
    assert digests.preview_unsubscribe(platform, key[1]).kind is NoticeKind.COMMENT
    assert digests.unsubscribe(platform, key[1]).user == "ada"
    tell(platform, ada.id, "four")
    assert digests.send(platform) == 0
    assert notices.list_notices(platform, ada).notices[0].text == "four"
    with pytest.raises(LinkUseless):
        digests.unsubscribe(platform, key[1].replace(f"{ada.id}.", f"{bob.id}.", 1))
    everything = re.search(r"key=([^>]+)", message["List-Unsubscribe"])
    assert everything
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    digests.unsubscribe(platform, everything[1])
    assert not any(choice.mail for choice in notices.choices(platform, ada).choices)


def test_a_refused_mail_is_sent_later(opened: Open, box: Postbox) -> None:
    platform = opened(**box.settings(smtp_password="another"))
    ada = accounts.create_user(platform, "ada", PASSWORD)
    address(platform, ada.id, "ada@uni.example")
    tell(platform, ada.id, "one")
    assert digests.send(platform) == 0
    with platform.sessions() as session:
        (row,) = session.query(NoticeRow).filter(NoticeRow.mail_due)
        assert row.mail_id is None, "it goes with what comes until then"


@pytest.mark.both_databases
def test_an_unanswered_mail_is_sent_again_with_the_same_id(opened: Open, box: Postbox) -> None:
    platform = opened(**box.settings())
    ada = accounts.create_user(platform, "ada", PASSWORD)
    address(platform, ada.id, "ada@uni.example")
    for text in ("one", "two", "six"):
        tell(platform, ada.id, text)
    box.silent = True
    assert digests.send(platform) == 0
    (first,) = box.mails
    # In the meantime one is read, one happens again, which that mail does not report, and one is new.
    ids = {notice.text: notice.id for notice in notices.list_notices(platform, ada).notices}
    notices.mark_read(platform, ada, NoticesRead(ids=[ids["two"]]))
    tell(platform, ada.id, "six")
    tell(platform, ada.id, "ten")
    # An unreachable server received nothing: this does not count.
    unreachable = replace(
        platform, settings=platform.settings.model_copy(update={"smtp_password": "another"})
    )
    assert digests.send(unreachable) == 0
    assert digests.send(platform) == 0
    again, new = box.mails[1:]
    assert again["Message-ID"] == first["Message-ID"] != new["Message-ID"]
    assert again["Subject"] == "grader: one"
    assert "six (2 times)" in new.get_content()
    assert "ten" in new.get_content()
    # Not a third time; the other mail for the second time.
    box.silent, box.farewell = False, "421 Too busy to part"
    assert digests.send(platform) == 1
    assert digests.send(platform) == 0
    assert [mail["Message-ID"] for mail in box.mails[3:]] == [new["Message-ID"]]


def test_a_line_break_in_a_name_adds_no_header(opened: Open, box: Postbox) -> None:
    platform = opened(**box.settings())
    mail.send(platform.settings, "ada@uni.example", "Your place in GPU\r\nBcc: eve@evil.example", "Hello")
    message = box.wait()
    assert message["Subject"] == "grader: Your place in GPU Bcc: eve@evil.example"
    assert message["Bcc"] is None


PROCESS = """
import sys
from grader.service.messages import digests
from grader.service.platform import open_platform
from grader.settings import Settings

platform = open_platform(Settings.model_validate_json(sys.stdin.readline()), migrate=False)
print("ready", flush=True)
sys.stdin.readline()
print(digests.send_if_due(platform))
"""


def process(platform: Platform) -> Popen[str]:
    """Another web process; it sends after reading a line."""
    started = Popen([sys.executable, "-c", PROCESS], stdin=PIPE, stdout=PIPE, stderr=DEVNULL, text=True)
    assert started.stdin
    assert started.stdout
    print(platform.settings.model_dump_json(), file=started.stdin, flush=True)
    assert started.stdout.readline() == "ready\n"
    return started


def end_lease(platform: Platform) -> None:
    """As after the rest of a dead process's lease."""
    with writing(platform.sessions) as session:
        past = utcnow() - timedelta(seconds=limits.CHORE_LEASE_SECONDS + 1)
        session.execute(update(ChoreRow).where(ChoreRow.name == "digest.lease").values(begun_at=past))


def test_one_process_sends_and_another_takes_over(opened: Open, box: Postbox) -> None:
    platform = opened(**box.settings())
    for name in ("ada", "bob", "eve"):
        user = accounts.create_user(platform, name, PASSWORD)
        address(platform, user.id, f"{name}@uni.example")
        tell(platform, user.id, "one")
    processes = [process(platform) for _ in range(3)]
    first, *others = processes
    box.most = 1
    print(file=first.stdin, flush=True)
    until(lambda: box.asked == 2, "the second mail is under way", 60.0)
    first.kill()
    first.communicate()
    box.most = None
    assert digests.send_if_due(platform) == 0, "the dead one has the lease"
    end_lease(platform)
    for sender in others:
        print(file=sender.stdin, flush=True)
    assert sum(int(process.communicate(timeout=60)[0]) for process in others) == 2
    assert sorted(mail["To"] for mail in box.mails) == [
        f"{name}@uni.example" for name in ("ada", "bob", "eve")
    ]


def test_a_mail_of_a_dead_sender_is_repeated_identically(opened: Open, box: Postbox) -> None:
    platform = opened(**box.settings())
    ada = accounts.create_user(platform, "ada", PASSWORD)
    address(platform, ada.id, "ada@uni.example")
    tell(platform, ada.id, "one")
    sender = process(platform)
    box.kill = sender.kill
    print(file=sender.stdin, flush=True)
    assert sender.communicate(timeout=60)[0] == "", "it had no time to count"
    box.kill = None
    end_lease(platform)
    assert digests.send_if_due(platform) == 1
    first, again = box.mails
    assert first["Message-ID"] == again["Message-ID"]
    assert first.get_content() == again.get_content()
    assert digests.send(platform) == 0


@pytest.mark.both_databases
def test_a_sender_stops_when_its_lease_is_lost(
    opened: Open, box: Postbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    platform = opened(**box.settings())
    for name in ("ada", "bob"):
        user = accounts.create_user(platform, name, PASSWORD)
        address(platform, user.id, f"{name}@uni.example")
        tell(platform, user.id, "one")
    send = mail.send
    taken: list[chores.Lease | None] = []

    def slow(*args: Any, **named: Any) -> None:
        """As if this process had slept past the end of its lease."""
        if not taken:
            end_lease(platform)
            taken.append(chores.take(platform, digests.CHORE))
        send(*args, **named)

    monkeypatch.setattr(mail, "send", slow)
    assert digests.send_if_due(platform) == 1
    (other,) = taken
    assert other is not None
    assert other.renew(), "the first one ended its own lease alone"
    assert [mail["To"] for mail in box.mails] == ["ada@uni.example"]
