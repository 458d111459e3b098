"""Kinds of judging, and repeated requests under one key."""

from __future__ import annotations

import pytest

from grader.errors import BadRequest, Conflict
from grader.records.engine import writing
from grader.records.models import SubmissionRow
from grader.schemas.submission import JudgingReason
from grader.service.accounts.accounts import User
from grader.service.operation import queues
from grader.service.platform import Platform, open_platform
from grader.service.submissions.quotas import get_quotas
from grader.service.submissions.submit import submit
from tests.service.queues.builders import BOARD
from tests.service.world import body

pytestmark = pytest.mark.both_databases


class TestKinds:
    def test_staff_set_a_kind_or_leave_it_to_the_track(
        self, platform: Platform, student: User, staff: User
    ) -> None:
        assert submit(platform, student, body()).kind is JudgingReason.COURSE
        assert queues.set_kind(platform, staff, "scale", JudgingReason.COMPETITION).chosen
        urgent = submit(platform, student, body())
        assert (urgent.kind, urgent.position) == (JudgingReason.COMPETITION, 1)
        found = queues.set_kind(platform, staff, "scale", None)
        assert (found.kind, found.chosen) == (JudgingReason.COURSE, False)
        with pytest.raises(BadRequest, match="rejudges"):
            queues.set_kind(platform, staff, "scale", JudgingReason.REJUDGE)

    def test_a_track_can_be_practice(self, platform: Platform, student: User, staff: User) -> None:
        tracks = "".join(
            f'[[tracks]]\ntitle = "{title}"\ndescription = "d"\n{kind}'
            for title, kind in (("first", 'kind = "practice"\n'), ("second", ""))
        )
        (platform.catalogue.root / "challenges" / "tracks.toml").write_text(tracks)
        assert submit(platform, student, body()).kind is JudgingReason.PRACTICE
        assert queues.get_kind(platform, staff, "only_cuda").kind is JudgingReason.COURSE

    @pytest.mark.parametrize("field", ["kind", "priority"])
    def test_a_request_cannot_set_its_kind(self, field: str) -> None:
        with pytest.raises(ValueError, match=field):
            body(**{field: "competition"})


class TestKeys:
    @pytest.mark.parametrize(
        "change",
        [
            {"source": "y = 2\n"},
            {"device": "cpu"},
            {"challenge": "only_cuda", "filename": "a.cu", "device": BOARD},
            {"language": "cuda", "device": BOARD},
        ],
    )
    def test_a_key_reused_for_another_request_is_a_conflict(
        self, small: Platform, student: User, change: dict[str, str]
    ) -> None:
        first = submit(small, student, body(), "key")
        with pytest.raises(Conflict, match=first.id):
            submit(small, student, body(**change), "key")
        assert get_quotas(small, student, "scale").submissions.used == 1
        assert submit(small, student, body(), "key").id == first.id

    def test_a_repeated_key_returns_the_first_submission(self, small: Platform, student: User) -> None:
        first = submit(small, student, body(device=BOARD), "key")
        gone = open_platform(small.settings.model_copy(update={"devices": "cpu"}))
        assert submit(gone, student, body(device=BOARD), "key").id == first.id
        gone.close()

    def test_rows_of_earlier_releases_match_without_a_digest(self, platform: Platform, student: User) -> None:
        first = submit(platform, student, body(), "key")
        with writing(platform.sessions) as session:
            session.query(SubmissionRow).update({"request_sha256": None})
        assert submit(platform, student, body(source="y = 2\n"), "key").id == first.id
