"""The cost of a submission."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from grader.errors import GraderError, TooMany
from grader.records.models import SubmissionRow
from grader.schemas.report import Verdict
from grader.schemas.submission import JudgingReason, State, SubmissionView
from grader.service.accounts.accounts import User
from grader.service.platform import Platform, open_platform
from grader.service.submissions.cancel import cancel
from grader.service.submissions.quotas import get_quotas
from grader.service.submissions.submit import submit
from tests.service.queues.builders import CUDA, fail, judge
from tests.service.world import body, make_settings

pytestmark = pytest.mark.both_databases


class TestQuotas:
    def test_a_used_up_quota_says_when_it_renews(self, small: Platform, student: User) -> None:
        assert [submit(small, student, body()).remaining for _ in range(2)] == [1, 0]
        with pytest.raises(TooMany, match="2 of 2 submissions") as caught:
            submit(small, student, body())
        assert "UTC, in 60 min" in caught.value.hint
        found = get_quotas(small, student, "scale")
        assert (found.submissions.used, found.submissions.remaining, found.waiting.used) == (2, 0, 2)
        assert found.submissions.frees_at is not None
        assert get_quotas(small, student, "only_cuda").submissions.remaining == 2

    def test_a_refusal_uses_nothing_up(self, small: Platform, student: User) -> None:
        for _ in range(2):
            submit(small, student, body())
        for _ in range(4):
            with pytest.raises(TooMany):
                submit(small, student, body())
        assert get_quotas(small, student, "scale").waiting.used == 2
        assert submit(small, student, body(**CUDA, challenge="only_cuda")).state is State.QUEUED

    def test_our_failure_and_an_early_cancellation_return_the_attempt(
        self, small: Platform, student: User
    ) -> None:
        submit(small, student, body())
        fail(small)
        cancel(small, student, submit(small, student, body()).id)
        assert get_quotas(small, student, "scale").submissions.used == 0
        submit(small, student, body())
        judge(small, Verdict.WRONG_ANSWER)
        assert get_quotas(small, student, "scale").submissions.used == 1
        assert get_quotas(small, student, "scale").waiting.used == 0

    def test_rejudges_use_no_quota(self, small: Platform, student: User, staff: User) -> None:
        from grader.service.challenges.rejudge import rejudge

        submit(small, student, body())
        judge(small)
        path = small.catalogue.root / "challenges" / "scale" / "challenge.toml"
        path.write_text(path.read_text().replace("version = 1", "version = 2").replace("2.0", "4.0"))
        assert rejudge(small, staff, "scale").queued == 1
        with small.sessions() as session:
            again = session.query(SubmissionRow).where(SubmissionRow.rejudge_of.is_not(None)).one()
        assert (again.kind, again.priority < 0) == (JudgingReason.REJUDGE, True)
        found = get_quotas(small, student, "scale")
        assert (found.submissions.used, found.waiting.used) == (1, 0)

    @pytest.mark.parametrize("limit", [{"quota": 1, "waiting_per_user": 100}, {"waiting_per_user": 1}])
    def test_one_of_fifty_simultaneous_submissions_passes_a_limit_of_one(
        self, tmp_path: Path, redis_url: str, database: str, limit: dict[str, Any]
    ) -> None:
        from grader.service.accounts.accounts import create_user

        platform = open_platform(make_settings(tmp_path, redis_url, **limit))
        user = create_user(platform, "ada", "correct horse")
        together = threading.Barrier(10)

        def post(number: int) -> SubmissionView | GraderError:
            together.wait()
            try:
                return submit(platform, user, body(source=f"x = {number}\n"))
            except GraderError as error:
                return error

        with ThreadPoolExecutor(10) as pool:
            answers = list(pool.map(post, range(50)))
        assert sum(isinstance(answer, SubmissionView) for answer in answers) == 1
        assert sum(isinstance(answer, TooMany) for answer in answers) == 49
        with platform.sessions() as session:
            assert session.query(SubmissionRow).count() == 1
        platform.close()
