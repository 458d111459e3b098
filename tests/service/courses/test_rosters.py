from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, select

from grader.errors import BadRequest, NotAllowed, NotFound
from grader.records.engine import writing
from grader.records.models import CourseInvitationRow, MemberRow, UserRow
from grader.schemas.account import SignUpBody
from grader.schemas.course import (
    CourseRole,
    CourseView,
    InvitationOrder,
    JoinCodeBody,
    MemberChange,
    RosterBody,
    RosterResult,
)
from grader.service.accounts import sign_up
from grader.service.accounts.accounts import User, create_user
from grader.service.accounts.keys import digest
from grader.service.accounts.links import LinkUseless
from grader.service.courses import courses, joining, rosters
from grader.service.messages import notices
from grader.service.platform import Platform
from tests.service.accounts.conftest import Open, box, opened  # noqa: F401 - fixtures
from tests.service.postbox import Postbox, link_in

TABLE = """\
email,full_name,student_number,section
ada@uni.edu,Ada Lovelace,1,A
bob@uni.edu,Bob Barker,2,B
"""


@pytest.fixture(autouse=True)
def _course(course: CourseView) -> None:
    """Every test has one."""


def take(platform: Platform, user: User, text: str, **values: bool) -> RosterResult:
    return rosters.import_roster(
        platform, user, "gpu", RosterBody(text=text, **({"dry_run": False} | values))
    )


def kinds(found: RosterResult) -> list[tuple[int | None, str, str]]:
    return [(change.line, change.person, change.kind) for change in found.changes]


def test_a_dry_run_lists_changes_without_applying_them(platform: Platform, staff: User) -> None:
    create_user(platform, "ada", "correct horse", email="Ada@uni.edu")
    found = take(platform, staff, TABLE, dry_run=True)
    assert kinds(found) == [(2, "ada", "add"), (3, "bob@uni.edu", "invite")]
    assert not found.applied
    assert len(rosters.get_roster(platform, staff, "gpu").members) == 1
    assert kinds(take(platform, staff, TABLE)) == kinds(found)
    roster = rosters.get_roster(platform, staff, "gpu")
    assert [(member.name, member.full_name, member.section, member.came_by) for member in roster.members] == [
        ("ada", "Ada Lovelace", "A", "roster, by teacher"),
        ("teacher", "", "", ""),
    ]
    assert [(invited.email, invited.full_name) for invited in roster.invited] == [
        ("bob@uni.edu", "Bob Barker")
    ]
    assert roster.sections == ["A", "B"]


def test_the_same_file_twice_changes_nothing(platform: Platform, staff: User) -> None:
    take(platform, staff, TABLE)
    again = take(platform, staff, TABLE)
    assert (again.changes, again.unchanged, again.rows) == ([], 2, 2)
    log = courses.get_audit(platform, staff, "gpu").entries
    assert [entry.after for entry in log if entry.action == "roster.edit"] == [{"invite": 2}]


def test_changes_show_old_and_new_values(platform: Platform, staff: User) -> None:
    create_user(platform, "ada", "correct horse", email="ada@uni.edu")
    take(platform, staff, TABLE)
    moved = TABLE.replace("1,A", "1,C").replace("bob@uni.edu", "bob@home.org")
    found = take(platform, staff, moved)
    assert [(change.person, change.kind, change.what) for change in found.changes] == [
        ("ada", "change", ["section: A -> C"]),
        ("bob@home.org", "change", ["email: bob@uni.edu -> bob@home.org"]),
    ]
    assert take(platform, staff, "email\nada@uni.edu\nbob@home.org\n").unchanged == 2


def test_a_corrected_number_does_not_move_links(platform: Platform, staff: User) -> None:
    take(platform, staff, "email,full_name,student_number\nann@uni.edu,Ann A,1\n")
    (link,) = joining.order_invitations(platform, staff, "gpu", InvitationOrder()).links
    corrected = "email,full_name,student_number\nann@uni.edu,Ann A,2\nben@uni.edu,Ben B,1\n"
    found = take(platform, staff, corrected)
    assert [(change.person, change.kind, change.what) for change in found.changes] == [
        ("ann@uni.edu", "change", ["number: 1 -> 2"]),
        ("ben@uni.edu", "invite", []),
    ]
    assert joining.offer(platform, link.link.partition("key=")[2]).full_name == "Ann A"
    assert take(platform, staff, corrected).changes == []
    # The person with this number has another address: the holder of the old link is somebody else.
    moved = "email,full_name,student_number\nann@home.org,Ann A,2\n"
    (change,) = take(platform, staff, moved).changes
    assert change.what == ["email: ann@uni.edu -> ann@home.org", "their link stops working"]
    with pytest.raises(LinkUseless):
        joining.offer(platform, link.link.partition("key=")[2])


def test_a_corrected_number_does_not_swap_members(platform: Platform, staff: User) -> None:
    create_user(platform, "ann", "correct horse", email="ann@uni.edu")
    take(platform, staff, "email,full_name,student_number\nann@uni.edu,Ann A,1\n")
    found = take(
        platform, staff, "email,full_name,student_number\nben@uni.edu,Ben B,1\nann@uni.edu,Ann A,2\n"
    )
    assert kinds(found) == [(2, "ben@uni.edu", "invite"), (3, "ann", "change")]


def test_a_row_of_number_only_keeps_address_and_link(platform: Platform, staff: User) -> None:
    take(platform, staff, TABLE)
    links = joining.order_invitations(platform, staff, "gpu", InvitationOrder()).links
    take(platform, staff, "student_number,section\n1,C\n")
    assert take(platform, staff, "email,student_number,section\nada@uni.edu,1,C\n").changes == []
    for link in links:
        joining.offer(platform, link.link.partition("key=")[2])


_PEOPLE = st.lists(
    st.tuples(
        st.sampled_from(["ada", "bob", "cy", "di", ""]), st.sampled_from(["1", "2", "3", "4", ""])
    ).filter(any),
    max_size=4,
    unique_by=(lambda key: key[0] or object(), lambda key: key[1] or object()),
)


def _table(people: list[tuple[str, str]]) -> str:
    rows = [
        (f"{name}@uni.edu" if name else "", f"Name {name}{number or 0}", number) for name, number in people
    ]
    return "email,full_name,student_number\n" + "".join(",".join(row) + "\n" for row in rows)


def _facts(found: RosterResult) -> list[tuple[str, str, list[str]]]:
    return sorted((change.person, change.kind, change.what) for change in found.changes)


@pytest.fixture
def di(platform: Platform) -> User:
    return create_user(platform, "di", "correct horse", email="di@uni.edu")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=_PEOPLE, after=_PEOPLE, drop=st.booleans(), random=st.randoms(use_true_random=False))
def test_any_roster_edit_is_idempotent_and_moves_no_link(
    platform: Platform,
    staff: User,
    di: User,
    before: list[tuple[str, str]],
    after: list[tuple[str, str]],
    drop: bool,
    random: Random,
) -> None:
    with writing(platform.sessions) as session:
        session.execute(delete(CourseInvitationRow))
        session.execute(delete(MemberRow).where(MemberRow.role == CourseRole.STUDENT))
    take(platform, staff, _table(before))
    links = []
    if any(name != "di" for name, _ in before):
        links = joining.order_invitations(platform, staff, "gpu", InvitationOrder()).links
    shuffled = random.sample(after, len(after))
    planned = take(platform, staff, _table(shuffled), dry_run=True, drop_missing=drop)
    done = take(platform, staff, _table(after), drop_missing=drop)
    assert (planned.problems, done.problems) == ([], [])
    assert _facts(planned) == _facts(done)
    again = take(platform, staff, _table(shuffled), drop_missing=drop, let_back_in=True)
    assert (again.changes, again.unchanged) == ([], len(after))
    with platform.sessions() as session:
        rows = session.scalars(select(CourseInvitationRow)).all()
    theirs = {row.sha256: row.email for row in rows}
    for link in links:
        assert theirs.get(digest(link.link.partition("key=")[2]), link.email) == link.email
    if any(name == "di" for name, _ in after):
        members = rosters.get_roster(platform, staff, "gpu").members
        assert [member.full_name[:-1] for member in members if member.name == "di"] == ["Name di"]


def test_missing_students_are_removed_only_on_request(platform: Platform, staff: User) -> None:
    create_user(platform, "ada", "correct horse", email="ada@uni.edu")
    take(platform, staff, TABLE)
    assert take(platform, staff, "email\nnew@uni.edu\n").counts == {"invite": 1}
    gone = take(platform, staff, "email\nnew@uni.edu\n", drop_missing=True)
    assert kinds(gone) == [(None, "ada", "drop"), (None, "bob@uni.edu", "withdraw")]
    assert [invited.email for invited in rosters.get_roster(platform, staff, "gpu").invited] == [
        "new@uni.edu"
    ]
    assert [change.kind for change in take(platform, staff, TABLE, dry_run=True).changes] == [
        "removed",
        "invite",
    ]
    back = take(platform, staff, TABLE, let_back_in=True)
    assert [change.kind for change in back.changes] == ["return", "invite"]


def test_bad_rows_stop_an_import_unless_skipped(platform: Platform, staff: User) -> None:
    text = TABLE + "ada@uni.edu,Ada,3,A\nnot an address,Eve,4,A\nkim@uni.edu,Kim,2,A\n,Teach,,A\n"
    found = take(platform, staff, text, drop_missing=True)
    assert [(problem.line, problem.column, problem.text) for problem in found.problems] == [
        (4, "email", "line 2 names the same person"),
        (5, "email", "'not an address': this is not an e-mail address"),
        (6, "student_number", "line 3 names the same person"),
        (7, "", "the row has no e-mail address, student number or account"),
    ]
    assert not found.applied
    assert rosters.get_roster(platform, staff, "gpu").invited == []
    assert take(platform, staff, text, skip_bad=True).counts == {"invite": 2}


def test_named_accounts_must_exist(platform: Platform, staff: User, student: User, other: User) -> None:
    with writing(platform.sessions) as session:
        session.get_one(UserRow, other.id).email_key = "bob@uni.edu"
    text = "account,email\nADA,\nnobody,\nada,bob@uni.edu\nteacher,\n"
    assert [
        (problem.line, problem.column, problem.text) for problem in take(platform, staff, text).problems
    ] == [
        (3, "account", "there is no account 'nobody'"),
        (4, "email", "this address belongs to the account 'bob'"),
        (5, "", "'teacher' teaches this course"),
    ]
    assert take(platform, staff, text, skip_bad=True).counts == {"add": 1}
    assert courses.get_course(platform, student, "gpu").name == "GPU programming"
    (told,) = notices.list_notices(platform, student).notices
    assert told.text.startswith(
        "teacher added you to the course GPU programming as student. Open its page to take part"
    )


def test_large_rosters_are_imported_within_five_seconds(platform: Platform, staff: User) -> None:
    rows = "".join(f"s{n}@uni.edu,Student {n},{n},{n % 20}\n" for n in range(5_000))
    began = time.monotonic()
    found = take(platform, staff, "email,name,id,section\n" + rows[: rows.index("s500@")])
    sheet = joining.order_invitations(platform, staff, "gpu", InvitationOrder())
    took = time.monotonic() - began
    assert (found.counts, len(sheet.links)) == ({"invite": 500}, 500)
    assert took < 5
    assert take(platform, staff, "email,name,id,section\n" + rows).counts == {"invite": 4_500}


def test_students_may_not_use_rosters(platform: Platform, staff: User, student: User) -> None:
    with pytest.raises(NotFound):
        rosters.get_roster(platform, student, "gpu")
    take(platform, staff, "account\nada\n")
    with pytest.raises(NotAllowed):
        take(platform, student, TABLE)


@pytest.mark.usefixtures("student")
def test_a_member_is_changed_or_removed(platform: Platform, staff: User) -> None:
    take(platform, staff, "account\nada\n")
    (ada, _) = rosters.change_member(
        platform, staff, "gpu", "ada", MemberChange(section="B", group="red")
    ).members
    assert (ada.section, ada.group) == ("B", "red")
    assert (
        len(rosters.change_member(platform, staff, "gpu", "ada", MemberChange(on_roster=False)).members) == 1
    )
    with pytest.raises(BadRequest):
        rosters.change_member(platform, staff, "gpu", "teacher", MemberChange(on_roster=False))


@pytest.mark.both_databases
def test_a_removed_student_stays_out_until_readmitted(platform: Platform, staff: User, student: User) -> None:
    take(platform, staff, "account\nada\n")
    code = joining.make_code(platform, staff, "gpu", JoinCodeBody(uses=1)).code
    rosters.change_member(platform, staff, "gpu", "ada", MemberChange(on_roster=False))
    take(platform, staff, "email\nada@elsewhere.edu\n")
    sheet = joining.order_invitations(platform, staff, "gpu", InvitationOrder())
    for key in (code, sheet.links[0].link.partition("key=")[2]):
        with pytest.raises(NotAllowed, match="The staff of GPU programming removed you") as refused:
            joining.join(platform, student, key)
        assert "not used" in refused.value.hint
    (removed,) = rosters.get_roster(platform, staff, "gpu").removed
    assert removed.name == "ada"
    assert joining.list_codes(platform, staff, "gpu").codes[0].used == 0
    back = rosters.change_member(platform, staff, "gpu", "ada", MemberChange(on_roster=True))
    assert ([member.name for member in back.members], back.removed) == (["ada", "teacher"], [])
    # A file removes people, and lets them back in if staff say so; the log names them.
    take(platform, staff, "account\n", drop_missing=True)
    assert take(platform, staff, "account\nada\n").counts == {"removed": 1}
    assert [member.name for member in rosters.get_roster(platform, staff, "gpu").removed] == ["ada"]
    take(platform, staff, "account\nada\n", let_back_in=True)
    log = courses.get_audit(platform, staff, "gpu").entries
    mine = [entry.after for entry in log if entry.subject.endswith("/roster/ada")]
    assert mine == [{"on_roster": True}, {"on_roster": False}] * 2


def test_a_former_teacher_is_readmitted_as_a_student(platform: Platform, staff: User, student: User) -> None:
    """The right to edit a roster does not include making people staff."""
    for role in (CourseRole.INSTRUCTOR, None):
        courses.set_staff(platform, staff, "gpu", student.name, role)
    rosters.change_member(platform, staff, "gpu", student.name, MemberChange(on_roster=True))
    found = rosters.get_roster(platform, staff, "gpu").members
    assert [member.role for member in found if member.name == student.name] == [CourseRole.STUDENT]


def test_a_printed_link_creates_an_account_of_the_course(opened: Open, staff: User) -> None:  # noqa: F811
    platform = opened(sign_up="invite")
    take(platform, staff, TABLE)
    sheet = joining.order_invitations(
        platform, staff, "gpu", InvitationOrder(section="A"), "https://g.example"
    )
    (link,) = sheet.links
    assert (link.full_name, link.link.startswith("https://g.example/join?key=crs_")) == ("Ada Lovelace", True)
    key = link.link.partition("key=")[2]
    assert joining.offer(platform, key).full_name == "Ada Lovelace"
    made = sign_up.sign_up(platform, SignUpBody(name="countess", password="correct horse", key=key))
    (member,) = [
        member for member in rosters.get_roster(platform, staff, "gpu").members if member.name == "countess"
    ]
    assert (member.full_name, member.section, member.came_by) == (
        "Ada Lovelace",
        "A",
        "invitation 1: ada@uni.edu",
    )
    with platform.sessions() as session:
        row = session.get_one(UserRow, made.id)
        assert (row.came_by, row.email) == ("course gpu", None)
    with pytest.raises(LinkUseless):
        joining.join(platform, staff, key)
    # A person who joined by it belongs to the roster from then on.
    assert take(platform, staff, TABLE).unchanged == 2


def test_mailed_links_prove_the_address(opened: Open, box: Postbox, staff: User) -> None:  # noqa: F811
    platform = opened(sign_up="invite", **box.settings())
    take(platform, staff, TABLE + ",No Mail,3,A\n")
    sheet = joining.order_invitations(platform, staff, "gpu", InvitationOrder(mail=True))
    assert (sheet.mailed, sheet.unmailed, sheet.links) == (2, ["No Mail"], [])
    box.wait(2)
    (letter,) = [mail for mail in box.mails if mail["To"] == "ada@uni.edu"]
    key = link_in(letter).partition("key=")[2]
    made = sign_up.sign_up(platform, SignUpBody(name="ada", password="correct horse", key=key))
    with platform.sessions() as session:
        assert session.get_one(UserRow, made.id).email == "ada@uni.edu"


def test_a_new_sheet_revokes_earlier_links(platform: Platform, staff: User, student: User) -> None:
    take(platform, staff, TABLE)
    first = joining.order_invitations(platform, staff, "gpu", InvitationOrder()).links[0]
    second = joining.order_invitations(platform, staff, "gpu", InvitationOrder()).links[0]
    with pytest.raises(LinkUseless):
        joining.join(platform, student, first.link.partition("key=")[2])
    assert joining.join(platform, student, second.link.partition("key=")[2]).slug == "gpu"


def test_a_join_code_has_limited_uses(platform: Platform, staff: User, student: User, other: User) -> None:
    code = joining.make_code(platform, staff, "gpu", JoinCodeBody(section="B", uses=1))
    typed = f" {code.code.lower().replace('-', ' ')} "
    for _ in range(2):  # repeating is not an error, and takes one use
        joining.join(platform, student, typed)
    (ada, _) = rosters.get_roster(platform, staff, "gpu").members
    assert (ada.section, ada.came_by) == ("B", "join code 1")
    with pytest.raises(LinkUseless):
        joining.join(platform, other, typed)
    revoked = joining.make_code(platform, staff, "gpu", JoinCodeBody())
    joining.revoke_code(platform, staff, "gpu", revoked.id)
    with pytest.raises(LinkUseless):
        joining.join(platform, other, revoked.code)


def test_a_join_code_can_create_an_account(opened: Open, staff: User) -> None:  # noqa: F811
    platform = opened(sign_up="invite")
    code = joining.make_code(platform, staff, "gpu", JoinCodeBody())
    assert sign_up.offer(platform, code.code).label == "GPU programming Autumn 2026"
    made = sign_up.sign_up(platform, SignUpBody(name="eve", password="correct horse", key=code.code))
    assert courses.get_course(platform, made, "gpu").slug == "gpu"


@pytest.mark.both_databases
def test_joining_twice_at_once_counts_once(platform: Platform, staff: User, student: User) -> None:
    code = joining.make_code(platform, staff, "gpu", JoinCodeBody()).code
    with ThreadPoolExecutor(8) as threads:
        joined = list(threads.map(lambda _: joining.join(platform, student, code).slug, range(8)))
    assert joined == ["gpu"] * 8
    assert [code.used for code in joining.list_codes(platform, staff, "gpu").codes] == [1]
