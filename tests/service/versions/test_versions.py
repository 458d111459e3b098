"""Versions, on every database: refusals, and what staff and students see."""

from __future__ import annotations

import pytest

from grader.errors import ChallengeChanged, Conflict, NotAllowed, NotFound
from grader.schemas.report import Verdict
from grader.service.accounts.accounts import User
from grader.service.boards.leaderboard import leaderboard
from grader.service.challenges import versions
from grader.service.challenges.rejudge import compare, rejudge
from grader.service.operation import health
from grader.service.platform import Platform
from grader.service.submissions.submissions import get_report, get_submission
from grader.service.submissions.submit import submit
from tests.service.versions.scenes import SLUG, at_once, edit, judge, judged, raise_version, shown
from tests.service.world import body

pytestmark = pytest.mark.both_databases


def test_the_first_version_is_shown_at_once(platform: Platform, student: User, staff: User) -> None:
    submit(platform, student, body())
    (only,) = versions.list_versions(platform, staff, SLUG).versions
    assert (only.version, only.shown, only.judged) == (1, True, 0)
    assert only.published_at is not None


def test_a_folder_that_changed_under_its_number_is_refused(
    platform: Platform, student: User, staff: User
) -> None:
    judged(platform, student)
    edit(platform, "n=7,", "n=11,", "cases.py")
    with pytest.raises(ChallengeChanged, match=r"version 1: cases seven changed") as caught:
        submit(platform, student, body())
    assert "version = 2" in caught.value.hint
    assert "restore the files" in caught.value.hint
    for refused in (versions.publish, rejudge):
        with pytest.raises(ChallengeChanged):
            refused(platform, staff, SLUG)
    edit(platform, "n=11,", "n=7,", "cases.py")
    submit(platform, student, body())


def test_a_folder_may_change_before_its_first_judgement(
    platform: Platform, student: User, staff: User
) -> None:
    submit(platform, student, body())
    edit(platform, "n=7,", "n=11,", "cases.py")
    submit(platform, student, body())
    content = versions.get_content(platform, staff, SLUG, 1).content
    assert content["cases"]["seven"]["sizes"] == {"n": 11}


def test_prose_may_change_at_any_time(platform: Platform, student: User) -> None:
    judged(platform, student)
    edit(platform, 'title = "Scale"', 'title = "Scaling"')
    edit(platform, "What to do", "What is to be done", "spec.md")
    assert versions.serve(platform, platform.catalogue.load(SLUG)).published


def test_a_copy_with_hidden_cases_completes_the_record(platform: Platform, student: User) -> None:
    judged(platform, student)
    folder = platform.catalogue.root / "reference" / SLUG / "staff"
    folder.mkdir()
    hidden = folder / "hidden_cases.py"
    hidden.write_text("def cases():\n    return []\n")
    versions.serve(platform, platform.catalogue.load(SLUG))
    hidden.write_text(
        "from grader.challenge.cases import case\ndef cases():\n    return [case('h', 'odd', n=3)]\n"
    )
    with pytest.raises(ChallengeChanged, match="hidden_cases h"):
        versions.serve(platform, platform.catalogue.load(SLUG))
    hidden.unlink()
    folder.rmdir()
    versions.serve(platform, platform.catalogue.load(SLUG))


def test_a_later_version_is_shown_at_once_if_nothing_was_judged(platform: Platform, student: User) -> None:
    submit(platform, student, body())
    raise_version(platform)
    assert versions.serve(platform, platform.catalogue.load(SLUG)).shown == 2


def test_students_see_the_old_board_until_staff_publish(
    platform: Platform, student: User, other: User, staff: User
) -> None:
    first, second = judged(platform, student, 10.0), judged(platform, other, 20.0)
    raise_version(platform)
    ordered = rejudge(platform, staff, SLUG)
    assert (ordered.version, ordered.queued, ordered.waiting) == (2, 2, 2)
    with pytest.raises(Conflict, match="2 submissions"):
        versions.publish(platform, staff, SLUG)
    judge(platform, 30.0)
    judge(platform, 15.0)
    assert shown(platform) == (1, {"ada": 1, "bob": 2})
    with pytest.raises(NotFound, match="not published"):
        leaderboard(platform, SLUG, version=2)
    draft = leaderboard(platform, SLUG, version=2, drafts=True)
    assert [entry.user for entry in draft.entries] == ["bob", "ada"]
    assert get_submission(platform, student, first.id).judged_again == []

    versions.publish(platform, staff, SLUG)
    assert shown(platform) == (2, {"bob": 1, "ada": 2})
    assert leaderboard(platform, SLUG, version=1).entries[0].user == "ada", "the old board stays"
    for user, view, time_us in ((student, first, 30.0), (other, second, 15.0)):
        after = get_submission(platform, user, view.id)
        assert (after.version, after.score) == (1, view.score)
        (later,) = after.judged_again
        assert (later.version, later.verdict, later.time_us) == (2, Verdict.ACCEPTED, time_us)
        again = get_submission(platform, user, later.id)
        assert (again.rejudge_of, again.created_at) == (view.id, view.created_at)
        assert get_report(platform, user, view.id).version == 1
        assert get_report(platform, user, later.id).version == 2


def test_publishing_can_be_forced_and_reverted(platform: Platform, student: User, staff: User) -> None:
    judged(platform, student)
    raise_version(platform)
    rejudge(platform, staff, SLUG)
    found = versions.publish(platform, staff, SLUG, force=True)
    assert [(version.version, version.shown) for version in found.versions] == [(1, False), (2, True)]
    with pytest.raises(Conflict, match="shown already"):
        versions.publish(platform, staff, SLUG)
    edit(platform, "version = 2", "version = 1")
    edit(platform, "value = 4.0", "value = 2.0")
    versions.publish(platform, staff, SLUG)
    assert shown(platform)[0] == 1


def test_health_reports_an_unpublished_version(platform: Platform, student: User, staff: User) -> None:
    judged(platform, student)
    assert health.health(platform).alerts == []
    raise_version(platform)
    rejudge(platform, staff, SLUG)
    (alert,) = health.health(platform).alerts
    assert "Version 2 of scale" in alert.text
    assert "grader admin publish scale" in alert.hint
    versions.publish(platform, staff, SLUG, force=True)
    assert health.health(platform).alerts == []


def test_changes_since_a_version_are_listed(platform: Platform, student: User, staff: User) -> None:
    judged(platform, student)
    raise_version(platform)
    (change,) = versions.changes_since(platform, staff, SLUG, 1)
    assert (change.part, change.kind) == ("args", "changed")
    with pytest.raises(NotFound, match="version 7"):
        versions.changes_since(platform, staff, SLUG, 7)


def test_students_may_not_manage_versions(platform: Platform, student: User) -> None:
    judged(platform, student)
    for refused in (
        rejudge,
        compare,
        versions.publish,
        versions.list_versions,
        lambda *given: versions.get_content(*given, 1),
        lambda *given: versions.changes_since(*given, 1),
    ):
        with pytest.raises(NotAllowed):
            refused(platform, student, SLUG)


def test_simultaneous_processes_record_a_version_once(platform: Platform, staff: User) -> None:
    found = at_once(lambda: versions.serve(platform, platform.catalogue.load(SLUG)))
    assert [served.shown for served in found] == [1] * 4
    assert len(versions.list_versions(platform, staff, SLUG).versions) == 1
