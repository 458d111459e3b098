"""New passwords by link, over a real mail server, and their addresses."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path

import pytest
from sqlalchemy import text, update

from grader.errors import BadRequest, Conflict, NotAllowed, NotSignedIn, Unreachable
from grader.records.engine import writing
from grader.records.models import LinkRow, utcnow
from grader.schemas.account import Role
from grader.schemas.token import DeviceCodeBody
from grader.service.accounts import accounts, addresses, device_codes, resets, tokens
from grader.service.accounts.accounts import User
from grader.service.accounts.links import LinkUseless
from grader.service.messages import mail
from grader.service.platform import Platform
from tests.service import postbox
from tests.service.accounts.conftest import PASSWORD, Open
from tests.service.accounts.test_sign_up import key_of
from tests.service.postbox import Postbox, link_in

pytestmark = pytest.mark.both_databases

NEW = "a new password"


@pytest.fixture
def platform(opened: Open, box: Postbox) -> Platform:
    return opened(**box.settings())


@pytest.fixture
def ada(platform: Platform) -> User:
    return accounts.create_user(platform, "ada", PASSWORD, email="ada@uni.example")


@pytest.mark.parametrize("name", ["ada", " ADA ", "Ada@Uni.example"])
def test_a_reset_by_mail_ends_sessions_and_tokens(
    platform: Platform, box: Postbox, ada: User, name: str
) -> None:
    token = tokens.issue_token(platform, ada).token
    code = device_codes.begin(platform, DeviceCodeBody(), "", "http://x")
    device_codes.decide(platform, ada, code.user_code, True)
    resets.ask(platform, name)
    sent = box.wait()
    assert (sent["To"], box.encrypted) == ("ada@uni.example", [True])
    key = key_of(link_in(sent))
    assert resets.account_name(platform, key) == "ada"
    with pytest.raises(BadRequest, match="too short"):
        resets.use(platform, key, "short")
    assert resets.use(platform, key, NEW) == ada
    assert accounts.authenticate(platform, "ada", NEW) == ada
    for gone in (
        lambda: tokens.user_of_token(platform, token),
        lambda: accounts.authenticate(platform, "ada", PASSWORD),
    ):
        with pytest.raises(NotSignedIn):
            gone()
    with pytest.raises(BadRequest, match="not valid"):
        device_codes.poll(platform, code.device_code)
    with pytest.raises(LinkUseless):
        resets.use(platform, key, PASSWORD)


@pytest.mark.parametrize("name", ["nobody", "", "bob", "nobody@uni.example", "%", "a" * 300])
def test_no_mail_goes_to_unknown_names_or_accounts_without_address(
    platform: Platform, box: Postbox, ada: User, name: str
) -> None:
    accounts.create_user(platform, "bob", PASSWORD)
    resets.ask(platform, name)
    assert mail.settle()
    assert box.mails == []


def test_the_answer_time_does_not_depend_on_the_name(
    platform: Platform, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer needs neither the database nor a mail server."""
    began = threading.Event()
    monkeypatch.setattr(resets, "_send", lambda *_: began.wait(60))
    for name in ("ada", "nobody"):
        resets.ask(platform, name)  # before the work after the answer begins
    began.set()
    assert mail.settle()


def test_mails_to_one_mailbox_are_limited(platform: Platform, box: Postbox, ada: User) -> None:
    for _ in range(6):
        resets.ask(platform, "ada")
        assert mail.settle()
    assert len(box.mails) == 3


def test_only_a_hash_is_stored_and_links_expire(platform: Platform, ada: User) -> None:
    key = key_of(resets.make_link(platform, "Ada").path)
    with platform.sessions() as session:
        assert key not in str(session.execute(text("SELECT * FROM links")).all())
    with writing(platform.sessions) as session:
        session.execute(update(LinkRow).values(expires_at=utcnow()))
    for use in (lambda: resets.account_name(platform, key), lambda: resets.use(platform, key, NEW)):
        with pytest.raises(LinkUseless):
            use()
    assert accounts.authenticate(platform, "ada", PASSWORD) == ada


def test_a_link_used_in_parallel_works_once(platform: Platform, ada: User) -> None:
    key = key_of(resets.make_link(platform, "ada").path)
    ready = threading.Barrier(8)
    found: list[str] = []

    def use(number: int) -> None:
        ready.wait()
        try:
            resets.use(platform, key, f"{NEW} {number}")
            found.append("set")
        except LinkUseless:
            found.append("useless")

    threads = [threading.Thread(target=use, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Counter(found) == {"set": 1, "useless": 7}


def test_staff_create_links_for_students_and_admins_for_all(platform: Platform, ada: User) -> None:
    staff = accounts.create_user(platform, "tutor", PASSWORD, Role.STAFF)
    admin = accounts.create_user(platform, "boss", PASSWORD, Role.ADMIN)
    assert resets.account_name(platform, key_of(resets.make_link_as(platform, staff, "ada").path)) == "ada"
    for name in ("boss", "tutor"):
        with pytest.raises(NotAllowed):
            resets.make_link_as(platform, staff, name)
        assert resets.make_link_as(platform, admin, name)
    with pytest.raises(NotAllowed):
        resets.make_link_as(platform, ada, "ada")


def test_without_a_mail_server_the_error_says_whom_to_ask(opened: Open) -> None:
    with pytest.raises(Conflict, match="sends no mail"):
        resets.ask(opened(), "ada")


def test_mail_is_never_sent_without_the_required_tls(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with postbox.served(tmp_path, monkeypatch, tls=False) as plain:
        settings = opened(**plain.settings()).settings
        with pytest.raises(Unreachable, match="did not take"):
            mail.send(settings, "ada@uni.example", "Hello", "Hello")
        relay = opened(**plain.settings(smtp_security="none", smtp_user="")).settings
        mail.send(relay, "ada@uni.example", "Hello", "Hello")
        assert plain.wait()["Subject"] == "grader: Hello"


def test_an_unknown_certificate_is_refused(
    platform: Platform, box: Postbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    with pytest.raises(Unreachable) as caught:
        mail.send(platform.settings, "ada@uni.example", "Hello", "Hello")
    assert "SSLCertVerificationError" in caught.value.message
    assert box.mails == []


def test_only_the_requesting_account_can_prove_an_address(
    platform: Platform, box: Postbox, ada: User
) -> None:
    bob = accounts.create_user(platform, "bob", PASSWORD)
    addresses.ask_for_proof(platform, bob, "bob@uni.example")
    key = key_of(link_in(box.wait()))
    assert addresses.address_of(platform, bob) is None
    with pytest.raises(LinkUseless):
        addresses.prove(platform, ada, key)
    assert addresses.prove(platform, bob, key) == "bob@uni.example"
    assert addresses.owner(platform, "BOB@uni.example") == bob
    addresses.forget(platform, bob)
    assert addresses.address_of(platform, bob) is None


def test_mails_to_one_mailbox_are_limited_across_accounts_and_spellings(
    platform: Platform, box: Postbox
) -> None:
    for number in range(5):
        user = accounts.create_user(platform, f"user{number}", PASSWORD)
        addresses.ask_for_proof(platform, user, "victim@uni.example" if number % 2 else "Victim@UNI.example")
    assert mail.settle()
    assert len(box.mails) == 3


def test_links_created_by_staff_do_not_count_as_mails(platform: Platform, box: Postbox, ada: User) -> None:
    for _ in range(3):
        resets.make_link(platform, "ada")
    resets.ask(platform, "ada")
    assert box.wait()["To"] == "ada@uni.example"


def test_another_accounts_address_cannot_be_used(platform: Platform, box: Postbox, ada: User) -> None:
    bob = accounts.create_user(platform, "bob", PASSWORD)
    addresses.ask_for_proof(platform, bob, "ada@uni.example")
    assert mail.settle()
    assert box.mails == []
    with pytest.raises(Conflict):
        addresses.set_address(platform, "bob", "ADA@uni.example")
