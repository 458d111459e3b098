"""The boards' pages, tables and API: marked, pinned and hidden entries, and safe exports."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import pytest
from flask.testing import FlaskClient

from grader.languages import Language
from grader.schemas.leaderboard import (
    Leaderboard,
    LeaderboardEntry,
    RecordHistory,
    TrackBoard,
)
from grader.service.accounts.accounts import User
from grader.service.boards.leaderboard import leaderboard
from grader.service.platform import Platform
from grader.web.pages import leaderboards
from grader.web.pages import leaderboards as pages
from tests.service.boards.rows import START, enter, person, report
from tests.web import builders
from tests.web.conftest import Visit

pytestmark = pytest.mark.both_databases

PAGE = f"/leaderboards/{builders.SLUG}"
API = f"/api/v1{PAGE}"
ENTRY: dict[str, Any] = {"challenge": builders.SLUG, "version": builders.VERSION}


@pytest.fixture
def crowd(platform: Platform, ada: User, bob: User, teacher: User) -> list[User]:
    """On the board: bob, zelda (anonymous), ada; the teacher is faster than all."""
    zelda = person(platform, "zelda", anonymous=True)
    report(platform, enter(platform, bob, 40.0, **ENTRY))
    enter(platform, zelda, 60.0, language=Language.CUDA, **ENTRY)
    enter(platform, ada, 80.0, hour=-1, **ENTRY)
    enter(platform, teacher, 30.0, **ENTRY)
    return [bob, zelda, ada]


def rows(page: str) -> list[str]:
    table = re.search(r'<table class="rows board">(.*?)</table>', page, re.S)
    assert table
    found = re.findall(r"<tr.*?</tr>", table[1].partition("</thead>")[2], re.S)
    return [" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in found]


def test_references_are_unranked_lines_between_entries(visit: Visit, kim: User, crowd: list[User]) -> None:
    page = visit(kim).get(PAGE).text
    firsts = [row.split(" CUDA")[0].split(" Triton")[0][:28] for row in rows(page)]
    assert firsts[0].startswith("– not ranked Staff solution")
    assert firsts[1].startswith("1 bob")
    assert firsts[2].startswith("– not ranked torch.compile")
    assert firsts[3].startswith("2 ")
    assert firsts[4].startswith("3 ada")
    assert firsts[5].startswith("– not ranked PyTorch eager")
    assert "2.50× 2.44× to 2.56× 50 %" in rows(page)[1]
    assert "Speed of light" in page
    assert "teacher" not in page


def test_the_viewers_row_is_marked_and_pinned(
    visit: Visit, kim: User, crowd: list[User], ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "_PAGE", 1)
    first = visit(ada).get(PAGE).text
    assert '<tbody class="pinned">' in first
    assert rows(first)[0].startswith("3 ada you")
    jump = re.search(r'href="([^"]+)#me">Jump to me', first)
    assert jump
    own = visit(ada).get(jump[1].replace("&amp;", "&")).text
    assert '<tr class="mine" id="me">' in own
    assert "pinned" not in own
    assert "Jump to me" not in visit(kim).get(PAGE).text


@pytest.mark.parametrize("path", [PAGE, f"{PAGE}/board.csv", API, f"{API}/records", "/leaderboards"])
def test_anonymous_users_are_named_nowhere(
    visit: Visit, kim: User, crowd: list[User], bob: User, teacher: User, path: str
) -> None:
    for viewer in (kim, bob):
        assert "zelda" not in visit(viewer).get(path).text
    if path in (PAGE, API, f"{PAGE}/board.csv"):
        assert "zelda" in visit(teacher).get(path).text


def test_track_boards_name_no_anonymous_user(
    visit: Visit, kim: User, crowd: list[User], bob: User, teacher: User
) -> None:
    for path in ("/leaderboards/tracks/fundamentals", "/api/v1/tracks/fundamentals/leaderboard"):
        shown = [visit(who).get(path).text for who in (kim, bob, teacher)]
        assert ["zelda" in each for each in shown] == [False, False, True]
        assert "bob" in shown[0]


def test_the_page_describes_the_record_in_words(visit: Visit, kim: User, crowd: list[User]) -> None:
    page = visit(kim).get(PAGE).text
    assert "The record over time" in page
    assert 'Held by <a href="/users/bob">bob</a> since' in page
    assert re.search(r'<path class="steps-line" d="M0\.0 [\d.]+H[\d.]+V[\d.]+H1000"', page)
    assert "The record over time" not in visit(kim).get(f"{PAGE}?below=1").text


def test_the_csv_has_all_entries_of_the_pages_filters(visit: Visit, kim: User, crowd: list[User]) -> None:
    client = visit(kim)
    page = client.get(f"{PAGE}?language=triton").text
    link = re.search(r'href="([^"]+)" download>CSV', page)
    assert link
    answer = client.get(link[1].replace("&amp;", "&"))
    assert answer.mimetype == "text/csv"
    assert (
        answer.headers["Content-Disposition"]
        == f"attachment; filename=vector_add-v{builders.VERSION}-cpu.csv"
    )
    found = list(csv.DictReader(io.StringIO(answer.text)))
    assert [(each["rank"], each["user"]) for each in found] == [
        *(("1", "bob"), ("2", "ada")),
        *(("", name) for name in ("speed of light", "staff solution", "compile", "eager")),
    ]
    assert (found[0]["time_us"], found[0]["time_low_us"], found[0]["speedup"]) == ("40.0", "39.0", "2.5")


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_no_csv_cell_is_a_formula(start: str) -> None:
    entry = LeaderboardEntry(
        rank=1,
        user=f"{start}cmd|' /C calc'!A0",
        submission=f"{start}1",
        language=Language.CUDA,
        time_us=1.0,
        ci_us=(1.0, 1.0),
        speedup=None,
        submitted_at=START,
    )
    board = Leaderboard(challenge="-", version=1, device="-", representative=True, entries=[entry], total=1)
    row = list(csv.reader(io.StringIO(leaderboards.written(board), newline="")))[1]
    assert row[1] == f"'{start}cmd|' /C calc'!A0"
    assert row[-1] == f"'{start}1"


def test_names_are_escaped(visit: Visit, kim: User, platform: Platform) -> None:
    enter(platform, person(platform, "<b>eve</b>"), 40.0, **ENTRY)
    for path in (PAGE, "/leaderboards", "/leaderboards/tracks/fundamentals"):
        page = visit(kim).get(path).text
        assert "&lt;b&gt;eve" in page
        assert "<b>eve" not in page


def test_api_answers_follow_their_models(call: Visit, crowd: list[User], ada: User) -> None:
    client: FlaskClient = call(ada)
    board = Leaderboard.model_validate_json(client.get(f"{API}?limit=1").data)
    assert (board.total, board.own_place, [entry.user for entry in board.entries]) == (3, 2, ["bob"])
    records = RecordHistory.model_validate_json(client.get(f"{API}/records").data)
    assert [(record.user, record.own) for record in records.records] == [("ada", True), ("bob", False)]
    track = TrackBoard.model_validate_json(client.get("/api/v1/tracks/fundamentals/leaderboard?limit=1").data)
    assert (track.total, track.entries[0].user) == (3, "bob")
    for path in (f"{API}?device=abacus", f"{API}/records?device=abacus"):
        assert client.get(path).status_code == 400
    assert client.get("/api/v1/tracks/nothing/leaderboard").status_code == 404


def test_only_staff_get_links_to_others_submissions(
    visit: Visit, crowd: list[User], ada: User, teacher: User
) -> None:
    assert visit(ada).get(PAGE).text.count("/submissions/") == 1
    assert visit(teacher).get(PAGE).text.count("/submissions/") == 3


def test_the_page_names_cases_left_out_for_memory(visit: Visit, kim: User, platform: Platform) -> None:
    report(platform, enter(platform, kim, 40.0, **ENTRY), left_out=["beyond_2_31"])
    assert "memory: <code>beyond_2_31</code>." in visit(kim).get(PAGE).text


def test_references_are_on_the_page_of_their_times(crowd: list[User], platform: Platform) -> None:
    def page(offset: int, size: int) -> list[str]:
        board = leaderboard(platform, builders.SLUG, limit=size + 1, offset=offset, viewer=crowd[0])
        shown = leaderboards.lines(board, offset, size)
        return [each.reference.name if each.reference else "" for each in shown]

    whole = ["staff solution", "", "compile", "", "", "eager"]
    assert page(0, 3) == whole
    assert [name for offset in range(3) for name in page(offset, 1)] == whole
