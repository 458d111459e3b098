from __future__ import annotations

import secrets
from collections.abc import Sequence

from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from grader.errors import BadRequest, Conflict
from grader.records import competitions as record
from grader.records.engine import clock, writing
from grader.records.models import (
    CompetitionChallengeRow,
    CompetitionRow,
    SubmissionRow,
)
from grader.records.models.base import ID_LETTERS
from grader.schemas.competition import (
    ChallengeBody,
    CompetitionBody,
    CompetitionList,
    CompetitionView,
    HiddenWorkload,
)
from grader.service.accounts.accounts import User
from grader.service.boards import readers
from grader.service.competitions.competition_checks import Checked, check_body, check_removed
from grader.service.competitions.competition_views import view
from grader.service.competitions.open_competition import OpenCompetition, changing, open_in, reading
from grader.service.courses import permissions
from grader.service.courses.permissions import Action
from grader.service.platform import Platform

_CODE_CHARS = 10


def new_code() -> str:
    """50 random bits, easy to read aloud and type."""
    return "".join(secrets.choice(ID_LETTERS) for _ in range(_CODE_CHARS))


def list_competitions(platform: Platform, viewer: User | None) -> CompetitionList:
    """Newest first; drafts only for staff. Raises NotSignedIn, NotAllowed."""
    readers.check_reader(platform, viewer)
    with platform.sessions() as session:
        now = clock(session)
        rows = session.scalars(
            select(CompetitionRow).order_by(CompetitionRow.starts_at.desc(), CompetitionRow.id.desc())
        ).all()
        found = [OpenCompetition(session, row, viewer, now) for row in rows]
        views = [
            view(platform, competition)
            for competition in found
            if competition.row.published_at is not None or competition.staff
        ]
    return CompetitionList(competitions=views)


def get_competition(platform: Platform, viewer: User | None, slug: str) -> CompetitionView:
    """Raises as ``reading``."""
    with reading(platform, viewer, slug) as found:
        return view(platform, found)


def create_competition(platform: Platform, user: User, body: CompetitionBody) -> CompetitionView:
    """A draft. Raises NotAllowed, BadRequest, UnknownChallenge, Conflict (slug taken)."""
    checked = check_body(platform, body)
    row = CompetitionRow(slug=body.slug, invite_code=new_code(), revision=1)
    _fill(row, body, checked)
    try:
        with writing(platform.sessions) as session:
            permissions.check(user, permissions.standings(session, user), Action.COMPETITION_EDIT)
            session.add(row)
            session.flush()
            _set_challenges(session, row, body.challenges)
            found = OpenCompetition(session, row, user, clock(session))
            found.note(Action.COMPETITION_EDIT, after=body.model_dump(mode="json", exclude={"rules"}))
            session.flush()
            return view(platform, found)
    except IntegrityError as error:
        raise Conflict(
            f"The slug '{body.slug}' is taken by another competition.", "Choose another slug."
        ) from error


def edit_competition(platform: Platform, user: User, slug: str, body: CompetitionBody) -> CompetitionView:
    """Replaces all fields. Raises NotAllowed, NotFound, BadRequest, UnknownChallenge, Conflict (changed meanwhile,
    published results, or something with submissions would be removed)."""
    checked = check_body(platform, body)
    if body.slug != slug:
        raise BadRequest("A competition's slug cannot change, because it is part of its addresses.")
    with changing(platform, user, slug, Action.COMPETITION_EDIT) as found:
        row = found.row
        if body.revision is not None and body.revision != row.revision:
            raise Conflict(
                "Somebody changed this competition after you opened it.",
                "Open it again and repeat your change.",
            )
        if row.results_at is not None:
            raise Conflict(
                "Its results are published, so it can no longer change.", "Create another competition."
            )
        before = _as_body(found).model_dump(mode="json", exclude={"rules", "revision"})
        check_removed(found, body, checked)
        _fill(row, body, checked)
        row.revision += 1
        _set_challenges(found.session, row, body.challenges)
        found.note(
            Action.COMPETITION_EDIT,
            before=before,
            after=body.model_dump(mode="json", exclude={"rules", "revision"}),
        )
        found.session.flush()
        return view(platform, found)


def body_of(platform: Platform, user: User, slug: str) -> CompetitionBody:
    """A body that changes nothing. Raises NotAllowed, NotFound."""
    with platform.sessions() as session:
        found = open_in(session, user, slug)
        permissions.check(user, permissions.standings(session, user), Action.COMPETITION_EDIT)
        return _as_body(found)


def publish_competition(platform: Platform, user: User, slug: str) -> CompetitionView:
    """Idempotent. Raises NotAllowed, NotFound."""
    with changing(platform, user, slug, Action.COMPETITION_EDIT) as found:
        if found.row.published_at is None:
            found.row.published_at = found.now
            found.note(Action.COMPETITION_EDIT, "/publish")
        return view(platform, found)


def delete_competition(platform: Platform, user: User, slug: str) -> None:
    """Raises NotAllowed, NotFound, Conflict (submissions)."""
    with changing(platform, user, slug, Action.COMPETITION_EDIT) as found:
        if found.session.scalar(
            select(SubmissionRow.id).where(SubmissionRow.competition_id == found.row.id).limit(1)
        ):
            raise Conflict(
                "This competition has submissions, so it cannot be deleted.",
                "You can change its title and rules.",
            )
        found.note(Action.COMPETITION_EDIT, "/delete")
        found.session.delete(found.row)


def renew_invite_code(platform: Platform, user: User, slug: str) -> CompetitionView:
    """The old code stops. Raises NotAllowed, NotFound."""
    with changing(platform, user, slug, Action.COMPETITION_EDIT) as found:
        found.row.invite_code = new_code()
        found.note(Action.COMPETITION_EDIT, "/invite-code")
        return view(platform, found)


def _fill(row: CompetitionRow, body: CompetitionBody, checked: Checked) -> None:
    row.title, row.rules = body.title.strip(), body.rules
    row.starts_at, row.ends_at, row.freeze_minutes = body.starts_at, body.ends_at, body.freeze_minutes
    row.time_zone = body.time_zone
    row.devices, row.languages = checked.devices, checked.languages
    row.scoring, row.registration, row.team_size = body.scoring, body.registration, body.team_size
    row.cap_day, row.cap_total = body.cap_day, body.cap_total
    row.code_shown, row.open_afterwards = body.code_shown, body.open_afterwards


def _set_challenges(session: Session, row: CompetitionRow, wanted: Sequence[ChallengeBody]) -> None:
    table = CompetitionChallengeRow
    session.execute(delete(table).where(table.competition_id == row.id))
    session.flush()
    session.add_all(
        table(
            competition_id=row.id,
            challenge=chosen.challenge,
            place=place,
            points=chosen.points,
            hidden_workloads=[each.model_dump() for each in chosen.hidden_workloads],
        )
        for place, chosen in enumerate(wanted)
    )


def _as_body(found: OpenCompetition) -> CompetitionBody:
    row = found.row
    return CompetitionBody(
        slug=row.slug,
        title=row.title,
        rules=row.rules,
        challenges=[
            ChallengeBody(
                challenge=challenge.challenge,
                points=challenge.points,
                hidden_workloads=[HiddenWorkload.model_validate(each) for each in challenge.hidden_workloads],
            )
            for challenge in record.challenges(found.session, row.id)
        ],
        starts_at=row.starts_at,
        ends_at=row.ends_at,
        time_zone=row.time_zone,
        freeze_minutes=row.freeze_minutes,
        devices=row.devices,
        languages=row.languages,
        scoring=row.scoring,
        registration=row.registration,
        team_size=row.team_size,
        cap_day=row.cap_day,
        cap_total=row.cap_total,
        code_shown=row.code_shown,
        open_afterwards=row.open_afterwards,
        revision=row.revision,
    )
