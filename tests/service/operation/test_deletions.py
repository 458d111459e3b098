"""The remains of a deleted account in each place: boards, regrades, new versions, finals, gradebooks, the log, the
inbox, similar pairs and certificates."""

from __future__ import annotations

import json
import socket
from datetime import timedelta

import pytest
from sqlalchemy import select, update

from grader.device_kinds import languages_of
from grader.errors import BadRequest, Conflict, NotFound
from grader.records import sources, workers
from grader.records.engine import clock, writing
from grader.records.models import (
    Base,
    ReportRow,
    SubmissionRow,
    TeamRow,
    UserRow,
)
from grader.schemas.account import Role
from grader.schemas.competition import DisqualifyBody, FinalBody, FinalistsBody
from grader.schemas.course import CourseBody, CourseRole, MemberChange, RosterBody
from grader.schemas.gradebook import OverrideBody
from grader.schemas.personal import DeletionBody
from grader.schemas.regrade import RegradeBody, RegradeDecision, RegradeState, RegradeView
from grader.schemas.report import Verdict
from grader.schemas.submission import State, VoidBody
from grader.service.accounts import accounts, deletion, people, resets
from grader.service.accounts.accounts import User, create_user
from grader.service.boards import leaderboard
from grader.service.challenges import rejudge
from grader.service.challenges.versions import serve
from grader.service.competitions import certificates, finals, teams
from grader.service.competitions.competition_boards import board
from grader.service.courses import courses, gradebook, overrides, rosters
from grader.service.messages import notices
from grader.service.operation import requeue, retention
from grader.service.platform import Platform
from grader.service.review import regrade, voids
from grader.service.submissions.cancel import cancel
from grader.service.submissions.submit import submit
from tests.service.competitions.builders import elapse, enter, hand_in, judge, make
from tests.service.courses.scenes import assign, enrol, grading, judged
from tests.service.world import body

pytestmark = pytest.mark.both_databases

HOUR = timedelta(hours=1)
PASSWORD = "correct horse"


def timed(time_us: float) -> dict[str, float]:
    return {"time_us": time_us, "ci_lo_us": time_us, "ci_hi_us": time_us, "speedup": 30.0 / time_us}


def order(platform: Platform, staff: User, **what: str) -> RegradeView:
    return regrade.start(platform, staff, RegradeBody(reason="A card was broken.", **what))


def read(platform: Platform, public_id: str) -> SubmissionRow:
    with platform.sessions() as session:
        return session.scalars(select(SubmissionRow).where(SubmissionRow.public_id == public_id)).one()


def everything(platform: Platform) -> str:
    with platform.sessions() as session:
        rows = {
            name: [tuple(map(str, row)) for row in session.execute(select(table))]
            for name, table in Base.metadata.tables.items()
        }
    return json.dumps(rows).lower()


# ------------------------------------------------------------------------------------------ boards and regrades


def test_a_regrade_skips_submissions_without_source(
    platform: Platform, staff: User, student: User, other: User
) -> None:
    gone = judged(platform, student, -2 * HOUR, **timed(10.0))
    judged(platform, other, -1 * HOUR, **timed(20.0))
    name = retention.forget(platform, "ada").name
    stood = [(name, 1), ("bob", 2)]

    def ranks() -> list[tuple[str, int]]:
        return [
            (entry.user, entry.rank)
            for entry in leaderboard.leaderboard(platform, "scale", device="cpu").entries
        ]

    assert ranks() == stood
    found = order(platform, staff, challenge="scale")
    assert (found.left_out, found.summary.total) == (1, 1)
    judge(platform, found.submissions[0].after.id, None, verdict=Verdict.WRONG_ANSWER)
    assert regrade.publish(platform, staff, found.number, RegradeDecision()).left_out == 1
    assert ranks() == [(name, 1)]
    assert read(platform, gone).verdict is Verdict.ACCEPTED
    with pytest.raises(Conflict) as refused:
        order(platform, staff, submission=gone)
    assert "1 were left out: their sources were deleted" in refused.value.hint


def test_a_new_version_skips_submissions_without_source(
    platform: Platform, staff: User, student: User, other: User
) -> None:
    judged(platform, student, -2 * HOUR, **timed(10.0))
    judged(platform, other, -1 * HOUR, **timed(20.0))
    serve(platform, platform.catalogue.load("scale"))
    retention.forget(platform, "ada")
    manifest = platform.catalogue.root / "challenges" / "scale" / "challenge.toml"
    manifest.write_text(manifest.read_text().replace("version = 1", "version = 2"))
    ordered = rejudge.rejudge(platform, staff, "scale")
    assert (ordered.queued, ordered.left_out) == (1, 1)
    compared = rejudge.compare(platform, staff, "scale")
    assert (compared.waiting, compared.not_ordered, compared.left_out) == (1, 0, 1)


def test_an_open_regrade_drops_deleted_submissions(
    platform: Platform, staff: User, student: User, other: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The order's judgement is in another statement than the one that it repeats, if there are many
    # submissions.
    monkeypatch.setattr(sources, "_IDS", 1)
    gone = judged(platform, student, -2 * HOUR, **timed(10.0))
    judged(platform, other, -1 * HOUR, **timed(20.0))
    found = order(platform, staff, challenge="scale")
    assert found.summary.waiting == 2
    retention.forget(platform, "ada")
    found = regrade.get(platform, staff, found.number)
    assert (found.left_out, found.summary.total, found.summary.failed) == (1, 1, 0)
    again = order(platform, staff, challenge="scale")
    assert (again.number, again.left_out, again.summary.total) == (found.number, 1, 1)
    judge(platform, found.submissions[0].after.id, 30.0, 1.0)
    assert regrade.publish(platform, staff, found.number, RegradeDecision()).state is RegradeState.PUBLISHED
    assert read(platform, gone).verdict is Verdict.ACCEPTED


def test_a_failed_submission_without_source_is_not_requeued(platform: Platform, student: User) -> None:
    failed = judged(platform, student, -1 * HOUR, state=State.FAILED, verdict=Verdict.INTERNAL_ERROR)
    retention.forget(platform, "ada")
    with pytest.raises(Conflict, match="was deleted"):
        requeue.requeue(platform, [failed])
    assert requeue.requeue(platform, []).submissions == []


# ----------------------------------------------------------------------------------------------- competitions


@pytest.fixture
def cup(platform: Platform, staff: User, student: User, other: User) -> str:
    """Ada and Bob are a team, for which Ada has 100 us; one has 200 us. Returns Ada's submission."""
    make(platform, staff, team_size=2)
    code = enter(platform, student, team="Two").own[0].join_code
    enter(platform, other, join_code=code)
    one = create_user(platform, "one", PASSWORD)
    enter(platform, one)
    sent = hand_in(platform, student, 100.0, 3.0)
    hand_in(platform, one, 200.0, 2.0)
    return sent


def judge_final(platform: Platform, staff: User) -> None:
    with writing(platform.sessions) as session:
        workers.register(session, "w", "cpu", languages_of("cpu"), clock(session))
    finals.choose_finalists(platform, staff, "cup", FinalistsBody(top=2))
    view = finals.start_final(platform, staff, "cup", FinalBody(machine=socket.gethostname(), repeats=1))
    for entry in view.entries:
        for run in entry.runs:
            assert read(platform, run.submission).source, "what a final judges has a source"
            judge(platform, run.submission, 100.0 if entry.team == "Two" else 200.0, 2.0)
            with writing(platform.sessions) as session:
                row = session.query(SubmissionRow).filter_by(public_id=run.submission).one()
                words = {"environment": {"gpu": "none"}, "workloads": [], "compiler_log": row.source}
                session.add(ReportRow(submission_id=row.id, attempt=row.attempt, body=json.dumps(words)))


def test_a_team_keeps_its_place_in_the_final(platform: Platform, staff: User, other: User, cup: str) -> None:
    waits = submit(platform, accounts.of_row(row_of(platform, "ada")), body(source="x = 50.0\n")).id
    assert retention.forget(platform, "ada").cancelled == 0
    assert read(platform, waits).state is State.QUEUED
    judge(platform, waits, 150.0, 2.5)
    elapse(platform, hours=2)
    judge_final(platform, staff)
    assert finals.get_code(platform, other, "cup", "Two", "scale").source == "x = 100.0\n"
    finals.publish_results(platform, staff, "cup")
    assert [(row.team, row.rank) for row in board(platform, other, "cup").rows] == [("Two", 1), ("one", 2)]
    # Now they count for nobody.
    for public_id in (cup, waits):
        assert read(platform, public_id).source == ""
    left = everything(platform)
    assert "x = 100.0" not in left
    with pytest.raises(NotFound, match="was deleted with an account"):
        finals.get_code(platform, other, "cup", "Two", "scale")
    said = certificates.get_certificate(platform, other, "cup", "Two")["certificate"]
    assert said["result"]["rank"] == 1
    assert said["challenges"][0]["repeats"][0]["environment"] == {"gpu": "none"}
    retention.forget(platform, "bob")
    retention.prune(platform, None, dry_run=False)
    with pytest.raises(NotFound, match="there is nothing to certify"):
        certificates.get_certificate(platform, None, "cup", "Two")


def row_of(platform: Platform, name: str) -> UserRow:
    with platform.sessions() as session:
        return session.scalars(select(UserRow).where(UserRow.name == name)).one()


def test_sources_are_not_kept_for_results_that_never_come(platform: Platform, cup: str) -> None:
    retention.forget(platform, "ada")
    retention.prune(platform, None, dry_run=False)
    assert read(platform, cup).source != ""
    elapse(platform, days=91)
    retention.prune(platform, None, dry_run=False)
    assert read(platform, cup).source == ""


def test_a_final_skips_entries_without_source(platform: Platform, staff: User, cup: str) -> None:
    with writing(platform.sessions) as session:  # as earlier releases deleted them
        session.execute(update(SubmissionRow).where(SubmissionRow.public_id == cup).values(source=""))
    elapse(platform, hours=2)
    judge_final(platform, staff)
    view = finals.get_final(platform, staff, "cup")
    assert (view.left_out, view.total, view.done) == (1, 1, True)
    finals.publish_results(platform, staff, "cup")
    assert [(row.team, row.rank) for row in board(platform, None, "cup").rows] == [("one", 1), ("Two", 2)]


def test_a_skipped_entry_of_several_repeats_counts_once(platform: Platform, staff: User, cup: str) -> None:
    elapse(platform, hours=2)
    with writing(platform.sessions) as session:
        workers.register(session, "w", "cpu", languages_of("cpu"), clock(session))
    finals.choose_finalists(platform, staff, "cup", FinalistsBody(top=2))
    twice = FinalBody(machine=socket.gethostname(), repeats=2)
    view = finals.start_final(platform, staff, "cup", twice)
    (runs,) = ([run.submission for run in entry.runs] for entry in view.entries if entry.team == "Two")
    for run in runs:
        cancel(platform, staff, run)
    with writing(platform.sessions) as session:  # as long after a competition without results
        session.execute(update(SubmissionRow).where(SubmissionRow.public_id.in_(runs)).values(source=""))
    view = finals.start_final(platform, staff, "cup", twice)
    assert (view.left_out, view.total) == (1, 2)


def test_a_submission_cancelled_in_the_freeze_is_not_pending(
    platform: Platform, staff: User, student: User, cup: str
) -> None:
    elapse(platform, minutes=40)
    sent = submit(platform, student, body(source="x = 2\n")).id

    def pending() -> list[int]:
        return [row.challenges[0].pending for row in board(platform, None, "cup").rows]

    assert pending() == [1, 0]
    cancel(platform, student, sent)
    assert pending() == [0, 0]


# ---------------------------------------------------------------------------------------------------- courses


@pytest.fixture
def course(platform: Platform, staff: User, student: User, other: User) -> None:
    courses.create_course(platform, staff, CourseBody(slug="gpu", name="GPU programming"))
    enrol(platform, staff, student, other)
    grading(platform, "correctness_points = 60")
    assign(platform, staff, due_at=-HOUR / 2)


def test_points_of_deleted_accounts_stay(
    platform: Platform, staff: User, student: User, other: User, course: None
) -> None:
    judged(platform, student, -1 * HOUR, **timed(10.0))
    left = create_user(platform, "left", PASSWORD)
    enrol(platform, staff, left)
    rosters.change_member(platform, staff, "gpu", "left", MemberChange(on_roster=False))
    name = retention.forget(platform, "ada").name
    retention.forget(platform, "left")
    # A roster that names neither keeps everyone's points.
    table = RosterBody(text="account\nbob\n", dry_run=False, drop_missing=True)
    rosters.import_roster(platform, staff, "gpu", table)
    book = gradebook.get_gradebook(platform, staff, "gpu")
    assert {student.name: student.points for student in book.students} == {name: 60.0, "bob": 0.0}
    assert {exported.student: exported.points for exported in gradebook.export(platform, staff, "gpu")} == {
        name: 60.0,
        "bob": 0.0,
    }
    assert (book.statistics[0].done, book.statistics[0].mean_points) == (1, 30.0)
    assert [listed.name for listed in book.at_risk] == ["bob"]
    assert gradebook.get_grades(platform, staff, "gpu", name).points == 60.0
    assert [member.name for member in rosters.get_roster(platform, staff, "gpu").members] == [
        "bob",
        "teacher",
    ]


def test_a_courses_log_does_not_name_deleted_people(
    platform: Platform, staff: User, student: User, other: User, course: None
) -> None:
    gone = judged(platform, student, -1 * HOUR, **timed(10.0))
    change = MemberChange(full_name="Ada Zelda King", student_number="number-1815")
    rosters.change_member(platform, staff, "gpu", "ada", change)
    rosters.change_member(platform, staff, "gpu", "ada", MemberChange(full_name="Ada Zelda Lovelace"))
    body_ = OverrideBody(student="ADA", challenge="scale", points=5, reason="Zelda asked.")
    overrides.override(platform, staff, "gpu", "week1", body_)
    voids.void(platform, staff, gone, VoidBody(reason="Zelda copied."))
    # A name in a subject need not mean a person.
    week1 = create_user(platform, "week1", PASSWORD)
    name = retention.forget(platform, "ada").name
    retention.forget(platform, week1.name)
    left = everything(platform)
    assert [word for word in ("zelda", "lovelace", "number-1815") if word in left] == []
    log = courses.get_audit(platform, staff, "gpu").entries
    overridden = next(entry for entry in log if entry.action == "grades.override")
    assert overridden.subject == f"/courses/gpu/assignments/week1/scale/{name}"
    assert (overridden.after, overridden.reason) == ({"points": 5.0}, "")
    assert {entry.subject for entry in log} >= {"/courses/gpu/assignments/week1"}


def test_a_disqualification_reason_goes_with_the_last_member(
    platform: Platform, staff: User, student: User, other: User, cup: str
) -> None:
    for team, reason in (("Two", "Ada copied it from bob."), ("one", "One copied, from Weststrasse.")):
        teams.disqualify(platform, staff, "cup", DisqualifyBody(team=team, reason=reason))
    name = retention.forget(platform, "ada").name
    alone = retention.forget(platform, "one").name
    with platform.sessions() as session:
        found = dict(session.execute(select(TeamRow.name, TeamRow.disqualified)).all())
    assert found == {"Two": f"{name} copied it from bob.", alone: "The reason was removed with an account."}
    assert "weststrasse" not in everything(platform)
    assert "ada copied" not in everything(platform)
    assert [row.team for row in board(platform, None, "cup").rows] == []


def test_notices_to_others_do_not_name_deleted_people(
    platform: Platform, staff: User, student: User, other: User, cup: str
) -> None:
    voids.void(platform, staff, cup, VoidBody(reason="Zelda copied."))
    own = judged(platform, other, -1 * HOUR, **timed(10.0))
    voids.void(platform, staff, own, VoidBody(reason="Zelda copied."))
    name = retention.forget(platform, "ada").name
    told = {notice.text for notice in notices.list_notices(platform, other).notices}
    # The reason of the reader's void result stays.
    assert told == {"Your team's result for scale is void", "Your result for scale is void: Zelda copied."}
    retention.forget(platform, "teacher")
    assert name in everything(platform)


# ------------------------------------------------------------------------------------------- who cannot go


def ask(platform: Platform, user: User) -> None:
    deletion.request(platform, user, user.name, DeletionBody(confirm=user.name))


def test_one_of_two_admins_remains(platform: Platform) -> None:
    one, two = (create_user(platform, name, PASSWORD, Role.ADMIN) for name in ("one", "two"))
    ask(platform, one)
    ask(platform, one)
    with pytest.raises(Conflict, match="'two' is the only admin who is not about to be deleted"):
        ask(platform, two)
    with pytest.raises(Conflict, match="only admin"):
        people.set_role(platform, "two", Role.STAFF, one)
    # On the server, too.
    retention.forget(platform, "two")
    with pytest.raises(Conflict, match="'one' is the only admin"):
        retention.forget(platform, "one")


def test_one_of_two_owners_remains(platform: Platform, staff: User) -> None:
    two = create_user(platform, "two", PASSWORD, Role.STAFF)
    courses.create_course(platform, staff, CourseBody(slug="gpu", name="GPU programming"))
    courses.set_staff(platform, staff, "gpu", "two", CourseRole.OWNER)
    ask(platform, staff)
    with pytest.raises(Conflict, match="only owner of the course gpu who is not about to be deleted"):
        ask(platform, two)
    with pytest.raises(Conflict, match="only owner"):
        courses.set_staff(platform, staff, "gpu", "two", None)
    retention.forget(platform, "teacher")
    with pytest.raises(Conflict, match="only owner"):
        retention.forget(platform, "two")


def test_a_deleted_accounts_name_is_reserved(platform: Platform, student: User, staff: User) -> None:
    make(platform, staff)
    for act in (
        lambda: create_user(platform, "Deleted-User-1", PASSWORD),
        lambda: enter(platform, student, team="deleted-user-1"),
    ):
        with pytest.raises(BadRequest, match="not allowed"):
            act()


def test_a_deleted_account_is_not_revived(platform: Platform, staff: User, student: User) -> None:
    admin = create_user(platform, "boss", PASSWORD, Role.ADMIN)
    courses.create_course(platform, staff, CourseBody(slug="gpu", name="GPU programming"))
    enrol(platform, staff, student)
    name = retention.forget(platform, "ada").name
    for act in (
        lambda: rosters.change_member(platform, staff, "gpu", name, MemberChange(on_roster=True)),
        lambda: accounts.set_password(platform, name, "another horse"),
        lambda: resets.make_link_as(platform, staff, name),
        lambda: people.set_role(platform, name, Role.ADMIN, admin),
        lambda: courses.set_staff(platform, staff, "gpu", name, CourseRole.OWNER),
        lambda: deletion.request(platform, staff, name, DeletionBody(confirm=name)),
    ):
        with pytest.raises(Conflict, match="is deleted"):
            act()
    back = RosterBody(text=f"account\n{name}\n", dry_run=False, let_back_in=True)
    (problem,) = rosters.import_roster(platform, staff, "gpu", back).problems
    assert problem.text == f"there is no account '{name}'"
