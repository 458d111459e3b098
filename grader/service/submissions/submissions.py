"""Students see only their own, staff all."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, Row, func, select
from sqlalchemy.orm import Session, aliased, defer, joinedload

from grader.deadlines import parse_moment
from grader.errors import Conflict, NotAllowed, NotFound
from grader.records import (
    competitions,
    groups,
    histories,
    notes,
    order,
    quizzes,
    regrades,
    rejudges,
    taught,
    voids,
)
from grader.records.engine import clock
from grader.records.histories import History, Taught
from grader.records.models import (
    CommentRow,
    CompetitionRow,
    MemberRow,
    ReportRow,
    SubmissionRow,
    VoidRow,
)
from grader.records.regrades import Published
from grader.schemas.report import Flag, Report, Score
from grader.schemas.submission import (
    CourseVoided,
    JudgedAgain,
    JudgingReason,
    ProgressView,
    SetAside,
    SourceView,
    State,
    SubmissionFilter,
    SubmissionList,
    SubmissionView,
    Voided,
)
from grader.schemas.token import Scope
from grader.service.accounts.accounts import User, find_row
from grader.service.courses import assignments, courses, released
from grader.service.courses.permissions import TABLE, Action, Standing
from grader.service.courses.windows import Windows
from grader.service.platform import Platform
from grader.service.submissions.waiting import QueueSnapshot

_LIST_MOST = 200
_UTC = ZoneInfo("UTC")


def get_submission(platform: Platform, user: User, submission: str) -> SubmissionView:
    """Raises NotFound, also for another's."""
    with platform.sessions() as session:
        row = find(session, user, submission)
        view = _views(platform, session, user, [row])[0]
        # Unfinished submissions are polled.
        said = _comments(session, user, row) if row.state.final else 0
        asked = quizzes.open_ones(session, row.id) if row.state is State.DONE else 0
        return view.model_copy(update={"comments": said, "questions": asked}) if said or asked else view


def _comments(session: Session, user: User, row: SubmissionRow) -> int:
    comment = CommentRow
    on_it = select(func.count()).select_from(comment).where(comment.submission_id == row.id)
    found = session.scalar(on_it.where(comment.deleted_at.is_(None))) or 0
    if not found or not hands_in(session, user, row):
        return found
    readable = [comment.deleted_at.is_(None), comment.draft.is_(False)]
    if released.feedback_held(session, row):
        readable.append(comment.staff.is_(False))
    return session.scalar(on_it.where(*readable)) or 0


def view_of_new(platform: Platform, user: User, row: SubmissionRow) -> SubmissionView:
    with platform.sessions() as session:
        view = _view(row, user.name, platform.lines.of(session, row, platform.settings.lease_s))
        if row.competition_id is None:
            return view
        within = competitions.slugs(session, [row.competition_id])
        return view.model_copy(update={"competition": within.get(row.competition_id)})


def list_submissions(
    platform: Platform,
    user: User,
    challenge: str | None = None,
    everyone: bool = False,
    limit: int = 50,
    offset: int = 0,
    older_than: str | None = None,
    runs: bool = False,
    wanted: SubmissionFilter | None = None,
) -> SubmissionList:
    """Newest first, at most ``limit`` (up to 200), after ``older_than``. ``everyone`` needs staff; teachers name a
    course in ``wanted``. Later judgements are listed with their submission. Raises NotFound, NotAllowed, BadRequest
    (a time)."""
    history = _history(platform, user, challenge, everyone, runs, wanted or SubmissionFilter())
    with platform.sessions() as session:
        behind = find(session, user, older_than) if older_than is not None else None
        rows = histories.page(session, history, max(0, min(limit, _LIST_MOST)), max(0, offset), behind)
        total = histories.count(session, history)
        return SubmissionList(submissions=_views(platform, session, user, rows), total=total)


def _history(
    platform: Platform,
    user: User,
    challenge: str | None,
    everyone: bool,
    runs: bool,
    wanted: SubmissionFilter,
) -> History:
    assigned = _assigned(platform, user, wanted.assignment, everyone) if wanted.assignment else _Assigned()
    others = everyone and (user.staff or assigned.taught is not None)
    if wanted.flag is not None and not others:
        raise NotAllowed("Only staff can filter by flags.", "Ask for everyone's submissions.")
    whose = None if others else user.id
    if wanted.user is not None:
        whose = _whose(platform, user, wanted.user, others)
    since = parse_moment(wanted.since, assigned.zone, end=False) if wanted.since else None
    until = parse_moment(wanted.until, assigned.zone, end=True) if wanted.until else None
    return History(
        whose,
        challenge,
        runs,
        wanted.verdict,
        wanted.flag,
        since=max((moment for moment in (since, assigned.since) if moment is not None), default=None),
        until=min((moment for moment in (until, assigned.until) if moment is not None), default=None),
        taught=assigned.taught,
        shared=not others and not runs and _has_shared(platform, user),
    )


def _has_shared(platform: Platform, user: User) -> bool:
    with platform.sessions() as session:
        return groups.has_shared(session, user.id)


@dataclass(frozen=True)
class _Assigned:
    """An assignment's or course's challenges and period."""

    zone: ZoneInfo = _UTC
    taught: Taught | None = None
    since: datetime | None = None
    until: datetime | None = None


def _assigned(platform: Platform, user: User, name: str, everyone: bool) -> _Assigned:
    course, _, slug = name.partition("/")
    action = Action.SUBMISSIONS_READ if everyone else Action.ASSIGNMENT_READ
    with courses.reading(platform, user, course, action) as opened:
        zone = ZoneInfo(opened.row.time_zone)
        if not slug:
            return _Assigned(zone, Taught(opened.row.id, sorted(assignments.challenges_of(opened))))
        row = assignments.find(opened, slug)
        windows = Windows.read(opened.session, opened.row, [row])
        of_it = Taught(opened.row.id, assignments.assigned_by(opened.session, row), row.id)
        return _Assigned(zone, of_it, row.open_at, windows.last_end(row))


def _whose(platform: Platform, user: User, name: str, others: bool) -> int:
    if not others and name.lower() != user.name.lower():
        raise NotAllowed(
            "Only staff can see other people's submissions.",
            "Ask for everyone's; teachers also name their course.",
        )
    with platform.sessions() as session:
        return find_row(session, name).id


def get_source(platform: Platform, user: User, submission: str) -> SourceView:
    with platform.sessions() as session:
        row = find(session, user, submission)
        return SourceView(id=row.public_id, language=row.language, filename=row.filename, source=row.source)


def get_report(platform: Platform, user: User, submission: str) -> Report:
    """Without hidden cases' data for others than staff, unless an ended assignment reveals them. Raises NotFound,
    Conflict (none yet)."""
    with platform.sessions() as session:
        row = find(session, user, submission)
        body = session.scalar(
            select(ReportRow.body).where(ReportRow.submission_id == row.id, ReportRow.attempt == row.attempt)
        )
        whole = reads_hidden(session, user, row)
        staff = user.staff or teaches_author(session, user, row)
        marked = taught.is_marked_similar(session, row.public_id, staff and row.user_id != user.id)
    if body is None:
        hint = (
            ""
            if row.state.final
            else "It is available when the submission is done; `grader watch` waits for that."
        )
        raise Conflict(f"Submission {row.public_id} is {row.state}, so it has no report.", hint)
    report = Report.model_validate_json(body)
    if marked:
        report = report.model_copy(update={"flags": [*report.flags, Flag.SIMILAR]})
    return report if whole else report.redacted()


def find(session: Session, user: User, submission: str) -> SubmissionRow:
    """Raises NotFound."""
    row = session.scalar(
        select(SubmissionRow)
        .where(SubmissionRow.public_id == submission.lower())
        # Polls do not need the source.
        .options(joinedload(SubmissionRow.user), defer(SubmissionRow.source), defer(SubmissionRow.own_case))
    )
    if row is None or not (
        user.staff
        or _is_own(session, user, row)
        or _is_shared(session, user, row)
        or teaches_author(session, user, row)
    ):
        raise NotFound(
            f"There is no submission '{submission[:32]}'.", "`grader history` lists your submissions."
        )
    return row


def readable(session: Session, user: User, submissions: Collection[str]) -> set[str]:
    """Public ids that this user may see."""
    wanted = SubmissionRow.public_id.in_(submissions)
    if user.staff:
        return set(session.scalars(select(SubmissionRow.public_id).where(wanted)))
    own = session.scalars(
        select(SubmissionRow)
        .where(wanted, SubmissionRow.user_id == user.id)
        .options(defer(SubmissionRow.source))
    )
    found = {submission_row.public_id for submission_row in own if _is_own(session, user, submission_row)}
    of_group = (groups.is_shared_with(user.id), SubmissionRow.set_aside.is_distinct_from(SetAside.REGRADE))
    found |= set(session.scalars(select(SubmissionRow.public_id).where(wanted, *of_group)))
    for membership in _taught_in(session, user, wanted):
        if Standing(membership.role) in TABLE[Action.SUBMISSIONS_READ]:
            found.add(membership.public_id)
    return found


def _is_own(session: Session, user: User, row: SubmissionRow) -> bool:
    """A final's judgement names hidden sizes and seeds, so it waits for the results, a regrade's for publication."""
    if row.user_id != user.id or row.set_aside is SetAside.REGRADE:
        return False
    if row.kind is not JudgingReason.FINAL or row.competition_id is None:
        return True
    return session.get_one(CompetitionRow, row.competition_id).results_at is not None


def _is_shared(session: Session, user: User, row: SubmissionRow) -> bool:
    """Handed in by a group of ``user``; a regrade's once it is published."""
    shared = row.set_aside is not SetAside.REGRADE and row.user_id != user.id
    return shared and user.id in groups.partners_of(session, row.id)


def hands_in(session: Session, user: User, row: SubmissionRow) -> bool:
    """True for the author and partners."""
    return row.user_id == user.id or _is_shared(session, user, row)


def teaches(user: User) -> bool:
    return user.teaches and Scope.STAFF in user.scopes


def teaches_author(
    session: Session, user: User, row: SubmissionRow, action: Action = Action.SUBMISSIONS_READ
) -> bool:
    """True if ``user`` has that right in a course of the submission."""
    return any(
        Standing(membership.role) in TABLE[action]
        for membership in _taught_in(session, user, SubmissionRow.id == row.id)
    )


def course_of(session: Session, user: User, row: SubmissionRow) -> int | None:
    """A course of the submission in which ``user`` is staff."""
    return next(
        (membership.course_id for membership in _taught_in(session, user, SubmissionRow.id == row.id)), None
    )


def _taught_in(session: Session, user: User, which: ColumnElement[bool]) -> Sequence[Row[str, int, str]]:
    """Public ids, courses, and the user's role."""
    if not teaches(user):
        return []
    student, teacher = MemberRow, aliased(MemberRow)
    query = (
        select(SubmissionRow.public_id, teacher.course_id, teacher.role)
        .select_from(teacher)
        .join(student, student.course_id == teacher.course_id)
        .where(teacher.user_id == user.id, teacher.left_at.is_(None))
        .where(which, *taught.handed_in(student))
        .distinct()
    )
    return session.execute(query).all()


def reads_hidden(session: Session, user: User, row: SubmissionRow) -> bool:
    """``user`` may see the submission."""
    if user.staff or (row.user_id != user.id and teaches_author(session, user, row)):
        return True
    return released.hidden_revealed(session, user.id, row.challenge, clock(session))


def _views(
    platform: Platform, session: Session, user: User, rows: Sequence[SubmissionRow]
) -> list[SubmissionView]:
    silent_s = platform.settings.lease_s
    lines = {row.id: platform.lines.of(session, row, silent_s) for row in rows if order.is_pending(row)}
    again = rejudges.judged_again(session, [row.id for row in rows if row.state.final], drafts=user.staff)
    why = regrades.published(session, [judged.id for each in again.values() for judged in each])
    firsts = rejudges.public_ids(session, [row.rejudge_of for row in rows if row.rejudge_of is not None])
    of_rows = {row.rejudge_of or row.id for row in rows}
    void, in_courses = voids.of(session, of_rows), voids.of_courses(session, of_rows)
    within = competitions.slugs(
        session, [row.competition_id for row in rows if row.competition_id is not None]
    )
    said = notes.of(session, {row.rejudge_of or row.id for row in rows if row.user_id == user.id})
    return [
        _view(row, row.user.name, lines.get(row.id)).model_copy(
            update={
                "competition": within.get(row.competition_id) if row.competition_id is not None else None,
                "rejudge_of": firsts[row.rejudge_of] if row.rejudge_of is not None else None,
                "judged_again": [
                    _judged_again(judged, why.get(judged.id)) for judged in again.get(row.id, [])
                ],
                "voided": _voided(void.get(row.rejudge_of or row.id)),
                "course_voids": [
                    CourseVoided(course=slug, reason=void.reason, at=void.created_at)
                    for slug, void in in_courses.get(row.rejudge_of or row.id, [])
                ],
                "note": said.get(row.rejudge_of or row.id, ""),
            }
        )
        for row in rows
    ]


def _judged_again(row: SubmissionRow, regrade: Published | None) -> JudgedAgain:
    assert row.verdict is not None
    return JudgedAgain(
        id=row.public_id,
        version=row.version,
        verdict=row.verdict,
        time_us=row.time_us,
        speedup=row.speedup,
        at=regrade.at if regrade is not None else None,
        reason=regrade.reason if regrade is not None else "",
    )


def _voided(row: VoidRow | None) -> Voided | None:
    return Voided(reason=row.reason, at=row.created_at) if row is not None else None


def _view(row: SubmissionRow, author: str, line: QueueSnapshot | None) -> SubmissionView:
    return SubmissionView(
        id=row.public_id,
        user=author,
        challenge=row.challenge,
        version=row.version,
        language=row.language,
        device=row.device,
        filename=row.filename,
        kind=row.kind,
        state=row.state,
        verdict=row.verdict,
        score=_score(row),
        attempt=row.attempt,
        progress=ProgressView.model_validate(row.progress),
        position=line.place(row) if line else None,
        expected_wait_s=line.expected_wait_s(row) if line else None,
        waits_for=line.waits_for(row) if line else None,
        created_at=row.created_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
        withdrawn_at=row.withdrawn_at,
        error=row.error,
    )


def _score(row: SubmissionRow) -> Score | None:
    if row.state is not State.DONE:
        return None
    interval = None if row.ci_lo_us is None or row.ci_hi_us is None else (row.ci_lo_us, row.ci_hi_us)
    return Score(
        time_us=row.time_us, speedup=row.speedup, ci=interval, passed=row.passed or 0, total=row.total or 0
    )
