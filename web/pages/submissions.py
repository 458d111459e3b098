from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from flask import Blueprint, Response, make_response, redirect, render_template, request, session, url_for
from pydantic import ValidationError
from werkzeug.wrappers import Response as BaseResponse

from grader import limits
from grader.errors import BadRequest, Conflict, GraderError, NotFound
from grader.schemas.own_case import RunChanges
from grader.schemas.pace import pace_s
from grader.schemas.quiz import QuizAnswerBody
from grader.schemas.report import Flag, Report, Verdict
from grader.schemas.standing import Standing
from grader.schemas.submission import (
    JudgingReason,
    NoteBody,
    State,
    SubmissionFilter,
    SubmissionList,
    SubmissionView,
    VoidBody,
)
from grader.service.boards import leaderboard, share, standing, withdrawals
from grader.service.courses import assignments
from grader.service.courses.permissions import Action
from grader.service.review import comments, filter_names, voids
from grader.service.submissions import cancel as cancelling
from grader.service.submissions import comparison, notes, quiz, run_changes, submissions
from grader.service.submissions.submissions import teaches
from grader.web import assets
from grader.web.access import AUTHOR, OWNER, SIGNED_IN, TEACHERS_OF_AUTHOR, open_to
from grader.web.answers import conditional_on
from grader.web.auth.identity import current_user
from grader.web.auth.sessions import TOKEN_KEY
from grader.web.current import platform
from grader.web.pages import code, markdown, titles
from grader.web.pages import comments as remarks
from grader.web.pages.keys import Page
from grader.web.pages.results import ALL, Result, result
from grader.web.pages.steps import may_choose

pages = Blueprint("submissions", __name__)

_PAGE = 50
# "waiting" (for a GPU) belongs to the step before testing.
_STEPS = ["queued", "compiling", "testing", "timing", "done"]


@dataclass(frozen=True)
class ProgressStep:
    name: str
    phase: str
    """past, present or future"""


@pages.get("/submissions")
@open_to(SIGNED_IN)
def index() -> Page:
    """Your submissions, newest first; staff can list everyone's, teachers their students', with filters."""
    user = current_user()
    assigned = assignments.read_by(platform(), user) if user.staff or teaches(user) else []
    given = {name: value for name in _FILTERS if (value := request.args.get(name, "").strip())}
    everyone = bool(user.staff or assigned) and request.args.get("everyone") == "1"
    if not everyone:
        given = {name: value for name, value in given.items() if name == "challenge"}
    elif not user.staff:
        given.setdefault("assignment", assigned[0])
    challenge = given.get("challenge")
    older_than = request.args.get("older_than") or None
    runs = request.args.get("kind") == "run"
    error: GraderError | None = None
    found = SubmissionList(submissions=[], total=0)
    names = filter_names.read(platform(), user, Action.SUBMISSIONS_READ) if everyone else None
    try:
        if names is not None:
            filter_names.check(platform(), user, names, given.get("user"), challenge)
        found = submissions.list_submissions(
            platform(),
            user,
            challenge=challenge,
            everyone=everyone,
            limit=_PAGE + 1,
            older_than=older_than,
            runs=runs,
            wanted=_wanted(given) if everyone else None,
        )
    except (BadRequest, NotFound) as refusal:
        if not everyone or older_than is not None:
            raise
        error = refusal
    shown = found.submissions[:_PAGE]
    page = render_template(
        "submissions.html",
        submissions=shown,
        everyone=everyone,
        others=bool(user.staff or assigned),
        challenge=challenge,
        older_than=older_than,
        runs=runs,
        run_days=limits.RUN_DAYS,
        further=shown[-1].id if len(found.submissions) > _PAGE else None,
        given=given,
        assigned=assigned,
        names=names,
        verdicts=list(Verdict),
        flags=list(Flag),
        error=error,
    )
    return page, error.status if error else 200


_FILTERS = ("user", "challenge", "assignment", "verdict", "flag", "since", "until")


def _wanted(given: dict[str, str]) -> SubmissionFilter:
    """Raises BadRequest."""
    values = {name: value for name, value in given.items() if name != "challenge"}
    try:
        return SubmissionFilter.model_validate_strings(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise BadRequest(f"{first['loc'][0]}: {first['msg']}.", "Choose one from the list.") from error


@pages.get("/submissions/<submission>")
@open_to(AUTHOR)
def show(submission: str) -> str:
    """State, verdict and source of a submission. Reloads itself without JavaScript, too."""
    return _page(submission)[0]


def _page(submission: str, error: GraderError | None = None) -> Page:
    user = current_user()
    view = submissions.get_submission(platform(), user, submission)
    source = submissions.get_source(platform(), user, submission)
    decides = view.state is State.DONE and (user.staff or user.teaches)
    own = view.user == user.name
    talk = comments.list_comments(platform(), user, submission)
    page = render_template(
        "submission.html",
        title=titles.of(view.challenge),
        listing=code.listing(source.source, remarks.by_line(talk)),
        lines=code.count(source.source),
        talk=talk,
        threads=remarks.shown(talk, source.source),
        highlighter=assets.built("listing.js"),
        source=source,
        shareable=view.state is State.DONE and own,
        share_key=share.key_of(platform(), user, view.id),
        reused=view.state.final and request.args.get("reused") == "1",
        power=voids.power(platform(), user, view.id) if decides else None,
        entry=withdrawals.possible(platform(), user, view.id) if own and view.state is State.DONE else None,
        notable=own and view.kind is not JudgingReason.RUN,
        note=markdown.remark(view.note),
        note_text=request.form.get("text", view.note),
        note_chars=limits.NOTE_CHARS,
        error=error,
        asked=quiz.read(platform(), user, submission),
        **_panel(view, source.source),
    )
    return page, error.status if error else 200


@pages.get("/submissions/<submission>/panel")
@open_to(AUTHOR)
def panel(submission: str) -> Response:
    """The part of that page that changes; 304 while it does not."""
    view = submissions.get_submission(platform(), current_user(), submission)
    # The page itself has a new token each second.
    facts = f"{session.get(TOKEN_KEY)} {view.model_dump_json()}"
    return conditional_on(
        facts, lambda: make_response(render_template("_panel.html", **_panel(view, _source(view))))
    )


@pages.post("/submissions/<submission>/cancel")
@open_to(AUTHOR)
def cancel(submission: str) -> BaseResponse:
    """Cancel a submission. One that ended at that moment is just shown."""
    with suppress(Conflict):
        cancelling.cancel(platform(), current_user(), submission)
    return redirect(url_for("submissions.show", submission=submission), 303)


@pages.post("/submissions/<submission>/void")
@open_to(TEACHERS_OF_AUTHOR)
def void(submission: str) -> BaseResponse | Page:
    """Void a result, with a reason that its author reads, or restore it. For staff."""
    course = request.form.get("course") or None
    try:
        if request.form.get("action") == "restore":
            voids.restore(platform(), current_user(), submission, course)
        else:
            body = VoidBody.model_construct(reason=request.form.get("reason", ""), course=course)
            voids.void(platform(), current_user(), submission, body)
    except (BadRequest, Conflict) as error:
        return _page(submission, error)
    return redirect(url_for("submissions.show", submission=submission), 303)


@pages.post("/submissions/<submission>/withdraw")
@open_to(OWNER)
def withdraw(submission: str) -> BaseResponse | Page:
    """Take your own entry off the leaderboard, or put it back."""
    act = withdrawals.put_back if request.form.get("action") == "put_back" else withdrawals.withdraw
    try:
        act(platform(), current_user(), submission)
    except Conflict as error:
        return _page(submission, error)
    return redirect(url_for("submissions.show", submission=submission), 303)


@pages.post("/submissions/<submission>/note")
@open_to(OWNER)
def keep_note(submission: str) -> BaseResponse | Page:
    """Write a private note on your own submission; an empty one is removed."""
    body = NoteBody.model_construct(text=request.form.get("text", ""))
    try:
        notes.keep_note(platform(), current_user(), submission, body)
    except (BadRequest, Conflict) as error:
        return _page(submission, error)
    return redirect(url_for("submissions.show", submission=submission, _anchor="note"), 303)


@pages.post("/submissions/<submission>/quiz/<int:number>")
@open_to(AUTHOR)
def answer(submission: str, number: int) -> BaseResponse | Page:
    """Answer a question on your own kernel."""
    given = request.form.get("answer", "").strip().replace(",", "")
    try:
        if not given.isascii() or not given.isdigit():
            raise BadRequest(f"'{given[:40]}' is not a whole number.", "Write digits, such as 1021.")
        body = QuizAnswerBody.model_construct(answer=int(given[:19]))
        quiz.answer(platform(), current_user(), submission, number, body)
    except (BadRequest, Conflict) as error:
        return _page(submission, error)
    return redirect(url_for("submissions.show", submission=submission, _anchor=f"question-{number}"), 303)


def _panel(view: SubmissionView, source: str) -> dict[str, object]:
    found = _result(view, source) if view.state.final else None
    return {
        "view": view,
        "changes": _changes(view),
        "filename": view.filename,
        "cases_at": url_for("submissions.show", submission=view.id),
        "step_at": url_for("steps.show", submission=view.id),
        "result": found,
        "standing": _standing(view),
        "solution_open": _solved(view) and comparison.solution_is_open(platform(), current_user(), view.id),
        "steppable": found is not None and bool(may_choose(view, found.report)),
        "steps": _steps(view.state),
        "pace_ms": round(pace_s(view) * 1000),
        "now": datetime.now(UTC),
    }


def _standing(view: SubmissionView) -> Standing | None:
    return standing.standing(platform(), current_user(), view.id) if _solved(view) else None


def _solved(view: SubmissionView) -> bool:
    return view.verdict is Verdict.ACCEPTED and view.kind not in (JudgingReason.RUN, JudgingReason.FINAL)


def _changes(view: SubmissionView) -> RunChanges | None:
    if view.kind is not JudgingReason.RUN or view.state is not State.DONE:
        return None
    with suppress(NotFound):
        return run_changes.run_changes(platform(), current_user(), view.id)
    return None


def _source(view: SubmissionView) -> str:
    """If the panel may link to its lines."""
    if not view.state.final:
        return ""
    return submissions.get_source(platform(), current_user(), view.id).source


def _result(view: SubmissionView, source: str) -> Result | None:
    report = _report(view)
    if report is None:
        return None
    past = leaderboard.past_times(platform(), current_user(), view.id) if report.workloads else []
    return result(report, request.args.get("cases", ALL), source, past, view.id)


def _report(view: SubmissionView) -> Report | None:
    try:
        return submissions.get_report(platform(), current_user(), view.id)
    except Conflict:
        return None


def _steps(state: State) -> list[ProgressStep]:
    present = (
        _STEPS.index({"waiting": "compiling"}.get(state, state)) if state in (*_STEPS, "waiting") else -1
    )
    phases = [
        "past" if place < present else "present" if place == present else "future" for place in range(5)
    ]
    return [ProgressStep(name, phase) for name, phase in zip(_STEPS, phases, strict=True)]
