from __future__ import annotations

import json
from contextlib import suppress

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader import scoring
from grader.device_kinds import resolution_of
from grader.errors import Conflict, GraderError
from grader.records import versions
from grader.records.models import ReportRow, SubmissionRow
from grader.records.ranks import Board
from grader.schemas.account import STAFF_ROLES, Role
from grader.schemas.report import Verdict
from grader.schemas.standing import Standing, percentile
from grader.schemas.submission import JudgingReason
from grader.scoring import geometric_mean
from grader.service.accounts.accounts import User
from grader.service.boards import board_access
from grader.service.boards.rankings import Ranking
from grader.service.boards.readers import may_read
from grader.service.challenges import publication
from grader.service.platform import Platform
from grader.service.submissions.progress import progress
from grader.service.submissions.submissions import find


def standing(platform: Platform, user: User, submission: str) -> Standing:
    """Raises NotFound, Conflict (not accepted)."""
    with platform.sessions() as session:
        row = find(session, user, submission)
        if row.verdict is not Verdict.ACCEPTED or row.kind is JudgingReason.RUN:
            raise Conflict(
                f"{row.public_id} is not an accepted submission.", "A rank comes with an accepted submission."
            )
        found = _place(platform, session, user, row)
        found = found.model_copy(update={"sol": _sol(session, row)})
    if row.user_id != user.id:
        return found
    following = progress(platform, user).next
    return found.model_copy(update={"next": following, "next_title": _title(platform, following)})


def _place(platform: Platform, session: Session, user: User, row: SubmissionRow) -> Standing:
    made = Standing(submission=row.public_id)
    if why := _why_none(platform, session, user, row):
        return made.model_copy(update={"unranked": why})
    ranking = platform.rankings.of(session, Board(row.challenge, row.version, row.device))
    place = ranking.of_user.get(row.user_id)
    if place is None:
        return made.model_copy(update={"unranked": "It has no rank on this board."})
    return _counted(session, ranking, place, made)


def _counted(session: Session, ranking: Ranking, place: int, made: Standing) -> Standing:
    own = ranking.places[place]
    resolution = resolution_of(ranking.board.device)
    others = len(ranking.places) - 1
    slower = sum(scoring.is_faster(own.time_us, other.time_us, resolution) for other in ranking.places)
    level = others - slower - (own.rank - 1)
    entry = session.get_one(SubmissionRow, own.submission).public_id
    return made.model_copy(
        update={
            "rank": own.rank,
            "entry": entry,
            "others": others,
            "slower": slower,
            "level": level,
            "percentile": percentile(others, slower, level),
        }
    )


def _why_none(platform: Platform, session: Session, user: User, row: SubmissionRow) -> str:
    """Empty if the viewer sees the author's rank."""
    if row.competition_id is not None:
        return "Its rank is on the board of its competition."
    if Role(row.user.role) in STAFF_ROLES:
        return "Staff's entries have no rank: others compare themselves with them."
    closed = "This board shows you no ranks."
    if not may_read(platform, user):
        return closed
    with suppress(GraderError):
        publication.check_visible(platform, user, row.challenge)
        version = versions.find(session, row.challenge, row.version)
        if version is not None and version.published_at is None and not user.staff:
            return "The board of this version is not shown yet."
        access = board_access.accesses(session, user).of(row.challenge)
        students = board_access.students_of(session, user, [row.user_id])
        if access.until is not None and not access.staff:
            return "The board is frozen, so it shows no new ranks."
        return "" if access.tells_rank_of(row.user_id == user.id, row.user_id in students) else closed
    return closed


def _sol(session: Session, row: SubmissionRow) -> float | None:
    body = session.scalar(
        select(ReportRow.body).where(ReportRow.submission_id == row.id, ReportRow.attempt == row.attempt)
    )
    if body is None or row.time_us is None:
        return None
    ranked = [workload for workload in json.loads(body).get("workloads", []) if workload.get("ranked")]
    light = [us for workload in ranked if (us := workload.get("roofline_us"))]
    if not ranked or len(light) < len(ranked):
        return None
    return geometric_mean(light) / row.time_us


def _title(platform: Platform, slug: str | None) -> str | None:
    if slug is None:
        return None
    with suppress(GraderError):
        return platform.catalogue.load(slug).manifest.title
    return slug
