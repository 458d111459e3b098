"""The commands of the page "A course in an afternoon" do what it says, against a server."""

from __future__ import annotations

import csv
import re
import shlex
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import select, update
from werkzeug.serving import make_server

from grader.cli.main import main
from grader.manual.pages import Manual
from grader.records.engine import writing
from grader.records.models import StayRow, SubmissionRow
from grader.schemas.account import Role
from grader.service.accounts import accounts, tokens
from grader.service.accounts.accounts import User
from grader.service.courses import courses, gradebook, rosters
from grader.service.platform import Platform, open_platform
from grader.web.app import create_app
from tests.service.courses.scenes import LONG_AGO, asked_since
from tests.web import builders

# The section whose commands students type.
STUDENT = "What a student does"


@pytest.fixture
def platform(tmp_path: Path) -> Iterator[Platform]:
    opened = open_platform(builders.make_settings(tmp_path / "platform", sign_up="invite"))
    yield opened
    opened.close()


@pytest.fixture
def address(platform: Platform) -> Iterator[str]:
    server = make_server("127.0.0.1", 0, create_app(platform), threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def blocks(docs: Manual, language: str) -> list[tuple[str, str]]:
    found = []
    for part in re.split(r"^## ", docs.page("courses").text, flags=re.MULTILINE):
        title = part.partition("\n")[0]
        found += [
            (title, text)
            for text in re.findall(rf"^```{language}\n(.*?)^```", part, re.MULTILINE | re.DOTALL)
        ]
    return found


def test_every_command_of_the_page_works(
    docs: Manual,
    platform: Platform,
    address: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    people = {
        "teacher": accounts.create_user(platform, "teacher", builders.PASSWORD, Role.STAFF),
        "tom": accounts.create_user(platform, "tom", builders.PASSWORD),
        "ada": accounts.create_user(platform, "ada", builders.PASSWORD, email="ada@uni.edu"),
        "kim": accounts.create_user(platform, "kim", builders.PASSWORD),
    }
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRADER_SERVER", address)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "200")
    ((_, table),) = blocks(docs, "csv")
    Path("roster.csv").write_text(table)
    Path("vector_add.py").write_text(builders.SOURCE)
    code = ""

    def run(who: User, line: str) -> str:
        monkeypatch.setenv("GRADER_TOKEN", tokens.issue_token(platform, who).token)
        status = main(shlex.split(line)[1:])
        told = capsys.readouterr()
        assert status == 0, f"{line}: {told.err}"
        return told.out

    said: dict[str, str] = {}
    for title, block in blocks(docs, "sh"):
        for line in block.splitlines():
            if line.startswith("grader login"):
                continue
            who = "ada" if title == STUDENT else "teacher"
            if line.startswith(
                "grader course join"
            ):  # ada is on the roster; kim has the code that the class was shown
                who, line = "kim", f"grader course join {code}"
            if line.startswith("grader void"):
                line = line.replace(line.split()[2], last_submission(platform))
            said[line] = run(people[who], line)
            if line.startswith("grader roster code"):
                code = said[line].split()[-1]
            if line.startswith(("grader submit", "grader regrade start")):
                play_worker(platform)
    assert [member.name for member in rosters.get_roster(platform, people["teacher"], "gpu-2026").members] == [
        "ada", "kim", "teacher", "tom",
    ]  # fmt: skip
    with Path("links.csv").open(newline="") as file:
        assert [(row["full_name"], "/join?key=crs_" in row["link"]) for row in csv.DictReader(file)] == [
            ("Grace Hopper", True)
        ]
    dry = said["grader roster import gpu-2026 roster.csv"]
    assert "ada" in dry
    assert "add" in dry
    assert "20" in said["grader assignment show gpu-2026 week1"]
    assert "1 unchanged, 0 up, 0 down" in said["grader regrade show 1"]
    explained = said["grader gradebook grades gpu-2026"]
    assert "Correctness: every case is right" in explained
    assert "1 day late, 1 grace day" in explained
    check_grades(platform, people["teacher"])
    assert courses.get_course(platform, people["teacher"], "gpu-2026").archived


def last_submission(platform: Platform) -> str:
    with platform.sessions() as session:
        return (
            session.scalars(
                select(SubmissionRow.public_id)
                .where(SubmissionRow.rejudge_of.is_(None))
                .order_by(SubmissionRow.id.desc())
            ).first()
            or ""
        )


def play_worker(platform: Platform) -> None:
    """Accept the submission, as received a day after the page's deadline."""
    builders.finish(platform, builders.take(platform), builders.accepted(speedup=1.31))
    late = datetime(2026, 10, 20, 12, tzinfo=UTC)
    with writing(platform.sessions) as session:
        session.execute(update(SubmissionRow).values(created_at=late))
        # The class joined, and the assignment asked, before that.
        session.execute(update(StayRow).values(accepted_at=LONG_AGO))
    asked_since(platform, LONG_AGO)


def check_grades(platform: Platform, teacher: User) -> None:
    ada = gradebook.get_grades(platform, teacher, "gpu-2026", "ada")
    vectors, scaled = ada.assignments[0].parts
    assert (vectors.points, vectors.late_days) == (100, 0)  # extended to the 26th
    assert (scaled.points, scaled.reason) == (150, "a broken GPU")
    with Path("grades.csv").open(newline="") as file:
        rows = {(row["student"], row["challenge"]): row for row in csv.DictReader(file)}
    assert set(rows) == {(who, what) for who in ("ada", "kim") for what in ("vector_add", "saxpy")}
    assert (rows["ada", "saxpy"]["points"], rows["ada", "vector_add"]["submission"]) == (
        "150.0",
        vectors.submission,
    )
