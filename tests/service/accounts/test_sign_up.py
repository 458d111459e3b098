"""Who may make an account, by each policy."""

from __future__ import annotations

import threading
from collections import Counter
from datetime import timedelta

import pytest
from sqlalchemy import select, text, update

from grader.errors import BadRequest, Conflict, GraderError, NotAllowed, NotFound
from grader.records.engine import writing
from grader.records.models import InvitationRow, LinkRow, utcnow
from grader.schemas.account import InvitationBody, Role, SignUpBody
from grader.service.accounts import accounts, invitations, sign_up
from grader.service.accounts.links import LinkUseless
from grader.service.messages import mail
from grader.service.platform import Platform
from tests.service.accounts.conftest import PASSWORD, Open
from tests.service.postbox import Postbox, link_in

pytestmark = pytest.mark.both_databases


def body(name: str = "eve", key: str = "") -> SignUpBody:
    return SignUpBody(name=name, password=PASSWORD, key=key)


def key_of(link: str) -> str:
    return link.partition("key=")[2]


def invite(platform: Platform, **values: object) -> str:
    return key_of(invitations.make(platform, InvitationBody.model_validate(values)).link)


def test_closed_sign_up_refuses_invitations_too(opened: Open) -> None:
    key = invite(opened(sign_up="invite"))
    closed = opened(sign_up="closed")
    for given in ("", key):
        with pytest.raises(NotFound, match="Only staff can make accounts"):
            sign_up.sign_up(closed, body(key=given))
    with pytest.raises(Conflict, match="Sign-up is off"):
        invite(closed)


def test_open_sign_up_creates_students_but_refuses_misleading_names(opened: Open) -> None:
    platform = opened(sign_up="open")
    assert sign_up.sign_up(platform, body()).role is Role.STUDENT
    with pytest.raises(BadRequest, match="is reserved"):
        sign_up.sign_up(platform, body("Admin"))
    with pytest.raises(Conflict, match="is taken"):
        sign_up.sign_up(platform, body("EVE"))


class TestInvitation:
    def test_an_invitation_has_limited_uses_and_is_stored_as_a_hash(self, opened: Open) -> None:
        platform = opened(sign_up="invite")
        with pytest.raises(NotFound, match="need an invitation"):
            sign_up.sign_up(platform, body())
        key = invite(platform, uses=2)
        for name in ("a", "b"):
            assert sign_up.sign_up(platform, body(name, key)).role is Role.STUDENT
        with pytest.raises(LinkUseless):
            sign_up.sign_up(platform, body("c", key))
        with platform.sessions() as session:
            assert key not in str(session.execute(text("SELECT * FROM invitations")).all())

    def test_a_failed_sign_up_uses_no_invitation(self, opened: Open) -> None:
        platform = opened(sign_up="invite")
        key = invite(platform, uses=1)
        accounts.create_user(platform, "ada", PASSWORD)
        with pytest.raises(Conflict):
            sign_up.sign_up(platform, body("ada", key))
        with pytest.raises(BadRequest):
            sign_up.sign_up(platform, SignUpBody(name="bob", password="short", key=key))
        assert sign_up.sign_up(platform, body("bob", key)).name == "bob"

    def test_parallel_sign_ups_do_not_exceed_an_invitation(self, opened: Open) -> None:
        platform = opened(sign_up="invite")
        key = invite(platform, uses=3)
        ready = threading.Barrier(12)
        found: list[str] = []

        def join(number: int) -> None:
            ready.wait()
            try:
                sign_up.sign_up(platform, body(f"user{number}", key))
                found.append("in")
            except LinkUseless:
                found.append("out")

        threads = [threading.Thread(target=join, args=[number]) for number in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert Counter(found) == {"in": 3, "out": 9}
        with platform.sessions() as session:
            assert session.scalar(select(InvitationRow.used)) == 3

    def test_an_invitation_expires_and_can_be_revoked(self, opened: Open) -> None:
        platform = opened(sign_up="open")
        made = invitations.make(platform, InvitationBody())
        other = invitations.make(platform, InvitationBody())
        invitations.revoke(platform, other.id)
        with writing(platform.sessions) as session:
            session.execute(update(InvitationRow).values(expires_at=utcnow() - timedelta(seconds=1)))
        for link in (made.link, other.link):
            with pytest.raises(LinkUseless):
                sign_up.sign_up(platform, body(key=key_of(link)))
        assert invitations.list_all(platform).invitations == []
        with pytest.raises(NotFound):
            invitations.revoke(platform, 2**40)

    def test_only_an_admin_invites_staff(self, opened: Open) -> None:
        platform = opened(sign_up="invite")
        student, staff, admin = (
            accounts.create_user(platform, role.value + "1", PASSWORD, role) for role in Role
        )
        wish = InvitationBody(role="staff")
        for user in (student, staff):
            with pytest.raises(NotAllowed):
                invitations.make(platform, wish, user)
        with pytest.raises(NotAllowed):
            invitations.make(platform, InvitationBody(), student)
        key = key_of(invitations.make(platform, wish, admin).link)
        assert sign_up.sign_up(platform, body("tutor", key)).role is Role.STAFF


class TestDomain:
    def platform(self, opened: Open, box: Postbox) -> Platform:
        return opened(**box.settings(sign_up="domain", sign_up_domains="uni.example, .cs.example"))

    def test_an_address_is_proven_before_the_account_exists(self, opened: Open, box: Postbox) -> None:
        platform = self.platform(opened, box)
        with pytest.raises(BadRequest, match="Confirm your e-mail address"):
            sign_up.sign_up(platform, body())
        sign_up.ask_for_link(platform, " Eve@Uni.example ")
        sent = box.wait()
        assert (sent["To"], box.encrypted) == ("Eve@uni.example", [True])
        key = key_of(link_in(sent))
        assert sign_up.offer(platform, key).email == "Eve@uni.example"
        user = sign_up.sign_up(platform, body(key=key))
        assert user.role is Role.STUDENT
        with pytest.raises(LinkUseless):
            sign_up.sign_up(platform, body("eve2", key))

    @pytest.mark.parametrize(
        "address",
        ["eve@uni.example.evil.example", "eve@sub.uni.example", "eve@cs.example", "eve@evil.example", "eve",
         "eve@uni.example\nBcc: all@uni.example", "eve@evil.example,bob@uni.example"],
    )  # fmt: skip
    def test_addresses_of_other_domains_are_refused(self, opened: Open, box: Postbox, address: str) -> None:
        platform = self.platform(opened, box)
        with pytest.raises(BadRequest):
            sign_up.ask_for_link(platform, address)
        assert mail.settle()
        assert box.mails == []

    def test_a_leading_dot_allows_subdomains(self, opened: Open, box: Postbox) -> None:
        sign_up.ask_for_link(self.platform(opened, box), "eve@lab.cs.example")
        assert box.wait()["To"] == "eve@lab.cs.example"

    def test_an_existing_account_is_revealed_only_by_mail(self, opened: Open, box: Postbox) -> None:
        platform = self.platform(opened, box)
        accounts.create_user(platform, "ada", PASSWORD, email="ada@uni.example")
        sign_up.ask_for_link(platform, "ADA@uni.example")
        sent = box.wait().get_content()
        assert "already" in sent
        assert "key=" not in sent

    def test_sign_up_mails_to_one_mailbox_are_limited(self, opened: Open, box: Postbox) -> None:
        platform = self.platform(opened, box)
        for _ in range(6):
            sign_up.ask_for_link(platform, "eve@uni.example")
            assert mail.settle()
        assert len(box.mails) == 3

    def test_sign_up_mails_are_limited_across_spellings(self, opened: Open, box: Postbox) -> None:
        platform = self.platform(opened, box)
        sign_up.ask_for_link(platform, "eve_@uni.example")
        sign_up.ask_for_link(platform, "evel@uni.example")
        for spelt in ("eve", "Eve", "eVe", "EVE", "eve+1", "EVE+two"):
            sign_up.ask_for_link(platform, f"{spelt}@Uni.example")
        assert mail.settle()
        to = [each["To"].lower().replace("+1", "").replace("+two", "") for each in box.mails]
        assert sorted(to) == ["eve@uni.example"] * 3 + ["eve_@uni.example", "evel@uni.example"]

    def test_two_links_for_one_address_create_one_account(self, opened: Open, box: Postbox) -> None:
        platform = self.platform(opened, box)
        for _ in range(2):
            sign_up.ask_for_link(platform, "eve@uni.example")
            assert mail.settle()
        first, second = (key_of(link_in(each)) for each in box.mails)
        sign_up.sign_up(platform, body("eve", first))
        with pytest.raises(Conflict, match="e-mail address"):
            sign_up.sign_up(platform, body("eve2", second))

    def test_a_sign_up_link_expires(self, opened: Open, box: Postbox) -> None:
        platform = self.platform(opened, box)
        sign_up.ask_for_link(platform, "eve@uni.example")
        key = key_of(link_in(box.wait()))
        with writing(platform.sessions) as session:
            session.execute(update(LinkRow).values(expires_at=utcnow()))
        with pytest.raises(GraderError, match="does not work"):
            sign_up.sign_up(platform, body(key=key))
