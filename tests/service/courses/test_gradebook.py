from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import delete, select, update

from grader.errors import BadRequest, NotAllowed, NotFound
from grader.languages import Language
from grader.records.engine import writing
from grader.records.models import AskedRow, MemberRow, ReportRow, StayRow, SubmissionRow, UserRow
from grader.schemas.assignment import AttemptLimits, Counts, ExtensionBody, PartBody
from grader.schemas.course import CourseChange, CourseView, MemberChange
from grader.schemas.gradebook import Gradebook, OverrideBody, PartGrade, PartProgress, StudentGrades
from grader.schemas.report import CaseGroup, Report, Verdict
from grader.schemas.submission import SubmissionFilter
from grader.service.accounts.accounts import User
from grader.service.courses import admission, courses, extensions, gradebook, overrides, rosters
from grader.service.platform import Platform
from grader.service.submissions import submissions
from tests.service.courses.scenes import NOW, assign, enrol, grading, judged

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
WRONG = {"verdict": Verdict.WRONG_ANSWER, "speedup": None}


@pytest.fixture(autouse=True)
def _enrolled(platform: Platform, course: CourseView, staff: User, student: User, other: User) -> None:
    """``scale`` gives 60 points, and 20 each for half and for double speed."""
    enrol(platform, staff, student, other)
    grading(
        platform,
        "correctness_points = 60\ntiers = [{ speedup = 0.5, points = 20 }, { speedup = 2.0, points = 20 }]",
    )


def book(platform: Platform, staff: User) -> Gradebook:
    return gradebook.get_gradebook(platform, staff, "gpu")


def part(platform: Platform, staff: User, place: int = 0) -> PartGrade:
    """Ada's first part of an assignment, the same in the whole gradebook and on her page."""
    of_all = book(platform, staff).students[0].assignments[place].parts[0]
    own = gradebook.get_grades(platform, staff, "gpu", "ada").assignments[place].parts[0]
    assert sum(line.points for line in own.lines) == pytest.approx(own.points)
    assert own.model_copy(update={"lines": []}) == of_all
    return of_all


def test_the_best_or_the_last_counts_as_configured(platform: Platform, staff: User, student: User) -> None:
    best = judged(platform, student, -3 * HOUR, speedup=1.5)
    judged(platform, student, -2 * HOUR, speedup=0.4)
    last = judged(platform, student, -1 * HOUR, **WRONG)
    assign(platform, staff)
    found = part(platform, staff)
    assert (found.points, found.most, found.submission, found.attempts) == (80, 100, best, 3)
    assert (found.progress, found.speedup, found.device) == (PartProgress.DONE, 1.5, "cpu")
    assign(platform, staff, counts=Counts.LAST)
    found = part(platform, staff)
    assert (found.points, found.submission, found.speedup, found.verdict) == (0, last, None, "wrong_answer")


def test_partial_credit_counts_groups_of_cases(platform: Platform, staff: User, student: User) -> None:
    """An assignment without it stays all or nothing, and an accepted submission always beats a partial one."""
    groups = [
        CaseGroup(name="basics", points=10, most=10, right=2, cases=2),
        CaseGroup(name="edges", points=0, most=30, right=0, cases=1),
    ]
    some = judged(platform, student, -3 * HOUR, **WRONG, credit=0.25)
    judged(platform, student, -2 * HOUR, **WRONG, credit=0.0)
    assign(platform, staff)
    assert part(platform, staff).points == 0
    assign(platform, staff, partial_credit=True)
    kept = Report(
        verdict=Verdict.WRONG_ANSWER,
        challenge="scale",
        version=1,
        language=Language.TRITON,
        device="cpu",
        groups=groups,
    )
    with writing(platform.sessions) as session:
        row = session.scalars(select(SubmissionRow.id).where(SubmissionRow.public_id == some)).one()
        session.add(ReportRow(submission_id=row, attempt=1, body=kept.model_dump_json()))
    found = part(platform, staff)
    assert (found.points, found.most, found.submission) == (15, 100, some)
    assert found.progress is PartProgress.STUCK
    lines = gradebook.get_grades(platform, staff, "gpu", "ada").assignments[0].parts[0].lines
    assert [(line.text, line.points, line.most) for line in lines[:2]] == [
        ("Correctness, basics: every case is right", 15, 15),
        ("Correctness, edges: 0 of 1 cases are right", 0, 45),
    ]
    right = judged(platform, student, -1 * HOUR, speedup=0.1)
    assert (part(platform, staff).points, part(platform, staff).submission) == (60, right)


def test_only_submissions_received_while_open_count(platform: Platform, staff: User, student: User) -> None:
    """The time of receipt decides."""
    assign(platform, staff, open_at=-2 * DAY, due_at=-6 * HOUR, late_until=-2 * HOUR, late_percent=10.0)
    judged(platform, student, -2 * DAY - HOUR, speedup=3.0)
    judged(platform, student, -1 * HOUR, speedup=3.0)
    assert (part(platform, staff).points, part(platform, staff).progress) == (0, PartProgress.NOT_STARTED)
    # Received before the deadline, judged after it.
    judged(platform, student, -6 * HOUR - timedelta(seconds=1), speedup=1.0, finished_at=NOW)
    assert (part(platform, staff).points, part(platform, staff).late_days) == (80, 0)


def test_a_late_submission_counts_only_if_worth_more(platform: Platform, staff: User, student: User) -> None:
    assign(platform, staff, due_at=-3 * DAY, late_until=DAY, late_percent=10.0)
    judged(platform, student, -3 * DAY - HOUR, speedup=1.0)
    late = judged(platform, student, -1 * DAY - HOUR, speedup=2.0)
    assert (part(platform, staff).points, part(platform, staff).late_days) == (80, 0)
    assign(platform, staff, due_at=-3 * DAY, late_until=DAY, late_percent=5.0)
    found = part(platform, staff)
    assert (found.points, found.late_days, found.submission) == (90, 2, late)


def test_grace_days_are_spent_in_the_order_of_the_deadlines(
    platform: Platform, staff: User, student: User
) -> None:
    courses.change_course(platform, staff, "gpu", CourseChange(grace_days=3))
    times: dict[str, Any] = {"late_until": DAY, "late_percent": 20.0, "grace_days": 2}
    cuda = [PartBody(challenge="only_cuda")]
    assign(platform, staff, "second", due_at=-3 * DAY, parts=cuda, **times)
    assign(platform, staff, "first", open_at=-20 * DAY, due_at=-10 * DAY, **times)
    judged(platform, student, -10 * DAY + 30 * HOUR, speedup=2.0)
    judged(platform, student, -3 * DAY + 30 * HOUR, challenge="only_cuda")
    (first, second) = (part(platform, staff, place) for place in range(2))
    assert (first.points, first.late_days, first.grace_days) == (100, 2, 2)
    assert (second.points, second.late_days, second.grace_days) == (80, 2, 1)
    assert book(platform, staff).students[0].grace_left == 0
    lines = gradebook.get_grades(platform, staff, "gpu", "ada").assignments[1].parts[0].lines
    assert (lines[-1].text, round(lines[-1].points, 9)) == ("2 days late, 1 grace day: 20 % less", -20)


def test_lateness_that_costs_nothing_spends_no_grace(platform: Platform, staff: User, student: User) -> None:
    courses.change_course(platform, staff, "gpu", CourseChange(grace_days=3))
    assign(platform, staff, due_at=-3 * DAY, late_until=DAY, grace_days=3)
    judged(platform, student, -HOUR, speedup=2.0)
    assert (part(platform, staff).points, book(platform, staff).students[0].grace_left) == (100, 3)


def test_an_extension_after_the_deadline_counts_as_if_it_had_always_been(
    platform: Platform, staff: User, student: User
) -> None:
    assign(platform, staff, due_at=-DAY)
    judged(platform, student, -HOUR, speedup=2.0)
    assert part(platform, staff).points == 0
    until = NOW.isoformat()
    extensions.extend(platform, staff, "gpu", "week1", ExtensionBody(student="ada", due_at=until))
    assert (part(platform, staff).points, part(platform, staff).late_days) == (100, 0)
    given = extensions.list_extensions(platform, staff, "gpu", "week1").extensions
    extensions.take_back_extension(platform, staff, "gpu", "week1", given[0].id)
    extensions.extend(platform, staff, "gpu", "week1", ExtensionBody(section="A", due_at=until))
    assert part(platform, staff).points == 100
    rosters.change_member(platform, staff, "gpu", "ada", MemberChange(section="B"))
    assert part(platform, staff).points == 0


def test_parts_are_weighted(platform: Platform, staff: User, student: User) -> None:
    parts = [PartBody(challenge="scale", weight=0.5), PartBody(challenge="only_cuda", weight=2)]
    assign(platform, staff, parts=parts)
    judged(platform, student, -HOUR, speedup=2.0)
    judged(platform, student, -HOUR, challenge="only_cuda", speedup=None)
    (ada, bob) = book(platform, staff).students
    assert [part.points for part in ada.assignments[0].parts] == [50, 200]
    assert (ada.points, ada.most, bob.points, bob.most) == (250, 250, 0, 250)


def test_a_later_versions_judgement_counts_once_it_is_published(
    platform: Platform, staff: User, student: User
) -> None:
    first = judged(platform, student, -2 * HOUR, speedup=2.0)
    assign(platform, staff)
    with platform.sessions() as session:
        number = session.query(SubmissionRow.id).filter_by(public_id=first).scalar()
    again = judged(platform, student, -2 * HOUR, version=2, rejudge_of=number, **WRONG)
    # A platform failure costs nothing.
    judged(platform, student, -2 * HOUR, version=2, rejudge_of=number, verdict=Verdict.INTERNAL_ERROR)
    found = part(platform, staff)
    assert (found.points, found.attempts, found.judged_again) == (100, 1, None)
    from grader.records import versions
    from grader.records.models import VersionRow, utcnow

    with writing(platform.sessions) as session:
        session.add(VersionRow(challenge="scale", version=2, fingerprint="-", content="{}"))
        session.flush()
        versions.publish(session, "scale", 2, utcnow())
    found = part(platform, staff)
    assert (found.points, found.attempts, found.submission, found.judged_again) == (0, 1, first, again)


def test_failures_of_ours_are_no_attempts(platform: Platform, staff: User, student: User) -> None:
    judged(platform, student, -HOUR, verdict=Verdict.INTERNAL_ERROR)
    assign(platform, staff)
    assert (part(platform, staff).attempts, part(platform, staff).progress) == (0, PartProgress.NOT_STARTED)


def test_grades_follow_changes_at_once(platform: Platform, staff: User, student: User) -> None:
    """A process never shows outdated cached grades."""
    assign(platform, staff)
    assert part(platform, staff).points == 0
    found = judged(platform, student, -HOUR, verdict=Verdict.INTERNAL_ERROR)
    assert part(platform, staff).points == 0
    with writing(platform.sessions) as session:
        session.query(SubmissionRow).filter_by(public_id=found).update(
            {"verdict": Verdict.ACCEPTED, "speedup": 2.0}
        )
    assert part(platform, staff).points == 100
    path = platform.catalogue.root / "challenges" / "scale" / "challenge.toml"
    path.write_text(path.read_text().replace("correctness_points = 60", "correctness_points = 50"))
    assert part(platform, staff).points == 90
    with writing(platform.sessions) as session:
        session.get_one(UserRow, student.id).name = "countess"
    assert book(platform, staff).students[0].name == "countess"


def test_a_broken_challenge_is_marked_in_the_gradebook(
    platform: Platform, staff: User, student: User
) -> None:
    judged(platform, student, -HOUR, speedup=2.0)
    assign(platform, staff)
    path = platform.catalogue.root / "challenges" / "scale" / "challenge.toml"
    whole = path.read_text()
    path.write_text("title = ")
    assert book(platform, staff).broken == ["scale"]
    assert (
        "folder is broken"
        in gradebook.get_grades(platform, student, "gpu").assignments[0].parts[0].lines[0].text
    )
    path.write_text(whole)
    assert (book(platform, staff).broken, part(platform, staff).points) == ([], 100)


def override(platform: Platform, user: User, points: float | None, **values: str | bool) -> StudentGrades:
    given = {"student": "ada", "challenge": "scale", "reason": "a broken GPU"} | values
    return overrides.override(platform, user, "gpu", "week1", OverrideBody(points=points, **given))


def test_overrides_have_a_reason_and_can_be_removed(platform: Platform, staff: User, student: User) -> None:
    judged(platform, student, -HOUR, speedup=1.0)
    assign(platform, staff)
    override(platform, staff, 95)
    found = part(platform, staff)
    assert (found.points, found.overridden, found.reason) == (95, True, "a broken GPU")
    own = gradebook.get_grades(platform, student, "gpu")
    assert own.assignments[0].parts[0].lines[-1].text == "Set by staff: a broken GPU"
    override(platform, staff, None, reason="it was fine")
    assert part(platform, staff).points == 80
    log = [
        entry
        for entry in courses.get_audit(platform, staff, "gpu").entries
        if entry.action == "grades.override"
    ]
    assert [(entry.before, entry.after, entry.reason) for entry in log] == [
        ({"points": 95.0}, {"points": None}, "it was fine"),
        ({"points": None}, {"points": 95.0}, "a broken GPU"),
    ]
    with pytest.raises(BadRequest, match="'scale' has 100 points at most, not 999"):
        override(platform, staff, 999)
    override(platform, staff, 120, extra=True)
    assert part(platform, staff).points == 120
    with pytest.raises(BadRequest, match="Assignment week1 has no challenge 'only_cuda'"):
        override(platform, staff, 1, challenge="only_cuda")
    with pytest.raises(BadRequest, match="Give a reason"):
        override(platform, staff, 1, reason="  ")
    with pytest.raises(NotFound):
        override(platform, staff, 1, student="teacher")


def test_a_student_sees_only_own_grades(platform: Platform, staff: User, student: User) -> None:
    assign(platform, staff)
    assert gradebook.get_grades(platform, student, "gpu").name == "ada"
    for wanted in (
        lambda: book(platform, student),
        lambda: gradebook.get_grades(platform, student, "gpu", "bob"),
        lambda: override(platform, student, 100),
    ):
        with pytest.raises(NotAllowed):
            wanted()


def test_statistics_list_students_at_risk(
    platform: Platform, staff: User, student: User, other: User
) -> None:
    assign(platform, staff, "over", open_at=-20 * DAY, due_at=-10 * DAY)
    assign(platform, staff, "soon", open_at=-9 * DAY, due_at=2 * DAY)
    assign(platform, staff, "later", open_at=-9 * DAY, due_at=20 * DAY)
    judged(platform, student, -11 * DAY, speedup=1.0)
    judged(platform, student, -1 * DAY, **WRONG)
    found = book(platform, staff)
    over, soon, _ = found.statistics
    assert (over.not_started, over.stuck, over.done, over.mean_points, over.speedups) == (1, 0, 1, 40, [1.0])
    assert (soon.not_started, soon.stuck, soon.done) == (1, 1, 0)
    assert [(listed.name, listed.reasons) for listed in found.at_risk] == [
        ("bob", ["has 0 % of the points of closed assignments", "has not begun soon, which is due soon"])
    ]
    excused = OverrideBody(student="bob", challenge="scale", points=100, reason="ill")
    overrides.override(platform, staff, "gpu", "soon", excused)
    assert book(platform, staff).at_risk[0].reasons == ["has 0 % of the points of closed assignments"]


def test_the_gradebook_omits_drafts_and_former_students(platform: Platform, staff: User) -> None:
    assign(platform, staff, published=False)
    rosters.change_member(platform, staff, "gpu", "bob", MemberChange(on_roster=False))
    (ada,) = book(platform, staff).students
    assert (ada.name, ada.assignments, ada.most) == ("ada", [], 0)


@pytest.mark.both_databases
def test_only_submissions_for_the_assignment_count(
    platform: Platform, staff: User, student: User, other: User
) -> None:
    """The gradebook and the lists agree: one rule, in SQL and in Python."""
    assign(platform, staff, open_at=-10 * DAY, due_at=-2 * DAY)
    later = ExtensionBody(student="ada", due_at=(NOW - DAY).isoformat())
    extensions.extend(platform, staff, "gpu", "week1", later)
    with writing(platform.sessions) as session:
        session.execute(update(AskedRow).values(asked_at=NOW - 9 * DAY))
        session.execute(delete(StayRow))
        students = select(MemberRow).where(MemberRow.role == "student")
        ada, bob = session.scalars(students.order_by(MemberRow.id))
        session.add_all(
            StayRow(member_id=ada.id, accepted_at=NOW + since, left_at=NOW + until if until else None)
            for since, until in ((-8 * DAY, -6 * DAY), (-4 * DAY, None))
        )
        bob.left_at = NOW - 5 * DAY
        session.add(StayRow(member_id=bob.id, accepted_at=NOW - 20 * DAY))
    times = [-half_days * DAY / 2 for half_days in range(0, 24)]
    at = {
        user.name: {time: judged(platform, user, time, speedup=1.0) for time in times}
        for user in (student, other)
    }
    wanted = SubmissionFilter(assignment="gpu/week1")
    listed = submissions.list_submissions(
        platform, staff, everyone=True, wanted=wanted, limit=200
    ).submissions
    counted = {
        user.name: sorted(time for time in times if at[user.name][time] in {each.id for each in listed})
        for user in (student, other)
    }
    assert counted["ada"] == [half_days * DAY / 2 for half_days in [*range(-16, -11), *range(-8, -1)]]
    assert counted["bob"] == [half_days * DAY / 2 for half_days in range(-18, -9)]
    assert part(platform, staff).attempts == len(counted["ada"])


@pytest.mark.both_databases
def test_a_submission_in_another_language_does_not_count(
    platform: Platform, staff: User, student: User
) -> None:
    cuda = [judged(platform, student, n * HOUR, speedup=3.0, language=Language.CUDA) for n in range(-9, -4)]
    judged(platform, student, -2 * HOUR, speedup=1.0)
    assign(platform, staff, languages=[Language.TRITON], attempts=AttemptLimits(total=2))
    found = part(platform, staff)
    assert (found.points, found.attempts, found.device) == (80, 1, "cpu")
    own = gradebook.get_grades(platform, student, "gpu").assignments[0].parts[0]
    named = ", ".join(reversed(cuda[-3:]))
    assert f"Does not count: {named} and 2 more, in CUDA C++; the assignment takes Triton" in [
        line.text for line in own.lines
    ]
    with platform.sessions() as session:
        ((_, left),) = admission.attempts_left(session, student.id, "scale", NOW)
    assert left.total == 1
    assign(platform, staff, languages=[])
    assert part(platform, staff).points == 100
