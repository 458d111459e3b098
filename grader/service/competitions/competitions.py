"""Competitions: created, found, edited, published, and their results published."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import delete, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from grader.challenge.model import check_sizes
from grader.deadlines import find_zone
from grader.device_kinds import serves
from grader.errors import BadRequest, ChallengeInvalid, Conflict, GraderError, NotFound
from grader.languages import Language, names
from grader.records import competition_draws
from grader.records import competitions as record
from grader.records.engine import clock, writing
from grader.records.models import (
    CompetitionChallengeRow,
    CompetitionRow,
    SubmissionRow,
    TeamRow,
)
from grader.records.models.base import ID_LETTERS
from grader.schemas.competition import (
    Cap,
    ChallengeBody,
    ChallengeView,
    CompetitionBody,
    CompetitionList,
    CompetitionView,
    HiddenWorkload,
    MemberView,
    Mode,
    Phase,
    TeamView,
)
from grader.service import audit
from grader.service.accounts.accounts import User
from grader.service.boards import readers
from grader.service.courses import permissions
from grader.service.courses.permissions import Action
from grader.service.devices import served_devices
from grader.service.platform import Platform

_CODE_CHARS = 10


def new_code() -> str:
    """50 random bits in a form that can be read aloud and typed."""
    return "".join(secrets.choice(ID_LETTERS) for _ in range(_CODE_CHARS))


@dataclass(frozen=True)
class OpenCompetition:
    """A competition within one transaction of ``user``, at ``now`` by the database's clock."""

    session: Session
    row: CompetitionRow
    user: User | None
    now: datetime

    @property
    def staff(self) -> bool:
        return self.user is not None and self.may(Action.COMPETITION_READ_DRAFT)

    def may(self, action: Action) -> bool:
        return self.user is not None and permissions.may(
            permissions.standings(self.session, self.user), action
        )

    @property
    def phase(self) -> Phase:
        return phase_of(self.row, self.now)

    def note(self, action: Action, subject: str = "", **values: Any) -> None:
        """Log a staff action. As ``audit.note``."""
        assert self.user is not None
        audit.note(self.session, self.user, action, f"/competitions/{self.row.slug}{subject}", **values)


@contextmanager
def reading(platform: Platform, viewer: User | None, slug: str) -> Iterator[OpenCompetition]:
    """Opens a competition for reading. Raises NotSignedIn, NotAllowed by who may read boards here, and NotFound, also
    for a draft that the viewer may not know of."""
    readers.check_reader(platform, viewer)
    with platform.sessions() as session:
        yield _open(session, viewer, slug)


@contextmanager
def changing(platform: Platform, user: User, slug: str, action: Action) -> Iterator[OpenCompetition]:
    """Opens a competition for a change and locks it. Raises NotFound, NotAllowed."""
    with writing(platform.sessions) as session:
        found = _open(session, user, slug, lock=True)
        permissions.check(user, permissions.standings(session, user), action)
        yield found


def check(platform: Platform, user: User, slug: str, action: Action) -> None:
    """Raises NotFound, NotAllowed."""
    with platform.sessions() as session:
        _open(session, user, slug)
        permissions.check(user, permissions.standings(session, user), action)


def _open(session: Session, user: User | None, slug: str, lock: bool = False) -> OpenCompetition:
    row = record.find(session, slug, lock)
    if row is not None:
        found = OpenCompetition(session, row, user, clock(session))
        if row.published_at is not None or found.staff:
            return found
    raise NotFound(
        f"There is no competition '{slug[:64]}'.", "`grader competition list` lists the competitions."
    )


def phase_of(row: CompetitionRow, now: datetime) -> Phase:
    if row.published_at is None:
        return Phase.DRAFT
    if now < row.starts_at:
        return Phase.UPCOMING
    if row.results_at is not None:
        return Phase.RESULTS
    if now >= row.ends_at:
        return Phase.ENDED
    return Phase.FROZEN if (at := freeze_at(row)) is not None and now >= at else Phase.RUNNING


def freeze_at(row: CompetitionRow) -> datetime | None:
    return row.ends_at - timedelta(minutes=row.freeze_minutes) if row.freeze_minutes else None


def list_competitions(platform: Platform, viewer: User | None) -> CompetitionList:
    """Newest first; drafts only for staff. Raises NotSignedIn, NotAllowed by who may read boards here."""
    readers.check_reader(platform, viewer)
    with platform.sessions() as session:
        now = clock(session)
        rows = session.scalars(
            select(CompetitionRow).order_by(CompetitionRow.starts_at.desc(), CompetitionRow.id.desc())
        ).all()
        found = [OpenCompetition(session, row, viewer, now) for row in rows]
        views = [
            _view(platform, competition)
            for competition in found
            if competition.row.published_at is not None or competition.staff
        ]
    return CompetitionList(competitions=views)


def get_competition(platform: Platform, viewer: User | None, slug: str) -> CompetitionView:
    """Raises as ``reading``."""
    with reading(platform, viewer, slug) as found:
        return _view(platform, found)


def create_competition(platform: Platform, user: User, body: CompetitionBody) -> CompetitionView:
    """Creates a draft. Raises NotAllowed, BadRequest, UnknownChallenge, and Conflict if the slug is taken."""
    checked = _check(platform, body)
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
            return _view(platform, found)
    except IntegrityError as error:
        raise Conflict(
            f"The slug '{body.slug}' is taken by another competition.", "Choose another slug."
        ) from error


def edit_competition(platform: Platform, user: User, slug: str, body: CompetitionBody) -> CompetitionView:
    """Replaces all its fields. Raises NotAllowed, NotFound, BadRequest, UnknownChallenge, and Conflict if somebody
    changed it since, its results are published, or something with submissions would be removed."""
    checked = _check(platform, body)
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
        _check_gone(found, body, checked)
        _fill(row, body, checked)
        row.revision += 1
        _set_challenges(found.session, row, body.challenges)
        found.note(
            Action.COMPETITION_EDIT,
            before=before,
            after=body.model_dump(mode="json", exclude={"rules", "revision"}),
        )
        found.session.flush()
        return _view(platform, found)


def body_of(platform: Platform, user: User, slug: str) -> CompetitionBody:
    """The body that would leave it unchanged. Raises NotAllowed, NotFound."""
    with platform.sessions() as session:
        found = _open(session, user, slug)
        permissions.check(user, permissions.standings(session, user), Action.COMPETITION_EDIT)
        return _as_body(found)


def publish_competition(platform: Platform, user: User, slug: str) -> CompetitionView:
    """Show it to everyone. Repeating it is not an error. Raises NotAllowed, NotFound."""
    with changing(platform, user, slug, Action.COMPETITION_EDIT) as found:
        if found.row.published_at is None:
            found.row.published_at = found.now
            found.note(Action.COMPETITION_EDIT, "/publish")
        return _view(platform, found)


def delete_competition(platform: Platform, user: User, slug: str) -> None:
    """Raises NotAllowed, NotFound, and Conflict if it has submissions."""
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
    """The old code stops working. Raises NotAllowed, NotFound."""
    with changing(platform, user, slug, Action.COMPETITION_EDIT) as found:
        found.row.invite_code = new_code()
        found.note(Action.COMPETITION_EDIT, "/invite-code")
        return _view(platform, found)


@dataclass(frozen=True)
class _Checked:
    devices: list[str]
    languages: list[str]


def _check(platform: Platform, body: CompetitionBody) -> _Checked:
    if body.slug == "new":
        raise BadRequest("The slug 'new' is reserved.", "Choose another slug.")
    _check_times(body)
    served = served_devices(platform)
    devices = list(dict.fromkeys(body.devices)) or served
    if odd := [device for device in devices if device not in served]:
        raise BadRequest(f"This platform has no device '{odd[0][:32]}'.", f"Devices: {', '.join(served)}.")
    try:
        languages = [Language.named(language) for language in dict.fromkeys(body.languages)] or list(Language)
    except ValueError as error:
        raise BadRequest(str(error), f"Languages: {names()}.") from error
    languages = [language for language in languages if any(serves(device, language) for device in devices)]
    if not languages:
        raise BadRequest("None of the chosen devices runs any of the chosen languages.")
    for challenge in body.challenges:
        manifest = platform.catalogue.load(challenge.challenge).manifest
        if not set(manifest.languages) & set(languages):
            raise BadRequest(f"{challenge.challenge} takes none of the competition's languages.")
        _check_workloads(manifest, challenge)
    return _Checked(devices, [language.value for language in languages])


def _check_times(body: CompetitionBody) -> None:
    zone = find_zone(body.time_zone)
    for name, at in (("starts_at", body.starts_at), ("ends_at", body.ends_at)):
        try:
            at.astimezone(UTC).astimezone(zone)
        except OverflowError as error:
            raise BadRequest(
                f"{name}: {at.isoformat()} is too far from today.",
                "Write it like this: 2027-03-01T09:00:00+01:00.",
            ) from error


def _check_workloads(manifest: Any, body: ChallengeBody) -> None:
    named = {workload.name: workload.sizes for workload in manifest.workloads}
    seen = set()
    for wanted in body.hidden_workloads:
        try:
            check_sizes(manifest, dict(wanted.sizes), f"{body.challenge}: hidden workload")
        except ValueError as error:
            raise BadRequest(str(error)) from error
        if wanted.name in seen:
            raise BadRequest(f"{body.challenge}: the sizes {wanted.name} appear twice.")
        seen.add(wanted.name)
        # A baseline is stored under that name.
        if named.get(competition_draws.workload_name(wanted.sizes), wanted.sizes) != wanted.sizes:
            raise BadRequest(f"{body.challenge}: {wanted.name} is the name of a workload with other sizes.")


def _fill(row: CompetitionRow, body: CompetitionBody, checked: _Checked) -> None:
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


def _check_gone(found: OpenCompetition, body: CompetitionBody, checked: _Checked) -> None:
    """Raises Conflict if a challenge, device or language would be removed that has submissions or that a final uses."""
    used = found.session.execute(
        select(SubmissionRow.challenge, SubmissionRow.device, SubmissionRow.language)
        .where(SubmissionRow.competition_id == found.row.id)
        .distinct()
    ).all()
    kept = {challenge.challenge for challenge in body.challenges}
    if gone := sorted({submission.challenge for submission in used} - kept):
        raise Conflict(f"Teams have submitted for {gone[0]}, so it stays in the competition.")
    if body.devices and (gone := sorted({submission.device for submission in used} - set(body.devices))):
        raise Conflict(f"Teams have submitted on {gone[0]}, so it stays in the competition.")
    if gone := sorted({submission.language.value for submission in used} - set(checked.languages)):
        raise Conflict(f"Teams have submitted in {gone[0]}, so it stays in the competition.")
    if record.final(found.session, found.row.id) is not None:
        raise Conflict("Its final has begun.", "Cancel the final first; its judgements then do not count.")


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


def view(platform: Platform, found: OpenCompetition) -> CompetitionView:
    """As the user who opened it may see it."""
    return _view(platform, found)


def _view(platform: Platform, found: OpenCompetition) -> CompetitionView:
    row, session, staff = found.row, found.session, found.staff
    out = row.results_at is not None
    teams = session.scalar(
        select(func.count()).where(TeamRow.competition_id == row.id, TeamRow.mode == Mode.OFFICIAL)
    )
    # Its challenges become known when it starts.
    shown = staff or found.now >= row.starts_at
    chosen = record.challenges(session, row.id) if shown else []
    own = record.teams_of(session, row.id, found.user.id) if found.user is not None else []
    return CompetitionView(
        slug=row.slug,
        title=row.title,
        phase=found.phase,
        now=found.now,
        starts_at=row.starts_at,
        ends_at=row.ends_at,
        time_zone=row.time_zone,
        freeze_at=freeze_at(row),
        results_at=row.results_at,
        rules=row.rules,
        challenges=[_challenge(platform, challenge, staff or out) for challenge in chosen],
        devices=row.devices,
        languages=[Language.named(language) for language in row.languages],
        scoring=row.scoring,
        registration=row.registration,
        team_size=row.team_size,
        cap_day=row.cap_day,
        cap_total=row.cap_total,
        code_shown=row.code_shown,
        open_afterwards=row.open_afterwards,
        teams=teams or 0,
        public_seed=row.public_seed,
        hidden_seed_sha256=hashlib.sha256(bytes.fromhex(row.hidden_seed)).hexdigest(),
        hidden_seed=row.hidden_seed if out else None,
        invite_code=row.invite_code if staff else None,
        revision=row.revision,
        own=[team_view(found, team, [each.challenge for each in chosen]) for team in own],
    )


def _challenge(platform: Platform, row: CompetitionChallengeRow, all_of_it: bool) -> ChallengeView:
    try:
        title = platform.catalogue.load(row.challenge).manifest.title
    except (ChallengeInvalid, GraderError):
        title = row.challenge
    hidden = [HiddenWorkload.model_validate(workload) for workload in row.hidden_workloads]
    return ChallengeView(
        challenge=row.challenge,
        title=title,
        points=row.points,
        hidden_workloads=hidden if all_of_it else None,
    )


def team_view(
    found: OpenCompetition,
    team: TeamRow,
    challenges: Sequence[str],
    members: Sequence[record.Member] | None = None,
) -> TeamView:
    """For its members and staff; ``members`` if already read."""
    session, row = found.session, found.row
    if members is None:
        members = record.members(session, [team.id])[team.id]
    inside = sum(member.left_at is None for member in members)
    starts_at, ends_at = window(row, team)
    takes = inside < row.team_size and (ends_at is None or found.now < ends_at)
    return TeamView(
        name=team.name,
        mode=team.mode,
        members=[MemberView(name=member.name, left_at=member.left_at) for member in members],
        join_code=team.join_code if takes else "",
        starts_at=starts_at,
        ends_at=ends_at,
        caps=[cap(session, row, team, challenge, found.now) for challenge in challenges],
        disqualified=team.disqualified,
    )


def window(row: CompetitionRow, team: TeamRow) -> tuple[datetime, datetime | None]:
    """A team's submissions count from the first moment until before the second; None in practice, which has no end."""
    if team.mode is Mode.OFFICIAL:
        return row.starts_at, row.ends_at
    return team.starts_at or row.ends_at, team.ends_at


def day_of(now: datetime) -> datetime:
    """The beginning of the day in UTC."""
    return now.replace(hour=0, minute=0, second=0, microsecond=0)


def cap(session: Session, row: CompetitionRow, team: TeamRow, challenge: str, now: datetime) -> Cap:
    """A team's use of its limit for one challenge at ``now``. Practice has no limit."""
    free = team.mode is Mode.PRACTICE
    return Cap(
        challenge=challenge,
        day_used=record.used(session, team.id, challenge, day_of(now)),
        day_most=None if free else row.cap_day,
        total_used=record.used(session, team.id, challenge, None),
        total_most=None if free else row.cap_total,
    )
