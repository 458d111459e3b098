from __future__ import annotations

import unicodedata
from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from grader import limits
from grader.deadlines import zoned
from grader.errors import BadRequest, Conflict, NotAllowed, NotFound, TooMany
from grader.languages import Language
from grader.records import competitions as record
from grader.records.engine import clock
from grader.records.models import (
    CompetitionChallengeRow,
    CompetitionRow,
    RegistrationRow,
    SubmissionRow,
    TeamRow,
)
from grader.schemas.account import STAFF_ROLES
from grader.schemas.competition import (
    CompetitionView,
    DisqualifyBody,
    Mode,
    RegisterBody,
    Registration,
    TeamList,
)
from grader.service.accounts.accounts import User, check_not_of_deleted
from grader.service.audit import tidy_reason
from grader.service.boards.pseudonyms import names_for
from grader.service.competitions.competition_views import day_of, team_view, view, window
from grader.service.competitions.competitions import new_code
from grader.service.competitions.open_competition import OpenCompetition, changing, check, reading
from grader.service.courses.permissions import Action
from grader.service.platform import Platform


def register(platform: Platform, user: User, slug: str, body: RegisterBody) -> CompetitionView:
    """Makes a team, or joins one by its code. Raises NotFound, NotAllowed (no invitation), BadRequest (the name),
    Conflict (too late or early, full, name taken, or left a team after the start)."""
    with changing(platform, user, slug, Action.COMPETITION_ENTER) as found:
        _check_may_enter(found, user, body.mode)
        known = found.session.scalar(
            select(RegistrationRow).where(
                RegistrationRow.competition_id == found.row.id,
                RegistrationRow.user_id == user.id,
                RegistrationRow.mode == body.mode,
            )
        )
        if known is not None and known.left_at is None:
            return _stays(platform, found, known, body)
        if known is not None:
            raise Conflict(
                "You left your team after the start, so you cannot join another team in this competition.",
                "Your submissions stay with that team.",
            )
        if body.join_code is not None:
            team = _join(found, body.join_code, body.mode)
        else:
            _check_invited(found, body)
            team = _make(platform, found, user, body)
        found.session.add(
            RegistrationRow(
                competition_id=found.row.id,
                user_id=user.id,
                mode=body.mode,
                team_id=team.id,
                joined_at=found.now,
            )
        )
        found.session.flush()
        return view(platform, found)


def leave(platform: Platform, user: User, slug: str, mode: Mode = Mode.OFFICIAL) -> CompetitionView:
    """Submissions stay with the team; after the start one cannot join another. Raises NotFound, Conflict (in no
    team)."""
    with changing(platform, user, slug, Action.COMPETITION_ENTER) as found:
        known = found.session.scalar(
            select(RegistrationRow).where(
                RegistrationRow.competition_id == found.row.id,
                RegistrationRow.user_id == user.id,
                RegistrationRow.mode == mode,
                RegistrationRow.left_at.is_(None),
            )
        )
        if known is None:
            raise Conflict(
                "You do not take part in this competition.", "To enter: `grader competition register`."
            )
        if mode is Mode.OFFICIAL and found.now < found.row.starts_at:
            team = found.session.get_one(TeamRow, known.team_id)
            found.session.delete(known)
            found.session.flush()
            if not record.members(found.session, [team.id])[team.id]:
                found.session.delete(team)
        else:
            known.left_at = found.now
        found.session.flush()
        return view(platform, found)


def disqualify(platform: Platform, user: User, slug: str, body: DisqualifyBody) -> CompetitionView:
    """An empty reason puts the team back. Raises NotAllowed, NotFound, Conflict (after the results)."""
    reason = tidy_reason(body.reason)
    with changing(platform, user, slug, Action.COMPETITION_DISQUALIFY) as found:
        if found.row.results_at is not None:
            raise Conflict("The results are published, and certificates may name them.")
        team = team_named(found.session, found.row, body.team)
        before, team.disqualified = team.disqualified, reason
        found.note(
            Action.COMPETITION_DISQUALIFY,
            f"/teams/{team.name}",
            before={"disqualified": before},
            after={"disqualified": reason},
            reason=reason,
        )
        found.session.flush()
        return view(platform, found)


def list_teams(platform: Platform, user: User, slug: str) -> TeamList:
    """Official ones, also disqualified. Raises NotAllowed, NotFound."""
    check(platform, user, slug, Action.COMPETITION_DISQUALIFY)
    with reading(platform, user, slug) as found:
        of_it = (TeamRow.competition_id == found.row.id, TeamRow.mode == Mode.OFFICIAL)
        rows = found.session.scalars(select(TeamRow).where(*of_it).order_by(TeamRow.id)).all()
        members = record.members(found.session, [row.id for row in rows])
        return TeamList(teams=[team_view(found, row, (), members[row.id]) for row in rows])


def team_named(session: Session, row: CompetitionRow, name: str, mode: Mode = Mode.OFFICIAL) -> TeamRow:
    """Raises NotFound."""
    team = session.scalar(
        select(TeamRow).where(
            TeamRow.competition_id == row.id, TeamRow.mode == mode, TeamRow.name_key == _key(name)
        )
    )
    if team is None:
        raise NotFound(f"{row.slug} has no team '{name[: limits.NAME_CHARS]}'.")
    return team


def _check_may_enter(found: OpenCompetition, user: User, mode: Mode) -> None:
    row, over = found.row, found.now >= found.row.ends_at
    if mode is Mode.OFFICIAL:
        if user.role in STAFF_ROLES:
            raise Conflict(
                "Staff know the hidden workloads, so they cannot take part.",
                "You can practise after the end, like everyone.",
            )
        if over:
            raise Conflict(
                f"{row.title} has ended.",
                "You can take part virtually (--mode virtual) or practise (--mode practice)."
                if row.open_afterwards
                else "",
            )
        return
    if not row.open_afterwards:
        raise Conflict(f"{row.title} does not allow participation after its end.")
    if not over:
        raise Conflict(f"{row.title} has not ended yet.", "Take part in it until then.")
    if mode is Mode.VIRTUAL and _submitted(found, user):
        raise Conflict(
            "You took part in this competition, so you cannot take part virtually.",
            "You can practise: --mode practice.",
        )


def _submitted(found: OpenCompetition, user: User) -> bool:
    first = (
        select(SubmissionRow.id)
        .where(SubmissionRow.competition_id == found.row.id, SubmissionRow.user_id == user.id)
        .limit(1)
    )
    return found.session.scalar(first) is not None


def _stays(
    platform: Platform, found: OpenCompetition, known: RegistrationRow, body: RegisterBody
) -> CompetitionView:
    team = found.session.get_one(TeamRow, known.team_id)
    if body.join_code is not None and _code(body.join_code) != team.join_code:
        raise Conflict(
            f"You are already in the team {team.name}.",
            "Leave it first. After the start you cannot come back.",
        )
    if body.team is not None and _key(body.team) != team.name_key:
        raise Conflict(
            f"You are already in the team {team.name}.",
            "Leave it first. After the start you cannot come back.",
        )
    return view(platform, found)


def _join(found: OpenCompetition, code: str, mode: Mode) -> TeamRow:
    team = found.session.scalar(
        select(TeamRow).where(
            TeamRow.competition_id == found.row.id, TeamRow.mode == mode, TeamRow.join_code == _code(code)
        )
    )
    if team is None:
        raise NotFound("No team in this competition has this code.", "Ask the team for its code again.")
    end = window(found.row, team)[1]
    if end is not None and found.now >= end:
        raise Conflict(f"The time of {team.name} is over.")
    count = found.session.scalar(
        select(func.count()).where(RegistrationRow.team_id == team.id, RegistrationRow.left_at.is_(None))
    )
    if (count or 0) >= found.row.team_size:
        raise Conflict(f"{team.name} is full: it has {count} of {found.row.team_size} members.")
    return team


def _check_invited(found: OpenCompetition, body: RegisterBody) -> None:
    if found.row.registration is Registration.OPEN or body.mode is not Mode.OFFICIAL:
        return
    if _code(body.invite_code or "") != found.row.invite_code:
        raise NotAllowed(
            f"You need an invitation for {found.row.title}.",
            "Register with the link or the code that you got: --invite CODE.",
        )


def _make(platform: Platform, found: OpenCompetition, user: User, body: RegisterBody) -> TeamRow:
    row, mode = found.row, body.mode
    name = (
        _tidy(body.team)
        if body.team is not None
        else names_for(platform, found.session, None, f"competition:{row.slug}", [user.id]).of(user.id)[0]
    )
    if body.team:
        check_not_of_deleted(name)
    taken = found.session.scalar(
        select(TeamRow.id).where(
            TeamRow.competition_id == row.id, TeamRow.mode == mode, TeamRow.name_key == _key(name)
        )
    )
    if taken is not None:
        raise Conflict(f"The team name '{name}' is taken.", "Choose another one: --team NAME.")
    long = row.ends_at - row.starts_at
    team = TeamRow(
        competition_id=row.id,
        mode=mode,
        name=name,
        name_key=_key(name),
        join_code=new_code(),
        starts_at=None if mode is Mode.OFFICIAL else found.now,
        ends_at=found.now + long if mode is Mode.VIRTUAL else None,
    )
    found.session.add(team)
    found.session.flush()
    return team


def _tidy(name: str) -> str:
    """Raises BadRequest."""
    clean = " ".join(unicodedata.normalize("NFC", name).split())
    if not clean or any(unicodedata.category(char)[0] == "C" for char in clean):
        raise BadRequest("This team name is not allowed.", "Use letters, digits and spaces.")
    if len(clean) > limits.NAME_CHARS:
        raise BadRequest(f"The team's name is longer than {limits.NAME_CHARS} characters.", "Shorten it.")
    return clean


def _key(name: str) -> str:
    return " ".join(name.split()).casefold()[: limits.NAME_CHARS]


def _code(code: str) -> str:
    return code.strip().lower()


def competition_for(
    session: Session, user: User, named: str | None, challenge: str, language: Language, device: str | None
) -> CompetitionRow | None:
    """``named`` ('' is none), else the running one in which ``user`` takes part. Raises NotFound, BadRequest
    (challenge, language or device), Conflict (several)."""
    if named == "":
        return None
    if named is None:
        running = record.open_windows(session, user.id, challenge, clock(session))
        if len(running) > 1:
            slugs = ", ".join(competition.slug for competition in running)
            raise Conflict(
                f"Several of your competitions include {challenge}: {slugs}.",
                "Choose one: --competition SLUG.",
            )
        row = running[0] if running else None
    else:
        row = record.find(session, named)
        if row is None or row.published_at is None:
            raise NotFound(
                f"There is no competition '{named[:64]}'.",
                "`grader competition list` lists the competitions.",
            )
        _check_begun(session, row)
        if session.get(CompetitionChallengeRow, (row.id, challenge)) is None:
            raise BadRequest(f"{row.title} does not include the challenge {challenge}.")
    if row is not None:
        _check_taken(row, language, device)
    return row


def _check_begun(session: Session, row: CompetitionRow) -> None:
    """Challenges are secret until the start."""
    if clock(session) < row.starts_at:
        raise Conflict(f"{row.title} begins at {zoned(row.starts_at, row.time_zone)}.")


def _check_taken(row: CompetitionRow, language: Language, device: str | None) -> None:
    outside = "To submit it outside the competition: --competition none."
    if language.value not in row.languages:
        raise BadRequest(f"{row.title} takes {', '.join(row.languages)}, not {language}.", outside)
    if device is not None and device not in row.devices:
        raise BadRequest(f"{row.title} is judged on {', '.join(row.devices)}, not on {device}.", outside)


def assign_to_team(
    session: Session, competition: CompetitionRow, user: User, row: SubmissionRow
) -> int | None:
    """Returns how many more are possible today (None: no limit). Call it in the transaction that stores the
    submission, with its time of receipt. Raises Conflict (no team, or not their time), TooMany."""
    now = row.created_at
    team = _counting_team(session, competition, user, now)
    # From here one team's submissions take turns.
    session.execute(select(TeamRow.id).where(TeamRow.id == team.id).with_for_update())
    row.competition_id, row.team_id = competition.id, team.id
    if team.mode is Mode.PRACTICE:
        return None
    left = []
    day = day_of(now)
    for most, since, words in (
        (competition.cap_day, day, "today (UTC)"),
        (competition.cap_total, None, "in all"),
    ):
        if most is None:
            continue
        used = record.used(session, team.id, row.challenge, since)
        if used >= most:
            tomorrow = day + timedelta(days=1)
            raise TooMany(
                f"{team.name} has used {used} of {most} submissions for {row.challenge} {words}.",
                f"The next one is possible from {tomorrow:%Y-%m-%d %H:%M} UTC." if since is not None else "",
            )
        left.append(most - used - 1)
    return min(left, default=None)


def _counting_team(session: Session, competition: CompetitionRow, user: User, now: datetime) -> TeamRow:
    """Of several teams, the one that counts most."""
    teams = record.teams_of(session, competition.id, user.id)
    if not teams:
        raise Conflict(
            f"You do not take part in {competition.title}.",
            f"To enter: `grader competition register {competition.slug}`.",
        )
    for mode in (Mode.OFFICIAL, Mode.VIRTUAL, Mode.PRACTICE):
        for team in teams:
            starts_at, ends_at = window(competition, team)
            if team.mode is mode and starts_at <= now and (ends_at is None or now < ends_at):
                return team
    if now < competition.starts_at:
        raise Conflict(
            f"{competition.title} begins at {zoned(competition.starts_at, competition.time_zone)}."
        )
    raise Conflict(
        f"The time to submit to {competition.title} has ended.",
        "To practise: `grader competition register --mode practice`." if competition.open_afterwards else "",
    )
