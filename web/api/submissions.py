from __future__ import annotations

from typing import Literal

from flask import Response
from pydantic import BaseModel, ConfigDict, Field

from grader import limits
from grader.schemas.comparison import KernelComparison
from grader.schemas.own_case import RunChanges
from grader.schemas.quiz import QuizAnswerBody, QuizView
from grader.schemas.report import Report
from grader.schemas.standing import Standing
from grader.schemas.strict import Switch
from grader.schemas.submission import (
    ErrorEnvelope,
    NoteBody,
    RestoreQuery,
    RunBody,
    SourceView,
    SubmissionFilter,
    SubmissionList,
    SubmissionView,
    SubmitBody,
    VoidBody,
)
from grader.service.boards import standing, withdrawals
from grader.service.review import voids
from grader.service.submissions import cancel as cancelling
from grader.service.submissions import comparison, notes, quiz, run_changes, submissions
from grader.service.submissions import run as running
from grader.service.submissions import submit as submitting
from grader.web import throttle
from grader.web.access import AUTHOR, OWNER, SIGNED_IN, TEACHERS_OF_AUTHOR, open_to
from grader.web.answers import answer, cheap
from grader.web.api.resource import resource
from grader.web.auth.identity import current_user
from grader.web.current import platform

api = resource("submissions", "Submissions and their verdicts")


class SubmissionPath(BaseModel):
    id: str


class QuestionPath(SubmissionPath):
    number: int


class SubmissionQuery(SubmissionFilter):
    model_config = ConfigDict(extra="forbid", frozen=True)

    challenge: str | None = Field(default=None, description="only those for this challenge")
    everyone: Switch = Field(
        default=False, description="all users' (staff; teachers name their course in `assignment`)"
    )
    limit: int = Field(default=50, ge=1, le=200)
    offset: int = Field(default=0, ge=0, le=limits.LISTED_MOST, description="how many to skip")
    older_than: str | None = Field(
        default=None, description="a submission's id; list those before it, at a constant cost"
    )
    kind: Literal["run"] | None = Field(default=None, description="run: runs instead of submissions")


class ComparisonQuery(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    against: str = Field(
        default="", max_length=64, description="a choice's `key`; by default the first one of `choices`"
    )


class SubmitHeader(BaseModel):
    idempotency_key: str | None = Field(
        default=None,
        alias="Idempotency-Key",
        max_length=128,
        description="a repeated call with the same key returns the first one's submission; 409 if the body differs",
    )


@api.post(
    "/submissions",
    responses={200: SubmissionView, 201: SubmissionView, 409: ErrorEnvelope},
)
@open_to(SIGNED_IN)
@throttle.submit_limit
def create_submission(header: SubmitHeader, body: SubmitBody) -> Response:
    """Submit a source; it enters the queue. 200: with `reuse`, an earlier result for the same source."""
    view = submitting.submit(platform(), current_user(), body, header.idempotency_key)
    response = answer(view, 200 if view.reused else 201)
    response.headers["Location"] = f"/api/v1/submissions/{view.id}"
    return response


@api.post("/runs", responses={201: SubmissionView, 409: ErrorEnvelope})
@open_to(SIGNED_IN)
@throttle.run_limit
def create_run(header: SubmitHeader, body: RunBody) -> Response:
    """Judge a source with the public cases only: no hidden cases, times, rank or attempt. With `case`, judge only one
    of them, with sizes and inputs of your own. Follow it like a submission; its `kind` is `run`. Your unfinished run
    for the same challenge is cancelled."""
    view = running.run(platform(), current_user(), body, header.idempotency_key)
    response = answer(view, 201)
    response.headers["Location"] = f"/api/v1/submissions/{view.id}"
    return response


@api.get("/runs/<id>/changes", responses={200: RunChanges})
@open_to(AUTHOR)
def get_run_changes(path: SubmissionPath) -> Response:
    """Compare a run of one case with your last run of the same case, sizes and inputs: verdicts, and which results
    changed. 404 if there is none."""
    return answer(run_changes.run_changes(platform(), current_user(), path.id))


@api.get("/submissions", responses={200: SubmissionList})
@open_to(SIGNED_IN)
def list_submissions(query: SubmissionQuery) -> Response:
    """Your submissions, newest first; everyone's with everyone=true, as staff. `total` stops at 10000. kind=run lists
    runs instead."""
    return cheap(
        submissions.list_submissions(
            platform(),
            current_user(),
            challenge=query.challenge,
            everyone=query.everyone,
            limit=query.limit,
            offset=query.offset,
            older_than=query.older_than,
            runs=query.kind == "run",
            wanted=SubmissionFilter(**query.model_dump(include=set(SubmissionFilter.model_fields))),
        )
    )


@api.get("/submissions/<id>", responses={200: SubmissionView})
@open_to(AUTHOR)
def get_submission(path: SubmissionPath) -> Response:
    """State, place in the queue, and verdict. Poll it with If-None-Match, less often while many are ahead: our clients
    wait a tenth of `expected_wait_s`, within about 1 to 10 seconds."""
    return cheap(submissions.get_submission(platform(), current_user(), path.id))


@api.get("/submissions/<id>/source", responses={200: SourceView})
@open_to(AUTHOR)
def get_source(path: SubmissionPath) -> Response:
    """The source as submitted."""
    return answer(submissions.get_source(platform(), current_user(), path.id))


@api.get("/submissions/<id>/report", responses={200: Report, 409: ErrorEnvelope})
@open_to(AUTHOR)
def get_report(path: SubmissionPath) -> Response:
    """The result of judging: cases, times, score. 409 until it is done."""
    return cheap(submissions.get_report(platform(), current_user(), path.id))


@api.get("/submissions/<id>/standing", responses={200: Standing, 409: ErrorEnvelope})
@open_to(AUTHOR)
def get_standing(path: SubmissionPath) -> Response:
    """After solving: the author's rank among the board's entries, the share of the device's ceiling, and the next
    challenge. 409 unless the submission is accepted."""
    return answer(standing.standing(platform(), current_user(), path.id))


@api.get("/submissions/<id>/comparison", responses={200: KernelComparison, 409: ErrorEnvelope})
@open_to(AUTHOR)
def get_comparison(path: SubmissionPath, query: ComparisonQuery) -> Response:
    """After solving: the kernel compared with staff's solution, one that somebody shares with you, or another by its
    author, for the same challenge, version and device: sources, times, counters. 404 if one is not open to you, 409
    unless the submission is accepted."""
    return answer(comparison.compare(platform(), current_user(), path.id, query.against))


@api.get("/submissions/<id>/quiz", responses={200: QuizView})
@open_to(AUTHOR)
def get_quiz(path: SubmissionPath) -> Response:
    """The questions on an accepted kernel; right answers only of those that are settled. They come with submissions on
    the emulated board; the list is empty if the engine found nothing certain to ask."""
    return answer(quiz.read(platform(), current_user(), path.id))


@api.post("/submissions/<id>/quiz/<int:number>", responses={200: QuizView, 409: ErrorEnvelope})
@open_to(AUTHOR)
def answer_question(path: QuestionPath, body: QuizAnswerBody) -> Response:
    """Answer a question on your own kernel. It is settled by the right answer or the last attempt. 409: it is settled,
    or staff voided the result."""
    return answer(quiz.answer(platform(), current_user(), path.id, path.number, body))


@api.post("/submissions/<id>/cancel", responses={200: SubmissionView, 409: ErrorEnvelope})
@open_to(AUTHOR)
def cancel_submission(path: SubmissionPath) -> Response:
    """Cancel it before it is done. Repeating it is not an error."""
    return answer(cancelling.cancel(platform(), current_user(), path.id))


@api.put("/submissions/<id>/void", responses={200: SubmissionView, 409: ErrorEnvelope})
@open_to(TEACHERS_OF_AUTHOR)
def void_result(path: SubmissionPath, body: VoidBody) -> Response:
    """Void a result: everywhere as the platform's staff, in one course as its staff. The author reads the reason."""
    return answer(voids.void(platform(), current_user(), path.id, body))


@api.delete("/submissions/<id>/void", responses={200: SubmissionView})
@open_to(TEACHERS_OF_AUTHOR)
def restore_result(path: SubmissionPath, query: RestoreQuery) -> Response:
    """Restore a void result: it counts again (staff only)."""
    return answer(voids.restore(platform(), current_user(), path.id, query.course))


@api.put("/submissions/<id>/withdrawal", responses={200: SubmissionView, 409: ErrorEnvelope})
@open_to(OWNER)
def withdraw_entry(path: SubmissionPath) -> Response:
    """Take your own entry off the boards: your next best one ranks. Result, grade and attempt stay. 409 for an entry of
    a competition or of a frozen board, and if it is on no board."""
    return answer(withdrawals.withdraw(platform(), current_user(), path.id))


@api.delete("/submissions/<id>/withdrawal", responses={200: SubmissionView, 409: ErrorEnvelope})
@open_to(OWNER)
def put_entry_back(path: SubmissionPath) -> Response:
    """Put an entry that you withdrew back on its boards."""
    return answer(withdrawals.put_back(platform(), current_user(), path.id))


@api.put("/submissions/<id>/note", responses={200: SubmissionView, 409: ErrorEnvelope})
@open_to(OWNER, lambda user, at: notes.check_author(platform(), user, at["id"]))
def keep_note(path: SubmissionPath, body: NoteBody) -> Response:
    """Write a note on your own submission, which nobody else can read; an empty text removes it."""
    return answer(notes.keep_note(platform(), current_user(), path.id, body))
