"""Boards, lists and queues never read all submissions: how SQLite executes each of their statements.

Without statistics, SQLite chooses an index by the statement only, so three rows show the same as a million.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event

from grader.errors import NotFound
from grader.languages import Language
from grader.queue.sweeper import sweep
from grader.records import claims, leases, ranks
from grader.records.engine import writing
from grader.records.models import SubmissionRow, VersionRow, utcnow
from grader.records.models.submissions import SHARE_KEY_CHARS
from grader.schemas.account import Role
from grader.schemas.assignment import AssignmentBody, PartBody
from grader.schemas.course import CourseBody
from grader.schemas.report import Flag, Verdict
from grader.schemas.submission import State, SubmissionFilter, SubmitBody
from grader.service.accounts.accounts import User
from grader.service.boards.leaderboard import leaderboard, past_times
from grader.service.boards.profile import profile
from grader.service.boards.share import key_of, shared
from grader.service.courses import assignments, courses
from grader.service.platform import Platform, open_platform
from grader.service.submissions.progress import progress
from grader.service.submissions.submissions import get_submission, list_submissions
from grader.service.submissions.submit import submit
from tests.records.rows import add_submission, add_user
from tests.service.world import make_settings

SLUG = "scale"
_TOUCHED = re.compile(
    r"(?P<how>SCAN|SEARCH) (submissions(_\d+)?|own)\b"
    r"( USING (COVERING )?INDEX (?P<index>\w+)| USING INTEGER PRIMARY KEY)?( \((?P<by>.*)\))?"
)
# A plan may begin at one row, one user, one board, the last hour, or rows to remove. Every state but "done"
# has few rows.
_ONES = ("rowid", "public_id", "share_key", "user_id", "rejudge_of")
_FEW = (*_ONES, "claimed_at>", "lease_until<", "finished_at<", "finished_at>")
_BOARD = "challenge=? AND version=?"


@pytest.fixture
def platform(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Platform]:
    """On SQLite, without a Redis: there is no wake-up to take."""
    monkeypatch.setenv("GRADER_DATABASE_URL", "")
    platform = open_platform(make_settings(tmp_path, f"unix://{tmp_path}/nobody"))
    yield platform
    platform.close()


@contextmanager
def plans(engine: Engine) -> Iterator[list[str]]:
    """SQLite's plan for every statement of the block that reads submissions."""
    found: list[str] = []
    asked: list[tuple[str, Any]] = []

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if re.search(r"\b(FROM|JOIN|UPDATE) submissions\b", statement) and not statement.startswith(
            "EXPLAIN"
        ):
            asked.append((statement, parameters))

    event.listen(engine, "before_cursor_execute", note)
    yield found
    event.remove(engine, "before_cursor_execute", note)
    with engine.connect() as connection:
        for statement, parameters in asked:
            steps = connection.exec_driver_sql("EXPLAIN QUERY PLAN " + statement, parameters).all()
            # Read in the wanted order up to a limit: no more rows are touched.
            limited = " LIMIT " in statement and not any("TEMP B-TREE" in step[-1] for step in steps)
            state = "state=?" if State.DONE in str(parameters) else "state=few"
            found += [("up to a limit: " * limited) + step[-1].replace("state=?", state) for step in steps]
    assert asked, "nothing was read"


def _claim(platform: Platform) -> None:
    with writing(platform.sessions) as session:
        assert claims.claim(session, claims.ClaimRequest("cpu", list(Language), "w", utcnow(), 30.0)).held


def _sweep(platform: Platform) -> None:
    with platform.sessions() as session:
        leases.expired(session, utcnow())
    sweep(platform)


def _share(platform: Platform, waiting: str) -> None:
    assert key_of(platform, ADA, waiting) is None
    with pytest.raises(NotFound):
        shared(platform, "x" * SHARE_KEY_CHARS)


ADA = User(1, "ada", Role.STUDENT)
EVE = User(2, "eve", Role.STAFF)
BODY = SubmitBody(challenge=SLUG, source="pass", filename="a.py")


def wanted(platform: Platform, **values: Any) -> object:
    if "assignment" in values:
        courses.create_course(platform, EVE, CourseBody(slug="gpu", name="GPU"))
        parts = [PartBody(challenge=SLUG), PartBody(challenge="only_cuda")]
        body = AssignmentBody(title="Week 1", parts=parts, open_at="2026-01-01", due_at="2026-12-31")
        assignments.put_assignment(platform, EVE, "gpu", "week1", body)
    return list_submissions(platform, EVE, everyone=True, wanted=SubmissionFilter(**values))


LOOKS: dict[str, Callable[[Platform, str], object]] = {
    "leaderboard": lambda platform, _: leaderboard(platform, SLUG),
    "leaderboard in a language": lambda platform, _: leaderboard(platform, SLUG, language="triton"),
    "position": lambda platform, waiting: get_submission(platform, ADA, waiting),
    "history": lambda platform, _: list_submissions(platform, ADA),
    "history at a challenge": lambda platform, _: list_submissions(platform, ADA, SLUG),
    "history further down": lambda platform, waiting: list_submissions(platform, ADA, older_than=waiting),
    "history of everyone": lambda platform, _: list_submissions(platform, EVE, everyone=True),
    "history of everyone further down": lambda platform, waiting: list_submissions(
        platform, EVE, everyone=True, older_than=waiting
    ),
    "history of everyone at a challenge": lambda platform, _: list_submissions(
        platform, EVE, SLUG, everyone=True
    ),
    "history of everyone by verdict": lambda platform, _: wanted(platform, verdict=Verdict.ACCEPTED),
    "history of everyone by mark": lambda platform, _: wanted(platform, flag=Flag.LIBRARY_KERNEL),
    "history of everyone by a time": lambda platform, _: wanted(
        platform, since="2026-01-01", until="2026-02-01"
    ),
    "history of everyone for an assignment": lambda platform, _: wanted(platform, assignment="gpu/week1"),
    "history of everyone for a course": lambda platform, _: wanted(platform, assignment="gpu"),
    "times": lambda platform, waiting: past_times(platform, ADA, waiting),
    "what is shared": lambda platform, waiting: _share(platform, waiting),
    "progress": lambda platform, _: progress(platform, ADA),
    "profile": lambda platform, _: profile(platform, "ada", ADA),
    "submitting": lambda platform, _: submit(platform, ADA, BODY),
    "submitting again": lambda platform, _: submit(platform, ADA, BODY, "key"),
    "claiming": lambda platform, _: _claim(platform),
    "sweeping": lambda platform, _: _sweep(platform),
}


@pytest.mark.parametrize("name", LOOKS)
def test_a_page_reads_no_more_rows_than_it_shows(platform: Platform, name: str) -> None:
    waiting = _fill(platform)
    with plans(platform.engine) as found:
        LOOKS[name](platform, waiting)
    wide = [step for step in found if (how := _TOUCHED.match(step)) and not _is_narrow(how)]
    assert not wide, "\n".join(found)


def _is_narrow(how: re.Match[str]) -> bool:
    by = how["by"] or ""
    ranked = how["index"] == "ix_submissions_board" and by.startswith(_BOARD)
    return how["how"] == "SEARCH" and (ranked or any(text in by for text in (*_FEW, "state=few")))


def test_ranking_reads_only_the_rows_it_shows(platform: Platform) -> None:
    _fill(platform)
    with plans(platform.engine) as found, platform.sessions() as session:
        ranks.ranked(session, SLUG, 1, "cpu", Language.TRITON)
    touched = [step for step in found if _TOUCHED.match(step)]
    board = "SEARCH submissions USING COVERING INDEX ix_submissions_board (challenge=? AND version=? AND device=?)"
    assert touched == [board, "SEARCH submissions USING INTEGER PRIMARY KEY (rowid=?)"]
    assert not [step for step in found if "ORDER BY" in step and "submissions" in step]


def _fill(platform: Platform) -> str:
    """One submission of each fate; the public id of the waiting one."""
    users = [add_user(platform.sessions, name) for name in ("ada", "eve")]
    assert users == [ADA.id, EVE.id]
    ended = {"challenge": SLUG, "state": State.DONE, "finished_at": utcnow(), "claimed_at": utcnow()}
    times = {"time_us": 1.0, "ci_lo_us": 1.0, "ci_hi_us": 1.0}
    first = add_submission(platform.sessions, ADA.id, 60.0, verdict=Verdict.ACCEPTED, **times, **ended)
    add_submission(platform.sessions, ADA.id, 60.0, verdict=Verdict.WRONG_ANSWER, rejudge_of=first, **ended)
    waiting = add_submission(platform.sessions, ADA.id, challenge=SLUG)
    with writing(platform.sessions) as session:
        session.add(VersionRow(challenge=SLUG, version=1, fingerprint="-", content="{}"))
        return session.get_one(SubmissionRow, waiting).public_id
