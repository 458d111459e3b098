"""Who may read boards and profiles, by the platform's setting."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader.errors import GraderError
from grader.schemas.account import Role
from grader.schemas.course import CourseBody, CourseRole, RosterBody
from grader.schemas.preferences import PreferencesBody
from grader.schemas.token import Scope
from grader.service.accounts import accounts, preferences
from grader.service.accounts.accounts import User
from grader.service.boards.leaderboard import board_and_records, leaderboard, records_over_time
from grader.service.boards.profile import profile
from grader.service.boards.track_board import leaderboards, track_board
from grader.service.courses import courses, rosters
from grader.service.platform import Platform, open_platform
from grader.settings import Settings
from tests.service import world
from tests.service.courses.scenes import take_part

pytestmark = pytest.mark.both_databases

PASSWORD = "correct horse"
SLUG = "scale"

Read = Callable[[Platform, User | None], object]

READS: dict[str, Read] = {
    "board": lambda platform, viewer: leaderboard(platform, SLUG, viewer=viewer),
    "records": lambda platform, viewer: records_over_time(platform, SLUG, viewer=viewer),
    "both": lambda platform, viewer: board_and_records(platform, SLUG, viewer=viewer),
    "all boards": lambda platform, viewer: leaderboards(platform, viewer=viewer),
    "track": lambda platform, viewer: track_board(platform, "first", viewer=viewer),
    "profile": lambda platform, viewer: profile(platform, "ada", viewer),
    "no profile": lambda platform, viewer: profile(platform, "nobody", viewer),
    "no board": lambda platform, viewer: leaderboard(platform, "nothing", viewer=viewer),
    "no track": lambda platform, viewer: track_board(platform, "nothing", viewer=viewer),
}
WHO = ("nobody", "student", "staff without their scope", "staff")
FREE = ("", "", "", "")
MEMBERS = ("not_signed_in", "", "", "")
STAFF = ("not_signed_in", "not_allowed", "not_allowed", "")


def read(platform: Platform, of: Read, viewer: User | None) -> str:
    """The refusal's code; "" if there is none, or none that the setting decides."""
    try:
        of(platform, viewer)
    except GraderError as error:
        return error.code if error.code in ("not_signed_in", "not_allowed") else ""
    return ""


@pytest.mark.parametrize(
    ("readers", "expected"), [(None, MEMBERS), ("everybody", FREE), ("members", MEMBERS), ("staff", STAFF)]
)
def test_the_setting_decides_who_reads_boards_and_profiles(
    tmp_path: Path, readers: str | None, expected: tuple[str, ...]
) -> None:
    world.make_catalogue(tmp_path / "catalogue")
    given: dict[str, Any] = {} if readers is None else {"board_readers": readers}
    platform = open_platform(
        Settings(
            data_dir=tmp_path / "data", challenges=tmp_path / "catalogue", redis_url="unix:///x", **given
        )
    )
    ada = accounts.create_user(platform, "ada", PASSWORD)
    bob = accounts.create_user(platform, "bob", PASSWORD)
    tutor = accounts.create_user(platform, "tutor", PASSWORD, Role.STAFF)
    people = dict(zip(WHO, (None, bob, replace(tutor, scopes=frozenset({Scope.READ})), tutor), strict=True))
    for name, of in READS.items():
        found = tuple(read(platform, of, viewer) for viewer in people.values())
        # Profiles are for members at most, unless their setting says otherwise.
        of_profiles = MEMBERS if expected == FREE and "profile" in name else expected
        assert found == of_profiles, name
    assert profile(platform, "ADA", ada).name == "ada", "one's own, whoever may read others'"
    platform.close()


READERS = ("visitor", "member", "classmate", "teacher", "ada", "staff")
OF_AUDIENCE = {
    "public": READERS,
    "members": READERS[1:],
    "course": READERS[2:],
    "private": READERS[3:],
}


@pytest.mark.parametrize("widest", OF_AUDIENCE)
def test_the_narrower_audience_of_profile_and_platform_applies(tmp_path: Path, widest: str) -> None:
    given: dict[str, Any] = {"profile_readers": widest}
    platform = open_platform(world.make_settings(tmp_path, "unix:///x", **given))
    admin = accounts.create_user(platform, "staff", PASSWORD, Role.ADMIN)
    names = ("ada", "classmate", "teacher", "member")
    made = {name: accounts.create_user(platform, name, PASSWORD) for name in names}
    courses.create_course(platform, admin, CourseBody(slug="gpu", name="GPU"))
    courses.set_staff(platform, admin, "gpu", "teacher", CourseRole.ASSISTANT)
    courses.set_staff(platform, admin, "gpu", "staff", CourseRole.OWNER)
    text = "account\nada\nclassmate\n"
    rosters.import_roster(platform, admin, "gpu", RosterBody(text=text, dry_run=False))
    take_part(platform, made["ada"], made["classmate"])
    people: dict[str, User | None] = {
        name: accounts.user_by_id(platform, user.id) for name, user in (made | {"staff": admin}).items()
    }
    people["visitor"] = None
    for chosen in OF_AUDIENCE:
        narrower = max(widest, chosen, key=list(OF_AUDIENCE).index)
        for field in ("profile", "calendar"):
            body = PreferencesBody.model_validate(
                {"profile": "public", "calendar": "public"} | {field: chosen}
            )
            preferences.change(platform, made["ada"], body)
            seeing = set()
            for name in READERS:
                with suppress(GraderError):
                    if profile(platform, "ada", people[name]).activity is not None:
                        seeing.add(name)
            assert seeing == set(OF_AUDIENCE[narrower]), (field, chosen)
    platform.close()
