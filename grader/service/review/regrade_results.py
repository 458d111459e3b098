from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader.device_kinds import resolution_of
from grader.errors import ChallengeInvalid, UnknownChallenge
from grader.records import competitions, regrades
from grader.records.durations import mean_seconds
from grader.records.engine import clock
from grader.records.models import (
    AssignmentRow,
    CompetitionRow,
    CourseRow,
    RegradeRow,
    SubmissionRow,
    UserRow,
)
from grader.records.regrades import Item, Side
from grader.schemas.regrade import (
    Change,
    RegradedBoard,
    RegradedGrade,
    RegradedRank,
    RegradedSubmission,
    RegradeScope,
    RegradeState,
    RegradeSummary,
    RegradeView,
)
from grader.schemas.submission import State
from grader.schemas.version import Judgement
from grader.scoring import is_faster
from grader.service.accounts.accounts import User
from grader.service.competitions.competition_boards import regraded
from grader.service.competitions.open_competition import OpenCompetition
from grader.service.competitions.standings import Standing
from grader.service.courses import grade_book, gradebook
from grader.service.courses.points import Scheme
from grader.service.platform import Platform

_ENDED = (State.FAILED, State.CANCELLED)


def whole(platform: Platform, session: Session, user: User, row: RegradeRow) -> RegradeView:
    """With submissions, and grades and ranks that ``user`` may read."""
    found = regrades.items(session, row.id)
    schemes = _schemes(platform, {item.first.challenge for item in found})
    pairs = [_pair(item, schemes[item.first.challenge]) for item in found]
    pairs.sort(key=_weight)
    view = _view(platform, session, [row])[0]
    changes: dict[str, object] = {"submissions": pairs}
    if row.state is RegradeState.OPEN:
        changes["grades"] = _grades(platform, session, user, found)
        changes["boards"] = _boards(platform, session, user, row.id, found)
    return view.model_copy(update=changes)


def listed(platform: Platform, session: Session, rows: Sequence[RegradeRow]) -> list[RegradeView]:
    """Without them."""
    return _view(platform, session, rows)


def _schemes(platform: Platform, slugs: set[str]) -> dict[str, Scheme | None]:
    found: dict[str, Scheme | None] = {}
    for slug in slugs:
        try:
            found[slug] = grade_book.scheme(platform.catalogue.load(slug).manifest.grading)
        except (UnknownChallenge, ChallengeInvalid):
            found[slug] = None
    return found


def _pair(item: Item, scheme: Scheme | None) -> RegradedSubmission:
    before, after = regrades.side_of(item.before), regrades.side_of(item.after)
    resolution = resolution_of(item.after.device)
    points = [_points(side, scheme, resolution) for side in (before, after)]
    done = item.after.state is State.DONE
    return RegradedSubmission(
        submission=item.first.public_id,
        user=item.first.user.name,
        challenge=item.first.challenge,
        language=item.first.language,
        device=item.first.device,
        before=_judgement(item.before),
        after=_judgement(item.after),
        points_before=points[0],
        points_after=points[1] if done else None,
        change=_change(item.after.state, before, after, points, resolution),
        verdict_changed=done and item.before.verdict is not item.after.verdict,
        time_ratio=after.time_us / before.time_us if done and before.time_us and after.time_us else None,
    )


def _judgement(row: SubmissionRow) -> Judgement:
    return Judgement(
        id=row.public_id, state=row.state, verdict=row.verdict, time_us=row.time_us, speedup=row.speedup
    )


def _points(side: Side, scheme: Scheme | None, resolution: float) -> float | None:
    return None if scheme is None else scheme.earned(side.accepted, side.speedup, resolution, side.credit)


def _change(
    state: State, before: Side, after: Side, points: Sequence[float | None], resolution: float
) -> Change:
    """``state``: of the judgement ``after``."""
    if state is not State.DONE:
        return Change.FAILED if state in _ENDED else Change.WAITING
    first, second = (before.accepted, points[0] or 0.0), (after.accepted, points[1] or 0.0)
    if first != second:
        return Change.UP if second > first else Change.DOWN
    if before.time_us is not None and after.time_us is not None:
        if is_faster(after.time_us, before.time_us, resolution):
            return Change.UP
        if is_faster(before.time_us, after.time_us, resolution):
            return Change.DOWN
    return Change.UNCHANGED


_ORDER = (Change.FAILED, Change.DOWN, Change.UP, Change.WAITING, Change.UNCHANGED)


def _weight(pair: RegradedSubmission) -> tuple[int, bool, float, str]:
    """Most important first."""
    ratio = pair.time_ratio or 1.0
    return _ORDER.index(pair.change), not pair.verdict_changed, -max(ratio, 1 / ratio), pair.submission


def _grades(platform: Platform, session: Session, user: User, found: Sequence[Item]) -> list[RegradedGrade]:
    """Grades as they would be if all finished judgements were published."""
    judged = frozenset(item.after.id for item in found if item.after.state is State.DONE)
    students = {item.first.user_id for item in found if item.after.state is State.DONE}
    challenges = {item.first.challenge for item in found}
    return [
        RegradedGrade(
            course=difference.course,
            assignment=difference.assignment,
            challenge=difference.challenge,
            student=difference.student,
            before=difference.before,
            after=difference.after,
        )
        for difference in gradebook.differences(platform, session, user, challenges, students, judged)
    ]


def _boards(
    platform: Platform, session: Session, user: User, number: int, found: Sequence[Item]
) -> list[RegradedBoard]:
    """Live boards that staff may read, without a final or results."""
    places = {
        (item.first.competition_id, item.first.device)
        for item in found
        if item.first.competition_id is not None
    }
    again = {item.first.id: item.after.id for item in found}
    now = clock(session)
    boards = []
    for competition, device in sorted(places):
        opened = OpenCompetition(session, session.get_one(CompetitionRow, competition), user, now)
        if (
            opened.staff
            and opened.row.results_at is None
            and competitions.final(session, competition) is None
        ):
            boards.append(_board(opened, device, *regraded(platform, opened, device, number, again)))
    return boards


def _board(
    opened: OpenCompetition, device: str, before: Sequence[Standing], after: Sequence[Standing]
) -> RegradedBoard:
    earlier = {standing.team: standing.rank for standing in before}
    names = competitions.team_names(opened.session, opened.row.id)
    ranks = [
        RegradedRank(team=names[standing.team], before=earlier[standing.team], after=standing.rank)
        for standing in after
        if standing.rank is not None or earlier[standing.team] is not None
    ]
    return RegradedBoard(
        competition=opened.row.slug,
        title=opened.row.title,
        device=device,
        changed=sum(rank.before != rank.after for rank in ranks),
        ranks=ranks,
    )


@dataclass(frozen=True)
class _Names:
    users: Mapping[int, str]
    courses: Mapping[int, str]
    assignments: Mapping[int, str]
    submissions: Mapping[int, str]


def _view(platform: Platform, session: Session, rows: Sequence[RegradeRow]) -> list[RegradeView]:
    numbers = [row.id for row in rows]
    names = _names(session, rows)
    versions = regrades.by_challenge(session, numbers)
    summaries = _summaries(platform, session, numbers)
    waiting = regrades.waiting(session, [number for number in numbers if summaries[number].waiting])
    seconds = _seconds(session, {device for each in waiting.values() for device in each})
    return [
        RegradeView(
            number=row.id,
            scope=row.scope,
            what=_what(row, names, versions.get(row.id, {})),
            course=names.courses.get(row.course_id) if row.course_id is not None else None,
            reason=row.reason,
            state=row.state,
            ordered_by=names.users.get(row.made_by or 0),
            ordered_at=row.created_at,
            decided_by=names.users.get(row.decided_by or 0),
            decided_at=row.decided_at,
            versions=versions.get(row.id, {}),
            summary=summaries[row.id],
            left_out=row.left_out,
            expected_s=_takes_s(waiting[row.id], seconds) if row.id in waiting else None,
        )
        for row in rows
    ]


def _summaries(platform: Platform, session: Session, numbers: Sequence[int]) -> dict[int, RegradeSummary]:
    found = list(regrades.compared(session, numbers))
    schemes = _schemes(platform, {item.challenge for item in found})
    resolutions = {device: resolution_of(device) for device in {item.device for item in found}}
    changes: dict[int, Counter[Change]] = {number: Counter() for number in numbers}
    for changed in found:
        scheme, resolution = schemes[changed.challenge], resolutions[changed.device]
        points = [_points(side, scheme, resolution) for side in (changed.before, changed.after)]
        changes[changed.regrade][
            _change(changed.state, changed.before, changed.after, points, resolution)
        ] += 1
    return {
        number: RegradeSummary(**{change.value: each[change] for change in Change})
        for number, each in changes.items()
    }


def expected_s(session: Session, devices: Counter[str]) -> float | None:
    """For one worker per device; None if times are unknown."""
    return _takes_s(devices, _seconds(session, set(devices)))


def _seconds(session: Session, devices: set[str]) -> dict[str, float | None]:
    """Of one judgement, by device."""
    return {device: mean_seconds(session, device) for device in devices}


def _takes_s(devices: Counter[str], seconds: Mapping[str, float | None]) -> float | None:
    known = [each * devices[device] for device in devices if (each := seconds[device]) is not None]
    return max(known, default=0.0) if len(known) == len(devices) else None


def _names(session: Session, rows: Sequence[RegradeRow]) -> _Names:
    users = {
        user_id
        for row in rows
        for user_id in (row.made_by, row.decided_by, row.user_id)
        if user_id is not None
    }
    return _Names(
        {
            row.id: row.name
            for row in session.execute(select(UserRow.id, UserRow.name).where(UserRow.id.in_(users)))
        },
        _slugs(session, CourseRow, {row.course_id for row in rows}),
        _slugs(session, AssignmentRow, {row.assignment_id for row in rows}),
        {
            submission.id: submission.public_id
            for submission in session.execute(
                select(SubmissionRow.id, SubmissionRow.public_id).where(
                    SubmissionRow.id.in_({row.submission_id for row in rows})
                )
            )
        },
    )


def _slugs(
    session: Session, table: type[CourseRow] | type[AssignmentRow], ids: set[int | None]
) -> dict[int, str]:
    found = session.execute(select(table.id, table.slug).where(table.id.in_(ids - {None})))
    return {item.id: item.slug for item in found}


def _what(row: RegradeRow, names: _Names, versions: Mapping[str, int]) -> str:
    if row.scope is RegradeScope.SUBMISSION:
        return f"submission {names.submissions.get(row.submission_id or 0, '')}"
    if row.scope is RegradeScope.CHALLENGE:
        version = versions.get(row.challenge or "")
        return f"{row.challenge}, version {version}" if version else str(row.challenge)
    where = names.courses.get(row.course_id or 0, "")
    if row.assignment_id is not None:
        where = f"{where}/{names.assignments.get(row.assignment_id, '')}"
    if row.scope is RegradeScope.ASSIGNMENT:
        return where
    return f"{names.users.get(row.user_id or 0, 'somebody')} in {where}"
