"""Students join by a personal link, printed or mailed, or by a code. Either can make an account if sign-up by
invitation is allowed."""

from __future__ import annotations

from datetime import datetime, timedelta
from urllib.parse import urlencode

from sqlalchemy import ColumnElement, delete, func, select, update
from sqlalchemy.orm import Session

from grader import limits
from grader.errors import Conflict, NotAllowed, NotFound, Unreachable
from grader.logs import get_logger
from grader.records import taught
from grader.records.engine import changed, writing
from grader.records.models import CourseInvitationRow, CourseRow, JoinCodeRow, MemberRow, utcnow
from grader.schemas.course import (
    CourseRole,
    CourseView,
    InvitationOrder,
    InvitationSheet,
    JoinCodeBody,
    JoinCodeList,
    JoinCodeView,
    JoinOffer,
    PersonalLink,
)
from grader.service.accounts import links
from grader.service.accounts.accounts import User
from grader.service.accounts.keys import digest, new_code, new_key, tidy_code
from grader.service.accounts.links import LinkUseless
from grader.service.courses import courses
from grader.service.courses.courses import OpenCourse
from grader.service.courses.permissions import Action
from grader.service.messages import mail
from grader.service.platform import Platform

log = get_logger(__name__)

# Only a mailed key proves the address.
PRINTED, MAILED = "crs_", "crm_"
# Two halves and a dash, perhaps with spaces; keys are longer.
_CODE_CHARS, _TYPED_CHARS = 9, 16
_TEXT = """\
Hello {name},

you are on the roster of the course {course}. Join it with this link, with a new or an existing account:

{link}

The link is for you only and works once, until {until:%Y-%m-%d %H:%M} UTC.
"""
_HINT = "Ask your teacher for a new one."


def order_invitations(
    platform: Platform, user: User, slug: str, order: InvitationOrder, base: str = ""
) -> InvitationSheet:
    """Earlier links stop working; mails go out after the answer. Raises NotFound, NotAllowed, Conflict (no mail, or
    nobody waits)."""
    if order.mail:
        mail.need(platform.settings)
    at = platform.settings.url or base or links.base_url(platform.settings)
    until = utcnow() + timedelta(days=order.days)
    made: list[tuple[int, PersonalLink]] = []
    unmailed = []
    with courses.changing(platform, user, slug, Action.ROSTER_EDIT) as course:
        for row in _waiting(course, order.section):
            if order.mail and not row.email:
                unmailed.append(row.full_name or row.student_number)
                continue
            key = new_key(MAILED if order.mail else PRINTED)
            row.sha256, row.expires_at = digest(key), until
            row.issued_at = None if order.mail else utcnow()
            made.append((row.id, _personal(row, f"{at}/join?{urlencode({'key': key})}")))
        if not made and not unmailed:
            raise Conflict("Nobody on the roster is waiting for a link.", "Import the roster first.")
        course.note(Action.ROSTER_EDIT, "/invitations", after={"links": len(made), "mailed": order.mail})
        name = course.row.name
    if order.mail:
        mail.later(lambda: _mail_all(platform, name, until, made))
    return InvitationSheet(
        course=slug,
        name=name,
        expires_at=until,
        mailed=len(made) if order.mail else 0,
        unmailed=unmailed,
        links=[] if order.mail else [link for _, link in made],
    )


def _waiting(course: OpenCourse, section: str | None) -> list[CourseInvitationRow]:
    query = select(CourseInvitationRow).where(
        CourseInvitationRow.course_id == course.row.id, CourseInvitationRow.accepted_at.is_(None)
    )
    if section is not None:
        query = query.where(CourseInvitationRow.section == section)
    return list(
        course.session.scalars(
            query.order_by(
                CourseInvitationRow.section, CourseInvitationRow.full_name, CourseInvitationRow.person
            )
        )
    )


def _personal(row: CourseInvitationRow, link: str) -> PersonalLink:
    return PersonalLink(
        full_name=row.full_name,
        student_number=row.student_number,
        email=row.email,
        section=row.section,
        link=link,
    )


def _mail_all(platform: Platform, course: str, until: datetime, made: list[tuple[int, PersonalLink]]) -> None:
    """About one a second; failures do not stop it."""
    for number, link in made:
        text = _TEXT.format(name=link.full_name or link.email, course=course, link=link.link, until=until)
        try:
            mail.send(platform.settings, link.email, f"Your place in {course}", text)
        except Unreachable as error:
            log.error("mail_not_sent", reason=error.message)
            continue
        with writing(platform.sessions) as session:
            sent = (
                update(CourseInvitationRow).where(CourseInvitationRow.id == number).values(issued_at=utcnow())
            )
            session.execute(sent)


def make_code(platform: Platform, user: User, slug: str, body: JoinCodeBody, base: str = "") -> JoinCodeView:
    """Raises NotFound, NotAllowed."""
    with courses.changing(platform, user, slug, Action.ROSTER_EDIT) as course:
        row = JoinCodeRow(
            course_id=course.row.id,
            code=new_code(),
            section=" ".join(body.section.split()),
            uses=body.uses,
            used=0,
            made_by=user.id,
            expires_at=utcnow() + timedelta(days=body.days),
        )
        course.session.add(row)
        course.session.flush()
        course.note(
            Action.ROSTER_EDIT, f"/join-codes/{row.id}", after={"section": row.section, "uses": row.uses}
        )
        return _code(platform, row, base)


def list_codes(platform: Platform, user: User, slug: str, base: str = "") -> JoinCodeList:
    """Valid ones, newest first. Raises NotFound, NotAllowed."""
    with courses.reading(platform, user, slug, Action.ROSTER_EDIT) as course:
        usable = (JoinCodeRow.course_id == course.row.id, JoinCodeRow.expires_at > utcnow(), _left())
        rows = course.session.scalars(
            select(JoinCodeRow).where(*usable).order_by(JoinCodeRow.id.desc())
        ).all()
        return JoinCodeList(codes=[_code(platform, row, base) for row in rows])


def revoke_code(platform: Platform, user: User, slug: str, number: int) -> None:
    """Its members stay. Raises NotFound, NotAllowed."""
    with courses.changing(platform, user, slug, Action.ROSTER_EDIT) as course:
        of_it = (JoinCodeRow.id == number, JoinCodeRow.course_id == course.row.id)
        if number >= 2**31 or not changed(course.session, delete(JoinCodeRow).where(*of_it)):
            raise NotFound(
                f"Course {slug} has no join code {number}.", "`grader roster code --list` lists its codes."
            )
        course.note(
            Action.ROSTER_EDIT, f"/join-codes/{number}", before={"works": True}, after={"works": False}
        )


def _code(platform: Platform, row: JoinCodeRow, base: str) -> JoinCodeView:
    at = platform.settings.url or base or links.base_url(platform.settings)
    return JoinCodeView(
        id=row.id,
        code=row.code,
        section=row.section,
        uses=row.uses,
        used=row.used,
        expires_at=row.expires_at,
        link=f"{at}/join?{urlencode({'key': row.code})}",
    )


def _left() -> ColumnElement[bool]:
    return JoinCodeRow.uses.is_(None) | (JoinCodeRow.used < JoinCodeRow.uses)


def is_personal(key: str) -> bool:
    return key.startswith((PRINTED, MAILED))


def is_key(key: str) -> bool:
    typed = len(key) <= _TYPED_CHARS and len(tidy_code(key)) == _CODE_CHARS
    return typed or is_personal(key)


def offer(platform: Platform, key: str) -> JoinOffer:
    """Raises LinkUseless."""
    with platform.sessions() as session:
        found, course = _find(session, key)
        if isinstance(found, JoinCodeRow) and found.uses is not None and found.used >= found.uses:
            raise LinkUseless(_HINT)
        name = found.full_name if isinstance(found, CourseInvitationRow) else ""
        return JoinOffer(
            course=course.slug, name=course.name, term=course.term, section=found.section, full_name=name
        )


def join(platform: Platform, user: User, key: str) -> CourseView:
    """Raises LinkUseless, Conflict (they teach it), NotAllowed (removed by staff)."""
    with writing(platform.sessions) as session:
        slug = enter(session, user.id, key).slug
    return courses.get_course(platform, user, slug)


def enter(session: Session, user: int, key: str) -> CourseRow:
    """Its transaction may make the account. Raises as ``join`` does."""
    found, course = _find(session, key)
    _admit(session, user, found, course)
    return course


def enter_invited(session: Session, user: int, email: str) -> list[CourseRow]:
    """On every roster that waits for the verified address. The first visit accepts."""
    entered = []
    for found, course in waiting_for(session, email):
        try:
            _admit(session, user, found, course, accepts=False)
        except (Conflict, NotAllowed):  # they teach it, or its staff removed them
            continue
        entered.append(course)
    return entered


def waiting_for(session: Session, email: str) -> list[tuple[CourseInvitationRow, CourseRow]]:
    """In open courses."""
    key = email.lower()
    found = session.execute(
        select(CourseInvitationRow, CourseRow)
        .join(CourseRow, CourseRow.id == CourseInvitationRow.course_id)
        .where(
            (CourseInvitationRow.person == key) | (func.lower(CourseInvitationRow.email) == key),
            CourseInvitationRow.accepted_at.is_(None),
            CourseRow.archived_at.is_(None),
        )
        # One order of locks prevents deadlocks.
        .order_by(CourseInvitationRow.course_id, CourseInvitationRow.id)
    )
    return [(invitation, course) for invitation, course in found]


def _admit(
    session: Session,
    user: int,
    found: CourseInvitationRow | JoinCodeRow,
    course: CourseRow,
    accepts: bool = True,
) -> None:
    """Raises LinkUseless, Conflict, NotAllowed."""
    courses.lock(session, course.id)
    member = session.scalar(
        select(MemberRow).where(MemberRow.course_id == course.id, MemberRow.user_id == user).with_for_update()
    )
    present = member is not None and member.left_at is None
    if member is not None and not present:
        raise courses.removed(course, "The link or code was not used. ")
    if member is not None and present and member.role != CourseRole.STUDENT:
        raise Conflict(
            f"You teach course {course.slug}, so you cannot join it as a student.", "The link was not used."
        )
    if isinstance(found, JoinCodeRow) and member is not None:
        taught.accept(session, member)
        return
    if member is None:
        member = MemberRow(course_id=course.id, user_id=user, role=CourseRole.STUDENT.value)
        session.add(member)
    member.role = CourseRole.STUDENT.value
    if isinstance(found, CourseInvitationRow):
        _take_invitation(session, found, user)
        member.full_name, member.student_number = found.full_name, found.student_number
        member.section, member.group_name = found.section, found.group_name
    else:
        _take_code(session, found)
        member.section = member.section or found.section
    member.came_by = came_by(found)
    session.flush()
    if accepts:
        taught.accept(session, member)


def came_by(found: CourseInvitationRow | JoinCodeRow) -> str:
    if isinstance(found, JoinCodeRow):
        return f"join code {found.id}"
    return f"invitation {found.id}: {found.person}"[: limits.TITLE_CHARS]


def proven_address(platform: Platform, key: str) -> str | None:
    """For a new account."""
    if not key.startswith(MAILED):
        return None
    with platform.sessions() as session:
        found, _ = _find(session, key)
        return found.email if isinstance(found, CourseInvitationRow) else None


def _find(session: Session, key: str) -> tuple[CourseInvitationRow | JoinCodeRow, CourseRow]:
    """Raises LinkUseless."""
    found: CourseInvitationRow | JoinCodeRow | None
    if is_personal(key):
        found = session.scalar(
            select(CourseInvitationRow).where(
                CourseInvitationRow.sha256 == digest(key),
                CourseInvitationRow.accepted_at.is_(None),
                CourseInvitationRow.expires_at > utcnow(),
            )
        )
    else:
        code = JoinCodeRow
        found = session.scalar(select(code).where(code.code == tidy_code(key), code.expires_at > utcnow()))
    course = session.get(CourseRow, found.course_id) if found is not None else None
    if found is None or course is None or course.archived_at is not None:
        raise LinkUseless(_HINT)
    return found, course


def _take_invitation(session: Session, found: CourseInvitationRow, user: int) -> None:
    taken = (
        update(CourseInvitationRow)
        .where(CourseInvitationRow.id == found.id, CourseInvitationRow.accepted_at.is_(None))
        .values(accepted_at=utcnow(), user_id=user, sha256=None)
    )
    if not changed(session, taken.execution_options(synchronize_session=False)):
        raise LinkUseless(_HINT)


def _take_code(session: Session, found: JoinCodeRow) -> None:
    taken = update(JoinCodeRow).where(JoinCodeRow.id == found.id, _left()).values(used=JoinCodeRow.used + 1)
    if not changed(session, taken.execution_options(synchronize_session=False)):
        raise LinkUseless(_HINT)
