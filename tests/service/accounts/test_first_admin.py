"""The first admin, by a link that only the operator reads."""

from __future__ import annotations

import threading
from collections import Counter

import pytest

from grader.errors import Conflict, NotAllowed
from grader.schemas.account import Role
from grader.service.accounts import accounts, first_admin, people
from grader.service.accounts.links import LinkUseless
from tests.service.accounts.conftest import PASSWORD, Open
from tests.service.accounts.test_sign_up import key_of

pytestmark = pytest.mark.both_databases


def test_the_first_admin_is_created_once(opened: Open) -> None:
    platform = opened(sign_up="open")
    accounts.create_user(platform, "stranger", PASSWORD)  # signing up first makes nobody an admin
    assert first_admin.needed(platform)
    keys = [key_of(first_admin.make_link(platform).path) for _ in range(2)]
    with pytest.raises(LinkUseless):
        first_admin.make(platform, "guess", "boss", PASSWORD)
    with pytest.raises(Conflict):
        first_admin.make(platform, keys[0], "stranger", PASSWORD)
    boss = first_admin.make(platform, keys[0], "boss", PASSWORD)
    assert (boss.role, boss.admin, boss.staff) == (Role.ADMIN, True, True)
    for key in keys:
        with pytest.raises(LinkUseless, match="does not work"):
            first_admin.make(platform, key, "second", PASSWORD)
    assert not first_admin.needed(platform)
    with pytest.raises(Conflict, match="already has staff"):
        first_admin.make_link(platform)


def test_two_simultaneous_links_create_one_admin(opened: Open) -> None:
    platform = opened()
    keys = [key_of(first_admin.make_link(platform).path) for _ in range(6)]
    ready = threading.Barrier(len(keys))
    found: list[str] = []

    def make(number: int) -> None:
        ready.wait()
        try:
            first_admin.make(platform, keys[number], f"boss{number}", PASSWORD)
            found.append("made")
        except LinkUseless:
            found.append("useless")

    threads = [threading.Thread(target=make, args=[number]) for number in range(len(keys))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Counter(found) == {"made": 1, "useless": len(keys) - 1}


def test_admins_set_roles_and_one_admin_remains(opened: Open) -> None:
    platform = opened()
    boss = accounts.create_user(platform, "boss", PASSWORD, Role.ADMIN)
    tutor = accounts.create_user(platform, "tutor", PASSWORD, Role.STAFF)
    accounts.create_user(platform, "ada", PASSWORD)
    with pytest.raises(NotAllowed):
        people.set_role(platform, "ada", Role.STAFF, tutor)
    assert people.set_role(platform, "ADA", Role.STAFF, boss).staff
    with pytest.raises(Conflict, match="only admin"):
        people.set_role(platform, "boss", Role.STUDENT, boss)
    people.set_role(platform, "tutor", Role.ADMIN, boss)
    assert people.set_role(platform, "boss", Role.STUDENT, boss).role is Role.STUDENT
