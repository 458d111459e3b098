from __future__ import annotations

from datetime import timedelta
from urllib.parse import urlencode

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from grader.errors import Conflict, NotAllowed, NotFound
from grader.records.engine import changed, writing
from grader.records.models import InvitationRow, UserRow, utcnow
from grader.schemas.account import InvitationBody, InvitationList, InvitationView, NewInvitation, Role
from grader.service import audit
from grader.service.accounts import links
from grader.service.accounts.accounts import User, check_staff
from grader.service.accounts.keys import digest, new_key
from grader.service.accounts.links import LinkUseless
from grader.service.courses.permissions import Action
from grader.service.platform import Platform

# Keys of mailed links lack this prefix.
PREFIX = "inv_"
_LARGEST_NUMBER = 2**31 - 1


def make(
    platform: Platform, body: InvitationBody, maker: User | None = None, base: str = ""
) -> NewInvitation:
    """``maker`` None: an operator. ``base``: for the link, unless the settings have one. Raises NotAllowed (students,
    or for staff), Conflict (no sign-up here)."""
    if maker is not None:
        check_staff(maker)
        if Role(body.role) is not Role.STUDENT and not maker.admin:
            raise NotAllowed("Only admins may invite staff.", "To invite students, leave out the role.")
    if platform.settings.sign_up == "closed":
        raise Conflict("Sign-up is off on this platform.", "Set GRADER_SIGN_UP=invite first.")
    key = new_key(PREFIX)
    row = InvitationRow(
        sha256=digest(key),
        label=body.label.strip(),
        role=body.role,
        uses=body.uses,
        used=0,
        made_by=maker.id if maker else None,
        expires_at=utcnow() + timedelta(days=body.days),
    )
    with writing(platform.sessions) as session:
        session.add(row)
        session.flush()
        if maker is not None:
            after = {"role": row.role, "uses": row.uses, "label": row.label}
            audit.note(session, maker, Action.INVITATION_MAKE, f"/invitations/{row.id}", after=after)
    view = _view(row, maker.name if maker else None)
    at = platform.settings.url or base or links.base_url(platform.settings)
    return NewInvitation(**view.model_dump(), link=f"{at}/sign-up?{urlencode({'key': key})}")


def list_all(platform: Platform, user: User | None = None) -> InvitationList:
    """Usable invitations, newest first. Raises NotAllowed."""
    if user is not None:
        check_staff(user)
    statement = (
        select(InvitationRow, UserRow.name)
        .outerjoin(UserRow, InvitationRow.made_by == UserRow.id)
        .where(InvitationRow.expires_at > utcnow(), InvitationRow.used < InvitationRow.uses)
        .order_by(InvitationRow.id.desc())
    )
    with platform.sessions() as session:
        found = session.execute(statement).all()
    return InvitationList(invitations=[_view(row, name) for row, name in found])


def revoke(platform: Platform, number: int, user: User | None = None) -> None:
    """Accounts made with it stay. Raises NotAllowed, NotFound."""
    if user is not None:
        check_staff(user)
    with writing(platform.sessions) as session:
        statement = delete(InvitationRow).where(InvitationRow.id == number)
        if number > _LARGEST_NUMBER or not changed(session, statement):
            raise NotFound(f"There is no invitation {number}.", "The page People lists the invitations.")
        if user is not None:
            audit.note(session, user, Action.INVITATION_REVOKE, f"/invitations/{number}")


def find(session: Session, key: str) -> InvitationRow:
    """Counts no use. Raises LinkUseless."""
    row = session.scalar(
        select(InvitationRow).where(
            InvitationRow.sha256 == digest(key),
            InvitationRow.used < InvitationRow.uses,
            InvitationRow.expires_at > utcnow(),
        )
    )
    if row is None:
        raise LinkUseless("Ask the person who invited you for a new link.")
    return row


def use(session: Session, key: str) -> InvitationRow:
    """Safe against concurrent use. Raises LinkUseless."""
    row = find(session, key)
    taken = (
        update(InvitationRow)
        .where(InvitationRow.id == row.id, InvitationRow.used < InvitationRow.uses)
        .values(used=InvitationRow.used + 1)
        .execution_options(synchronize_session=False)
    )
    if not changed(session, taken):
        raise LinkUseless("Ask the person who invited you for a new link.")
    return row


def of_key(platform: Platform, key: str) -> InvitationView:
    """Raises LinkUseless."""
    with platform.sessions() as session:
        return _view(find(session, key), None)


def _view(row: InvitationRow, made_by: str | None) -> InvitationView:
    return InvitationView.model_validate(
        {
            "id": row.id,
            "label": row.label,
            "role": row.role,
            "uses": row.uses,
            "used": row.used,
            "made_by": made_by,
            "created_at": row.created_at,
            "expires_at": row.expires_at,
        }
    )
