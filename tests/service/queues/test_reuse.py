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
    def test_what_was_judged_before_comes_back_and_costs_nothing(
        self, small: Platform, student: User
    ) -> None:
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

    def test_unless_it_is_asked_for_it_is_judged_anew(self, platform: Platform, student: User) -> None:
        first = submit(platform, student, body())
        judge(platform)
        again = submit(platform, student, body())
        assert (again.reused, again.id != first.id) == (False, True)

    @pytest.mark.parametrize(
        "change", [{"source": "x = 1 \n"}, {"device": BOARD}, {"language": "cuda", "device": BOARD}]
    )
    def test_something_else_is_judged(self, small: Platform, student: User, change: dict[str, str]) -> None:
        submit(small, student, body())
        judge(small)
        assert not submit(small, student, body(reuse=True, **change)).reused

    def test_nobody_gets_anothers(self, platform: Platform, student: User, other: User) -> None:
        submit(platform, other, body())
        judge(platform)
        assert not submit(platform, student, body(reuse=True)).reused

    def test_of_another_version_or_kind_is_judged(
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

    def test_neither_what_waits_nor_what_we_failed_nor_what_was_cancelled(
        self, platform: Platform, student: User
    ) -> None:
        submit(platform, student, body())
        waiting = submit(platform, student, body(reuse=True))
        assert not waiting.reused
        cancel(platform, student, waiting.id)
        fail(platform)
        assert not submit(platform, student, body(reuse=True)).reused

    def test_what_has_no_report_any_more_is_judged(self, platform: Platform, student: User) -> None:
        first = submit(platform, student, body())
        judge(platform)
        submit(platform, student, body(source="another = 1"))
        judge(platform)
        with writing(platform.sessions) as session:
            row = session.scalars(select(SubmissionRow.id).where(SubmissionRow.public_id == first.id)).one()
            session.execute(delete(ReportRow).where(ReportRow.submission_id == row))
        assert not submit(platform, student, body(reuse=True)).reused
