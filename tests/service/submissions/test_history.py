"""Lists of submissions, page by page."""

from __future__ import annotations

import pytest

from grader import limits
from grader.errors import NotFound
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.service.submissions.submissions import list_submissions
from tests.records.rows import add_submission

pytestmark = pytest.mark.both_databases


def hand_in(platform: Platform, user: User, count: int, **values: object) -> None:
    for number in range(count):
        # Two at the same moment each: their order must be the same across pages.
        add_submission(platform.sessions, user.id, age_s=1000 - number // 2, **values)


def test_pages_list_each_submission_once_in_order(platform: Platform, student: User, other: User) -> None:
    hand_in(platform, student, 5)
    hand_in(platform, other, 2)
    whole = [submission.id for submission in list_submissions(platform, student).submissions]
    assert len(whole) == 5
    paged: list[str] = []
    while page := list_submissions(
        platform, student, limit=2, older_than=paged[-1] if paged else None
    ).submissions:
        paged += [view.id for view in page]
    assert paged == whole


def test_paging_keeps_to_the_challenge(platform: Platform, student: User) -> None:
    hand_in(platform, student, 2, challenge="scale")
    hand_in(platform, student, 2, challenge="only_cuda")
    first, second = list_submissions(platform, student, "scale").submissions
    behind = list_submissions(platform, student, "scale", older_than=first.id)
    assert [submission.id for submission in behind.submissions] == [second.id]


def test_paging_by_an_invisible_submission_is_refused(platform: Platform, student: User, other: User) -> None:
    hand_in(platform, other, 1)
    (theirs,) = list_submissions(platform, other).submissions
    for unseen in (theirs.id, "nothing"):
        with pytest.raises(NotFound):
            list_submissions(platform, student, older_than=unseen)


def test_counting_stops_at_its_limit(
    platform: Platform, student: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LISTED_MOST", 3)
    hand_in(platform, student, 5)
    found = list_submissions(platform, student, limit=2)
    assert (found.total, len(found.submissions)) == (3, 2)
