"""Rubrics and their points; regrade requests."""

from __future__ import annotations

from datetime import timedelta

import pytest

from grader.errors import BadRequest, Conflict, NotAllowed, NotFound, TooMany
from grader.schemas.course import CourseView
from grader.schemas.feedback import (
    AnswerBody,
    CriterionBody,
    FeedbackBody,
    FeedbackView,
    RequestBody,
    RequestState,
    ScoreBody,
    ScoresBody,
    Shown,
)
from grader.schemas.gradebook import OverrideBody, PartGrade
from grader.service.accounts.accounts import User
from grader.service.courses import feedback, gradebook, overrides
from grader.service.messages import notices
from grader.service.platform import Platform
from grader.service.review import regrade_requests
from tests.service.courses.scenes import NOW, assign, enrol, grading, judged

pytestmark = pytest.mark.both_databases
WEEK = ("gpu", "week1")
RUBRIC = [CriterionBody(title="Readability", points=5), CriterionBody(title="Report", points=3.5)]


@pytest.fixture
def late(platform: Platform, course: CourseView, staff: User, student: User, other: User) -> str:
    """A submission of 10 points, a day late, which costs half."""
    grading(platform, "correctness_points = 10\ntiers = []")
    enrol(platform, staff, student, other)
    assign(platform, staff, due_at=timedelta(hours=-2), late_until=timedelta(days=2), late_percent=50.0)
    return judged(platform, student, timedelta(hours=-1))


def rubric(platform: Platform, staff: User, *criteria: CriterionBody, **values: object) -> FeedbackView:
    body = FeedbackBody.model_validate({"rubric": {"scale": list(criteria or RUBRIC)}, **values})
    return feedback.put_feedback(platform, staff, *WEEK, body)


def give(platform: Platform, staff: User, student: User, *scores: tuple[int, float | None, str]) -> None:
    given = [ScoreBody(criterion=number, points=points, reason=why) for number, points, why in scores]
    feedback.put_scores(platform, staff, *WEEK, ScoresBody(student=student.name, scores=given))


def part(platform: Platform, user: User, name: str | None = None) -> PartGrade:
    return gradebook.get_grades(platform, user, "gpu", name).assignments[0].parts[0]


def test_rubric_points_add_to_the_judges_and_ignore_lateness(
    platform: Platform, staff: User, student: User, other: User, late: str
) -> None:
    made = rubric(platform, staff)
    readability, report = made.rubric["scale"]
    before = part(platform, student)
    assert (before.points, before.most, before.rubric, before.ungraded) == (5.0, 18.5, 0.0, 8.5)
    give(platform, staff, student, (readability.id, 4, "Clear names"))
    found = part(platform, student)
    assert (found.points, found.rubric, found.ungraded) == (9.0, 4.0, 3.5)
    assert [(line.text, line.points, line.most) for line in found.lines] == [
        ("Correctness: every case is right", 10.0, 10.0),
        ("1 day late: 50 % less", -5.0, None),
        ("Readability: Clear names", 4.0, 5.0),
        ("Report: not graded yet", 0.0, 3.5),
    ]
    rows = {exported.student: exported for exported in gradebook.export(platform, staff, "gpu")}
    assert (rows[student.name].points, rows[student.name].rubric) == (9.0, 4.0)
    assert (rows[other.name].points, rows[other.name].most) == (0.0, 18.5)
    # Grading invalidates the gradebook's cached grades.
    give(platform, staff, student, (report.id, 3.5, ""))
    assert gradebook.get_gradebook(platform, staff, "gpu").statistics[0].mean_points == (5.0 + 7.5) / 2
    give(platform, staff, student, (report.id, None, ""))
    assert part(platform, student).points == 9.0

    for refused, scores in ((BadRequest, (report.id, 4, "")), (BadRequest, (999, 1, ""))):
        with pytest.raises(refused):
            give(platform, staff, student, scores)
    with pytest.raises(NotAllowed):
        give(platform, student, student, (report.id, 3, ""))
    with pytest.raises(Conflict, match="have points for 'Readability'"):
        rubric(platform, staff, CriterionBody(id=report.id, title="Report", points=3))
    with pytest.raises(Conflict, match="has 4 points"):
        rubric(platform, staff, CriterionBody(id=readability.id, title="Names", points=3), *RUBRIC[1:])
    renamed = rubric(platform, staff, CriterionBody(id=readability.id, title="Names", points=4))
    assert [criterion.title for criterion in renamed.rubric["scale"]] == ["Names"]
    assert part(platform, student).points == 9.0


def test_rubric_points_are_visible_on_release(
    platform: Platform, staff: User, student: User, late: str
) -> None:
    made = rubric(platform, staff, shown=Shown.ON_RELEASE)
    give(platform, staff, student, (made.rubric["scale"][0].id, 4, "Clear names"))
    assert part(platform, staff, student.name).points == 9.0
    assert part(platform, student).points == 5.0
    assert all("Clear" not in line.text for line in part(platform, student).lines)
    feedback.release(platform, staff, *WEEK)
    assert part(platform, student).points == 9.0
    assert [notice.text for notice in notices.list_notices(platform, student).notices] == [
        "The feedback on Week 1 is available"
    ]
    rubric(platform, staff, *made_again(made))
    with pytest.raises(Conflict):
        feedback.release(platform, staff, *WEEK)


def made_again(view: FeedbackView) -> list[CriterionBody]:
    return [
        CriterionBody(id=criterion.id, title=criterion.title, points=criterion.points)
        for criterion in view.rubric["scale"]
    ]


def test_a_regrade_request_is_answered_or_withdrawn(
    platform: Platform, staff: User, student: User, other: User, late: str
) -> None:
    rubric(platform, staff, regrade_limit=2)
    asked = RequestBody(assignment="week1", challenge="scale", submission=late, text="It *was* in time.")
    found = regrade_requests.ask(platform, student, "gpu", asked)
    assert [(request.number, request.state, request.submission) for request in found.requests] == [
        (1, RequestState.OPEN, late)
    ]
    assert notices.unread(platform, staff) == 1
    assert regrade_requests.list_requests(platform, other, "gpu").requests == []
    with platform.sessions() as session:
        assert [request.student for request in regrade_requests.open_requests(session, 1)] == [student.name]
    with pytest.raises(Conflict, match="already"):
        regrade_requests.ask(platform, student, "gpu", asked)
    with pytest.raises(BadRequest, match="reason"):
        regrade_requests.answer(platform, staff, "gpu", 1, AnswerBody(state=RequestState.DECLINED))
    body = AnswerBody(state=RequestState.GRANTED, reason="Yes")
    for not_theirs in (other, student):
        with pytest.raises(NotAllowed):
            regrade_requests.answer(platform, not_theirs, "gpu", 1, body)
    with pytest.raises(NotFound):
        regrade_requests.withdraw(platform, other, "gpu", 1)
    body = AnswerBody(state=RequestState.DECLINED, reason="The clock says otherwise.")
    (answered,) = regrade_requests.answer(platform, staff, "gpu", 1, body).requests
    assert (answered.state, answered.answered_by) == (RequestState.DECLINED, staff.name)
    assert (
        notices.list_notices(platform, student).notices[0].text
        == "Your regrade request for scale was declined"
    )
    with pytest.raises(Conflict, match="is already declined"):
        regrade_requests.answer(platform, staff, "gpu", 1, body)

    # Withdrawn ones do not count; the limit is for answered and open ones.
    regrade_requests.ask(platform, student, "gpu", asked)
    regrade_requests.withdraw(platform, student, "gpu", 2)
    regrade_requests.ask(platform, student, "gpu", asked)
    regrade_requests.answer(platform, staff, "gpu", 3, body)
    assert feedback.get_feedback(platform, student, *WEEK).requests_left == 0
    with pytest.raises(TooMany):
        regrade_requests.ask(platform, student, "gpu", asked)
    rubric(platform, staff, regrade_limit=None, regrade_until=(NOW - timedelta(hours=1)).isoformat())
    with pytest.raises(Conflict, match="until"):
        regrade_requests.ask(platform, student, "gpu", asked)
    for wrong in ({"challenge": "only_cuda"}, {"submission": "nothing"}):
        rubric(platform, staff, regrade_limit=None)
        with pytest.raises(BadRequest):
            regrade_requests.ask(platform, student, "gpu", asked.model_copy(update=wrong))


def test_a_stale_grade_or_rubric_edit_is_refused(
    platform: Platform, staff: User, student: User, late: str
) -> None:
    read = rubric(platform, staff)
    clear, report = (criterion.id for criterion in read.rubric["scale"])
    rubric(platform, staff, *read_as_bodies(read), regrade_limit=5)
    with pytest.raises(Conflict, match="Somebody else has just changed the settings"):
        rubric(platform, staff, *read_as_bodies(read), revision=read.revision)

    def score(criterion: int, points: float | None, seen: float | None) -> None:
        given = ScoreBody(criterion=criterion, points=points, reason="", seen=seen)
        feedback.put_scores(platform, staff, *WEEK, ScoresBody(student=student.name, scores=[given]))

    score(clear, 2, None)
    score(report, 3, None)
    with pytest.raises(Conflict, match="has just graded 'Readability': 2 points now"):
        score(clear, None, None)
    score(clear, 4, 2.0)
    assert part(platform, student).rubric == 7

    def override(points: float, seen: float | None) -> None:
        body = OverrideBody(student=student.name, challenge="scale", points=points, reason="x", seen=seen)
        overrides.override(platform, staff, *WEEK, body)

    override(8, None)
    with pytest.raises(Conflict, match="Somebody else has just changed ada's points"):
        override(9, None)
    override(9, 8)


def read_as_bodies(read: FeedbackView) -> list[CriterionBody]:
    return [CriterionBody(**criterion.model_dump()) for criterion in read.rubric["scale"]]
