"""Decides who sees which challenge. New folders are drafts until staff publish them; assignments and competitions
show theirs once they begin. For others an unpublished challenge, or another course's, does not exist. Only
``visible_to`` decides; ``tests/service/challenges/test_who_sees_what.py`` has the table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from grader.challenge.catalogue import near
from grader.challenge.loader import Challenge
from grader.errors import BadRequest, ChallengeInvalid, Conflict, NotAllowed, UnknownChallenge
from grader.records import competitions, owners, publications, taught
from grader.records.engine import clock, writing
from grader.records.models import (
    AssignmentPartRow,
    AssignmentRow,
    ChallengeStateRow,
    CompetitionChallengeRow,
    CompetitionRow,
    CourseRow,
    MemberRow,
    RegistrationRow,
    SubmissionRow,
    UserRow,
    utcnow,
)
from grader.schemas.account import STAFF_ROLES
from grader.schemas.affected import Affected
from grader.schemas.course import STAFF_OF_COURSE
from grader.schemas.publication import (
    BoardAudience,
    PublicationBody,
    PublicationList,
    PublicationState,
    PublicationView,
)
from grader.schemas.token import Scope
from grader.service import audit
from grader.service.accounts.accounts import User
from grader.service.challenges import affected, ownership
from grader.service.courses import admission, permissions
from grader.service.courses.permissions import Action
from grader.service.platform import Platform

_STAFF_WORDS = [role.value for role in STAFF_OF_COURSE]


@dataclass(frozen=True)
class Visible:
    """``everything``: all but ``kept_back``."""

    everything: bool
    slugs: frozenset[str]
    kept_back: frozenset[str] = frozenset()

    def __contains__(self, slug: object) -> bool:
        return slug in self.slugs or (self.everything and slug not in self.kept_back)


def visible_to(session: Session, user: User | None, now: datetime | None = None) -> Visible:
    """``user`` None: not signed in."""
    reads_drafts = user is not None and permissions.may(
        permissions.standings_anywhere(session, user), Action.CHALLENGE_READ_DRAFT
    )
    if user is not None and user.staff:
        return Visible(True, frozenset())
    moment = now or clock(session)
    found = publications.published(session, moment)
    if user is not None:
        found |= _of_assignments(session, user, moment) | _of_competitions(session, user, moment)
    owned = owners.everything(session)
    mine = owners.courses_of(session, user.id) if user is not None and owned else frozenset()
    found -= {slug for slug, course in owned.items() if course not in mine}
    if user is None or not reads_drafts:
        return Visible(False, found)
    # Teachers may take part elsewhere.
    kept = competitions.to_be_asked(session, moment)
    teaches = permissions.courses_where(session, user, Action.CHALLENGE_READ_DRAFT) if owned else []
    kept |= {slug for slug, course in owned.items() if course not in teaches}
    return Visible(True, found, kept)


def _of_assignments(session: Session, user: User, now: datetime) -> frozenset[str]:
    """For students once open, for staff always."""
    part, member = AssignmentPartRow, MemberRow
    seen = AssignmentRow.published_at.is_not(None) & (AssignmentRow.open_at <= now)
    if Scope.STAFF in user.scopes:
        seen |= member.role.in_(_STAFF_WORDS)
    found = session.scalars(
        select(part.challenge)
        .join(AssignmentRow, AssignmentRow.id == part.assignment_id)
        .join(member, member.course_id == AssignmentRow.course_id)
        .where(member.user_id == user.id, member.left_at.is_(None), seen)
        .distinct()
    )
    return frozenset(found)


def _of_competitions(session: Session, user: User, now: datetime) -> frozenset[str]:
    """Participants see these from the beginning on."""
    chosen, mine = CompetitionChallengeRow, RegistrationRow
    found = session.scalars(
        select(chosen.challenge)
        .join(CompetitionRow, CompetitionRow.id == chosen.competition_id)
        .join(mine, mine.competition_id == CompetitionRow.id)
        .where(mine.user_id == user.id, mine.left_at.is_(None))
        .where(CompetitionRow.published_at.is_not(None), CompetitionRow.starts_at <= now)
        .distinct()
    )
    return frozenset(found)


def visible(platform: Platform, user: User | None) -> Visible:
    """As ``visible_to``, in its own transaction."""
    with platform.sessions() as session:
        return visible_to(session, user)


def check_visible(platform: Platform, user: User | None, slug: str) -> None:
    """Raises UnknownChallenge, as for one that does not exist."""
    seen = visible(platform, user)
    if slug not in seen:
        raise _unknown(platform, seen, slug)


def load(platform: Platform, user: User | None, slug: str) -> Challenge:
    """Raises UnknownChallenge, ChallengeInvalid."""
    seen = visible(platform, user)
    if slug in seen:
        try:
            return platform.catalogue.load(slug)
        except UnknownChallenge:
            pass  # its hint would name every folder
    raise _unknown(platform, seen, slug)


def _unknown(platform: Platform, seen: Visible, slug: str) -> UnknownChallenge:
    known = [slug for slug in platform.catalogue.slugs() if slug in seen]
    return UnknownChallenge(f"There is no challenge '{slug}'.", near(slug, known))


def check_takes(session: Session, user: User, slug: str, at: datetime, within: bool) -> None:
    """``within``: a competition, which checks its window. Raises NotAllowed."""
    standing = permissions.standings_anywhere(session, user)
    if within or permissions.may(standing, Action.CHALLENGE_READ_DRAFT):
        return
    if slug in publications.published(session, at) or admission.running(session, user.id, slug, at):
        return
    if _teaches_with(session, user, slug):
        return
    if (course := _waits_for(session, user, slug)) is not None:
        raise NotAllowed(
            f"{slug} is an assignment of course {course}, which you have not joined yet.",
            f"Join it first: open the course's page, or run `grader course show {course}`.",
        )
    raise NotAllowed(
        f"{slug} takes no submissions now.",
        "It is open only during its assignment or competition. Your submissions stay.",
    )


def _waits_for(session: Session, user: User, slug: str) -> str | None:
    """A course with the challenge that ``user``, on its roster, has not joined."""
    part, member = AssignmentPartRow, MemberRow
    return session.scalar(
        select(CourseRow.slug)
        .join(AssignmentRow, AssignmentRow.course_id == CourseRow.id)
        .join(part, part.assignment_id == AssignmentRow.id)
        .join(member, member.course_id == CourseRow.id)
        .where(part.challenge == slug, AssignmentRow.published_at.is_not(None))
        .where(member.user_id == user.id, member.left_at.is_(None), ~taught.accepted())
        .limit(1)
    )


def _teaches_with(session: Session, user: User, slug: str) -> bool:
    if Scope.STAFF not in user.scopes:
        return False
    part, member = AssignmentPartRow, MemberRow
    found = session.scalar(
        select(part.challenge)
        .join(AssignmentRow, AssignmentRow.id == part.assignment_id)
        .join(member, member.course_id == AssignmentRow.course_id)
        .where(member.user_id == user.id, member.left_at.is_(None), member.role.in_(_STAFF_WORDS))
        .where(part.challenge == slug)
        .limit(1)
    )
    return found is not None


# ---- for staff


def publish(platform: Platform, user: User, slug: str) -> PublicationView:
    """Idempotent. Raises NotAllowed, UnknownChallenge, ChallengeInvalid."""
    return change(platform, user, slug, PublicationBody(state="published"))


def schedule(platform: Platform, user: User, slug: str, publish_at: datetime) -> PublicationView:
    """Raises as ``change`` does."""
    return change(platform, user, slug, PublicationBody(state="scheduled", publish_at=publish_at))


def hide(platform: Platform, user: User, slug: str) -> PublicationView:
    """Raises NotAllowed, UnknownChallenge."""
    return change(platform, user, slug, PublicationBody(state="hidden"))


def change(platform: Platform, user: User, slug: str, body: PublicationBody) -> PublicationView:
    """Raises NotAllowed, UnknownChallenge, BadRequest (the time), ChallengeInvalid (broken), Conflict (a draft with
    students' submissions)."""
    state = PublicationState(body.state)
    with writing(platform.sessions) as session:
        ownership.check(session, user, slug, Action.CHALLENGE_PUBLISH)
        now = clock(session)
        _check_time(body, now)
        row = session.get(ChallengeStateRow, slug, with_for_update=True)
        check_exists(platform, session, slug)
        if state in (PublicationState.PUBLISHED, PublicationState.SCHEDULED):
            platform.catalogue.load(slug)
        before = publications.state_at(row, now)
        if state in (PublicationState.DRAFT, PublicationState.SCHEDULED):
            _check_unused(session, slug)
        known = _facts(row, before)
        if row is None:
            row = ChallengeStateRow(challenge=slug)
            session.add(row)
        row.state, row.publish_at = state, body.publish_at
        row.changed_at, row.changed_by = now, user.id
        try:
            session.flush()
        except IntegrityError as error:
            raise Conflict(
                f"Somebody else has just changed {slug}.", "Reload it and repeat your change."
            ) from error
        path = f"/challenges/{slug}/state"
        audit.note(
            session,
            user,
            Action.CHALLENGE_PUBLISH,
            path,
            course=owners.of(session, slug),
            before=known,
            after=_facts(row, state),
        )
        return _views(platform, session, user, [slug], now)[0]


def foresee(platform: Platform, user: User, slug: str, state: PublicationState) -> Affected:
    """Raises NotAllowed, UnknownChallenge."""
    with platform.sessions() as session:
        ownership.check(session, user, slug, Action.CHALLENGE_PUBLISH)
        check_exists(platform, session, slug)
        return affected.by_publication(session, slug, state)


def check_exists(platform: Platform, session: Session, slug: str) -> None:
    """Raises UnknownChallenge if there never was such a folder."""
    if slug not in platform.catalogue.folders() and session.get(ChallengeStateRow, slug) is None:
        raise _unknown(platform, Visible(True, frozenset()), slug)


def _check_time(body: PublicationBody, now: datetime) -> None:
    if (body.state == "scheduled") != (body.publish_at is not None):
        raise BadRequest("Give `publish_at` with the state scheduled, and only with that.")
    if body.publish_at is not None and body.publish_at <= now:
        raise BadRequest("The publication time is in the past.", "Publish it now, or give a later time.")


def _check_unused(session: Session, slug: str) -> None:
    done = SubmissionRow
    used = session.scalar(
        select(done.id)
        .join(UserRow, UserRow.id == done.user_id)
        .where(done.challenge == slug, UserRow.role.not_in([role.value for role in STAFF_ROLES]))
        .limit(1)
    )
    if used is not None:
        raise Conflict(f"Students have already submitted for {slug}.", "Hide it instead.")


def _facts(row: ChallengeStateRow | None, state: PublicationState) -> dict[str, str | None]:
    at = row.publish_at if row is not None else None
    return {"state": state.value, "publish_at": at.isoformat() if at is not None else None}


def get_state(platform: Platform, user: User, slug: str) -> PublicationView:
    """Raises NotAllowed, UnknownChallenge."""
    found = {challenge.challenge: challenge for challenge in list_states(platform, user).challenges}
    if slug not in found:
        raise UnknownChallenge(f"There is no challenge '{slug}'.", near(slug, list(found)))
    return found[slug]


def list_states(platform: Platform, user: User) -> PublicationList:
    """In the curriculum's order, broken ones last; teachers do not see later competitions' challenges. Raises
    NotAllowed."""
    with platform.sessions() as session:
        permissions.check(user, permissions.standings_anywhere(session, user), Action.CHALLENGE_READ_DRAFT)
        now = clock(session)
        seen = visible_to(session, user, now)
        found = _views(platform, session, user, None, now)
        return PublicationList(challenges=[planned for planned in found if planned.challenge in seen])


def mark_of(platform: Platform, user: User | None, slug: str) -> PublicationState | None:
    """The state if students do not see it and the viewer teaches; else None."""
    return unpublished(platform, user).get(slug) if user is not None else None


def unpublished(platform: Platform, user: User) -> dict[str, PublicationState]:
    """Hidden from students; empty for viewers who may not know."""
    with platform.sessions() as session:
        standing = permissions.standings_anywhere(session, user)
        if not permissions.may(standing, Action.CHALLENGE_READ_DRAFT):
            return {}
        known, now = publications.states(session), utcnow()
        seen = visible_to(session, user, now)
    folders = [slug for slug in platform.catalogue.folders() if slug in seen]
    found = {slug: publications.state_at(known.get(slug), now) for slug in folders}
    return {slug: state for slug, state in found.items() if state is not PublicationState.PUBLISHED}


def _views(
    platform: Platform, session: Session, user: User, wanted: list[str] | None, now: datetime
) -> list[PublicationView]:
    known = publications.states(session)
    titles: dict[str, tuple[str, bool]] = {}
    if wanted is None:
        loaded, broken = platform.catalogue.valid()
        titles = {challenge.slug: (challenge.manifest.title, False) for challenge in loaded}
        titles |= {
            folder.slug: (folder.title, True)
            for folder in broken
            if folder.slug in platform.catalogue.folders()
        }
    else:
        titles = {slug: _title(platform, slug) for slug in wanted}
    people = {row.changed_by for row in known.values()} - {None}
    named = session.execute(select(UserRow.id, UserRow.name).where(UserRow.id.in_(people)))
    names = {person.id: person.name for person in named}
    owned = owners.everything(session)
    courses = owners.course_names(session, set(owned.values()))
    teaches = permissions.courses_where(session, user, Action.CATALOGUE_EDIT) if owned else []
    return [
        _view(slug, title, broken, known.get(slug), now, names.get).model_copy(
            update={
                "course": courses.get(owned.get(slug, 0)),
                "may_change": user.admin or (owned[slug] in teaches if slug in owned else user.staff),
            }
        )
        for slug, (title, broken) in titles.items()
    ]


def _title(platform: Platform, slug: str) -> tuple[str, bool]:
    try:
        return platform.catalogue.load(slug).manifest.title, False
    except (ChallengeInvalid, UnknownChallenge):
        return slug, True


def _view(
    slug: str,
    title: str,
    broken: bool,
    row: ChallengeStateRow | None,
    now: datetime,
    name_of: Callable[[int], str | None],
) -> PublicationView:
    return PublicationView(
        challenge=slug,
        title=title,
        state=publications.state_at(row, now),
        publish_at=row.publish_at if row is not None else None,
        board=row.board if row is not None else BoardAudience.PUBLIC,
        frozen_at=row.frozen_at if row is not None else None,
        broken=broken,
        changed_at=row.changed_at if row is not None else None,
        changed_by=name_of(row.changed_by) if row is not None and row.changed_by is not None else None,
    )
