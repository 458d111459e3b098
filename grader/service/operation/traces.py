"""Erases a name from rows that do not refer to the account: staff log, others' notices, teams, similar pairs,
invitations, launches. ``grader.records.personal`` covers the rest."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from sqlalchemy import Select, String, cast, delete, func, or_, select, update
from sqlalchemy.orm import Session

from grader.records.models import (
    AuditRow,
    CommentEditRow,
    CommentRow,
    CompetitionRow,
    CourseInvitationRow,
    IdentityRow,
    LinkRow,
    LtiLaunchRow,
    MemberRow,
    NoticeRow,
    PauseRow,
    RegistrationRow,
    RegradeRequestRow,
    RegradeRow,
    ReviewRow,
    SimilarPairRow,
    SubmissionRow,
    TeamRow,
    UserRow,
    VoidRow,
)
from grader.records.models.base import PUBLIC_ID_CHARS
from grader.service.courses.permissions import Action

# For the disqualification of a deleted account's team.
NO_REASON = "The reason was removed with an account."

# Subjects that name a person; None: any action.
_SUBJECTS: tuple[tuple[Action | None, str], ...] = (
    (None, r"/people/(?P<name>[^/]+)(?:/.*)?"),
    (None, r"/courses/[^/]+/(?:roster|staff)/(?P<name>.+)"),
    (None, r"/courses/[^/]+/assignments/[^/]+/extensions/(?P<name>[^/]+)"),
    (None, r"/courses/[^/]+/assignments/[^/]+/scores/\d+/(?P<name>[^/]+)"),
    (Action.GRADES_OVERRIDE, r"/courses/[^/]+/assignments/[^/]+/[^/]+/(?P<name>[^/]+)"),
)
# Kept in entries about a person: numbers, times and fixed words. Others may be names or somebody's text.
_KEPT_FACTS = frozenset(
    {
        "role",
        "section",
        "on_roster",
        "invited",
        "points",
        "due_at",
        "late_until",
        "state",
        "outcome",
        "decision",
    }
    | {"withdrawn_at", "deleted", "edited", "submissions", "ordered", "left_out"}
)
# The inbox's log names somebody under this key.
_REVIEWER = "reviewer"
# Notices may contain only a reason's beginning.
_REASON_CHARS = 100


def erase(session: Session, user: UserRow, made_up: str) -> None:
    """Call it while name, address and rows are still stored."""
    own = select(SubmissionRow.id).where(SubmissionRow.user_id == user.id)
    _erase_subjects(session, user, made_up)
    _erase_what_is_about(session, user.id, own)
    _erase_teams(session, user, made_up)
    _erase_notices(session, user, own, made_up)
    _erase_reviewer(session, user.name, made_up)
    session.execute(update(AuditRow).where(AuditRow.actor_id == user.id).values(actor=made_up))
    session.execute(update(PauseRow).where(PauseRow.by == user.name).values(by=""))
    for by in ("by", "roster, by"):
        came = MemberRow.came_by == f"{by} {user.name}"
        session.execute(update(MemberRow).where(came).values(came_by=f"{by} {made_up}"))
    if user.email_key is not None:
        session.execute(delete(CourseInvitationRow).where(CourseInvitationRow.person == user.email_key))
        session.execute(delete(LinkRow).where(LinkRow.email.in_({user.email, user.email_key})))
    said = select(CommentRow.id).where(CommentRow.author_id == user.id)
    session.execute(delete(CommentEditRow).where(CommentEditRow.comment_id.in_(said)))
    subjects = set(session.scalars(select(IdentityRow.subject).where(IdentityRow.user_id == user.id)))
    for launch in session.scalars(select(LtiLaunchRow).where(LtiLaunchRow.said.is_not(None))):
        if (launch.said or {}).get("subject") in subjects:
            session.delete(launch)


def _erase_subjects(session: Session, user: UserRow, made_up: str) -> None:
    """Entries that name the person, an address, or roster data."""
    called: set[tuple[int | None, str]] = {(None, user.name.lower())}
    if user.email_key is not None:
        called.add((None, user.email_key))
    members = select(MemberRow.course_id, MemberRow.student_number).where(MemberRow.user_id == user.id)
    called |= {(course, f"#{number}".lower()) for course, number in session.execute(members) if number}
    invited = select(CourseInvitationRow.course_id, CourseInvitationRow.person).where(
        CourseInvitationRow.user_id == user.id
    )
    called |= {(course, person.lower()) for course, person in session.execute(invited)}
    for course, name in called:
        named = func.lower(AuditRow.subject).contains(f"/{name}", autoescape=True)
        query = select(AuditRow).where(named)
        if course is not None:
            query = query.where(AuditRow.course_id == course)
        for entry in session.scalars(query).all():
            if (span := _name_in(entry, name)) is not None:
                entry.subject = f"{entry.subject[: span[0]]}{made_up}{entry.subject[span[1] :]}"
                _blank(entry)


def _name_in(entry: AuditRow, name: str) -> tuple[int, int] | None:
    for action, pattern in _SUBJECTS:
        found = re.fullmatch(pattern, entry.subject) if action in (None, entry.action) else None
        if found is not None and found["name"].lower() == name:
            return found.span("name")
    return None


def _blank(entry: AuditRow) -> None:
    entry.reason = ""
    entry.before, entry.after = _plain(entry.before), _plain(entry.after)


def _plain(facts: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if facts is None else {name: value for name, value in facts.items() if name in _KEPT_FACTS}


def _erase_what_is_about(session: Session, user: int, own: Select[int]) -> None:
    """Reasons of decisions about submissions, pairs, requests and regrades."""
    public = list(session.scalars(select(SubmissionRow.public_id).where(SubmissionRow.id.in_(own))))
    of_submissions = AuditRow.subject.startswith("/submissions/")
    start = len("/submissions/") + 1
    ids = func.substr(AuditRow.subject, start, PUBLIC_ID_CHARS)
    for part in _parts(public):
        _blank_all(session, select(AuditRow).where(of_submissions, ids.in_(part)))
        pair = SimilarPairRow
        pairs = session.scalars(
            select(pair).where(or_(pair.submission.in_(part), pair.other.in_(part)))
        ).all()
        numbers = [similar.id for similar in pairs]
        for similar_pair in pairs:
            similar_pair.reason = ""
        session.execute(update(ReviewRow).where(ReviewRow.pair_id.in_(numbers)).values(reason=""))
        for number in numbers:
            _blank_all(session, _ending(f"/similarity/{number}"))
    regrade = RegradeRow
    ordered = select(regrade.id).where(or_(regrade.user_id == user, regrade.submission_id.in_(own)))
    for number in session.scalars(ordered):
        _blank_all(session, select(AuditRow).where(AuditRow.subject == f"/regrades/{number}"))
    asked = select(RegradeRequestRow.id).where(RegradeRequestRow.user_id == user)
    for number in session.scalars(asked):
        _blank_all(session, _ending(f"/regrade-requests/{number}"))
    # Entries about changed ranks name teams, but their reason is about the person.
    voided = select(SubmissionRow.public_id).where(
        SubmissionRow.id.in_(select(VoidRow.submission_id).where(VoidRow.submission_id.in_(own)))
    )
    for public_id in session.scalars(voided).all():
        told = cast(AuditRow.after, String).contains(f'"{public_id}"', autoescape=True)
        for entry in session.scalars(select(AuditRow).where(AuditRow.subject.endswith("/results"), told)):
            entry.reason = ""


def _ending(subject: str) -> Select[AuditRow]:
    return select(AuditRow).where(
        AuditRow.subject.startswith("/courses/"), AuditRow.subject.endswith(subject)
    )


def _blank_all(session: Session, query: Select[AuditRow]) -> None:
    for entry in session.scalars(query).all():
        _blank(entry)


def _parts(ids: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(ids), 500):
        yield ids[start : start + 500]


def _erase_teams(session: Session, user: UserRow, made_up: str) -> None:
    """Renames teams of that name. A disqualification's reason goes if nobody else is in the team, else only names in
    it."""
    teams = session.execute(
        select(TeamRow, CompetitionRow.slug)
        .join(CompetitionRow, CompetitionRow.id == TeamRow.competition_id)
        .where(TeamRow.id.in_(select(RegistrationRow.team_id).where(RegistrationRow.user_id == user.id)))
    ).all()
    names = _names(session, user)
    for team, slug in teams:
        others = session.scalar(
            select(func.count())
            .select_from(RegistrationRow)
            .join(UserRow, UserRow.id == RegistrationRow.user_id)
            .where(RegistrationRow.team_id == team.id, UserRow.id != user.id, UserRow.deleted_at.is_(None))
        )
        old, subject = team.name, f"/competitions/{slug}/teams/{team.name}"
        entries = session.scalars(select(AuditRow).where(AuditRow.subject == subject)).all()
        for entry in entries:
            if others:
                entry.reason = _without(names, entry.reason, made_up)
                entry.before = _without_all(names, entry.before, made_up)
                entry.after = _without_all(names, entry.after, made_up)
            else:
                _blank(entry)
        if team.disqualified:
            team.disqualified = _without(names, team.disqualified, made_up) if others else NO_REASON
        if team.name_key == user.name.casefold():
            team.name = team.name_key = made_up
            for entry in entries:
                entry.subject = f"/competitions/{slug}/teams/{made_up}"
            for entry in session.scalars(
                select(AuditRow).where(AuditRow.subject.in_(_naming_teams(slug)))
            ).all():
                entry.before = _renamed(entry.before, old, made_up)
                entry.after = _renamed(entry.after, old, made_up)


def _naming_teams(slug: str) -> Collection[str]:
    return (f"/competitions/{slug}/finalists", f"/competitions/{slug}/results")


def _renamed(facts: dict[str, Any] | None, old: str, new: str) -> dict[str, Any] | None:
    """Teams are keys, perhaps with a device, or in a list."""
    if facts is None:
        return None
    found: dict[str, Any] = {}
    for name, value in facts.items():
        key = new + name[len(old) :] if name == old or name.startswith(f"{old} on ") else name
        found[key] = [new if item == old else item for item in value] if isinstance(value, list) else value
    return found


def _names(session: Session, user: UserRow) -> list[str]:
    """Longest first."""
    full = session.scalars(select(MemberRow.full_name).where(MemberRow.user_id == user.id)).all()
    found = {user.name, user.email or "", *full, *(part for name in full for part in name.split())} - {""}
    return sorted(found, key=len, reverse=True)


def _without(names: list[str], text: str, made_up: str) -> str:
    pattern = "|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in names)
    return re.sub(pattern, made_up, text, flags=re.IGNORECASE)


def _without_all(names: list[str], facts: dict[str, Any] | None, made_up: str) -> dict[str, Any] | None:
    if facts is None:
        return None
    return {
        name: _without(names, value, made_up) if isinstance(value, str) else value
        for name, value in facts.items()
    }


def _erase_notices(session: Session, user: UserRow, own: Select[int], made_up: str) -> None:
    """Notices that begin with the name, and team mates' about a void."""
    began = NoticeRow.text.startswith(f"{user.name} ", autoescape=True)
    for notice in session.scalars(select(NoticeRow).where(began)).all():
        notice.text = made_up + notice.text[len(user.name) :]
    voided = select(VoidRow.reason, SubmissionRow.team_id).join(
        SubmissionRow, SubmissionRow.id == VoidRow.submission_id
    )
    for reason, team in session.execute(voided.where(SubmissionRow.id.in_(own))).all():
        mates = select(RegistrationRow.user_id).where(RegistrationRow.team_id == team)
        told = NoticeRow.text.contains(f" is void: {reason[:_REASON_CHARS]}", autoescape=True)
        # Notices about their own results may have the same text.
        told &= NoticeRow.text.startswith("Your team's ")
        for notice in session.scalars(select(NoticeRow).where(NoticeRow.user_id.in_(mates), told)).all():
            notice.text = notice.text.partition(": ")[0]


def _erase_reviewer(session: Session, name: str, made_up: str) -> None:
    named = cast(AuditRow.after, String).contains(f'"{name}"', autoescape=True)
    actions = (Action.REVIEW.value, Action.REVIEW_ANY.value)
    for entry in session.scalars(select(AuditRow).where(AuditRow.action.in_(actions), named)).all():
        if entry.after is not None and entry.after.get(_REVIEWER) == name:
            entry.after = {**entry.after, _REVIEWER: made_up}
