"""Every path that could reveal a name, a rank or a time, for each setting of a board."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from flask import Flask

from grader.schemas.account import Role
from grader.schemas.assignment import AssignmentBody, PartBody
from grader.schemas.course import CourseBody, CourseRole, RosterBody
from grader.schemas.leaderboard import Leaderboard
from grader.schemas.preferences import PreferencesBody
from grader.schemas.publication import BoardAudience, BoardBody
from grader.service.accounts import preferences
from grader.service.accounts.accounts import User, create_user, user_by_id
from grader.service.boards import board_access
from grader.service.boards.leaderboard import leaderboard
from grader.service.boards.profile import profile
from grader.service.boards.track_board import leaderboards, track_board
from grader.service.courses import assignments, courses, rosters
from grader.service.platform import Platform, open_platform
from tests.service.boards.rows import SLUG, START, enter
from tests.service.courses.scenes import take_part
from tests.service.world import make_catalogue
from tests.web import builders
from tests.web.conftest import Visit
from tests.web.told import told as words

API = "/api/v1"
PATHS = (
    f"/leaderboards/{SLUG}",
    f"/leaderboards/{SLUG}?language=triton",
    f"/leaderboards/{SLUG}/board.csv",
    "/leaderboards",
    "/leaderboards/tracks/first",
    "/users/zelda",
    f"{API}/leaderboards/{SLUG}",
    f"{API}/leaderboards/{SLUG}/records",
    f"{API}/tracks/first/leaderboard",
)


@pytest.fixture
def database() -> str:
    return ""


@pytest.fixture
def platform(tmp_path: Path, database: str) -> Iterator[Platform]:
    opened = open_platform(
        builders.make_settings(tmp_path, challenges=make_catalogue(tmp_path / "catalogue"))
    )
    yield opened
    opened.close()


@pytest.fixture
def people(platform: Platform) -> dict[str, User]:
    """zelda is the fastest, kim is second, lovelace third; tom teaches here, and eve has submitted nothing."""
    roles = {"zelda": Role.STUDENT, "kim": Role.STUDENT, "lovelace": Role.STUDENT, "eve": Role.STUDENT}
    found = {
        name: create_user(platform, name, builders.PASSWORD, role)
        for name, role in (roles | {"tom": Role.STAFF}).items()
    }
    for name, time_us, hour in (("lovelace", 431.0, 0.0), ("kim", 287.0, 1.0), ("zelda", 143.0, 2.0)):
        enter(platform, found[name], time_us, hour=hour)
    return found


def set_board(
    platform: Platform, people: dict[str, User], board: BoardAudience, frozen: float | None = None
) -> None:
    at = START + timedelta(hours=frozen) if frozen is not None else None
    board_access.set_board(platform, people["tom"], SLUG, BoardBody(board=board, frozen_at=at))


def told(app: Flask, visit: Visit, call: Visit, user: User | None) -> dict[str, str]:
    """The answer of every path, and of every address without a variable, to that user."""
    plain = [
        rule.rule
        for rule in app.url_map.iter_rules()
        if not rule.arguments and "GET" in (rule.methods or ()) and "openapi" not in rule.rule
    ]
    pages, program = visit(user), call(user)
    return {
        path: words((program if path.startswith(API) else pages).get(path))
        for path in dict.fromkeys([*PATHS, *plain])
    }


def naming(answers: dict[str, str], name: str) -> set[str]:
    """The paths that contain the name; a profile always does."""
    return {path for path, text in answers.items() if name in text and path != f"/users/{name}"}


def ranked_profile(answers: dict[str, str]) -> bool:
    page = answers["/users/zelda"]
    return any(words in page for words in ('class="rank', "First rank", "First to solve", "143"))


def best_told(platform: Platform, viewer: User) -> bool:
    """True if zelda's profile has the speedup that identifies her entry on the board."""
    return any(track.best is not None for track in profile(platform, "zelda", viewer).tracks)


def test_every_path_shows_a_public_board(
    app: Flask, platform: Platform, people: dict[str, User], visit: Visit, call: Visit
) -> None:
    answers = told(app, visit, call, people["eve"])
    assert naming(answers, "zelda") == set(PATHS) - {"/users/zelda"}
    assert ranked_profile(answers)
    assert best_told(platform, people["eve"])


def test_no_path_names_anybody_on_a_hidden_board(
    app: Flask, platform: Platform, people: dict[str, User], visit: Visit, call: Visit
) -> None:
    set_board(platform, people, BoardAudience.HIDDEN)
    for name in ("eve", "kim"):
        answers = told(app, visit, call, people[name])
        assert naming(answers, "zelda") == naming(answers, "lovelace") == set()
        assert not any("143" in text for path, text in answers.items() if SLUG in path)
        assert not ranked_profile(answers)
        assert not best_told(platform, people[name])
    assert best_told(platform, people["zelda"])
    # Their own entry without a rank, as for the command line.
    own = Leaderboard.model_validate_json(told(app, visit, call, people["kim"])[f"{API}/leaderboards/{SLUG}"])
    assert (own.entries, own.total, own.own_place, own.open) == ([], 0, None, False)
    assert own.own is not None
    assert own.own.rank is None
    assert own.own.time_us == 287.0
    assert "zelda" in told(app, visit, call, people["tom"])[f"/leaderboards/{SLUG}"]


def test_every_path_shows_pseudonyms_on_a_pseudonymous_board(
    app: Flask, platform: Platform, people: dict[str, User], visit: Visit, call: Visit
) -> None:
    set_board(platform, people, BoardAudience.PSEUDONYMOUS)
    answers = told(app, visit, call, people["kim"])
    assert naming(answers, "zelda") == naming(answers, "lovelace") == set()
    assert not ranked_profile(answers)
    assert not best_told(platform, people["kim"])
    board = Leaderboard.model_validate_json(answers[f"{API}/leaderboards/{SLUG}"])
    assert [entry.anonymous for entry in board.entries] == [True, False, True]
    assert board.entries[1].user == "kim"
    again = leaderboard(platform, SLUG, viewer=people["eve"])
    assert again.entries[0].user == board.entries[0].user
    of_staff = told(app, visit, call, people["tom"])
    assert naming(of_staff, "zelda") >= set(PATHS) - {"/users/zelda"}


def test_teachers_see_names_of_their_students_only(platform: Platform, people: dict[str, User]) -> None:
    """Teachers can assign any challenge: that must not reveal another course's students."""
    tom = people["tom"]
    courses.create_course(platform, tom, CourseBody(slug="gpu", name="GPU"))
    rosters.import_roster(platform, tom, "gpu", RosterBody(text="account\nlovelace\n", dry_run=False))
    courses.set_staff(platform, tom, "gpu", "eve", CourseRole.INSTRUCTOR)
    eve = user_by_id(platform, people["eve"].id)
    assert eve is not None
    body = AssignmentBody(
        title="Week 1", parts=[PartBody(challenge=SLUG)], open_at="2026-01-01", due_at="2999-12-31"
    )
    assignments.put_assignment(platform, eve, "gpu", "week1", body)
    set_board(platform, people, BoardAudience.HIDDEN)
    assert not leaderboard(platform, SLUG, viewer=eve).open, "a draft assigns nothing"
    assignments.publish_assignment(platform, eve, "gpu", "week1")
    set_board(platform, people, BoardAudience.PSEUDONYMOUS)

    def shown() -> list[bool]:
        return [entry.anonymous for entry in leaderboard(platform, SLUG, viewer=eve).entries]

    assert shown() == [True, True, True], "who has not accepted is no student of the course yet"
    take_part(platform, people["lovelace"])
    assert shown() == [True, True, False]
    assert not best_told(platform, eve)
    track = track_board(platform, "first", viewer=eve)
    assert [entry.anonymous for entry in track.entries] == [True, True, False]
    (leader,) = [board.leader for board in leaderboards(platform, viewer=eve).tracks[0].boards]
    assert leader is not None
    assert leader.anonymous
    # Nor who asked for another name.
    set_board(platform, people, BoardAudience.HIDDEN)
    assert shown() == [False, False, False]
    preferences.change(platform, people["zelda"], PreferencesBody(anonymous=True))
    assert shown() == [True, False, False]


def test_only_members_see_a_courses_board(
    app: Flask, platform: Platform, people: dict[str, User], visit: Visit, call: Visit
) -> None:
    tom = people["tom"]
    courses.create_course(platform, tom, CourseBody(slug="gpu", name="GPU"))
    rosters.import_roster(platform, tom, "gpu", RosterBody(text="account\nlovelace\n", dry_run=False))
    body = AssignmentBody(
        title="Week 1", parts=[PartBody(challenge=SLUG)], open_at="2026-01-01", due_at="2999-12-31"
    )
    assignments.put_assignment(platform, tom, "gpu", "week1", body)
    set_board(platform, people, BoardAudience.COURSE)
    assert not leaderboard(platform, SLUG, viewer=people["lovelace"]).open
    assignments.publish_assignment(platform, tom, "gpu", "week1")
    assert naming(told(app, visit, call, people["lovelace"]), "zelda") == set(PATHS) - {"/users/zelda"}
    outside = told(app, visit, call, people["eve"])
    assert naming(outside, "zelda") == set()
    assert not ranked_profile(outside)


def test_every_path_shows_the_frozen_board(
    app: Flask, platform: Platform, people: dict[str, User], visit: Visit, call: Visit
) -> None:
    set_board(platform, people, BoardAudience.PUBLIC, frozen=1.5)
    answers = told(app, visit, call, people["eve"])
    assert naming(answers, "zelda") == set()
    assert naming(answers, "kim") >= set(PATHS) - {"/users/zelda"}
    assert not ranked_profile(answers)
    assert not best_told(platform, people["eve"])
    own = leaderboard(platform, SLUG, viewer=people["zelda"])
    assert [entry.user for entry in own.entries] == ["kim", "lovelace"]
    assert own.own is not None
    assert own.own.rank is None
    assert own.own.time_us == 143.0
    assert [each.user for each in leaderboard(platform, SLUG, viewer=people["tom"]).entries] == [
        "zelda",
        "kim",
        "lovelace",
    ]


def test_the_command_line_prints_the_viewers_entry_of_a_hidden_board(
    platform: Platform, people: dict[str, User], call: Visit, capsys: pytest.CaptureFixture[str]
) -> None:
    from grader.cli.commands.boards import show

    set_board(platform, people, BoardAudience.HIDDEN)
    show(leaderboard(platform, SLUG, viewer=people["kim"]))
    printed = capsys.readouterr()
    assert "kim" in printed.out
    assert "zelda" not in printed.out
    assert "without a rank" in printed.err
