from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import case, func, select, update
from sqlalchemy.orm import Session

from grader.records.engine import changed
from grader.records.models import QuizRow, SubmissionRow
from grader.schemas.quiz import DrawnQuestion

# Right answers and questions of a submission.
Share = tuple[int, int]


def put(session: Session, submission: int, questions: Sequence[DrawnQuestion]) -> None:
    session.add_all(
        QuizRow(submission_id=submission, number=number, body=question.model_dump_json())
        for number, question in enumerate(questions, 1)
    )


def of(session: Session, submission: int) -> Sequence[QuizRow]:
    """In order; without those of a deleted account."""
    query = select(QuizRow).where(QuizRow.submission_id == submission, QuizRow.body != "")
    return session.scalars(query.order_by(QuizRow.number)).all()


def open_ones(session: Session, submission: int) -> int:
    """Number of unsettled ones."""
    query = select(func.count()).where(QuizRow.submission_id == submission, QuizRow.is_right.is_(None))
    return session.scalar(query.where(QuizRow.body != "")) or 0


def answer(session: Session, row: QuizRow, given: int, right: bool | None, now: datetime | None) -> bool:
    """``right``, ``now``: if it settles the question. False if another answer came first."""
    table = QuizRow
    return bool(
        changed(
            session,
            update(table)
            .where(table.submission_id == row.submission_id, table.number == row.number)
            .where(table.used == row.used, table.is_right.is_(None))
            .values(given=[*row.given, given], used=row.used + 1, is_right=right, settled_at=now),
        )
    )


def shares(
    session: Session, challenges: Collection[str], users: Collection[int] | None = None
) -> dict[int, Share]:
    right = func.sum(case((QuizRow.is_right.is_(True), 1), else_=0))
    query = (
        select(QuizRow.submission_id, right, func.count())
        .join(SubmissionRow, SubmissionRow.id == QuizRow.submission_id)
        .where(SubmissionRow.challenge.in_(challenges))
        .group_by(QuizRow.submission_id)
    )
    if users is not None:
        query = query.where(SubmissionRow.user_id.in_(users))
    return {submission: (int(good), count) for submission, good, count in session.execute(query)}


def stamps(session: Session, challenges: Collection[str]) -> dict[int, tuple[int, int]]:
    """Per user; changes when a question is settled or added."""
    settled = func.sum(case((QuizRow.is_right.is_(None), 0), else_=1))
    query = (
        select(SubmissionRow.user_id, settled, func.count())
        .join(QuizRow, QuizRow.submission_id == SubmissionRow.id)
        .where(SubmissionRow.challenge.in_(challenges))
        .group_by(SubmissionRow.user_id)
    )
    return {user: (int(done), count) for user, done, count in session.execute(query)}
