"""Databases of earlier releases keep everything in the upgrade; those of later ones are left alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from grader.errors import Conflict
from grader.queue.worker import run_worker
from grader.records.engine import make_engine, writing_connection
from grader.records.schema import SchemaTooNew, head, missing_of, upgrade
from grader.schemas.report import Verdict
from grader.schemas.submission import State
from grader.service.accounts import accounts, tokens
from grader.service.boards import leaderboard
from grader.service.challenges import versions
from grader.service.operation.health import ready
from grader.service.platform import Platform, open_platform
from grader.service.submissions import submissions
from grader.web.server import serve
from tests.queue.fakes import FakeJudge, NoBoxes
from tests.records import releases
from tests.web import builders


@pytest.fixture(params=sorted(releases.TOKENS))
def release(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def old(empty_url: str, release: str) -> Iterator[Engine]:
    engine = make_engine(empty_url)
    releases.make(engine, release)
    yield engine
    engine.dispose()


@pytest.fixture
def upgraded(tmp_path: Path, old: Engine, empty_url: str) -> Iterator[Platform]:
    platform = open_platform(builders.make_settings(tmp_path, database_url=empty_url))
    yield platform
    platform.close()


def test_an_upgrade_keeps_the_board(upgraded: Platform) -> None:
    teacher = accounts.authenticate(upgraded, "teacher", "correct horse")
    board = leaderboard.leaderboard(upgraded, "vector_add", device="cpu", version=1, viewer=teacher)
    assert [(entry.user, entry.time_us) for entry in board.entries] == releases.BOARD


def test_changed_cases_are_served_under_a_new_number(upgraded: Platform) -> None:
    """They are not refused as a change under that release's number, whose board stays until staff publish."""
    served = versions.serve(upgraded, upgraded.catalogue.load("vector_add"))
    assert served.version > 1
    assert served.shown == 1
    teacher = accounts.authenticate(upgraded, "teacher", "correct horse")
    board = leaderboard.leaderboard(upgraded, "vector_add", device="cpu", viewer=teacher)
    assert [(entry.user, entry.time_us) for entry in board.entries] == releases.BOARD


def test_an_upgrade_keeps_submissions_and_reports_readable(upgraded: Platform) -> None:
    teacher = accounts.authenticate(upgraded, "teacher", "correct horse")
    found = submissions.list_submissions(upgraded, teacher, everyone=True).submissions
    assert sorted(row.state for row in found) == [State.DONE] * 4 + [State.FAILED, State.QUEUED]
    verdicts = []
    for row in found:
        if row.state is State.DONE:
            verdicts.append(submissions.get_report(upgraded, teacher, row.id).verdict)
        else:
            with pytest.raises(Conflict):
                submissions.get_report(upgraded, teacher, row.id)
        assert "solve" in submissions.get_source(upgraded, teacher, row.id).source
    assert sorted(verdicts) == [Verdict.ACCEPTED] * 2 + [Verdict.COMPILE_ERROR, Verdict.WRONG_ANSWER]


def test_an_upgrade_keeps_tokens_and_passwords(upgraded: Platform, release: str) -> None:
    assert tokens.user_of_token(upgraded, releases.TOKENS[release]).name == "ada"
    assert accounts.authenticate(upgraded, "bob", "battery staple").name == "Bob"


def test_a_waiting_submission_is_judged_after_the_upgrade(upgraded: Platform) -> None:
    held = builders.take(upgraded)
    builders.finish(upgraded, held, builders.accepted(100.0))
    teacher = accounts.authenticate(upgraded, "teacher", "correct horse")
    board = leaderboard.leaderboard(
        upgraded, "vector_add", device="cpu", version=builders.VERSION, viewer=teacher
    )
    assert [(entry.user, entry.time_us) for entry in board.entries] == [("ada", 100.0)]


def test_the_platform_is_ready_only_after_the_upgrade(tmp_path: Path, old: Engine, empty_url: str) -> None:
    platform = open_platform(builders.make_settings(tmp_path, database_url=empty_url), migrate=False)
    assert ready(platform).detail == "the database is not upgraded yet"
    assert [step.revision for step in missing_of(old)][-1] == head()
    upgrade(old)
    assert ready(platform).ok
    platform.close()


@pytest.fixture
def newer(empty_url: str) -> str:
    """The URL of a database that a later grader upgraded."""
    engine = make_engine(empty_url)
    upgrade(engine)
    with writing_connection(engine) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    return empty_url


def test_web_and_worker_refuse_tables_of_a_later_grader(tmp_path: Path, newer: str) -> None:
    settings = builders.make_settings(tmp_path, database_url=newer)
    with pytest.raises(SchemaTooNew, match="revision 9999"):
        serve(settings, "127.0.0.1", 0)
    with pytest.raises(SchemaTooNew, match="revision 9999"):
        run_worker(settings, judge=FakeJudge(), boxes=NoBoxes(), burst=True)
    platform = open_platform(settings, migrate=False)
    assert ready(platform).detail == "the database belongs to a later release"
    platform.close()
