"""Launches. The platform calls us (``begin``), we send the browser back with state and nonce, and it returns a signed
token (``receive``). If account or course are unknown, the launch waits until somebody names them (``connect``,
``link_course``)."""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, cast
from urllib.parse import urlencode, urlsplit

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from grader import limits
from grader.errors import BadRequest, Conflict, SignOnFailed
from grader.logs import get_logger
from grader.records import taught
from grader.records.engine import changed, writing
from grader.records.models import (
    AssignmentRow,
    CourseRow,
    LtiContextRow,
    LtiLaunchRow,
    LtiLinkRow,
    LtiPlatformRow,
    LtiScoreRow,
    MemberRow,
    UserRow,
    utcnow,
)
from grader.schemas.course import CourseRole
from grader.schemas.lti import LtiScoreState, Teachers
from grader.service.accounts import sign_on
from grader.service.accounts.accounts import User, of_row
from grader.service.accounts.keys import digest, new_key
from grader.service.accounts.oidc import Person
from grader.service.accounts.sign_on import Policy
from grader.service.courses import courses, permissions
from grader.service.courses.permissions import Action
from grader.service.lti import platforms as lti_platforms
from grader.service.lti.claims import AGAIN, Launch, read, verified
from grader.service.lti.platforms import SCORE_SCOPE
from grader.service.platform import Platform

log = get_logger(__name__)


@dataclass(frozen=True)
class Begun:
    """The browser must return with ``state``."""

    url: str
    state: str


@dataclass(frozen=True)
class Outcome:
    user: User | None  # signed in by the launch
    path: str = "/lti/continue"
    needs: Literal["", "account", "course", "nothing"] = ""  # what somebody must name first
    problem: str = ""  # shown with that request


def find_platform(platform: Platform, params: Mapping[str, str]) -> LtiPlatformRow:
    """Raises SignOnFailed."""
    query = select(LtiPlatformRow).where(LtiPlatformRow.issuer == params.get("iss", "")[: limits.URL_CHARS])
    if client := params.get("client_id"):
        query = query.where(LtiPlatformRow.client_id == client[: limits.SUBJECT_CHARS])
    with platform.sessions() as session:
        found = session.scalars(query.limit(2)).all()
    if len(found) != 1:
        raise SignOnFailed(
            "This learning platform is not registered here."
            if not found
            else "This learning platform has several registrations here and did not send its client_id.",
            "An admin of this site can register it: `grader lti add`.",
        )
    return found[0]


def begin(platform: Platform, params: Mapping[str, str]) -> Begun:
    """Raises SignOnFailed."""
    row = find_platform(platform, params)
    hint = params.get("login_hint", "")
    if not hint:
        raise SignOnFailed("The learning platform did not send a login_hint.", AGAIN)
    state, nonce = new_key(), secrets.token_urlsafe(24)
    now = utcnow()
    with writing(platform.sessions) as session:
        session.execute(delete(LtiLaunchRow).where(LtiLaunchRow.expires_at <= now))
        session.add(
            LtiLaunchRow(
                platform_id=row.id,
                state_sha256=digest(state),
                nonce=nonce,
                expires_at=now + timedelta(minutes=limits.LAUNCH_MINUTES),
            )
        )
    sent = {
        "scope": "openid",
        "response_type": "id_token",
        "response_mode": "form_post",
        "prompt": "none",
        "client_id": row.client_id,
        "redirect_uri": lti_platforms.tool(platform).launch_url,
        "login_hint": hint,
        "state": state,
        "nonce": nonce,
    }
    if message := params.get("lti_message_hint"):
        sent["lti_message_hint"] = message
    joint = "&" if urlsplit(row.auth_url).query else "?"
    return Begun(f"{row.auth_url}{joint}{urlencode(sent)}", state)


def receive(platform: Platform, token: str, state: str) -> Launch:
    """Verifies the token, which works once. Raises SignOnFailed, Unreachable."""
    now = utcnow()
    with writing(platform.sessions) as session:
        row = session.scalar(
            select(LtiLaunchRow).where(
                LtiLaunchRow.state_sha256 == digest(state), LtiLaunchRow.expires_at > now
            )
        )
        spend = update(LtiLaunchRow).where(
            LtiLaunchRow.id == (row.id if row else 0), LtiLaunchRow.used_at.is_(None)
        )
        if row is None or not changed(session, spend.values(used_at=now)):
            raise SignOnFailed("This launch is over, or did not begin on this site.", AGAIN)
        known = session.get_one(LtiPlatformRow, row.platform_id)
        number, nonce = row.id, row.nonce
    launch = read(known, verified(known, token, nonce))
    with writing(platform.sessions) as session:
        kept = session.get_one(LtiLaunchRow, number)
        kept.said = dataclasses.asdict(launch)
        kept.expires_at = now + timedelta(minutes=limits.CHOOSE_MINUTES)
    return launch


def pending(platform: Platform, state: str) -> Launch:
    """Without account or course. Raises SignOnFailed."""
    with platform.sessions() as session:
        row = session.scalar(
            select(LtiLaunchRow).where(
                LtiLaunchRow.state_sha256 == digest(state), LtiLaunchRow.expires_at > utcnow()
            )
        )
    if row is None or row.said is None:
        raise SignOnFailed("This launch is over.", AGAIN)
    return Launch(**(row.said | {"scopes": tuple(row.said["scopes"])}))


def person_of(known: LtiPlatformRow, launch: Launch) -> Person:
    """Verified only if admins trust the platform's addresses."""
    return Person(
        authority=lti_platforms.authority(known),
        subject=launch.subject,
        name=launch.account or launch.name.replace(" ", "."),
        email=launch.email if known.trust_email and launch.email else None,
        label=known.name,
    )


def complete(platform: Platform, launch: Launch) -> Outcome:
    """Signs in, enrols, stores the link, as far as rules allow. Raises SignOnFailed, NotAllowed (removed by staff)."""
    with platform.sessions() as session:
        known = session.get_one(LtiPlatformRow, launch.platform)
        context = context_of(session, launch)
        course = session.get(CourseRow, context.course_id) if context is not None else None
    closed = course is None or course.archived_at is not None
    # An unlinked course makes no accounts.
    rule = Policy("none" if closed else cast("Any", known.accounts))
    try:
        user = sign_on.enter(platform, person_of(known, launch), rule)
    except SignOnFailed as error:
        return Outcome(None, needs="account", problem=f"{error.message} {error.hint}".strip())
    if context is None or course is None:
        return Outcome(
            user, needs="course", problem=f"This course of {known.name} is not linked to a course here yet."
        )
    with writing(platform.sessions) as session:
        _admit(session, known, context, course, launch, user)
        assignment = _note_link(session, known, context, course, launch)
    row = session_user(platform, user)
    end = f"/assignments/{assignment}" if assignment else ""
    return Outcome(row, f"/courses/{course.slug}{end}")


def session_user(platform: Platform, user: User) -> User:
    """A launch may make them a teacher."""
    with platform.sessions() as session:
        return of_row(session.get_one(UserRow, user.id))


def context_of(session: Session, launch: Launch) -> LtiContextRow | None:
    if not launch.context:
        return None
    return session.scalar(
        select(LtiContextRow).where(
            LtiContextRow.platform_id == launch.platform,
            LtiContextRow.deployment == launch.deployment,
            LtiContextRow.context == launch.context,
        )
    )


def _admit(
    session: Session,
    known: LtiPlatformRow,
    context: LtiContextRow,
    course: CourseRow,
    launch: Launch,
    user: User,
) -> None:
    """Members keep their role; removed people stay out."""
    courses.lock(session, course.id)
    member = session.scalar(
        select(MemberRow)
        .where(MemberRow.course_id == course.id, MemberRow.user_id == user.id)
        .with_for_update()
    )
    if member is not None and member.left_at is None:
        member.full_name = member.full_name or launch.name
        if member.role == CourseRole.STUDENT:
            taught.accept(session, member)
        return
    if member is not None:
        if user.staff:  # they read every course
            return
        log.info("launch_of_removed", course=course.slug, user=user.id)
        raise courses.removed(course)
    role = _role_here(launch, Teachers(context.teachers))
    if role is None:
        if user.staff:  # they read every course
            return
        raise SignOnFailed(
            f"Your role in this course of {known.name} gives you no role in {course.name}.",
            "Ask the course's teacher to add you.",
        )
    if role is CourseRole.STUDENT and known.accounts != "anyone":
        raise SignOnFailed(
            f"You are not on the roster of {course.name}.", "Ask the course's teacher to add you."
        )
    came_by = f"{known.name}, {launch.role}"[: limits.TITLE_CHARS]
    member = MemberRow(
        course_id=course.id, user_id=user.id, role=role.value, full_name=launch.name, came_by=came_by
    )
    session.add(member)
    session.flush()
    if role is CourseRole.STUDENT:
        taught.accept(session, member)
    else:
        courses.note_teaching(session, user.id)


def _role_here(launch: Launch, teachers: Teachers) -> CourseRole | None:
    if launch.role == "learner":
        return CourseRole.STUDENT
    if launch.role == "other" or teachers is Teachers.NOTHING:
        return None
    if launch.role == "assistant" or teachers is Teachers.ASSISTANT:
        return CourseRole.ASSISTANT
    return CourseRole.INSTRUCTOR


def _note_link(
    session: Session, known: LtiPlatformRow, context: LtiContextRow, course: CourseRow, launch: Launch
) -> str:
    """Returns the assignment's slug or ""."""
    row = session.scalar(
        select(LtiLinkRow)
        .where(LtiLinkRow.context_id == context.id, LtiLinkRow.resource == launch.resource)
        .with_for_update()
    )
    assignment = _assignment(session, course, launch.assignment)
    if assignment is None:
        return ""
    if row is None:
        row = LtiLinkRow(context_id=context.id, resource=launch.resource, assignment_id=assignment.id)
        session.add(row)
    before = row.assignment_id, row.line_item or ""
    row.assignment_id = assignment.id
    row.title = launch.resource_title or assignment.title
    line_item, why_not = _line_item(known, launch)
    # The platform may name the column for some people only.
    if line_item or not row.line_item:
        row.line_item, row.why_not = line_item, why_not
    session.flush()
    if before != (row.assignment_id, row.line_item):
        # Send everything to the new column.
        again = {"state": LtiScoreState.PENDING.value, "tries": 0, "next_at": utcnow(), "sent_points": None}
        session.execute(
            update(LtiScoreRow)
            .where(LtiScoreRow.link_id == row.id)
            .values(**again)
            .execution_options(synchronize_session=False)
        )
    return assignment.slug


def _line_item(known: LtiPlatformRow, launch: Launch) -> tuple[str, str]:
    if not launch.line_item:
        return "", f"{known.name} names no gradebook column for this link."
    if SCORE_SCOPE not in launch.scopes:
        return "", f"{known.name} does not let this site send grades."
    if not lti_platforms.is_its_own(known, launch.line_item):
        host = urlsplit(launch.line_item).netloc
        return (
            "",
            f"Grades would go to {host}, which is not among the hosts that admins named for {known.name}.",
        )
    return launch.line_item, ""


def _assignment(session: Session, course: CourseRow, named: str) -> AssignmentRow | None:
    """``named``: COURSE/ASSIGNMENT or ASSIGNMENT. None in another course."""
    of_course, _, slug = named.rpartition("/")
    if not slug or of_course not in ("", course.slug):
        return None
    return session.scalar(
        select(AssignmentRow).where(AssignmentRow.course_id == course.id, AssignmentRow.slug == slug)
    )


def connect(platform: Platform, user: User, launch: Launch) -> None:
    """Raises Conflict."""
    with platform.sessions() as session:
        known = session.get_one(LtiPlatformRow, launch.platform)
    sign_on.connect(platform, user, person_of(known, launch))


def linkable(platform: Platform, user: User) -> list[tuple[str, str]]:
    """Slugs and names."""
    with platform.sessions() as session:
        rows = session.scalars(
            select(CourseRow).where(CourseRow.archived_at.is_(None)).order_by(CourseRow.id.desc())
        ).all()
        return [
            (row.slug, row.name)
            for row in rows
            if permissions.may(permissions.standings(session, user, row.id), Action.LTI_LINK)
        ]


def link_course(platform: Platform, user: User, launch: Launch, slug: str, teachers: Teachers) -> None:
    """Raises NotFound, NotAllowed, BadRequest (by a student, or outside a course), Conflict (linked)."""
    if launch.role not in ("instructor", "assistant"):
        raise BadRequest(
            "Only somebody who teaches the course there can link it.",
            "Follow the link as the course's instructor.",
        )
    if not launch.context:
        raise BadRequest("The learning platform did not send a course.", "Follow a link inside a course.")
    with courses.changing(platform, user, slug, Action.LTI_LINK) as course:
        if context_of(course.session, launch) is not None:
            raise Conflict(
                "That course is already linked to a course here.", "Unlink it first, on that course's page."
            )
        course.session.add(
            LtiContextRow(
                platform_id=launch.platform,
                deployment=launch.deployment,
                context=launch.context,
                title=launch.context_title,
                course_id=course.row.id,
                teachers=teachers.value,
                linked_by=user.id,
            )
        )
        course.note(
            Action.LTI_LINK, "/lti", after={"context": launch.context_title, "teachers": teachers.value}
        )
