"""Who may read boards and profiles, by the platform's setting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader.errors import GraderError
from grader.schemas.account import Role
from grader.schemas.token import Scope
from grader.service import accounts
from grader.service.accounts import User
from grader.service.leaderboard import board_and_records, leaderboard, records_over_time
from grader.service.platform import Platform, open_platform
from grader.service.profile import profile
from grader.service.track_board import leaderboards, track_board
from grader.settings import Settings
from tests.service import world

pytestmark = pytest.mark.both_databases

PASSWORD = "correct horse"
SLUG = "scale"

Read = Callable[[Platform, User | None], object]

READS: dict[str, Read] = {
    "board": lambda it, viewer: leaderboard(it, SLUG, viewer=viewer),
    "records": lambda it, viewer: records_over_time(it, SLUG, viewer=viewer),
    "both": lambda it, viewer: board_and_records(it, SLUG, viewer=viewer),
    "all boards": lambda it, viewer: leaderboards(it, viewer=viewer),
    "track": lambda it, viewer: track_board(it, "first", viewer=viewer),
    "profile": lambda it, viewer: profile(it, "ada", viewer),
    "no profile": lambda it, viewer: profile(it, "nobody", viewer),
    "no board": lambda it, viewer: leaderboard(it, "nothing", viewer=viewer),
    "no track": lambda it, viewer: track_board(it, "nothing", viewer=viewer),
}
WHO = ("nobody", "student", "staff without their scope", "staff")
FREE = ("", "", "", "")
MEMBERS = ("not_signed_in", "", "", "")
STAFF = ("not_signed_in", "not_allowed", "not_allowed", "")


def read(platform: Platform, of: Read, viewer: User | None) -> str:
    """The code of the refusal; "" where there is none, or none that the setting decides."""
    try:
        of(platform, viewer)
    except GraderError as error:
        return error.code if error.code in ("not_signed_in", "not_allowed") else ""
    return ""


@pytest.mark.parametrize(
    ("readers", "expected"), [(None, MEMBERS), ("everybody", FREE), ("members", MEMBERS), ("staff", STAFF)]
)
def test_who_reads_what(tmp_path: Path, readers: str | None, expected: tuple[str, ...]) -> None:
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
        assert found == expected, name
    assert profile(platform, "ADA", ada).name == "ada", "one's own, whoever may read others'"
    platform.close()
