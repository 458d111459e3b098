"""Runs have separate limits, the newest wins, and nothing counts them as submissions."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from grader import limits
from grader.errors import Conflict, NotFound, TooMany
from grader.languages import Language
from grader.records import claims, figures, leases, quotas, rejudges, versions
from grader.records.claims import Claim
from grader.records.engine import clock, writing
from grader.records.models import ReportRow, SubmissionRow, utcnow
from grader.schemas.card_tool import CardTool
from grader.schemas.own_case import OwnCase
from grader.schemas.progress import Mark
from grader.schemas.report import Report, Verdict
from grader.schemas.submission import JudgingReason, RunBody, State, SubmissionView, SubmitBody
from grader.service.accounts.accounts import User
from grader.service.boards.leaderboard import leaderboard
from grader.service.challenges import publication
from grader.service.challenges.rejudge import rejudge
from grader.service.operation.requeue import requeue
from grader.service.operation.retention import prune
from grader.service.platform import Platform, open_platform
from grader.service.submissions.cancel import cancel
from grader.service.submissions.progress import progress
from grader.service.submissions.quotas import get_quotas
from grader.service.submissions.run import run
from grader.service.submissions.submission_search import SearchFilter, entries
from grader.service.submissions.submissions import get_report, get_submission, list_submissions
from grader.service.submissions.submit import submit
from grader.settings import Settings
from tests.records.rows import accepted
from tests.service.submissions.test_submit import _at_once
from tests.service.world import body, make_settings

pytestmark = pytest.mark.both_databases

SLUG = "scale"


def wanted(**values: object) -> RunBody:
    return RunBody(**({"challenge": SLUG, "source": "x = 1\n", "filename": "a.py"} | values))


def take(platform: Platform) -> Claim:
    with writing(platform.sessions) as session:
        held = claims.claim(
            session, claims.ClaimRequest("cpu", list(Language), "w", clock(session), 30.0)
        ).held
    assert held is not None
    return held


def end(platform: Platform, held: Claim, report: Report | None = None) -> bool:
    told = report or accepted().model_copy(update={"challenge": SLUG})
    with writing(platform.sessions) as session:
        return leases.finish(session, held, told, clock(session))


def done(platform: Platform, user: User) -> SubmissionView:
    """An accepted run whose report has times, as from a careless judge."""
    view = run(platform, user, wanted())
    assert end(platform, take(platform))
    return get_submission(platform, user, view.id)


@pytest.fixture
def tight(settings: Settings) -> Callable[..., Platform]:
    return lambda **values: open_platform(settings.model_copy(update=values))


@pytest.fixture
def two_challenges(settings: Settings, platform: Platform, staff: User) -> Path:
    root = settings.challenges
    assert root is not None
    for folder in ("challenges", "reference"):
        shutil.copytree(root / folder / SLUG, root / folder / "second")
    publication.publish(platform, staff, "second")
    return root


def test_a_run_waits_like_a_submission(platform: Platform, student: User) -> None:
    view = run(platform, student, wanted())
    assert (view.kind, view.state, view.position, view.device) == (JudgingReason.RUN, State.QUEUED, 1, "cpu")
    assert view.remaining == limits.RUNS_PER_HOUR - 1
    assert platform.wakeups.waiting("run:cpu") == 1
    held = take(platform)
    assert held.run
    assert end(platform, held)
    assert get_report(platform, student, view.id).verdict is Verdict.ACCEPTED


def test_others_do_not_see_a_run(platform: Platform, student: User, other: User) -> None:
    view = run(platform, student, wanted())
    with pytest.raises(NotFound):
        get_submission(platform, other, view.id)


def test_lists_include_runs_only_on_request(platform: Platform, student: User) -> None:
    ran, sent = done(platform, student), submit(platform, student, body())
    for slug in (None, SLUG):
        listed = list_submissions(platform, student, slug)
        assert ([submission.id for submission in listed.submissions], listed.total) == ([sent.id], 1)
        listed = list_submissions(platform, student, slug, runs=True)
        assert ([submission.id for submission in listed.submissions], listed.total) == ([ran.id], 1)


def test_a_run_is_on_no_board_and_in_no_count(platform: Platform, student: User, staff: User) -> None:
    view = done(platform, student)
    assert (view.verdict, view.score and view.score.time_us) == (Verdict.ACCEPTED, None)
    assert leaderboard(platform, SLUG).entries == []
    mine = progress(platform, student)
    assert (mine.solved, mine.attempted) == (0, 0)
    assert {line.mark for track in mine.tracks for line in track.challenges} == {Mark.OPEN}
    with platform.sessions() as session:
        assert not versions.judged(session, SLUG, 1)
        assert rejudges.judgements(session, SLUG) == {}
        assert rejudges.under(session, SLUG, 1) == {}
        assert [(tally.run, tally.count) for tally in figures.verdicts(session)] == [(True, 1)]
    assert list(entries(platform, SearchFilter())) == []
    assert list_submissions(platform, staff, everyone=True).total == 0


def test_a_run_is_never_judged_again(platform: Platform, student: User, staff: User) -> None:
    done(platform, student)
    manifest = platform.catalogue.root / "challenges" / SLUG / "challenge.toml"
    manifest.write_text(manifest.read_text().replace("version = 1", "version = 2"))
    assert rejudge(platform, staff, SLUG).queued == 0


def test_a_run_uses_up_no_attempt(platform: Platform, student: User) -> None:
    run(platform, student, wanted())
    quota = get_quotas(platform, student, SLUG)
    assert (quota.submissions.used, quota.waiting.used) == (0, 0)
    assert (quota.runs.used, quota.running.used) == (1, 1)
    submit(platform, student, body())
    quota = get_quotas(platform, student, SLUG)
    assert (quota.submissions.used, quota.waiting.used, quota.runs.used) == (1, 1, 1)


def test_a_submit_is_never_answered_by_a_run(platform: Platform, student: User) -> None:
    ran = done(platform, student)
    sent = submit(platform, student, body(reuse=True))
    assert not sent.reused
    assert sent.id != ran.id


def test_a_key_belongs_to_a_run_or_a_submission(platform: Platform, student: User) -> None:
    ran = run(platform, student, wanted(), "key")
    assert run(platform, student, wanted(), "key").id == ran.id
    with pytest.raises(Conflict):
        submit(platform, student, body(), "key")
    submit(platform, student, body(), "other")
    with pytest.raises(Conflict):
        run(platform, student, wanted(), "other")


def test_the_newest_run_wins(platform: Platform, student: User, other: User, two_challenges: Path) -> None:
    first = run(platform, student, wanted())
    elsewhere = run(platform, student, wanted(challenge="second"))
    theirs = run(platform, other, wanted())
    sent = submit(platform, student, body())
    second = run(platform, student, wanted(source="x = 2\n"))
    states = [get_submission(platform, student, view.id).state for view in (first, elsewhere, sent, second)]
    assert states == [State.CANCELLED, State.QUEUED, State.QUEUED, State.QUEUED]
    assert get_submission(platform, other, theirs.id).state is State.QUEUED


def test_a_newer_run_ends_a_running_one(platform: Platform, student: User) -> None:
    first = run(platform, student, wanted())
    held = take(platform)
    second = run(platform, student, wanted())
    with platform.sessions() as session:
        assert not leases.lease_state(session, held).held
    assert not end(platform, held)
    assert get_submission(platform, student, first.id).state is State.CANCELLED
    assert take(platform).public_id == second.id


def test_a_refused_run_keeps_the_last_one(tight: Callable[..., Platform], student: User) -> None:
    platform = tight(run_limit=1)
    first = run(platform, student, wanted())
    with pytest.raises(TooMany) as caught:
        run(platform, student, wanted())
    assert "1 of 1 runs within 60 min" in caught.value.message
    assert "UTC, in 60 min" in caught.value.hint
    assert get_submission(platform, student, first.id).state is State.QUEUED
    assert submit(platform, student, body()).state is State.QUEUED
    platform.close()


def test_the_run_limit_renews_after_an_hour(tight: Callable[..., Platform], student: User) -> None:
    platform = tight(run_limit=1)
    run(platform, student, wanted())
    with writing(platform.sessions) as session:
        ago = utcnow() - timedelta(minutes=61)
        session.execute(update(quotas.QuotaRow).values(since=ago))
    assert run(platform, student, wanted()).state is State.QUEUED
    platform.close()


def test_the_hourly_run_limit_cannot_be_raced(tight: Callable[..., Platform], student: User) -> None:
    platform = tight(run_limit=1)
    results = _at_once(50, lambda _: run(platform, student, wanted()))
    assert sum(isinstance(result, SubmissionView) for result in results) == 1
    assert sum(isinstance(result, TooMany) for result in results) == 49
    assert list_submissions(platform, student, runs=True).total == 1
    platform.close()


def test_the_limit_of_simultaneous_runs_cannot_be_raced(
    tight: Callable[..., Platform], student: User, two_challenges: Path
) -> None:
    platform = tight(runs_at_once=1, run_limit=1000)
    results = _at_once(
        20, lambda number: run(platform, student, wanted(challenge=(SLUG, "second")[number % 2]))
    )
    assert {type(result) for result in results} == {SubmissionView, TooMany}
    with platform.sessions() as session:
        unfinished = session.query(SubmissionRow).filter(SubmissionRow.finished_at.is_(None)).count()
        use = quotas.read(session, student.id, quotas.RUNNING, utcnow())
    assert (unfinished, use.used) == (1, 1)
    platform.close()


def test_an_ended_run_is_not_counted_as_running(
    tight: Callable[..., Platform], student: User, two_challenges: Path
) -> None:
    platform = tight(runs_at_once=1)
    first = run(platform, student, wanted())
    with pytest.raises(TooMany, match="the limit is 1 at once"):
        run(platform, student, wanted(challenge="second"))
    cancel(platform, student, first.id)
    second = run(platform, student, wanted(challenge="second"))
    assert end(platform, take(platform), accepted().model_copy(update={"challenge": "second"}))
    assert get_submission(platform, student, second.id).state is State.DONE
    assert run(platform, student, wanted()).remaining == limits.RUNS_PER_HOUR - 3
    platform.close()


def test_our_failure_costs_no_run(platform: Platform, student: User) -> None:
    view = run(platform, student, wanted())
    held = take(platform)
    with writing(platform.sessions) as session:
        leases.give_back(session, held.id, held.attempt, utcnow(), error="ours", cap=1)
    assert get_submission(platform, student, view.id).state is State.FAILED
    assert get_quotas(platform, student, SLUG).runs.used == 0
    assert requeue(platform, []).submissions == []
    assert requeue(platform, [view.id]).submissions == [view.id]
    assert get_quotas(platform, student, SLUG).running.used == 1


def test_old_runs_are_pruned_with_their_reports(platform: Platform, student: User) -> None:
    old, kept = done(platform, student), done(platform, student)
    sent = submit(platform, student, body())
    assert end(platform, take(platform))
    ago = utcnow() - timedelta(days=limits.RUN_DAYS + 1)
    with writing(platform.sessions) as session:
        late = SubmissionRow.public_id.in_((old.id, sent.id))
        session.execute(update(SubmissionRow).where(late).values(finished_at=ago))
    assert prune(platform, None).runs == 1
    assert prune(platform, None, dry_run=False).runs == 1
    with pytest.raises(NotFound):
        get_submission(platform, student, old.id)
    assert get_report(platform, student, kept.id).verdict is Verdict.ACCEPTED
    assert get_report(platform, student, sent.id).verdict is Verdict.ACCEPTED
    with platform.sessions() as session:
        assert session.query(ReportRow).count() == 2


def test_runs_go_ahead_for_a_limited_time(platform: Platform, student: User, other: User) -> None:
    """A person who submits is not behind one who runs without end."""
    submit(platform, other, SubmitBody(challenge=SLUG, source="y = 1\n", filename="a.py"))
    served = 0
    for _ in range(40):
        run(platform, student, wanted())
        held = take(platform)
        if not held.run:
            break
        end(platform, held)
        served += 1
    assert 0 < served < 20


def test_a_run_is_stored_without_redis(tmp_path: Path) -> None:
    from grader.service.accounts.accounts import create_user

    platform = open_platform(make_settings(tmp_path, f"unix://{tmp_path}/none.sock"))
    assert run(platform, create_user(platform, "ada", "correct horse"), wanted()).state is State.QUEUED
    platform.close()


def test_runs_under_a_tool_of_the_toolkit_have_a_limit_of_their_own(
    tight: Callable[..., Platform], student: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "CARD_TOOL_RUNS_PER_HOUR", 1)
    platform = tight(devices="cpu, h200")
    first = platform.catalogue.load(SLUG).cases[0].name
    case = OwnCase(name=first, tool=CardTool.COUNTERS)
    run(platform, student, wanted(device="h200", case=case))
    with pytest.raises(TooMany, match="1 of 1 runs under a tool"):
        run(platform, student, wanted(device="h200", case=case))
    run(platform, student, wanted(device="h200", case=OwnCase(name=first)))
    platform.close()
