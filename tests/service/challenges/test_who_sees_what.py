"""The readers of each challenge: one table for every page and call that somebody outside a course can open."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from grader.errors import BadRequest, Conflict, NotAllowed, UnknownChallenge
from grader.records.models import utcnow
from grader.schemas.account import Role
from grader.schemas.assignment import AssignmentBody, PartBody
from grader.schemas.competition import ChallengeBody, CompetitionBody
from grader.schemas.course import CourseRole, RosterBody
from grader.schemas.upload import UseBody
from grader.service.accounts import accounts
from grader.service.accounts.accounts import User
from grader.service.boards import leaderboard, share
from grader.service.challenges import catalogue, publication, uploads
from grader.service.competitions import competitions
from grader.service.courses import assignments, courses, rosters
from grader.service.platform import Platform
from grader.web.app import create_app
from tests.service.challenges.catalogues import body, make_course, put_in_use, reload, scale
from tests.service.courses.scenes import take_part
from tests.web import builders
from tests.web.conftest import csrf
from tests.web.security.rows import ROUTES

TITLE = "Zanzibar"  # in the title of every challenge of the course
COMMON = {"scale"}
COMMON_DRAFT = {"only_cuda"}
DRAFT, PUBLISHED, ASSIGNED = {"ours_draft"}, {"ours_public"}, {"ours_assigned"}
OURS = DRAFT | PUBLISHED | ASSIGNED
# Course A owns OURS. Each row: a person, and the challenges that they see.
TABLE: dict[str, set[str]] = {
    "nobody": COMMON,
    "visitor": COMMON,
    "student_of_a": COMMON | PUBLISHED | ASSIGNED,
    "invited_to_a": COMMON,
    "left_a": COMMON,
    "assistant_of_a": COMMON | PUBLISHED | ASSIGNED,
    "instructor_of_a": COMMON | COMMON_DRAFT | OURS,
    "student_of_b": COMMON,
    "instructor_of_b": COMMON | COMMON_DRAFT,
    "teaches_b_learns_in_a": COMMON | COMMON_DRAFT | PUBLISHED | ASSIGNED,
    "staff": COMMON | COMMON_DRAFT | OURS,
    "admin": COMMON | COMMON_DRAFT | OURS,
}


@pytest.fixture
def people(platform: Platform) -> dict[str, User | None]:
    roles = {"staff": Role.STAFF, "admin": Role.ADMIN}
    found: dict[str, User | None] = {
        name: accounts.create_user(platform, name, builders.PASSWORD, roles.get(name, Role.STUDENT))
        for name in TABLE
        if name != "nobody"
    }
    admin = found["admin"]
    assert admin is not None
    for course, teacher in (("a", "instructor_of_a"), ("b", "instructor_of_b")):
        owner = found[teacher]
        assert owner is not None
        found[teacher] = make_course(platform, admin, course, owner)
    courses.set_staff(platform, admin, "a", "assistant_of_a", CourseRole.ASSISTANT)
    courses.set_staff(platform, admin, "b", "teaches_b_learns_in_a", CourseRole.INSTRUCTOR)
    enrol(platform, admin, "a", "student_of_a", "left_a", "teaches_b_learns_in_a", "invited_to_a")
    enrol(platform, admin, "b", "student_of_b")
    joined = [user for name, user in found.items() if user is not None and name != "invited_to_a"]
    take_part(platform, *joined)
    teacher_of_a = found["instructor_of_a"]
    assert teacher_of_a is not None
    put_in_use(platform, teacher_of_a, "a", *(scale(platform, slug, TITLE) for slug in sorted(OURS)))
    publication.publish(platform, teacher_of_a, "ours_public")
    publication.hide(platform, admin, "only_cuda")
    assign(platform, teacher_of_a, "a", "ours_assigned")
    leave = RosterBody(text="account\nstudent_of_a\nteaches_b_learns_in_a\ninvited_to_a\n", drop_missing=True)
    rosters.import_roster(platform, admin, "a", leave.model_copy(update={"dry_run": False}))
    return {"nobody": None} | {
        name: reload(platform, user) for name, user in found.items() if user is not None
    }


def enrol(platform: Platform, teacher: User, course: str, *names: str) -> None:
    text = "account\n" + "\n".join(names)
    rosters.import_roster(platform, teacher, course, RosterBody(text=text, dry_run=False))


def assign(platform: Platform, teacher: User, course: str, slug: str) -> None:
    now = utcnow()
    made = AssignmentBody(
        title="One",
        parts=[PartBody(challenge=slug)],
        open_at=(now - timedelta(hours=1)).isoformat(),
        due_at=(now + timedelta(hours=1)).isoformat(),
    )
    assignments.put_assignment(platform, teacher, course, "one", made)
    assignments.publish_assignment(platform, teacher, course, "one")


def test_the_table_of_who_sees_what(platform: Platform, people: dict[str, User | None]) -> None:
    everything = COMMON | COMMON_DRAFT | OURS
    for name, user in people.items():
        listed = {challenge.slug for challenge in catalogue.list_challenges(platform, user).challenges}
        assert listed == TABLE[name], name
        for slug in everything:
            if slug in TABLE[name]:
                assert catalogue.get_challenge(platform, slug, user).slug == slug, name
                leaderboard.leaderboard(platform, slug, viewer=user)
                continue
            with pytest.raises(UnknownChallenge) as refused:
                catalogue.get_challenge(platform, slug, user)
            assert not any(hidden in refused.value.hint for hidden in everything - TABLE[name]), name
            with pytest.raises(UnknownChallenge):
                leaderboard.leaderboard(platform, slug, viewer=user)
            if user is not None:
                with pytest.raises(UnknownChallenge):
                    builders.hand_in(platform, user, challenge=slug)


def test_only_the_course_staff_change_its_challenges(
    platform: Platform, people: dict[str, User | None]
) -> None:
    may_read = {"instructor_of_a", "staff", "admin"}
    for name, user in people.items():
        if user is None:
            continue
        if name in may_read:
            assert uploads.get_upload(platform, user, "ours_public", 1).upload.in_use
        else:
            # The same words as for a challenge that does not exist.
            said = []
            for slug in ("ours_public", "nothing"):
                with pytest.raises(NotAllowed) as refused:
                    uploads.get_archive(platform, user, slug, 1)
                said.append(refused.value.told)
            assert name in ("left_a", "student_of_a", "assistant_of_a") or said[0] == said[1], name
        if name in ("instructor_of_a", "admin"):
            assert publication.publish(platform, user, "ours_public").course == "a"
            continue
        with pytest.raises(NotAllowed):
            publication.hide(platform, user, "ours_public")
        with pytest.raises(NotAllowed):
            uploads.use(platform, user, "ours_public", 1, UseBody(unproven=True))


def test_a_course_takes_no_name_of_others_and_nobody_else_uses_its_challenges(
    platform: Platform, people: dict[str, User | None]
) -> None:
    teacher, admin = people["instructor_of_b"], people["admin"]
    assert teacher is not None
    assert admin is not None
    for slug in ("ours_draft", "scale"):
        with pytest.raises(Conflict, match="taken"):
            uploads.upload_to_course(
                platform, teacher, "b", body(scale(platform, "free"), scale(platform, slug))
            )
    with pytest.raises(NotAllowed):
        uploads.get_upload(platform, teacher, "free", 1)  # all are stored, or none
    for who in (teacher, admin):
        with pytest.raises(BadRequest, match="no challenge 'ours_public'"):
            assign(platform, who, "b", "ours_public")
    cup = CompetitionBody(
        slug="cup",
        title="Cup",
        challenges=[ChallengeBody(challenge="ours_public")],
        starts_at=utcnow(),
        ends_at=utcnow() + timedelta(days=1),
        time_zone="UTC",
    )
    with pytest.raises(BadRequest, match="belongs to a course"):
        competitions.create_competition(platform, admin, cup)


@pytest.fixture
def app(platform: Platform) -> Flask:
    return create_app(platform)


def signed_in(app: Flask, user: User | None) -> FlaskClient:
    client = app.test_client()
    assert user is not None
    data = {"name": user.name, "password": builders.PASSWORD, "csrf_token": csrf(client)}
    assert client.post("/sign-in", data=data).status_code == 303
    return client


def test_no_page_and_no_call_shows_a_courses_challenge_to_others(
    platform: Platform, people: dict[str, User | None], app: Flask, tmp_path: Path
) -> None:
    """A student of the course was judged on each, so profiles, boards and lists know of it."""
    student, outsider = people["student_of_a"], people["instructor_of_b"]
    assert student is not None
    for slug in PUBLISHED | ASSIGNED:
        view = builders.judged(platform, student, builders.accepted(challenge=slug), challenge=slug)
    with pytest.raises(NotAllowed):
        share.share(platform, student, view.id)
    insider, client = signed_in(app, student), signed_in(app, outsider)
    assert TITLE in insider.get("/").text
    assert TITLE in insider.get("/users/student_of_a").text
    values = {"slug": "ours_public", "challenge": "ours_public", "name": "student_of_a"}
    values |= {"number": "1", "version": "1", "track": "first", "submission": view.id, "id": view.id}
    asked = [(rule, course) for method, rule, _ in ROUTES if method == "GET" for course in ("a", "b")]
    paths = set()
    for rule, course in asked:
        if "static" in rule or "sign" in rule:
            continue
        path = rule
        for name, value in (values | {"course": course}).items():
            path = re.sub(rf"<(?:int:)?{name}>", value, path)
        paths.add(re.sub(r"<[^>]*>", "x", path))
    assert len(paths) > 150
    for path in sorted(paths):
        text = client.get(path).data.decode("utf-8", "replace")
        assert TITLE not in text, path
        assert "ours_public" in path or "ours_" not in text, path
