"""Mails that collect notices, through a real SMTP server, and the signed links in them that turn mail off."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from sqlalchemy import update

from grader.records.engine import writing
from grader.records.models import ChoreRow, NoticeRow, UserRow, utcnow
from grader.schemas.notice import NoticeKind, NoticesRead
from grader.service.accounts import accounts
from grader.service.accounts.links import LinkUseless
from grader.service.messages import digests, mail, notices
from grader.service.platform import Platform
from tests.service.accounts.conftest import PASSWORD, Open
from tests.service.postbox import Postbox


def tell(platform: Platform, user: int, text: str, kind: NoticeKind = NoticeKind.COMMENT) -> None:
    with writing(platform.sessions) as session:
        notices.tell(session, [user], kind, text, f"/submissions/{text[:3]}#comments")


def address(platform: Platform, user: int, email: str) -> None:
    with writing(platform.sessions) as session:
        values = {"email": email, "email_key": email}
        session.execute(update(UserRow).where(UserRow.id == user).values(**values))


def test_what_waits_goes_in_one_mail_to_who_wants_it(opened: Open, box: Postbox) -> None:
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

    assert digests.send_now_and_then(platform) == 1
    message = box.wait()
    assert message["To"] == "ada@uni.example"
    assert message["Subject"] == "grader: 2 notices"
    text = message.get_content().replace("\r\n", "\n")
    assert "one: a comment (2 times)\n  https://grader.uni.example/submissions/one#comments" in text
    assert "two: an answer" in text
    # Not twice, and the next one only after a while.
    tell(platform, ada.id, "three")
    assert digests.send_now_and_then(platform) == 0
    with writing(platform.sessions) as session:
        session.execute(update(ChoreRow).values(begun_at=utcnow() - timedelta(hours=1)))
    assert digests.send_now_and_then(platform) == 1
    assert len(box.mails) == 2
    assert "three" in box.mails[1]["Subject"]

    # The links: of a kind, and of all; signed.
    key = re.search(r"about\n  Comments.*key=(\S+)", text)
    assert key
    assert digests.whose(platform, key[1]).kind is NoticeKind.COMMENT
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
    assert not any(it.mail for it in notices.choices(platform, ada).choices)


def test_what_the_server_does_not_take_is_sent_later(opened: Open, box: Postbox) -> None:
    platform = opened(**box.settings(smtp_password="another"))
    ada = accounts.create_user(platform, "ada", PASSWORD)
    address(platform, ada.id, "ada@uni.example")
    tell(platform, ada.id, "one")
    assert digests.send(platform) == 0
    with platform.sessions() as session:
        assert session.query(NoticeRow).filter(NoticeRow.mail_due).count() == 1


def test_a_line_break_in_a_name_makes_no_header(opened: Open, box: Postbox) -> None:
    platform = opened(**box.settings())
    mail.send(platform.settings, "ada@uni.example", "Your place in GPU\r\nBcc: eve@evil.example", "Hello")
    message = box.wait()
    assert message["Subject"] == "grader: Your place in GPU Bcc: eve@evil.example"
    assert message["Bcc"] is None
