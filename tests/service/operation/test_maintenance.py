"""Maintenance by the operator: looking up, giving another try, exporting, forgetting, pruning."""

from __future__ import annotations

import csv
import json
from datetime import timedelta

import pytest
from sqlalchemy import func, select, update

from grader.errors import Conflict, NotFound, NotSignedIn
from grader.languages import Language
from grader.queue.sweeper import sweep
from grader.records import quotas
from grader.records.engine import writing
from grader.records.models import (
    ArtefactRow,
    Base,
    ChoreRow,
    ReportRow,
    SubmissionRow,
    TokenRow,
    WorkerRow,
    utcnow,
)
from grader.schemas.course import CourseBody, CourseChange, CourseRole, MemberChange, RosterBody
from grader.schemas.report import Verdict
from grader.schemas.submission import State
from grader.service.accounts import accounts, tokens
from grader.service.accounts.accounts import User
from grader.service.boards import leaderboard
from grader.service.courses import courses, rosters
from grader.service.operation.requeue import requeue
from grader.service.operation.retention import forget, prune
from grader.service.platform import Platform, open_platform
from grader.service.submissions import submission_search, submissions
from grader.service.submissions.submission_search import SearchFilter
from tests.web import builders

pytestmark = pytest.mark.both_databases


def failed(platform: Platform, user: User) -> str:
    view = builders.hand_in(platform, user, challenge="scale")
    builders.fail(platform, builders.take(platform))
    return view.id


def judged(platform: Platform, user: User, time_us: float) -> str:
    return builders.judged(
        platform, user, builders.accepted(time_us, challenge="scale"), challenge="scale"
    ).id


def board(platform: Platform) -> list[tuple[int, float]]:
    found = leaderboard.leaderboard(platform, "scale", device="cpu")
    return [(entry.rank, entry.time_us) for entry in found.entries]


def test_failed_submissions_can_be_requeued(platform: Platform, student: User) -> None:
    one, two = failed(platform, student), failed(platform, student)
    assert submission_search.entry(platform, one).verdict is Verdict.INTERNAL_ERROR
    assert requeue(platform, []).submissions == [one, two]
    again = submission_search.entry(platform, one)
    assert (again.state, again.verdict, again.failures, again.error) == (State.QUEUED, None, 0, "")
    with platform.sessions() as session:
        assert quotas.read(session, student.id, quotas.WAITING, utcnow()).used == 2
    for _ in range(2):
        builders.finish(platform, builders.take(platform), builders.accepted(challenge="scale"))
    assert submission_search.entry(platform, one).verdict is Verdict.ACCEPTED
    with platform.sessions() as session:
        assert quotas.read(session, student.id, quotas.WAITING, utcnow()).used == 0


def test_only_failed_submissions_are_requeued(platform: Platform, student: User) -> None:
    bad, good = failed(platform, student), judged(platform, student, 10.0)
    with pytest.raises(Conflict, match="is done"):
        requeue(platform, [bad, good])
    assert submission_search.entry(platform, bad).state is State.FAILED
    with pytest.raises(NotFound):
        requeue(platform, ["0000000000"])


def test_submissions_are_searched_by_each_filter(platform: Platform, student: User, other: User) -> None:
    bad, good = failed(platform, student), judged(platform, other, 10.0)

    def found(**wanted: object) -> list[str]:
        return [entry.id for entry in submission_search.entries(platform, SearchFilter(**wanted))]  # type: ignore[arg-type]

    assert found() == [good, bad]
    assert found(user="BOB") == found(verdict=Verdict.ACCEPTED) == found(state=State.DONE) == [good]
    assert found(state=State.FAILED, language=Language.TRITON, challenge="scale", device="cpu") == [bad]
    assert found(since_days=0.0) == found(request="none-of-ours") == []
    assert len(list(submission_search.entries(platform, SearchFilter(), 1))) == 1


@pytest.mark.parametrize("name", ["=cmd|'x'!A1.py", "+1+1.py", "-1.py", "@SUM(1).py"])
def test_exported_names_are_no_formulas(platform: Platform, student: User, name: str) -> None:
    builders.hand_in(platform, student, challenge="scale", filename=name)
    with writing(platform.sessions) as session:
        session.execute(update(SubmissionRow).values(error="\t=1+1", time_us=-1.5))
    lines = list(submission_search.as_csv(submission_search.entries(platform, SearchFilter())))
    (row,) = csv.DictReader(lines)
    assert (row["filename"], row["error"]) == (f"'{name}", "'\t'=1+1")
    assert (row["user"], row["challenge"], row["time_us"]) == ("ada", "scale", "-1.5")
    assert "source" not in row


def test_a_name_with_commas_quotes_and_line_breaks_stays_one_cell(platform: Platform, student: User) -> None:
    builders.hand_in(platform, student, challenge="scale", filename='a,"b".py')
    (row,) = csv.DictReader(
        list(submission_search.as_csv(submission_search.entries(platform, SearchFilter())))
    )
    assert row["filename"] == 'a,"b".py'


def everything(platform: Platform) -> str:
    with platform.sessions() as session:
        rows = {
            name: [tuple(map(str, row)) for row in session.execute(select(table))]
            for name, table in Base.metadata.tables.items()
        }
    return json.dumps(rows)


def test_forgetting_keeps_times_and_removes_personal_data(platform: Platform, other: User) -> None:
    person = accounts.create_user(platform, "Grace.Hopper", "correct horse")
    token = tokens.issue_token(platform, person, "grace's laptop").token
    source = "# by grace hopper\n"
    mine = builders.judged(
        platform, person, builders.accepted(5.0, challenge="scale"), challenge="scale", source=source
    ).id
    waiting = builders.hand_in(platform, person, challenge="scale", source=source, filename="grace.py").id
    theirs = judged(platform, other, 7.0)
    ranks = board(platform)
    with platform.sessions() as session:
        digest = session.scalar(select(TokenRow.sha256).where(TokenRow.user_id == person.id))
    done = forget(platform, "grace.hopper")
    assert (done.submissions, done.cancelled) == (2, 1)
    assert board(platform) == ranks
    assert leaderboard.leaderboard(platform, "scale", device="cpu").entries[0].user == done.name
    left = everything(platform).lower()
    assert "grace" not in left
    assert str(digest) not in left
    with pytest.raises(NotSignedIn):
        tokens.user_of_token(platform, token)
    assert submission_search.entry(platform, waiting).state is State.CANCELLED
    assert submissions.get_report(platform, other, theirs).verdict is Verdict.ACCEPTED
    with pytest.raises(Conflict, match="no report"):
        submissions.get_report(platform, accounts.User(0, "x", accounts.Role.STAFF), mine)
    assert accounts.create_user(platform, "Grace.Hopper", "correct horse").id != person.id
    with pytest.raises(NotFound):
        forget(platform, "nobody")


def test_forgetting_covers_courses_and_their_logs(platform: Platform, staff: User) -> None:
    person = accounts.create_user(platform, "Grace.Hopper", "correct horse", email="grace@navy.mil")
    courses.create_course(platform, staff, CourseBody(slug="gpu", name="GPU"))
    table = "email,full_name,id,section\ngrace@navy.mil,Grace Hopper,1906,A\n"
    rosters.import_roster(platform, staff, "gpu", RosterBody(text=table, dry_run=False))
    rosters.change_member(platform, staff, "gpu", "grace.hopper", MemberChange(section="B"))
    courses.set_staff(platform, staff, "gpu", "Grace.Hopper", CourseRole.OWNER)
    present = accounts.user_by_id(platform, person.id)
    assert present is not None
    courses.change_course(platform, present, "gpu", CourseChange(name="COBOL"))
    done = forget(platform, "grace.hopper")
    left = everything(platform).lower()
    assert [word for word in ("grace.", "grace@", "hopper", "navy", "1906") if word in left] == []
    entries = courses.get_audit(platform, staff, "gpu").entries
    assert [(entry.actor, entry.subject.rpartition("/")[2]) for entry in entries[:3]] == [
        (done.name, "gpu"),
        ("teacher", done.name),
        ("teacher", done.name),
    ]
    assert list(courses.get_course(platform, staff, "gpu").staff) == ["teacher"]


def test_forgetting_waits_for_judging(platform: Platform, student: User) -> None:
    builders.hand_in(platform, student, challenge="scale")
    builders.take(platform)
    with pytest.raises(Conflict, match="being judged"):
        forget(platform, "ada")
    assert (
        submission_search.entry(platform, next(submission_search.entries(platform, SearchFilter())).id).user
        == "ada"
    )


def age(platform: Platform, days: float) -> None:
    ago = utcnow() - timedelta(days=days)
    with writing(platform.sessions) as session:
        session.execute(update(SubmissionRow).values(finished_at=ago, created_at=ago))
        session.execute(update(ArtefactRow).values(used_at=ago))


def reports(platform: Platform) -> set[str]:
    with platform.sessions() as session:
        found = select(SubmissionRow.public_id).join(ReportRow, ReportRow.submission_id == SubmissionRow.id)
        return set(session.scalars(found))


def test_pruning_keeps_what_boards_need(
    platform: Platform, student: User, other: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.service.operation.retention._BATCH", 1)
    slow, best = judged(platform, student, 20.0), judged(platform, student, 10.0)
    wrong = builders.judged(platform, other, builders.wrong(challenge="scale"), challenge="scale").id
    theirs = judged(platform, other, 30.0)
    age(platform, 100)
    ranks = board(platform)
    assert prune(platform, 101, dry_run=False).reports == 0
    planned = prune(platform, 99)
    assert (planned.dry_run, planned.reports, planned.report_bytes > 0) == (True, 2, True)
    assert reports(platform) == {slow, best, wrong, theirs}
    assert prune(platform, 99, dry_run=False).reports == 2
    assert reports(platform) == {best, theirs}
    assert board(platform) == ranks
    assert submission_search.entry(platform, wrong).verdict is Verdict.WRONG_ANSWER


def test_each_version_keeps_its_board(platform: Platform, student: User) -> None:
    first, second = judged(platform, student, 20.0), judged(platform, student, 10.0)
    with writing(platform.sessions) as session:
        session.execute(update(SubmissionRow).where(SubmissionRow.public_id == second).values(version=2))
    age(platform, 100)
    prune(platform, 1, dry_run=False)
    assert reports(platform) == {first, second}


def test_expired_data_is_pruned_daily(platform: Platform, student: User) -> None:
    tokens.issue_token(platform, student, "old")
    kept = tokens.issue_token(platform, student, "new").token
    judged(platform, student, 20.0), judged(platform, student, 10.0)
    age(platform, 1000)
    long_ago = utcnow() - timedelta(days=31)
    with writing(platform.sessions) as session:
        session.execute(update(TokenRow).where(TokenRow.label == "old").values(expires_at=long_ago))
        for name, gpu in (("made-up", None), ("gpu", "GPU-1")):
            session.add(
                WorkerRow(name=name, device="cpu", languages="", host="h", pid=1, ended_at=long_ago, gpu=gpu)
            )
    assert sweep(platform).pruned == 2
    assert tokens.user_of_token(platform, kept).name == "ada"
    with platform.sessions() as session:
        assert session.scalars(select(WorkerRow.name)).all() == ["gpu"]
        assert session.scalar(select(func.count()).select_from(ReportRow)) == 2  # no setting, no pruning
    with writing(platform.sessions) as session:
        session.execute(update(TokenRow).values(expires_at=long_ago))
    assert sweep(platform).pruned == 0
    with writing(platform.sessions) as session:
        session.execute(update(ChoreRow).values(begun_at=utcnow() - timedelta(hours=25)))
    assert sweep(platform).pruned == 1


def test_sweepers_prune_as_configured(platform: Platform, student: User) -> None:
    judged(platform, student, 20.0), judged(platform, student, 10.0)
    age(platform, 10)
    bounded = open_platform(platform.settings.model_copy(update={"retention_days": 9}))
    assert sweep(bounded).pruned == 1
    bounded.close()
