"""A run from `grader run` to its report: the real queue, the real judge, boxes that are processes."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from sqlalchemy import update

from grader.errors import BadRequest, Conflict, NotFound
from grader.queue.worker import run_worker
from grader.records.engine import writing
from grader.records.models import BaselineRow, SubmissionRow
from grader.schemas.own_case import OutputChange, OwnCase, StepChoice
from grader.schemas.report import Verdict
from grader.schemas.submission import RunBody, State
from grader.service.accounts.accounts import create_user
from grader.service.boards.leaderboard import leaderboard
from grader.service.platform import open_platform
from grader.service.submissions.quotas import get_quotas
from grader.service.submissions.run import run
from grader.service.submissions.run_changes import run_changes
from grader.service.submissions.step_run import step_run
from grader.service.submissions.submissions import get_report, get_submission
from tests.components import need
from tests.judge.conftest import CATALOGUE
from tests.judge.kernels import RIGHT
from tests.judge.test_own_run import cuda
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


@pytest.mark.usefixtures("database")
def test_one_case_with_own_sizes_and_inputs(tmp_path: Path, redis_url: str) -> None:
    """Twice, through the real queue to the emulated GPU: the difference, and never a hidden case."""
    need("nvcc")
    need("emulator")
    settings = make_settings(
        tmp_path, redis_url, challenges=CATALOGUE, spare_boxes=0, devices="emulated", device="emulated"
    )
    platform = open_platform(settings)
    ada = create_user(platform, "ada", "correct horse")
    asked = OwnCase(name="prime", sizes={"n": "n + 2000"}, inputs={"x": "ramp"}, version=1)
    ids = []
    for factor in ("2", "2 + (i == 7)"):
        body = RunBody(challenge="twice", source=cuda(factor=factor), filename="a.cu", case=asked)
        ids.append(run(platform, ada, body).id)
        run_worker(settings, "w", burst=True)
    right, wrong = (get_report(platform, ada, each) for each in ids)
    assert (right.verdict, wrong.verdict) == (Verdict.ACCEPTED, Verdict.WRONG_ANSWER)
    assert [(case.name, case.sizes, case.hidden) for case in wrong.cases] == [("prime", {"n": 2101}, False)]
    with pytest.raises(NotFound, match="no earlier run"):
        run_changes(platform, ada, ids[0])
    found = run_changes(platform, ada, ids[1])
    assert (found.run, found.verdict_then, found.verdict_now) == (ids[0], "accepted", "wrong_answer")
    assert found.same_inputs
    assert found.outputs == [
        OutputChange(argument="out", same=False, where="out[7]", then="14.0", now="21.0", changed=1, of=1024)
    ]
    assert found.sentence == "The verdict was accepted and is wrong answer now; out changed."
    # The right block, with the same sizes, inputs and seed: compiled a second time for variables' names.
    sent = step_run(platform, ada, ids[0], "prime", StepChoice(block=(2, 0, 0)))
    run_worker(settings, "w", burst=True)
    report = get_report(platform, ada, sent.id)
    assert (report.verdict, report.cases[0].sizes) == (Verdict.ACCEPTED, {"n": 2101})
    assert report.cases[0].seed == right.cases[0].seed
    step = report.cases[0].step
    assert step is not None
    assert (step.why, step.named_why, step.block) == ("", "", [2, 0, 0])
    assert [(it.kernel, it.grid, it.threads) for it in step.launches] == [("twice", [526, 1, 1], [4, 1, 1])]
    assert gzip.decompress(step.content)[4:11] == b'{"versi'
    whole = gzip.decompress(step.named_content)
    header = json.loads(whole[4 : 4 + int.from_bytes(whole[:4], "little")])
    assert {"i", "x", "out", "n"} <= {it[0] for it in header["variables"]["list"]}
    with writing(platform.sessions) as session:
        session.execute(update(SubmissionRow).values(version=7))
    with pytest.raises(Conflict, match="has version 1 now"):
        step_run(platform, ada, ids[0], "prime", StepChoice())
    with pytest.raises(BadRequest, match="ran no public case"):
        step_run(platform, ada, ids[0], "unknown", StepChoice())
    assert get_quotas(platform, ada, "twice").runs.used == 3
    assert leaderboard(platform, "twice").entries == []
    platform.close()
