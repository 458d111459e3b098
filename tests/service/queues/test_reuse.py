"""Answers from an earlier result."""

from __future__ import annotations

import pytest
from sqlalchemy import delete, select

from grader.errors import TooMany
from grader.records.engine import writing
from grader.records.models import ReportRow, SubmissionRow
from grader.schemas.report import Verdict
from grader.schemas.submission import JudgingReason
from grader.service.accounts.accounts import User
from grader.service.operation import queues
from grader.service.platform import Platform
from grader.service.submissions.cancel import cancel
from grader.service.submissions.quotas import get_quotas
from grader.service.submissions.submit import submit
from tests.service.queues.builders import BOARD, fail, judge
from tests.service.world import body

pytestmark = pytest.mark.both_databases


class TestReuse:
    def test_a_reused_result_costs_no_attempt(self, small: Platform, student: User) -> None:
        first = submit(small, student, body())
        judge(small, Verdict.WRONG_ANSWER)
        again = submit(small, student, body(reuse=True, filename="other.py"))
        assert (again.id, again.reused, again.verdict) == (first.id, True, Verdict.WRONG_ANSWER)
        assert get_quotas(small, student, "scale").submissions.used == 1
        submit(small, student, body())
        judge(small)
        with pytest.raises(TooMany):
            submit(small, student, body())
        assert submit(small, student, body(reuse=True)).verdict is Verdict.ACCEPTED, (
            "the latest; at the limit, too"
        )

    def test_without_reuse_the_same_source_is_judged_again(self, platform: Platform, student: User) -> None:
        first = submit(platform, student, body())
        judge(platform)
        again = submit(platform, student, body())
        assert (again.reused, again.id != first.id) == (False, True)

    @pytest.mark.parametrize(
        "change", [{"source": "x = 1 \n"}, {"device": BOARD}, {"language": "cuda", "device": BOARD}]
    )
    def test_another_request_is_not_reused(
        self, small: Platform, student: User, change: dict[str, str]
    ) -> None:
        submit(small, student, body())
        judge(small)
        assert not submit(small, student, body(reuse=True, **change)).reused

    def test_another_authors_result_is_not_reused(
        self, platform: Platform, student: User, other: User
    ) -> None:
        submit(platform, other, body())
        judge(platform)
        assert not submit(platform, student, body(reuse=True)).reused

    def test_another_version_or_kind_is_not_reused(
        self, platform: Platform, student: User, staff: User
    ) -> None:
        submit(platform, student, body())
        judge(platform)
        queues.set_kind(platform, staff, "scale", JudgingReason.COMPETITION)
        assert not submit(platform, student, body(reuse=True)).reused
        queues.set_kind(platform, staff, "scale", None)
        path = platform.catalogue.root / "challenges" / "scale" / "challenge.toml"
        path.write_text(path.read_text().replace("version = 1", "version = 2").replace("2.0", "4.0"))
        assert not submit(platform, student, body(reuse=True)).reused

    def test_waiting_failed_and_cancelled_submissions_are_not_reused(
        self, platform: Platform, student: User
    ) -> None:
        submit(platform, student, body())
        waiting = submit(platform, student, body(reuse=True))
        assert not waiting.reused
        cancel(platform, student, waiting.id)
        fail(platform)
        assert not submit(platform, student, body(reuse=True)).reused

    def test_a_result_without_report_is_not_reused(self, platform: Platform, student: User) -> None:
        first = submit(platform, student, body())
        judge(platform)
        submit(platform, student, body(source="another = 1"))
        judge(platform)
        with writing(platform.sessions) as session:
            row = session.scalars(select(SubmissionRow.id).where(SubmissionRow.public_id == first.id)).one()
            session.execute(delete(ReportRow).where(ReportRow.submission_id == row))
        assert not submit(platform, student, body(reuse=True)).reused
