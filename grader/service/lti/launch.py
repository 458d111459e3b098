"""Launches from learning platforms: somebody follows a link in a course there, and is signed in here, in that course.

The platform begins (``begin``), we send the browser back to it with state and nonce, and it answers with a signed token
(``receive``), which works once. Where an account or a course here is not yet known, the launch waits for its owner to
name it (``connect``, ``link_course``).
"""

from __future__ import annotations

import dataclasses
import hmac
import secrets
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, cast
from urllib.parse import parse_qs, urlencode, urlsplit

from authlib.oidc.core import ImplicitIDToken
from joserfc import jwt
from joserfc.errors import JoseError
from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from grader import limits
from grader.errors import BadRequest, Conflict, NotFound, SignOnFailed
from grader.logs import get_logger
from grader.records import taught
from grader.records.engine import changed, writing
from grader.records.models import (
    AssignmentRow,
    CourseRow,
    IdentityRow,
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
from grader.service import outbound
from grader.service.accounts import sign_on
from grader.service.accounts.accounts import User, of_row
from grader.service.accounts.keys import digest, new_key
from grader.service.accounts.oidc import Person
from grader.service.accounts.sign_on import Policy
from grader.service.courses import assignments, courses, permissions
from grader.service.courses.permissions import Action
from grader.service.lti import platforms as lti_platforms
from grader.service.lti.platforms import SCORE_SCOPE
from grader.service.platform import Platform

log = get_logger(__name__)

_CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
_AGS = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"
_DEEP = "https://purl.imsglobal.org/spec/lti-dl/claim/"
_MEMBER = "http://purl.imsglobal.org/vocab/lis/v2/membership"
_AGAIN = "Follow the link in the course there again."
_TOKEN_SECONDS = 300


@dataclass(frozen=True)
class Begun:
    """``url`` is where the browser goes, ``state`` what it has to come back with."""

    url: str
    state: str


@dataclass(frozen=True)
class Launch:
    """What a platform's token says, checked. ``assignment`` is ``COURSE/ASSIGNMENT`` or empty; ``line_item`` the column
    of its gradebook; ``selects``: an assignment is to be chosen, and the answer goes to ``return_url``."""

    platform: int
    deployment: str
    subject: str
    name: str
    email: str
    account: str
    role: Literal["instructor", "assistant", "learner", "other"]
    context: str
    context_title: str
    resource: str = ""
    resource_title: str = ""
    assignment: str = ""
    line_item: str = ""
    scopes: tuple[str, ...] = ()
    selects: bool = False
    return_url: str = ""
    data: str = ""


@dataclass(frozen=True)
class Outcome:
    """Where a launch leads. ``user`` is signed in, if anyone; ``needs`` is what somebody has to say first, ``problem``
    what they read then."""

    user: User | None
    path: str = "/lti/continue"
    needs: Literal["", "account", "course", "nothing"] = ""
    problem: str = ""


def find_platform(platform: Platform, params: Mapping[str, str]) -> LtiPlatformRow:
    """That a login of it names. Raises SignOnFailed."""
    query = select(LtiPlatformRow).where(LtiPlatformRow.issuer == params.get("iss", "")[: limits.URL_CHARS])
    if client := params.get("client_id"):
        query = query.where(LtiPlatformRow.client_id == client[: limits.SUBJECT_CHARS])
    with platform.sessions() as session:
        found = session.scalars(query.limit(2)).all()
    if len(found) != 1:
        raise SignOnFailed(
            "This learning platform is not registered here."
            if not found
            else "This learning platform does not say which of its registrations it means.",
            "Whoever runs this site registers it: `grader lti add`.",
        )
    return found[0]


def begin(platform: Platform, params: Mapping[str, str]) -> Begun:
    """Raises SignOnFailed."""
    row = find_platform(platform, params)
    hint = params.get("login_hint", "")
    if not hint:
        raise SignOnFailed("The learning platform does not say who comes.", _AGAIN)
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
    """What the token says. It works once. Raises SignOnFailed, Unreachable."""
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
            raise SignOnFailed("This launch is over, or did not begin here.", _AGAIN)
        known = session.get_one(LtiPlatformRow, row.platform_id)
        number, nonce = row.id, row.nonce
    launch = _read(known, _verified(known, token, nonce))
    with writing(platform.sessions) as session:
        kept = session.get_one(LtiLaunchRow, number)
        kept.said = dataclasses.asdict(launch)
        kept.expires_at = now + timedelta(minutes=limits.CHOOSE_MINUTES)
    return launch


def _verified(known: LtiPlatformRow, token: str, nonce: str) -> Mapping[str, Any]:
    signed = outbound.KEYS.verify(known.jwks_url, token, ("RS256",))
    claims = ImplicitIDToken(
        signed.claims,
        signed.header,
        {
            "iss": {"essential": True, "value": known.issuer},
            "aud": {"essential": True, "value": known.client_id},
        },
        {"nonce": nonce, "client_id": known.client_id},
    )
    try:
        claims.validate(leeway=limits.CLOCK_SKEW_SECONDS)
    except (JoseError, ValueError, TypeError) as error:
        log.warning("launch_not_believed", platform=known.name, error=str(error)[:100])
        raise SignOnFailed(f"What {known.name} said cannot be believed.", f"{str(error)[:100]}.") from error
    if not hmac.compare_digest(str(claims.get("nonce", "")).encode(), nonce.encode()):
        raise SignOnFailed(f"What {known.name} said belongs to another launch.", _AGAIN)
    return cast("Mapping[str, Any]", claims)


def _read(known: LtiPlatformRow, claims: Mapping[str, Any]) -> Launch:
    """Raises SignOnFailed where it is no launch that we know, or of no deployment that admins named."""
    deployment = _text(claims.get(f"{_CLAIM}deployment_id"))
    if deployment not in known.deployments:
        log.warning("launch_of_unknown_deployment", platform=known.name, deployment=deployment[:100])
        raise SignOnFailed(
            f"The deployment '{deployment[:100]}' of {known.name} is not registered here.",
            f"Whoever runs this site adds it, if it is theirs: `grader lti change {known.id} --deployment ID`.",
        )
    if claims.get(f"{_CLAIM}version") != "1.3.0":
        raise SignOnFailed(f"{known.name} does not speak LTI 1.3.", "Register it as LTI 1.3 there.")
    kind = claims.get(f"{_CLAIM}message_type")
    if kind not in ("LtiResourceLinkRequest", "LtiDeepLinkingRequest"):
        raise SignOnFailed(
            f"'{str(kind)[:60]}' is nothing that this site does.", "Links and the choice of one are."
        )
    subject = _text(claims.get("sub"))
    if not subject:
        raise SignOnFailed(
            f"{known.name} does not say who comes.", "It must share its people's ids with this site."
        )
    context = _part(claims, f"{_CLAIM}context")
    resource = _part(claims, f"{_CLAIM}resource_link")
    custom = _part(claims, f"{_CLAIM}custom")
    grading = _part(claims, _AGS)
    deep = _part(claims, f"{_DEEP}deep_linking_settings")
    selects = kind == "LtiDeepLinkingRequest"
    if not selects and not _text(resource.get("id")):
        raise SignOnFailed(f"{known.name} does not say which link it is.", _AGAIN)
    return_url = _text(deep.get("deep_link_return_url"), limits.URL_CHARS)
    if selects and not return_url:
        raise SignOnFailed(f"{known.name} does not say where the choice goes.", _AGAIN)
    if selects:
        outbound.checked(return_url)
    asked = parse_qs(urlsplit(_text(claims.get(f"{_CLAIM}target_link_uri"), limits.URL_CHARS)).query)
    return Launch(
        platform=known.id,
        deployment=deployment,
        subject=subject,
        name=_text(claims.get("name"), limits.TITLE_CHARS) or _full_name(claims),
        email=_text(claims.get("email"), limits.EMAIL_CHARS),
        account=_text(claims.get("preferred_username"))
        or _text(_part(claims, f"{_CLAIM}ext").get("user_username")),
        role=_role(claims.get(f"{_CLAIM}roles")),
        context=_text(context.get("id")),
        context_title=_text(context.get("title") or context.get("label"), limits.TITLE_CHARS),
        resource=_text(resource.get("id")),
        resource_title=_text(resource.get("title"), limits.TITLE_CHARS),
        assignment=_text(custom.get("assignment")) or _text((asked.get("assignment") or [""])[0]),
        line_item=_text(grading.get("lineitem"), limits.URL_CHARS),
        scopes=tuple(it for it in grading.get("scope") or () if isinstance(it, str))[:20],
        selects=selects,
        return_url=return_url,
        data=_text(deep.get("data"), limits.OUTBOUND_TOKEN_CHARS),
    )


def _part(claims: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = claims.get(name)
    return found if isinstance(found, dict) else {}


def _text(value: Any, most: int = limits.SUBJECT_CHARS) -> str:
    """As text; nothing where it is longer than can be: half of an id is another's."""
    found = " ".join(value.split()) if isinstance(value, str) else ""
    return found if len(found) <= most else ""


def _full_name(claims: Mapping[str, Any]) -> str:
    parts = (_text(claims.get(it), 60) for it in ("given_name", "family_name"))
    return " ".join(it for it in parts if it)[: limits.TITLE_CHARS]


def _role(roles: Any) -> Literal["instructor", "assistant", "learner", "other"]:
    """What they are in that course. What they are in the institution, or the system, says nothing of it."""
    found = {it for it in roles if isinstance(it, str)} if isinstance(roles, list) else set()
    if f"{_MEMBER}/Instructor#TeachingAssistant" in found:
        return "assistant"
    if found & {f"{_MEMBER}#Instructor", "Instructor"}:
        return "instructor"
    return "learner" if found & {f"{_MEMBER}#Learner", "Learner"} else "other"


def pending(platform: Platform, state: str) -> Launch:
    """A launch that waits for somebody to name an account or a course. Raises SignOnFailed."""
    with platform.sessions() as session:
        row = session.scalar(
            select(LtiLaunchRow).where(
                LtiLaunchRow.state_sha256 == digest(state), LtiLaunchRow.expires_at > utcnow()
            )
        )
    if row is None or row.said is None:
        raise SignOnFailed("This launch is over.", _AGAIN)
    return Launch(**(row.said | {"scopes": tuple(row.said["scopes"])}))


def person_of(known: LtiPlatformRow, launch: Launch) -> Person:
    """Who it is. Their address is verified only where admins say so of the platform."""
    return Person(
        authority=lti_platforms.authority(known),
        subject=launch.subject,
        name=launch.account or launch.name.replace(" ", "."),
        email=launch.email if known.trust_email and launch.email else None,
        label=known.name,
    )


def complete(platform: Platform, launch: Launch) -> Outcome:
    """The account, the membership and the link of a launch, as far as they are known or the platform's rule makes
    them. Raises SignOnFailed, NotAllowed (the course's staff removed them)."""
    with platform.sessions() as session:
        known = session.get_one(LtiPlatformRow, launch.platform)
        context = _context(session, launch)
        course = session.get(CourseRow, context.course_id) if context is not None else None
    closed = course is None or course.archived_at is not None
    # Who comes from a course that nobody linked has no business here yet.
    rule = Policy("none" if closed else cast("Any", known.accounts))
    try:
        user = sign_on.enter(platform, person_of(known, launch), rule)
    except SignOnFailed as error:
        return Outcome(None, needs="account", problem=f"{error.message} {error.hint}".strip())
    if context is None or course is None:
        return Outcome(
            user, needs="course", problem=f"This course of {known.name} is not linked to one here yet."
        )
    with writing(platform.sessions) as session:
        _admit(session, known, context, course, launch, user)
        assignment = _note_link(session, known, context, course, launch)
    row = session_user(platform, user)
    end = f"/assignments/{assignment}" if assignment else ""
    return Outcome(row, f"/courses/{course.slug}{end}")


def session_user(platform: Platform, user: User) -> User:
    """As they are now: a launch may have made them teach."""
    with platform.sessions() as session:
        return of_row(session.get_one(UserRow, user.id))


def _context(session: Session, launch: Launch) -> LtiContextRow | None:
    row = LtiContextRow
    if not launch.context:
        return None
    return session.scalar(
        select(row).where(
            row.platform_id == launch.platform,
            row.deployment == launch.deployment,
            row.context == launch.context,
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
    """Who has a part in the course keeps it, and whom its staff removed stays out, whatever the platform says. Raises
    SignOnFailed, NotAllowed."""
    row = MemberRow
    courses.lock(session, course.id)
    member = session.scalar(
        select(row).where(row.course_id == course.id, row.user_id == user.id).with_for_update()
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
            f"What you are in this course of {known.name} gives no part in {course.name}.", "Ask its teacher."
        )
    if role is CourseRole.STUDENT and known.accounts != "anyone":
        raise SignOnFailed(f"You are not on the roster of {course.name}.", "Ask its teacher.")
    came_by = f"{known.name}, {launch.role}"[: limits.TITLE_CHARS]
    member = row(
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
    """Remember the link that was followed, and the column that its grades go to. The assignment's slug, or nothing."""
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
    # A link without a column, followed by somebody for whom the platform names none, keeps the one that it had.
    if line_item or not row.line_item:
        row.line_item, row.why_not = line_item, why_not
    session.flush()
    if before != (row.assignment_id, row.line_item):
        # To the new column, whatever the old one has.
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
        return "", f"{known.name} names no column of its gradebook for this link."
    if SCORE_SCOPE not in launch.scopes:
        return "", f"{known.name} does not let this site send grades."
    if not lti_platforms.is_its_own(known, launch.line_item):
        host = urlsplit(launch.line_item).netloc
        return (
            "",
            f"Grades would go to {host}, which is none of the hosts that admins named for {known.name}.",
        )
    return launch.line_item, ""


def _assignment(session: Session, course: CourseRow, named: str) -> AssignmentRow | None:
    """``COURSE/ASSIGNMENT``, or the latter alone; nothing of another course."""
    of_course, _, slug = named.rpartition("/")
    if not slug or of_course not in ("", course.slug):
        return None
    row = AssignmentRow
    return session.scalar(select(row).where(row.course_id == course.id, row.slug == slug))


def connect(platform: Platform, user: User, launch: Launch) -> None:
    """The account is that person's of the platform from now on. Raises Conflict."""
    with platform.sessions() as session:
        known = session.get_one(LtiPlatformRow, launch.platform)
    sign_on.connect(platform, user, person_of(known, launch))


def linkable(platform: Platform, user: User) -> list[tuple[str, str]]:
    """Slug and name of the courses that somebody may link."""
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
    """The platform's course is that course here. Raises NotFound, NotAllowed, BadRequest (a student came, or from no
    course), Conflict (it is linked)."""
    if launch.role not in ("instructor", "assistant"):
        raise BadRequest(
            "Only who teaches the course there can link it.", "Follow the link as its instructor."
        )
    if not launch.context:
        raise BadRequest(
            "The learning platform does not say which course it is.", "Follow a link within a course."
        )
    with courses.changing(platform, user, slug, Action.LTI_LINK) as course:
        if _context(course.session, launch) is not None:
            raise Conflict("That course is linked already.", "Unlink it first, on its page here.")
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


@dataclass(frozen=True)
class Choice:
    """Assignments of which one may be chosen with ``ticket``, once: slug, title, points."""

    ticket: str
    course: str
    assignments: list[tuple[str, str, float]]


def choose(platform: Platform, launch: Launch, state: str) -> Choice:
    """What staff choose from, in a frame of the platform where no session is known: the token says who they are. Raises
    SignOnFailed."""
    user, context = _chooser(platform, launch)
    with platform.sessions() as session:
        slug = session.get_one(CourseRow, context.course_id).slug
    with courses.reading(platform, user, slug, Action.LTI_SELECT):
        found = assignments.list_assignments(platform, user, slug).assignments
    ticket = new_key()
    with writing(platform.sessions) as session:
        row = session.scalar(select(LtiLaunchRow).where(LtiLaunchRow.state_sha256 == digest(state)))
        assert row is not None
        row.ticket_sha256 = digest(ticket)
    return Choice(
        ticket, slug, [(it.slug, it.title, sum(part.points or 0 for part in it.parts)) for it in found]
    )


def _chooser(platform: Platform, launch: Launch) -> tuple[User, LtiContextRow]:
    with platform.sessions() as session:
        known = session.get_one(LtiPlatformRow, launch.platform)
        context = _context(session, launch)
        identity = session.scalar(
            select(IdentityRow).where(
                IdentityRow.authority == lti_platforms.authority(known), IdentityRow.subject == launch.subject
            )
        )
        user = of_row(session.get_one(UserRow, identity.user_id)) if identity is not None else None
    if user is None or context is None:
        missing = "your account here" if user is None else "a course here"
        raise SignOnFailed(
            f"{known.name} is not connected to {missing} yet.",
            "Open this site from the course's menu there first, and come back.",
        )
    return user, context


def chosen(platform: Platform, ticket: str, slug: str) -> tuple[str, str, Launch]:
    """Where the browser takes the choice, and the signed choice itself. Raises SignOnFailed, NotFound, NotAllowed."""
    with writing(platform.sessions) as session:
        row = session.scalar(
            select(LtiLaunchRow).where(
                LtiLaunchRow.ticket_sha256 == digest(ticket), LtiLaunchRow.expires_at > utcnow()
            )
        )
        spend = update(LtiLaunchRow).where(
            LtiLaunchRow.id == (row.id if row else 0), LtiLaunchRow.ticket_sha256.is_not(None)
        )
        said = row.said if row is not None else None
        if said is None or not changed(session, spend.values(ticket_sha256=None)):
            raise SignOnFailed("This choice was made, or is too old.", "Begin again there.")
    launch = Launch(**(said | {"scopes": tuple(said["scopes"])}))
    user, context = _chooser(platform, launch)
    with platform.sessions() as session:
        known = session.get_one(LtiPlatformRow, launch.platform)
        course = session.get_one(CourseRow, context.course_id).slug
    with courses.reading(platform, user, course, Action.LTI_SELECT):
        listed: Iterable[Any] = assignments.list_assignments(platform, user, course).assignments
    found = next((it for it in listed if it.slug == slug), None)
    if found is None:
        raise NotFound(f"There is no assignment '{slug[:64]}' in {course}.", "Choose one of the list.")
    most = sum(part.points or 0 for part in found.parts)
    item = {
        "type": "ltiResourceLink",
        "title": found.title,
        "url": lti_platforms.tool(platform).launch_url,
        "window": {"targetName": "_blank"},
        "custom": {"assignment": f"{course}/{found.slug}"},
        "lineItem": {
            "scoreMaximum": most or 100.0,
            "label": found.title,
            "resourceId": f"{course}/{found.slug}",
        },
    }
    return launch.return_url, _signed_choice(platform, known, launch, item), launch


def _signed_choice(platform: Platform, known: LtiPlatformRow, launch: Launch, item: dict[str, Any]) -> str:
    key, now = lti_platforms.signing_key(platform), int(time.time())
    claims: dict[str, Any] = {
        "iss": known.client_id,
        "aud": known.issuer,
        "iat": now,
        "exp": now + _TOKEN_SECONDS,
        "nonce": secrets.token_urlsafe(24),
        f"{_CLAIM}deployment_id": launch.deployment,
        f"{_CLAIM}message_type": "LtiDeepLinkingResponse",
        f"{_CLAIM}version": "1.3.0",
        f"{_DEEP}content_items": [item],
    }
    if launch.data:
        claims[f"{_DEEP}data"] = launch.data
    return jwt.encode({"alg": "RS256", "kid": str(key.kid)}, claims, key)


def frames(platform: Platform, number: int) -> list[str]:
    """Origins of a platform, whose pages may show ours in a frame."""
    with platform.sessions() as session:
        row = session.get_one(LtiPlatformRow, number)
    addresses = [row.issuer, row.auth_url, row.token_url, *(f"https://{it}" for it in row.hosts)]
    found = {f"{it.scheme}://{it.netloc}" for it in map(urlsplit, addresses) if it.netloc}
    return sorted(found)
