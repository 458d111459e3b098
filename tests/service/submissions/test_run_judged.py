"""A run from `grader run` to its report: the real queue, the real judge, boxes that are processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.queue.worker import run_worker
from grader.records.models import BaselineRow
from grader.schemas.report import Verdict
from grader.schemas.submission import RunBody, State
from grader.service.accounts.accounts import create_user
from grader.service.boards.leaderboard import leaderboard
from grader.service.platform import open_platform
from grader.service.submissions.run import run
from grader.service.submissions.submissions import get_report, get_submission
from tests.judge.conftest import CATALOGUE
from tests.judge.kernels import RIGHT
from tests.service.world import make_settings


@pytest.mark.usefixtures("database")
def test_a_run_is_judged_by_public_cases_only(tmp_path: Path, redis_url: str) -> None:
    """Protects hidden cases against runs, which cost nothing and can be repeated."""
    settings = make_settings(tmp_path, redis_url, challenges=CATALOGUE, spare_boxes=0, lease_s=60.0)
    platform = open_platform(settings)
    ada = create_user(platform, "ada", "correct horse")
    sent = run(platform, ada, RunBody(challenge="twice", source=RIGHT, filename="a.py"))
    run_worker(settings, "w", burst=True)
    view = get_submission(platform, ada, sent.id)
    report = get_report(platform, ada, sent.id)
    assert (view.state, view.verdict) == (State.DONE, Verdict.ACCEPTED)
    assert view.progress.since is not None
    assert view.started_at is not None
    assert view.progress.since >= view.started_at
    assert view.score is not None
    assert (view.score.passed, view.score.total, view.score.time_us) == (5, 5, None)
    assert [case.hidden for case in report.cases] == [False] * 5
    assert report.workloads == []
    assert leaderboard(platform, "twice").entries == []
    with platform.sessions() as session:
        assert session.query(BaselineRow).count() == 0
    platform.close()
