"""The challenges that a person sees: drafts, their times, and those that an assignment or a competition opens."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import delete, text

from grader.errors import BadRequest, ChallengeInvalid, Conflict, NotAllowed, UnknownChallenge
from grader.records.engine import writing
from grader.records.models import ChallengeStateRow, utcnow
from grader.schemas.account import Role
from grader.schemas.assignment import AssignmentBody, PartBody
from grader.schemas.course import CourseBody, CourseRole, RosterBody
from grader.schemas.publication import PublicationBody, PublicationState
from grader.service.accounts import accounts
from grader.service.accounts.accounts import User
from grader.service.challenges import catalogue, publication
from grader.service.competitions import competitions
from grader.service.courses import assignments, courses, rosters
from grader.service.platform import Platform, open_platform
from grader.service.submissions.submit import submit
from tests.service import world
from tests.service.competitions import builders

PASSWORD = "correct horse"


@pytest.fixture
def platform(tmp_path: Path) -> Iterator[Platform]:
    opened = open_platform(world.make_settings(tmp_path, f"unix://{tmp_path}/nobody.sock"))
    yield opened
    opened.close()


@pytest.fixture
def staff(platform: Platform) -> User:
    return accounts.create_user(platform, "teacher", PASSWORD, Role.STAFF)


@pytest.fixture
def ada(platform: Platform) -> User:
    return accounts.create_user(platform, "ada", PASSWORD)


@pytest.fixture
def draft(platform: Platform) -> str:
    challenges = platform.catalogue.root / "challenges"
    shutil.copytree(challenges / "scale", challenges / "secret_scale")
    shutil.copytree(
        platform.catalogue.root / "reference" / "scale",
        platform.catalogue.root / "reference" / "secret_scale",
    )
    return "secret_scale"


def seen(platform: Platform, user: User | None) -> set[str]:
    return {challenge.slug for challenge in catalogue.list_challenges(platform, user).challenges}


def test_folders_of_the_first_start_are_published_and_later_ones_are_drafts(
    platform: Platform, staff: User, ada: User, draft: str
) -> None:
    again = open_platform(platform.settings)
    try:
        assert seen(again, ada) == seen(again, None) == {"scale", "only_cuda"}
        assert seen(again, staff) == {"scale", "only_cuda", draft}
        assert publication.get_state(again, staff, draft).state is PublicationState.DRAFT
        with pytest.raises(UnknownChallenge) as told:
            catalogue.get_challenge(again, draft, ada)
        with pytest.raises(UnknownChallenge) as of_nothing:
            catalogue.get_challenge(again, "secret_scal", ada)
        # The same text, which names no draft.
        assert told.value.message.replace(draft, "") == of_nothing.value.message.replace("secret_scal", "")
        assert "secret" not in told.value.hint + of_nothing.value.hint
    finally:
        again.close()


def test_an_upgrade_keeps_served_challenges_published(platform: Platform, ada: User) -> None:
    with writing(platform.sessions) as session:
        session.execute(delete(ChallengeStateRow))
        session.execute(text("DELETE FROM chores"))
    assert seen(platform, ada) == set()
    upgraded = open_platform(platform.settings)
    assert seen(upgraded, ada) == {"scale", "only_cuda"}
    upgraded.close()


def test_staff_try_a_draft_and_students_do_not(
    platform: Platform, staff: User, ada: User, draft: str
) -> None:
    assert submit(platform, staff, world.body(challenge=draft)).challenge == draft
    with pytest.raises(UnknownChallenge):
        submit(platform, ada, world.body(challenge=draft))
    publication.publish(platform, staff, draft)
    assert submit(platform, ada, world.body(challenge=draft)).challenge == draft
    with pytest.raises(Conflict, match="Students have already submitted"):
        publication.change(platform, staff, draft, PublicationBody(state="draft"))
    publication.hide(platform, staff, draft)
    assert draft not in seen(platform, ada)


def test_a_scheduled_draft_is_published_by_itself(
    platform: Platform, staff: User, ada: User, draft: str
) -> None:
    at = utcnow() + timedelta(hours=1)
    publication.schedule(platform, staff, draft, at)
    with platform.sessions() as session:
        assert draft not in publication.visible_to(session, ada)
        assert draft in publication.visible_to(session, ada, at)
    with pytest.raises(BadRequest, match="past"):
        publication.schedule(platform, staff, draft, utcnow() - timedelta(minutes=1))
    with pytest.raises(BadRequest, match="publish_at"):
        publication.change(platform, staff, draft, PublicationBody(state="published", publish_at=at))


def test_only_platform_staff_publish_and_never_a_broken_challenge(
    platform: Platform, staff: User, ada: User, draft: str
) -> None:
    with pytest.raises(NotAllowed):
        publication.publish(platform, ada, "scale")
    (platform.catalogue.root / "challenges" / draft / "challenge.toml").write_text("title = ")
    with pytest.raises(ChallengeInvalid):
        publication.publish(platform, staff, draft)
    assert publication.get_state(platform, staff, draft).broken


def test_an_assignment_opens_a_draft_to_its_students(
    platform: Platform, staff: User, ada: User, draft: str
) -> None:
    bob = accounts.create_user(platform, "bob", PASSWORD)
    courses.create_course(platform, staff, CourseBody(slug="gpu", name="GPU"))
    rosters.import_roster(platform, staff, "gpu", RosterBody(text="account\nada\n", dry_run=False))
    now = utcnow()

    def assign(opens: timedelta, due: timedelta) -> None:
        body = AssignmentBody(
            title="Week 1",
            parts=[PartBody(challenge=draft)],
            open_at=(now + opens).isoformat(),
            due_at=(now + due).isoformat(),
        )
        assignments.put_assignment(platform, staff, "gpu", "week1", body)
        assignments.publish_assignment(platform, staff, "gpu", "week1")

    assign(timedelta(hours=1), timedelta(hours=2))
    assert draft not in seen(platform, ada)
    (view,) = assignments.list_assignments(platform, ada, "gpu").assignments
    assert "secret" not in str(view.parts)
    assign(timedelta(hours=-1), timedelta(hours=2))
    assert draft in seen(platform, ada)
    assert draft not in seen(platform, bob)
    assert submit(platform, ada, world.body(challenge=draft)).challenge == draft
    assign(timedelta(hours=-2), timedelta(hours=-1))
    # The end closes it; judged submissions stay readable.
    assert draft in seen(platform, ada)
    with pytest.raises(NotAllowed, match="takes no submissions"):
        submit(platform, ada, world.body(challenge=draft))


def test_instructors_see_all_drafts_and_assistants_those_of_their_course(
    platform: Platform, staff: User, draft: str
) -> None:
    people = {}
    courses.create_course(platform, staff, CourseBody(slug="gpu", name="GPU"))
    for role in (CourseRole.INSTRUCTOR, CourseRole.ASSISTANT):
        made = accounts.create_user(platform, role.value, PASSWORD)
        courses.set_staff(platform, staff, "gpu", made.name, role)
        found = accounts.user_by_id(platform, made.id)
        assert found is not None
        people[role] = found
    assert draft in seen(platform, people[CourseRole.INSTRUCTOR])
    assert draft not in seen(platform, people[CourseRole.ASSISTANT])
    parts = [PartBody(challenge=draft)]
    body = AssignmentBody(title="Week 1", parts=parts, open_at="2026-01-01", due_at="2999-12-31")
    assignments.put_assignment(platform, people[CourseRole.INSTRUCTOR], "gpu", "week1", body)
    assert draft in seen(platform, people[CourseRole.ASSISTANT])
    assert submit(platform, people[CourseRole.ASSISTANT], world.body(challenge=draft)).challenge == draft
    with pytest.raises(NotAllowed):
        publication.publish(platform, people[CourseRole.INSTRUCTOR], draft)


def test_teachers_do_not_see_drafts_of_a_coming_competition(
    platform: Platform, staff: User, draft: str
) -> None:
    courses.create_course(platform, staff, CourseBody(slug="gpu", name="GPU"))
    made = accounts.create_user(platform, "tom", PASSWORD)
    courses.set_staff(platform, staff, "gpu", made.name, CourseRole.INSTRUCTOR)
    tom = accounts.user_by_id(platform, made.id)
    assert tom is not None
    start = utcnow() + timedelta(minutes=30)
    competitions.create_competition(
        platform, staff, builders.competition_body(challenges=[{"challenge": draft}], starts_at=start)
    )
    body = AssignmentBody(
        title="Week 1", parts=[PartBody(challenge=draft)], open_at="2026-01-01", due_at="2999-12-31"
    )
    assert draft not in seen(platform, tom)
    assert draft not in publication.unpublished(platform, tom)
    assert draft not in {
        challenge.challenge for challenge in publication.list_states(platform, tom).challenges
    }
    with pytest.raises(BadRequest, match="There is no challenge") as refused:
        assignments.put_assignment(platform, tom, "gpu", "week1", body)
    assert draft not in refused.value.hint
    assert draft in seen(platform, staff)
    builders.elapse(platform, hours=0.75)
    assert draft in seen(platform, tom)


def test_a_competition_opens_a_draft_to_participants(
    platform: Platform, staff: User, ada: User, draft: str
) -> None:
    bob = accounts.create_user(platform, "bob", PASSWORD)
    builders.make(
        platform, staff, challenges=[{"challenge": draft}], starts_at=utcnow() + timedelta(minutes=30)
    )
    builders.enter(platform, ada)
    assert draft not in seen(platform, ada)
    assert competitions.get_competition(platform, ada, "cup").challenges == []
    builders.elapse(platform, hours=0.75)
    assert draft in seen(platform, ada)
    assert draft not in seen(platform, bob)
    assert submit(platform, ada, world.body(challenge=draft)).competition == "cup"
    with pytest.raises(NotAllowed, match="takes no submissions"):
        submit(platform, ada, world.body(challenge=draft, competition=""))
