"""The export has all of a person's data; after the deletion only the announced remains stay."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, update

from grader.errors import BadRequest, Conflict, NotAllowed
from grader.records import personal
from grader.records.engine import writing
from grader.records.models import Base, DeletionRow, SubmissionRow, utcnow
from grader.schemas.account import Role
from grader.schemas.course import CourseBody, CourseRole, RosterBody
from grader.schemas.draft import DraftBody
from grader.schemas.feedback import CommentBody
from grader.schemas.personal import DeletionBody
from grader.service.accounts import accounts, deletion, people, personal_data, tokens
from grader.service.accounts.accounts import User, create_user
from grader.service.courses import courses, rosters
from grader.service.messages import mail
from grader.service.platform import Platform, open_platform
from grader.service.review import comments
from grader.service.submissions import drafts
from tests.service.accounts.conftest import Open
from tests.service.postbox import Postbox
from tests.service.world import make_catalogue
from tests.web import builders

PASSWORD = "correct horse"


def test_every_personal_column_has_a_declared_fate() -> None:
    known = {column.column for column in personal.COLUMNS}
    missing = sorted(personal.referring() - known)
    assert missing == [], (
        f"{', '.join(missing)}: add each to COLUMNS in grader/records/personal.py: removed, blanked or kept when an "
        "account is deleted, and whether its rows belong into the person's export. What is kept for a reason that a "
        "person should know is said in grader/service/accounts/deletion.py."
    )
    assert known <= personal.referring()
    for personal_column in personal.COLUMNS:
        assert set(personal_column.blank) <= set(personal_column.table.columns.keys()), personal_column.column


@pytest.fixture
def platform(tmp_path: Path) -> Iterator[Platform]:
    opened = open_platform(
        builders.make_settings(tmp_path, challenges=make_catalogue(tmp_path / "catalogue"))
    )
    yield opened
    opened.close()


@pytest.fixture
def admin(platform: Platform) -> User:
    return create_user(platform, "boss", PASSWORD, Role.ADMIN)


@pytest.fixture
def grace(platform: Platform, admin: User) -> User:
    person = create_user(platform, "Zelda", PASSWORD, email="hopper@navy.mil")
    courses.create_course(platform, admin, CourseBody(slug="gpu", name="GPU Programming"))
    table = "email,full_name,id,section\nhopper@navy.mil,Zelda Hopper,ZH-1906,A\n"
    rosters.import_roster(platform, admin, "gpu", RosterBody(text=table, dry_run=False))
    report = builders.wrong(challenge="scale", version=1)
    judged = builders.judged(platform, person, report, challenge="scale", source="# by hopper\n")
    comments.add(platform, admin, judged.id, CommentBody(text="a word for hopper"))
    drafts.keep_draft(platform, person, "scale", "triton", DraftBody(source="# hopper's draft"))
    tokens.issue_token(platform, person, "hopper's laptop")
    return person


def read(platform: Platform, user: User, name: str) -> dict[str, str]:
    with personal_data.export(platform, user, name) as file:
        archive = zipfile.ZipFile(io.BytesIO(file.read()))
    return {name: archive.read(name).decode() for name in archive.namelist()}


def test_an_export_is_complete_and_holds_no_secret(platform: Platform, grace: User) -> None:
    found = read(platform, grace, "zelda")
    assert json.loads(found["account.json"])["email"] == "hopper@navy.mil"
    (member,) = json.loads(found["tables/course_members.json"])
    assert (member["full_name"], member["student_number"], member["section"]) == (
        "Zelda Hopper",
        "ZH-1906",
        "A",
    )
    (submission,) = json.loads(found["tables/submissions.json"])
    folder = f"submissions/{submission['public_id']}"
    assert found[f"{folder}/source.py"] == "# by hopper\n"
    report = json.loads(found[f"{folder}/report.json"])
    # As its author reads it, without hidden cases.
    assert "n was 31" not in found[f"{folder}/report.json"]
    assert report["verdict"] == "wrong_answer"
    assert [comment["text"] for comment in json.loads(found["tables/comments.json"])] == ["a word for hopper"]
    assert found["drafts/scale.py"] == "# hopper's draft"
    assert "hopper's laptop" in found["tables/tokens.json"]
    exported = {f"tables/{column.table.name}.json" for column in personal.COLUMNS if column.exported}
    assert exported <= set(found)
    for column in ("sha256", "password_hash", "share_key"):
        assert f'"{column}"' not in "".join(found.values())


def test_only_the_person_and_admins_may_export_or_delete(
    platform: Platform, admin: User, grace: User
) -> None:
    other, tutor = (
        create_user(platform, "bob", PASSWORD),
        create_user(platform, "tutor", PASSWORD, Role.STAFF),
    )
    for act in (
        lambda user, name: read(platform, user, name),
        lambda user, name: deletion.preview(platform, user, name),
        lambda user, name: deletion.request(platform, user, name, DeletionBody(confirm=name)),
        lambda user, name: deletion.take_back(platform, user, name),
    ):
        for user, name in ((other, "Zelda"), (tutor, "boss"), (replace(tutor, scopes=frozenset()), "Zelda")):
            with pytest.raises(NotAllowed):
                act(user, name)
        for user, name in ((grace, "Zelda"), (tutor, "Zelda"), (admin, "tutor")):
            act(user, name)


def everything(platform: Platform) -> str:
    with platform.sessions() as session:
        rows = {
            name: [tuple(map(str, row)) for row in session.execute(select(table))]
            for name, table in Base.metadata.tables.items()
        }
    return json.dumps(rows).lower()


def test_a_deletion_is_delayed_and_keeps_only_what_was_announced(
    platform: Platform, admin: User, grace: User
) -> None:
    said = deletion.preview(platform, grace, "Zelda")
    assert any("GPU Programming" in sentence for sentence in said.stays)
    assert any("1 submissions" in sentence for sentence in said.stays)
    with pytest.raises(BadRequest, match="typed"):
        deletion.request(platform, grace, "Zelda", DeletionBody(confirm="zelda"))
    asked = deletion.request(platform, grace, "Zelda", DeletionBody(confirm="Zelda"))
    assert asked.due_at is not None
    assert asked.due_at - utcnow() > timedelta(days=13)
    assert deletion.carry_out(platform) == 0
    assert deletion.take_back(platform, grace, "Zelda").due_at is None
    deletion.request(platform, admin, "Zelda", DeletionBody(confirm="Zelda"))
    with writing(platform.sessions) as session:
        session.execute(update(DeletionRow).values(due_at=utcnow()))
    assert deletion.carry_out(platform) == 1
    left = everything(platform)
    traces = [
        left[max(0, at - 90) : at + 60]
        for word in ("zelda", "hopper", "zh-1906", "navy")
        if (at := left.find(word)) >= 0
    ]
    assert traces == []
    with platform.sessions() as session:
        # The verdict stays, as does a course's point for it.
        assert session.scalar(select(SubmissionRow.verdict)) is not None
    names = [person.name for person in people.list_people(platform, admin).people]
    assert any(name.startswith("deleted-user-") for name in names)


def test_the_only_admin_or_owner_cannot_be_deleted(platform: Platform, admin: User) -> None:
    tutor = create_user(platform, "tutor", PASSWORD, Role.STAFF)
    with pytest.raises(Conflict, match="only admin"):
        deletion.request(platform, admin, "boss", DeletionBody(confirm="boss"))
    courses.create_course(platform, tutor, CourseBody(slug="gpu", name="GPU"))
    with pytest.raises(Conflict, match="only owner"):
        deletion.request(platform, tutor, "tutor", DeletionBody(confirm="tutor"))
    courses.set_staff(platform, admin, "gpu", "boss", CourseRole.OWNER)
    assert accounts.user_by_id(platform, tutor.id) is not None
    assert deletion.request(platform, tutor, "tutor", DeletionBody(confirm="tutor")).due_at is not None


def test_a_requested_deletion_is_announced_by_mail(opened: Open, box: Postbox) -> None:
    platform = opened(**box.settings())
    ada = create_user(platform, "ada", PASSWORD, email="ada@uni.example")
    for _ in range(2):  # of the first time
        deletion.request(platform, ada, "ada", DeletionBody(confirm="ada"))
    message = box.wait()
    assert message["To"] == "ada@uni.example"
    assert "https://grader.uni.example/account/data" in message.get_content()
    mail.settle()
    assert len(box.mails) == 1
