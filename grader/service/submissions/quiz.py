"""Right answers leave the server only for settled questions."""

from __future__ import annotations

from sqlalchemy.orm import Session

from grader.errors import BadRequest, Conflict, NotAllowed, NotFound
from grader.records import quizzes
from grader.records.engine import clock, writing
from grader.records.models import QuizRow, SubmissionRow
from grader.schemas.quiz import DrawnQuestion, QuizAnswerBody, QuizQuestion, QuizView
from grader.schemas.submission import SetAside
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.service.submissions import submissions


def read(platform: Platform, user: User, submission: str) -> QuizView:
    """Raises NotFound."""
    with platform.sessions() as session:
        row = submissions.find(session, user, submission)
        return view_of(session, row, may_answer=_may_answer(user, row))


def answer(platform: Platform, user: User, submission: str, number: int, body: QuizAnswerBody) -> QuizView:
    """Raises NotFound, NotAllowed, BadRequest (no such choice), Conflict (settled, or void)."""
    with writing(platform.sessions) as session:
        row = submissions.find(session, user, submission)
        found = next((each for each in quizzes.of(session, row.id) if each.number == number), None)
        if found is None:
            raise NotFound(
                f"Submission {row.public_id} has no question {number}.",
                f"`grader quiz {row.public_id}` lists its questions.",
            )
        if row.user_id != user.id:
            raise NotAllowed("Only the author of a submission answers its questions.")
        if not _may_answer(user, row):
            raise Conflict(
                "Staff voided this result, so its questions are closed.",
                "Your answers count again if they restore it.",
            )
        drawn = DrawnQuestion.model_validate_json(found.body)
        _check(drawn, body.answer)
        right = body.answer == drawn.answer
        if found.is_right is not None or body.answer in found.given:
            raise Conflict(*_WHY_NOT[found.is_right is None])
        settles = right or found.used + 1 >= drawn.attempts
        now = clock(session)
        stored = quizzes.answer(
            session, found, body.answer, right if settles else None, now if settles else None
        )
        if not stored:
            raise Conflict("Another answer to this question came first.", "Look at the question again.")
        session.expire_all()
        return view_of(session, row, may_answer=True)


_WHY_NOT = (
    ("This question is settled.", "Its page shows the right answer."),
    ("You gave this answer already; it is wrong.", "It costs no attempt. Give another one."),
)


def _check(drawn: DrawnQuestion, given: int) -> None:
    if drawn.choices and given not in [choice.value for choice in drawn.choices]:
        values = ", ".join(str(choice.value) for choice in drawn.choices)
        raise BadRequest(f"{given} is none of the choices.", f"Answer with one of {values}.")


def _may_answer(user: User, row: SubmissionRow) -> bool:
    return row.user_id == user.id and row.set_aside is not SetAside.VOID


def view_of(session: Session, row: SubmissionRow, *, may_answer: bool) -> QuizView:
    found = [(each, DrawnQuestion.model_validate_json(each.body)) for each in quizzes.of(session, row.id)]
    return QuizView(
        submission=row.public_id,
        setting=found[0][1].setting if found else "",
        questions=[_shown(each, drawn) for each, drawn in found],
        right=sum(bool(each.is_right) for each, _ in found),
        may_answer=may_answer,
    )


def _shown(row: QuizRow, drawn: DrawnQuestion) -> QuizQuestion:
    settled = row.is_right is not None
    return QuizQuestion(
        number=row.number,
        kind=drawn.kind,
        text=drawn.text,
        lines=drawn.lines,
        choices=drawn.choices,
        attempts=drawn.attempts,
        left=0 if settled else drawn.attempts - row.used,
        given=list(row.given),
        right=row.is_right,
        answer=drawn.answer if settled else None,
        why=drawn.why if settled else "",
        settled_at=row.settled_at,
    )
