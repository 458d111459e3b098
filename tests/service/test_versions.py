"""Versions and judging again, on every database: what is refused, what staff see, and what students see meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import pytest
from argon2 import PasswordHasher

from grader.errors import ChallengeChanged, Conflict, NotAllowed, NotFound
from grader.records import leases
from grader.records.claims import claim
from grader.records.engine import writing
from grader.records.models import utcnow
from grader.schemas.report import CaseReport, CaseVerdict, Language, Report, Score, Verdict
from grader.schemas.submission import State, SubmissionView
from grader.service import accounts, health, versions
from grader.service.accounts import User
from grader.service.leaderboard import leaderboard
from grader.service.platform import Platform, open_platform
from grader.service.rejudge import compare, rejudge
from grader.service.submissions import get_report, get_submission, list_submissions
from grader.service.submit import submit
from tests.records.conftest import empty_url, postgres_url  # noqa: F401 - fixtures
from tests.service.world import body, make_settings

SLUG = "scale"
T = TypeVar("T")


@pytest.fixture(autouse=True)
def _quick_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    """What hashing should cost is not tested here, and each test makes accounts."""
    quick = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(accounts, "_hasher", lambda: quick)


@pytest.fixture
def platform(tmp_path: Path, redis_url: str, empty_url: str) -> Iterator[Platform]:  # noqa: F811
    platform = open_platform(make_settings(tmp_path, redis_url, database_url=empty_url))
    yield platform
    platform.close()


def edit(platform: Platform, old: str, new: str, name: str = "challenge.toml") -> None:
    path = platform.course.root / "challenges" / SLUG / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def raise_version(platform: Platform) -> None:
    """Version 2, in which something is judged differently."""
    edit(platform, "version = 1", "version = 2")
    edit(platform, "value = 2.0", "value = 4.0")


def judge(platform: Platform, time_us: float | None = 10.0) -> None:
    """Judge what is next in the queue; None: it is wrong."""
    with writing(platform.sessions) as session:
        held = claim(session, "cpu", [Language.TRITON], "test", utcnow(), 60.0)
        assert held is not None
        case = CaseReport(
            name="seven",
            category="prime",
            verdict=CaseVerdict.ACCEPTED if time_us else CaseVerdict.WRONG_ANSWER,
            detail="" if time_us else "0 is not 1",
        )
        report = Report(
            verdict=Verdict.ACCEPTED if time_us else Verdict.WRONG_ANSWER,
            challenge=SLUG,
            version=platform.course.load(SLUG).manifest.version,
            language=Language.TRITON,
            device="cpu",
            cases=[case],
            score=Score(time_us=time_us, ci=(time_us, time_us) if time_us else None, passed=1, total=1),
        )
        assert leases.finish(session, held, report, utcnow())


def judged(platform: Platform, user: User, time_us: float | None = 10.0) -> SubmissionView:
    view = submit(platform, user, body())
    judge(platform, time_us)
    return get_submission(platform, user, view.id)


def shown(platform: Platform) -> tuple[int, dict[str, int]]:
    board = leaderboard(platform, SLUG)
    return board.version, {entry.user: entry.rank for entry in board.entries}


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
    assert "put the files back" in caught.value.hint
    for refused in (versions.publish, rejudge):
        with pytest.raises(ChallengeChanged):
            refused(platform, staff, SLUG)
    edit(platform, "n=11,", "n=7,", "cases.py")
    submit(platform, student, body())


def test_a_folder_may_change_as_long_as_nothing_was_judged_by_it(
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
    assert versions.serve(platform, platform.course.load(SLUG)).published


def test_a_copy_with_hidden_cases_completes_the_record(platform: Platform, student: User) -> None:
    judged(platform, student)
    folder = platform.course.root / "reference" / SLUG / "staff"
    folder.mkdir()
    hidden = folder / "hidden_cases.py"
    hidden.write_text("def cases():\n    return []\n")
    versions.serve(platform, platform.course.load(SLUG))
    hidden.write_text(
        "from grader.challenge.cases import case\ndef cases():\n    return [case('h', 'odd', n=3)]\n"
    )
    with pytest.raises(ChallengeChanged, match="hidden_cases h"):
        versions.serve(platform, platform.course.load(SLUG))
    hidden.unlink()
    folder.rmdir()
    versions.serve(platform, platform.course.load(SLUG))


def test_a_later_version_is_shown_at_once_where_nothing_is_to_be_compared(
    platform: Platform, student: User
) -> None:
    submit(platform, student, body())
    raise_version(platform)
    assert versions.serve(platform, platform.course.load(SLUG)).shown == 2


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


def test_judging_again_is_nobodys_attempt(platform: Platform, student: User, staff: User) -> None:
    judged(platform, student)
    raise_version(platform)
    rejudge(platform, staff, SLUG)
    for _ in range(4):
        view = submit(platform, student, body())
    assert view.position == 4, "behind its author's own, ahead of what is judged again"
    listed = list_submissions(platform, student)
    assert listed.total == 5
    assert len(listed.submissions) == 5
    assert list_submissions(platform, staff, everyone=True).total == 5


def test_ordering_twice_orders_once(platform: Platform, student: User, staff: User) -> None:
    judged(platform, student)
    judged(platform, student, None)
    raise_version(platform)
    assert rejudge(platform, staff, SLUG).queued == 2
    again = rejudge(platform, staff, SLUG)
    assert (again.queued, again.waiting) == (0, 2)


def test_only_what_stands_on_a_board(platform: Platform, student: User, other: User, staff: User) -> None:
    judged(platform, student, 10.0)
    judged(platform, student, 12.0)
    judged(platform, student, None)
    judged(platform, other, 9.0)
    raise_version(platform)
    assert rejudge(platform, staff, SLUG, ranked=True).queued == 2


def test_what_changes_is_compared_before_anyone_sees_it(
    platform: Platform, student: User, other: User, staff: User
) -> None:
    judged(platform, student, 10.0)
    judged(platform, student, None)
    judged(platform, other, 20.0)
    with pytest.raises(Conflict, match="nothing to compare"):
        compare(platform, staff, SLUG)
    raise_version(platform)
    before = compare(platform, staff, SLUG)
    assert (before.judged, before.not_ordered, before.before, before.after) == (0, 3, 1, 2)
    rejudge(platform, staff, SLUG)
    judge(platform, 30.0)  # authors take turns, and bob had fewer lately
    judge(platform, None)
    found = compare(platform, staff, SLUG)
    assert (found.judged, found.waiting, found.failed, found.not_ordered) == (2, 1, 0, 0)
    judge(platform, 11.0)
    found = compare(platform, staff, SLUG)
    assert (found.judged, found.shown, found.median_time_ratio) == (3, 1, 1.5)
    assert [
        (it.user, it.before.verdict, it.after and it.after.verdict, it.verdict_changed, it.time_ratio)
        for it in sorted(found.submissions, key=lambda it: (it.user, it.before.verdict or ""))
    ] == [
        ("ada", Verdict.ACCEPTED, Verdict.WRONG_ANSWER, True, None),
        ("ada", Verdict.WRONG_ANSWER, Verdict.ACCEPTED, True, None),
        ("bob", Verdict.ACCEPTED, Verdict.ACCEPTED, False, 1.5),
    ]
    assert [it.verdict_changed for it in found.submissions] == [True, True, False]
    assert {it.user: (it.before, it.after) for it in found.ranks} == {"ada": (1, 1), "bob": (2, 2)}
    versions.publish(platform, staff, SLUG)
    later = compare(platform, staff, SLUG)
    assert (later.before, later.after, later.shown) == (1, 2, 2), "it can be looked up afterwards"


def test_what_failed_of_ours_is_told_and_ordered_again(
    platform: Platform, student: User, staff: User
) -> None:
    judged(platform, student)
    raise_version(platform)
    rejudge(platform, staff, SLUG)
    with writing(platform.sessions) as session:
        held = claim(session, "cpu", [Language.TRITON], "test", utcnow(), 60.0)
        assert held is not None
        state = leases.give_back(session, held.id, held.attempt, utcnow(), error="a full disk", cap=1)
        assert state is State.FAILED
    assert compare(platform, staff, SLUG).failed == 1
    assert rejudge(platform, staff, SLUG).queued == 1
    judge(platform, 5.0)
    found = compare(platform, staff, SLUG)
    assert (found.failed, found.judged) == (0, 1)


def test_publishing_can_be_forced_and_taken_back(platform: Platform, student: User, staff: User) -> None:
    judged(platform, student)
    raise_version(platform)
    rejudge(platform, staff, SLUG)
    found = versions.publish(platform, staff, SLUG, force=True)
    assert [(it.version, it.shown) for it in found.versions] == [(1, False), (2, True)]
    with pytest.raises(Conflict, match="shown already"):
        versions.publish(platform, staff, SLUG)
    edit(platform, "version = 2", "version = 1")
    edit(platform, "value = 4.0", "value = 2.0")
    versions.publish(platform, staff, SLUG)
    assert shown(platform)[0] == 1


def test_health_tells_of_a_version_that_waits_to_be_published(
    platform: Platform, student: User, staff: User
) -> None:
    judged(platform, student)
    assert health.health(platform).alerts == []
    raise_version(platform)
    rejudge(platform, staff, SLUG)
    (alert,) = health.health(platform).alerts
    assert "Version 2 of scale" in alert.text
    assert "grader admin publish scale" in alert.mend
    versions.publish(platform, staff, SLUG, force=True)
    assert health.health(platform).alerts == []


def test_what_changed_since_a_version(platform: Platform, student: User, staff: User) -> None:
    judged(platform, student)
    raise_version(platform)
    (change,) = versions.changes_since(platform, staff, SLUG, 1)
    assert (change.part, change.kind) == ("args", "changed")
    with pytest.raises(NotFound, match="version 7"):
        versions.changes_since(platform, staff, SLUG, 7)


def test_students_may_do_none_of_this(platform: Platform, student: User) -> None:
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


def at_once(work: Callable[[], T], times: int = 4) -> list[T]:
    with ThreadPoolExecutor(times) as pool:
        return [future.result() for future in [pool.submit(work) for _ in range(times)]]


def test_processes_that_meet_a_version_together_note_it_once(platform: Platform, staff: User) -> None:
    found = at_once(lambda: versions.serve(platform, platform.course.load(SLUG)))
    assert [served.shown for served in found] == [1] * 4
    assert len(versions.list_versions(platform, staff, SLUG).versions) == 1


def test_orders_that_come_together_order_once(platform: Platform, student: User, staff: User) -> None:
    judged(platform, student)
    judged(platform, student)
    raise_version(platform)
    assert sum(it.queued for it in at_once(lambda: rejudge(platform, staff, SLUG))) == 2
