"""Questions on an accepted kernel: attempts, what is told when, and points."""

from __future__ import annotations

import json
import zipfile
from typing import Any

import pytest
from sqlalchemy import select

from grader.errors import BadRequest, Conflict, NotAllowed, NotFound
from grader.records import quizzes
from grader.records.engine import writing
from grader.records.models import SubmissionRow
from grader.schemas.course import CourseBody
from grader.schemas.quiz import DrawnQuestion, QuizAnswerBody, QuizChoice, QuizKind, QuizView
from grader.schemas.submission import VoidBody
from grader.service.accounts import personal_data
from grader.service.accounts.accounts import User
from grader.service.courses import courses, gradebook
from grader.service.platform import Platform
from grader.service.review import voids
from grader.service.submissions import quiz, submissions
from tests.service.courses.scenes import assign, enrol, grading, judged
from tests.service.courses.test_gradebook import DAY, HOUR, WRONG

ANSWER, LINE = 918_273, 17


def question(**values: Any) -> DrawnQuestion:
    given: dict[str, Any] = {
        "kind": QuizKind.SECTORS,
        "setting": "Your kernel ran the case `basic`: n = 1,021.",
        "text": "How many sectors of 32 bytes does warp 1 touch when it reads `x` in line 3?",
        "answer": ANSWER,
        "why": f"It touched {ANSWER}.",
        "case": "basic",
        "sizes": {"n": 1021},
        "seed": 5,
    }
    return DrawnQuestion(**(given | values))


CHOICE = question(
    kind=QuizKind.BARRIER,
    choices=[QuizChoice(value=LINE, text="Line 17"), QuizChoice(value=0, text="None of them")],
    answer=LINE,
    why="The engine found no race.",
)


def ask(platform: Platform, submission: str, *questions: DrawnQuestion) -> None:
    with writing(platform.sessions) as session:
        row = session.scalars(select(SubmissionRow).where(SubmissionRow.public_id == submission)).one()
        quizzes.put(session, row.id, questions or (question(), CHOICE))


def say(platform: Platform, user: User, submission: str, number: int, answer: int) -> QuizView:
    return quiz.answer(platform, user, submission, number, QuizAnswerBody(answer=answer))


@pytest.fixture
def sent(platform: Platform, student: User) -> str:
    submission = judged(platform, student, -HOUR, speedup=1.0)
    ask(platform, submission)
    return submission


def test_the_answer_is_told_once_the_question_is_settled(
    platform: Platform, student: User, staff: User, sent: str
) -> None:
    for user in (student, staff):
        assert str(ANSWER) not in quiz.read(platform, user, sent).model_dump_json()
    assert submissions.get_submission(platform, student, sent).questions == 2
    found = say(platform, student, sent, 1, 8).questions[0]
    assert (found.right, found.left, found.given, found.answer, found.why) == (None, 1, [8], None, "")
    with pytest.raises(Conflict, match="already"):
        say(platform, student, sent, 1, 8)  # costs no attempt
    found = say(platform, student, sent, 1, 9).questions[0]
    assert (found.right, found.left, found.answer) == (False, 0, ANSWER)
    assert str(ANSWER) in found.why
    with pytest.raises(Conflict, match="settled"):
        say(platform, student, sent, 1, ANSWER)
    view = say(platform, student, sent, 2, LINE)
    assert (view.right, view.questions[1].right) == (1, True)
    assert submissions.get_submission(platform, student, sent).questions == 0


def test_a_choice_has_one_attempt_and_only_its_values(platform: Platform, student: User, sent: str) -> None:
    with pytest.raises(BadRequest, match="none of the choices"):
        say(platform, student, sent, 2, 5)
    found = say(platform, student, sent, 2, 0).questions[1]
    assert (found.right, found.answer) == (False, LINE)


def test_only_the_author_answers(
    platform: Platform, student: User, other: User, staff: User, sent: str
) -> None:
    with pytest.raises(NotFound):
        quiz.read(platform, other, sent)
    with pytest.raises(NotFound):
        say(platform, other, sent, 1, ANSWER)
    with pytest.raises(NotAllowed):
        say(platform, staff, sent, 1, ANSWER)
    with pytest.raises(NotFound, match="no question 3"):
        say(platform, student, sent, 3, 1)


def test_a_void_result_closes_its_questions(
    platform: Platform, student: User, staff: User, sent: str
) -> None:
    voids.void(platform, staff, sent, VoidBody(reason="A copy."))
    assert not quiz.read(platform, student, sent).may_answer
    with pytest.raises(Conflict, match="voided"):
        say(platform, student, sent, 1, ANSWER)
    voids.restore(platform, staff, sent)
    assert say(platform, student, sent, 1, ANSWER).right == 1


def test_an_answer_that_comes_second_is_refused(platform: Platform, student: User, sent: str) -> None:
    with platform.sessions() as session:
        row = session.scalars(select(SubmissionRow).where(SubmissionRow.public_id == sent)).one()
        first = quizzes.of(session, row.id)[0]
        session.expunge_all()
    say(platform, student, sent, 1, 8)
    with writing(platform.sessions) as session:
        assert not quizzes.answer(session, first, 9, None, None)


def test_an_export_has_no_answer_before_it_is_told(platform: Platform, student: User, sent: str) -> None:
    def exported() -> str:
        with (
            personal_data.export(platform, student, student.name) as file,
            zipfile.ZipFile(file) as archive,
        ):
            assert f"submissions/{sent}/questions.json" in archive.namelist()
            return "".join(archive.read(name).decode() for name in archive.namelist())

    assert str(ANSWER) not in exported()
    say(platform, student, sent, 1, ANSWER)
    assert str(ANSWER) in exported()


def test_points(platform: Platform, staff: User, student: User) -> None:
    """None by default; then a share of right answers of the submission that counts, less the cost of lateness."""
    courses.create_course(
        platform, staff, CourseBody(slug="gpu", name="GPU programming", time_zone="Europe/Berlin")
    )
    enrol(platform, staff, student)
    grading(platform, "correctness_points = 60\ntiers = [{ speedup = 2.0, points = 20 }]")
    fast = judged(platform, student, -3 * HOUR, speedup=2.0)
    slow = judged(platform, student, -2 * HOUR, speedup=1.0)
    judged(platform, student, -HOUR, **WRONG)
    ask(platform, slow)
    assign(platform, staff)

    def part() -> Any:
        (whole,) = gradebook.get_gradebook(platform, staff, "gpu").students[0].assignments[0].parts
        (own,) = gradebook.get_grades(platform, staff, "gpu", student.name).assignments[0].parts
        assert sum(line.points for line in own.lines) == pytest.approx(own.points)
        assert own.model_copy(update={"lines": []}) == whole
        return own

    say(platform, student, slow, 1, ANSWER)
    assert (part().points, part().most, part().submission) == (80, 80, fast)
    assign(platform, staff, question_points=30)
    assert (part().points, part().most, part().submission) == (80, 110, fast)
    assert part().lines[-1].text.endswith("they come with the emulated board")
    say(platform, student, slow, 2, LINE)
    assert (part().points, part().submission) == (90, slow)
    assert part().lines[-1].text == "Questions on the kernel: 2 of 2 right"
    assign(platform, staff, question_points=30, due_at=-DAY, late_until=DAY, late_percent=50)
    assert part().points == pytest.approx(45)


def test_drawn_questions_survive_a_newer_release() -> None:
    """Stored ones are read again: new fields need defaults."""
    stored = json.loads(question().model_dump_json())
    del stored["lines"], stored["choices"]
    assert DrawnQuestion.model_validate(stored).attempts == 2
