"""The table of permissions in a course, applied to every route of courses, by every standing. A route of a
course that declares no action fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from grader.schemas.account import Role
from grader.schemas.assignment import AssignmentBody, ExtensionBody, PartBody
from grader.schemas.course import CourseBody, CourseChange, CourseRole, JoinCodeBody, RosterBody, Visibility
from grader.schemas.feedback import CriterionBody, FeedbackBody, Shown
from grader.service.accounts import accounts
from grader.service.accounts.accounts import User
from grader.service.courses import assignments, courses, extensions, feedback, joining, rosters
from grader.service.courses.permissions import TABLE, Action, Standing
from grader.service.platform import Platform, open_platform
from grader.web.throttle import limiter
from tests.service.competitions.builders import make
from tests.service.world import make_catalogue
from tests.web import builders
from tests.web.conftest import Visit, csrf
from tests.web.security.rows import (
    API,
    FORMS_OF_COURSES,
    OF_COURSES,
    OF_COURSES_BODIES,
    PAGES_OF_COURSES,
    ROUTES,
)


def declared(start: str) -> dict[tuple[str, str], Action]:
    return {
        (method, rule.removeprefix(start)): access.action
        for method, rule, access in ROUTES
        if rule.startswith(start) and access and access.action
    }


ACTIONS = declared(f"{API}/courses/<course>")
PAGES = declared("/courses/<course>")
PEOPLE = tuple(Standing)


@dataclass(frozen=True)
class Scene:
    platform: Platform
    people: dict[Standing, User]
    secret: str
    """a course that only its members know of; ``open`` is one that everyone does"""


@pytest.fixture
def platform(tmp_path: Path, database: str) -> Iterator[Platform]:
    opened = open_platform(
        builders.make_settings(tmp_path, challenges=make_catalogue(tmp_path / "catalogue"))
    )
    yield opened
    opened.close()


@pytest.fixture
def scene(platform: Platform) -> Scene:
    roles = dict.fromkeys(PEOPLE, Role.STUDENT) | {Standing.STAFF: Role.STAFF, Standing.ADMIN: Role.ADMIN}
    people = {
        item: accounts.create_user(platform, item.value, builders.PASSWORD, role)
        for item, role in roles.items()
    }
    admin = people[Standing.ADMIN]
    accounts.create_user(platform, "ada", builders.PASSWORD)
    accounts.create_user(platform, "bob", builders.PASSWORD)
    for slug, visibility in (("secret", Visibility.MEMBERS), ("open", Visibility.LISTED)):
        # Created by somebody who leaves, so nobody has two roles.
        maker = accounts.create_user(platform, f"maker-{slug}", builders.PASSWORD, Role.STAFF)
        courses.create_course(platform, maker, CourseBody(slug=slug, name=slug, visibility=visibility))
        for role in (CourseRole.OWNER, CourseRole.INSTRUCTOR, CourseRole.ASSISTANT):
            courses.set_staff(platform, admin, slug, role.value, role)
        courses.set_staff(platform, admin, slug, maker.name, None)
        text = "account,email\nada,\nstudent,\n,waits@uni.edu\n"
        rosters.import_roster(platform, admin, slug, RosterBody(text=text, dry_run=False))
        body = AssignmentBody(
            title="Week 1", parts=[PartBody(challenge="scale")], open_at="2026-01-01", due_at="2026-12-31"
        )
        assignments.put_assignment(platform, admin, slug, "week1", body)
        assignments.publish_assignment(platform, admin, slug, "week1")
        rubric = {"scale": [CriterionBody(title="Readability", points=5)]}
        feedback.put_feedback(
            platform, admin, slug, "week1", FeedbackBody(shown=Shown.ON_RELEASE, rubric=rubric)
        )
        extensions.extend(platform, admin, slug, "week1", ExtensionBody(student="ada", due_at="2027-01-01"))
        joining.make_code(platform, admin, slug, JoinCodeBody())
    # Loaded again: teaching changed their token's rights.
    present = {each: accounts.user_by_id(platform, user.id) for each, user in people.items()}
    return Scene(platform, {entry: user for entry, user in present.items() if user is not None}, "secret")


@pytest.fixture(autouse=True)
def _unthrottled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limiter, "enabled", False)


def rules(app: Flask, start: str) -> set[tuple[str, str]]:
    return {
        (method, rule.rule.removeprefix(start))
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith(start)
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }


def test_every_route_declares_its_action(app: Flask) -> None:
    assert set(ACTIONS) == {row[:2] for row in OF_COURSES} == rules(app, f"{API}/courses/<course>")
    assert set(PAGES) == {row[:2] for row in PAGES_OF_COURSES} == rules(app, "/courses/<course>")


@pytest.mark.parametrize("standing", PEOPLE)
def test_the_api_follows_the_table_of_permissions(scene: Scene, call: Visit, standing: Standing) -> None:
    client = call(scene.people[standing])

    def ask(method: str, slug: str, path: str) -> TestResponse:
        json = OF_COURSES_BODIES.get(path, {}) if method != "GET" else None
        return client.open(f"{API}/courses/{slug}{path}", method=method, json=json)

    assert wrong(standing, ACTIONS, OF_COURSES, ask) == []


@pytest.mark.parametrize("standing", PEOPLE)
def test_the_pages_follow_the_table_of_permissions(scene: Scene, visit: Visit, standing: Standing) -> None:
    client = visit(scene.people[standing])
    token = csrf(client, "/courses")

    def ask(method: str, slug: str, path: str) -> TestResponse:
        form = FORMS_OF_COURSES.get(path, {}) | {"csrf_token": token}
        at = f"/courses/{slug}{path}"
        return client.get(at) if method == "GET" else client.post(at, data=form)

    assert wrong(standing, PAGES, PAGES_OF_COURSES, ask) == []


def wrong(
    standing: Standing,
    actions: dict[tuple[str, str], Action],
    rows: list[tuple[str, str, str]],
    ask: Callable[[str, str, str], TestResponse],
) -> list[str]:
    """Deviations: permitted callers must be answered, others refused, as if the course did not exist if they
    may not know of it.
    """
    found = []
    member = standing in TABLE[Action.COURSE_READ]
    for slug in ("secret", "open"):
        known = member or slug == "open"
        for method, rule, path in rows:
            answer = ask(method, slug, path)
            allowed = known and standing in TABLE[actions[method, rule]]
            fine = answer.status_code < 300 or answer.status_code == 303 or _missing(answer.text)
            if fine != allowed or (not allowed and answer.status_code != (403 if known else 404)):
                found.append(f"{method} {slug}{rule}: {answer.status_code} {answer.text[-300:]}")
    return found


def _missing(text: str) -> bool:
    """The refusal for a permitted caller whose object does not exist or has another state: not the course's,
    nor the role's.
    """
    said = (
        "no join code 9",
        "no invitation 9",
        "no extension 9",
        "no pair 9",
        "no regrade request 9",
        "no announcement 9",
        "no question 9",
        "has no criterion 1",
        "no linked course 9",
        "no link 9",
        "has no repository",
        "readable ZIP archive",
        "No file was chosen",
        "is published",
        "No open assignment of this course takes groups",
        "waiting for a link",
    )
    return any(words in text for words in said)


def test_only_staff_create_courses(scene: Scene, call: Visit) -> None:
    for standing, user in scene.people.items():
        answer = call(user).post(f"{API}/courses", json={"slug": f"of-{standing.value}", "name": "New"})
        assert answer.status_code == (201 if standing in TABLE[Action.COURSE_CREATE] else 403), standing


def test_only_owners_archive_a_course(scene: Scene) -> None:
    from grader.errors import NotAllowed

    with pytest.raises(NotAllowed):
        courses.change_course(
            scene.platform, scene.people[Standing.INSTRUCTOR], scene.secret, CourseChange(archived=True)
        )


# Actions outside courses, by calls that change nothing: permitted callers learn that the object is missing or
# invalid.
OF_PLATFORM: list[tuple[str, str, Action]] = [
    ("GET", "/operations", Action.OPERATIONS_READ),
    ("POST", "/operations/retry", Action.SUBMISSION_REQUEUE),
    ("GET", "/audit", Action.PLATFORM_AUDIT),
    ("GET", "/budgets", Action.BUDGETS_READ),
    ("PUT", "/budgets/course/none", Action.BUDGET_SET),
    ("POST", "/queues/none/pause", Action.QUEUE_PAUSE),
    ("POST", "/queues/none/resume", Action.QUEUE_RESUME),
    ("POST", "/workers/none/drain", Action.WORKER_DRAIN),
    ("DELETE", "/worker-tokens/none", Action.WORKER_TOKEN),
    ("POST", "/workers/none/resume", Action.WORKER_RESUME),
    ("POST", "/challenges/none/kind", Action.CHALLENGE_KIND),
    ("GET", "/challenge-states", Action.CHALLENGE_READ_DRAFT),
    ("PUT", "/challenges/none/state", Action.CHALLENGE_PUBLISH),
    ("PUT", "/challenges/none/board", Action.CHALLENGE_BOARD),
    ("POST", "/challenges/none/publish", Action.VERSION_PUBLISH),
    ("GET", "/challenges/none/sources.zip", Action.SOURCES_ANY),
    ("GET", "/uploads", Action.CHALLENGE_UPLOADS),
    ("POST", "/uploads", Action.CHALLENGE_UPLOAD),
    ("PUT", "/uploads/none/spec", Action.CHALLENGE_EDIT_SPEC),
    ("POST", "/uploads/none/1/check", Action.CHALLENGE_CHECK),
    ("POST", "/uploads/none/1/stop", Action.CHALLENGE_CHECK),
    ("POST", "/uploads/none/1/use", Action.CHALLENGE_USE),
    ("GET", "/people/none/export", Action.ACCOUNT_EXPORT),
    ("POST", "/people/none/deletion", Action.ACCOUNT_DELETE),
    ("POST", "/invitations", Action.INVITATION_MAKE),
    ("DELETE", "/invitations/9", Action.INVITATION_REVOKE),
    ("GET", "/lti/platforms", Action.LTI_PLATFORM),
    ("GET", "/competitions/cup", Action.COMPETITION_READ),
    ("POST", "/competitions", Action.COMPETITION_EDIT),
    ("POST", "/competitions/cup", Action.COMPETITION_EDIT),
    ("GET", "/competitions/cup/teams", Action.COMPETITION_DISQUALIFY),
    ("POST", "/competitions/cup/disqualify", Action.COMPETITION_DISQUALIFY),
    ("POST", "/competitions/cup/finalists", Action.COMPETITION_FINAL),
    ("POST", "/competitions/cup/final", Action.COMPETITION_FINAL),
    ("POST", "/competitions/cup/results", Action.COMPETITION_RESULTS),
    ("GET", "/competitions/cup/sources.zip", Action.SOURCES_ANY),
]


def test_course_staff_have_no_platform_rights(scene: Scene, call: Visit) -> None:
    make(scene.platform, scene.people[Standing.ADMIN])
    wrongly = []
    for standing, user in scene.people.items():
        client = call(user)
        for method, path, action in OF_PLATFORM:
            sent = None if method == "GET" else {"x": 1}
            status = client.open(API + path, method=method, json=sent).status_code
            if (status != 403) != (standing in TABLE[action]) or status in (401, 405) or status >= 500:
                wrongly.append((standing, method, path, status))
    assert wrongly == []
