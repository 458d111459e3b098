"""Drafts are kept for one user, replaced whole, bounded, and gone with their user."""

from __future__ import annotations

from datetime import timedelta

import pytest

from grader import limits
from grader.errors import BadSource, NotFound, UnknownChallenge, UnknownLanguage
from grader.languages import Language
from grader.schemas.draft import DraftBody, DraftView
from grader.service.accounts.accounts import User
from grader.service.operation.retention import forget
from grader.service.platform import Platform
from grader.service.submissions import drafts
from grader.service.submissions.drafts import DraftChanged

pytestmark = pytest.mark.both_databases

SLUG = "scale"


def keep(
    platform: Platform, user: User, source: str, language: str = "triton", **values: object
) -> DraftView:
    body = DraftBody.model_validate({"source": source, **values})
    return drafts.keep_draft(platform, user, SLUG, language, body)


def test_the_last_draft_is_kept_by_user_and_language(platform: Platform, student: User, other: User) -> None:
    keep(platform, student, "x = 1\n")
    keep(platform, student, "int x;\n", "cuda")
    last = keep(platform, student, "x = 2 # ä\n")
    assert drafts.get_draft(platform, student, SLUG, "triton") == last
    assert drafts.get_draft(platform, student, SLUG, "cuda").source == "int x;\n"
    assert set(drafts.of_challenge(platform, student, SLUG)) == {Language.CUDA, Language.TRITON}
    assert drafts.of_challenge(platform, other, SLUG) == {}
    with pytest.raises(NotFound):
        drafts.get_draft(platform, other, SLUG, "triton")


def test_a_draft_changed_elsewhere_is_not_overwritten(platform: Platform, student: User) -> None:
    first = keep(platform, student, "x = 1")
    second = keep(platform, student, "x = 2", based_on=first.updated_at)
    with pytest.raises(DraftChanged):
        keep(platform, student, "x = 3", based_on=first.updated_at)
    with pytest.raises(DraftChanged):
        keep(platform, student, "x = 3", based_on=second.updated_at + timedelta(microseconds=1))
    assert drafts.get_draft(platform, student, SLUG, "triton") == second
    keep(platform, student, "x = 3")
    drafts.remove_draft(platform, student, SLUG, "triton")
    with pytest.raises(DraftChanged):
        keep(platform, student, "x = 4", based_on=second.updated_at)


def test_a_draft_based_on_none_does_not_overwrite_one(platform: Platform, student: User) -> None:
    """Both tabs open before either has saved."""
    first = keep(platform, student, "the first tab's", based_on=None)
    with pytest.raises(DraftChanged):
        keep(platform, student, "the second tab's", based_on=None)
    assert drafts.get_draft(platform, student, SLUG, "triton") == first
    drafts.remove_draft(platform, student, SLUG, "triton")
    assert keep(platform, student, "the second tab's", based_on=None).source == "the second tab's"


@pytest.mark.parametrize(
    "source", ["x" * (limits.SOURCE_BYTES + 1), "ä" * (limits.SOURCE_BYTES // 2 + 1), "x\0", "\ud800"]
)
def test_a_draft_that_cannot_be_a_source_is_refused(platform: Platform, student: User, source: str) -> None:
    with pytest.raises(BadSource):
        keep(platform, student, source)
    assert drafts.of_challenge(platform, student, SLUG) == {}


def test_the_largest_source_fits(platform: Platform, student: User) -> None:
    assert keep(platform, student, "x" * limits.SOURCE_BYTES).bytes == limits.SOURCE_BYTES


def test_a_draft_needs_a_known_challenge_and_language(platform: Platform, student: User) -> None:
    with pytest.raises(UnknownChallenge):
        drafts.keep_draft(platform, student, "nothing", "triton", DraftBody(source="x"))
    with pytest.raises(UnknownLanguage):
        keep(platform, student, "x", "perl")
    with pytest.raises(UnknownLanguage):
        drafts.keep_draft(platform, student, "only_cuda", "triton", DraftBody(source="x"))


def test_removing_a_draft_twice_is_no_error(platform: Platform, student: User, other: User) -> None:
    keep(platform, student, "x = 1")
    keep(platform, other, "x = 2")
    for _ in range(2):
        drafts.remove_draft(platform, student, SLUG, "triton")
    assert drafts.of_challenge(platform, student, SLUG) == {}
    assert drafts.get_draft(platform, other, SLUG, "triton").source == "x = 2"


def test_forgetting_a_person_removes_their_drafts(platform: Platform, student: User, other: User) -> None:
    keep(platform, student, "x = 1")
    keep(platform, other, "x = 2")
    forget(platform, student.name)
    assert drafts.of_challenge(platform, student, SLUG) == {}
    assert len(drafts.of_challenge(platform, other, SLUG)) == 1
