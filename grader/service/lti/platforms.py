"""Learning platforms (LTI 1.3), our keys and configuration. Uses Authlib and joserfc."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from joserfc.jwk import KeySet, RSAKey
from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from grader.errors import BadRequest, Conflict, NotFound
from grader.records.engine import writing
from grader.records.models import LtiContextRow, LtiKeyRow, LtiPlatformRow, utcnow
from grader.schemas.lti import (
    LtiPlatformBody,
    LtiPlatformChange,
    LtiPlatformList,
    LtiPlatformView,
    LtiTool,
    PlatformKind,
)
from grader.service import audit
from grader.service.accounts import links
from grader.service.accounts.accounts import User, check_admin
from grader.service.courses.permissions import Action
from grader.service.platform import Platform

_KEY_BITS = 2048
SCORE_SCOPE = "https://purl.imsglobal.org/spec/lti-ags/scope/score"
LINE_ITEM_SCOPE = "https://purl.imsglobal.org/spec/lti-ags/scope/lineitem.readonly"


def tool(platform: Platform) -> LtiTool:
    base = links.base_url(platform.settings)
    return LtiTool(
        login_url=f"{base}/lti/login",
        launch_url=f"{base}/lti/launch",
        select_url=f"{base}/lti/select",
        jwks_url=f"{base}/lti/keys.json",
        canvas_url=f"{base}/lti/canvas.json",
    )


def canvas_configuration(platform: Platform) -> dict[str, Any]:
    """For a Canvas developer key."""
    ours = tool(platform)
    host = urlsplit(ours.launch_url).hostname or ""

    def placement(name: str, message: str, url: str, **more: Any) -> dict[str, Any]:
        return {
            "text": "grader",
            "placement": name,
            "message_type": message,
            "target_link_uri": url,
            "enabled": True,
            **more,
        }

    return {
        "title": "grader",
        "description": "GPU kernels: submit, see verdicts, get grades",
        "oidc_initiation_url": ours.login_url,
        "target_link_uri": ours.launch_url,
        "public_jwk_url": ours.jwks_url,
        "scopes": [SCORE_SCOPE, LINE_ITEM_SCOPE],
        "custom_fields": {},
        "extensions": [
            {
                "platform": "canvas.instructure.com",
                "domain": host,
                "tool_id": "grader",
                "privacy_level": "public",
                "settings": {
                    "text": "grader",
                    "placements": [
                        placement(
                            "course_navigation",
                            "LtiResourceLinkRequest",
                            ours.launch_url,
                            windowTarget="_blank",
                        ),
                        placement("assignment_selection", "LtiDeepLinkingRequest", ours.select_url),
                        placement("link_selection", "LtiDeepLinkingRequest", ours.select_url),
                    ],
                },
            }
        ],
    }


def public_keys(platform: Platform) -> dict[str, Any]:
    """Made on first use."""
    signing_key(platform)
    with platform.sessions() as session:
        rows = session.scalars(select(LtiKeyRow).order_by(LtiKeyRow.created_at.desc())).all()
        keys = KeySet([RSAKey.import_key(row.private) for row in rows])
    return dict(keys.as_dict(private=False))


def signing_key(platform: Platform) -> RSAKey:
    query = select(LtiKeyRow).order_by(LtiKeyRow.created_at.desc(), LtiKeyRow.kid).limit(1)
    with platform.sessions() as session:
        row = session.scalar(query)
    if row is None:
        made = _new_key()
        with writing(platform.sessions) as session:
            row = session.scalar(query)
            if row is None:
                row = made
                session.add(row)
    return RSAKey.import_key(row.private)


def _new_key() -> LtiKeyRow:
    key = RSAKey.generate_key(_KEY_BITS, {"use": "sig", "alg": "RS256"}, private=True, auto_kid=True)
    assert key.kid is not None
    return LtiKeyRow(kid=key.kid, private=dict(key.as_dict(private=True)), created_at=utcnow())


def rotate_key(platform: Platform, user: User) -> str:
    """Returns its id; the previous key stays published. Raises NotAllowed."""
    check_admin(user)
    made = _new_key()
    with writing(platform.sessions) as session:
        rows = session.scalars(select(LtiKeyRow).order_by(LtiKeyRow.created_at.desc())).all()
        for row in rows[1:]:
            session.delete(row)
        session.add(made)
        audit.note(session, user, Action.LTI_PLATFORM, "/lti/keys", after={"kid": made.kid})
    return made.kid


def list_platforms(platform: Platform, user: User) -> LtiPlatformList:
    """Raises NotAllowed."""
    check_admin(user)
    with platform.sessions() as session:
        counted = dict(
            session.execute(
                select(LtiContextRow.platform_id, func.count()).group_by(LtiContextRow.platform_id)
            ).all()
        )
        rows = session.scalars(select(LtiPlatformRow).order_by(LtiPlatformRow.id)).all()
    return LtiPlatformList(
        tool=tool(platform), platforms=[_view(row, counted.get(row.id, 0)) for row in rows]
    )


def add_platform(platform: Platform, user: User, body: LtiPlatformBody) -> LtiPlatformView:
    """Raises NotAllowed, BadRequest (an address), Conflict (registered)."""
    check_admin(user)
    body = _completed(body)
    values = body.model_dump(exclude={"kind", "site"})
    row = LtiPlatformRow(**values)
    try:
        with writing(platform.sessions) as session:
            session.add(row)
            session.flush()
            audit.note(
                session,
                user,
                Action.LTI_PLATFORM,
                f"/lti/platforms/{row.id}",
                after={"name": row.name, "issuer": row.issuer, "client_id": row.client_id},
            )
    except IntegrityError as error:
        raise Conflict(
            "This platform is already registered with this client id.", "Change that registration instead."
        ) from error
    return _view(row, 0)


def _completed(body: LtiPlatformBody) -> LtiPlatformBody:
    """Adds the addresses that follow from its kind."""
    site = body.site.rstrip("/")
    if body.kind is not PlatformKind.OTHER and not site:
        raise BadRequest(
            f"The address of the {body.kind.value} site is missing.",
            "Give it, such as https://moodle.uni.edu.",
        )
    host = urlsplit(site).netloc
    known: dict[str, Any] = {}
    if body.kind is PlatformKind.MOODLE:
        known = {
            "issuer": site,
            "auth_url": f"{site}/mod/lti/auth.php",
            "token_url": f"{site}/mod/lti/token.php",
            "jwks_url": f"{site}/mod/lti/certs.php",
        }
    elif body.kind is PlatformKind.CANVAS:
        # In Canvas's hosting one address signs in for all schools.
        hosted = host.endswith(".instructure.com")
        central = "https://sso.canvaslms.com" if hosted else site
        known = {
            "issuer": "https://canvas.instructure.com",
            "auth_url": f"{central}/api/lti/authorize_redirect",
            "token_url": f"{site}/login/oauth2/token",
            "jwks_url": f"{central}/api/lti/security/jwks",
        }
    given = {name: getattr(body, name) or value for name, value in known.items()}
    found = body.model_copy(update=given)
    missing = [name for name in ("issuer", "auth_url", "token_url", "jwks_url") if not getattr(found, name)]
    if missing:
        raise BadRequest(
            f"These fields are missing: {', '.join(missing)}.",
            "The platform shows them on its page for registering tools.",
        )
    return found


def change_platform(platform: Platform, user: User, number: int, body: LtiPlatformChange) -> LtiPlatformView:
    """Raises NotAllowed, NotFound."""
    check_admin(user)
    given = body.model_dump(exclude_none=True)
    with writing(platform.sessions) as session:
        row = find(session, number)
        before = {name: getattr(row, name) for name in given}
        for name, value in given.items():
            setattr(row, name, value)
        audit.note(session, user, Action.LTI_PLATFORM, f"/lti/platforms/{number}", before=before, after=given)
        courses = session.scalar(
            select(func.count()).select_from(LtiContextRow).where(LtiContextRow.platform_id == row.id)
        )
        session.flush()
        return _view(row, courses or 0)


def remove_platform(platform: Platform, user: User, number: int) -> None:
    """Also its links; accounts, members and grades stay. Raises NotAllowed, NotFound."""
    check_admin(user)
    with writing(platform.sessions) as session:
        row = find(session, number)
        before = {"name": row.name, "issuer": row.issuer, "client_id": row.client_id}
        session.delete(row)
        audit.note(session, user, Action.LTI_PLATFORM, f"/lti/platforms/{number}", before=before)


def find(session: Session, number: int) -> LtiPlatformRow:
    """Raises NotFound."""
    row = session.get(LtiPlatformRow, number) if number < 2**31 else None
    if row is None:
        raise NotFound(f"There is no learning platform {number}.", "`grader lti list` lists the platforms.")
    return row


def authority(row: LtiPlatformRow) -> str:
    """All schools in Canvas's hosting share one issuer."""
    return f"{row.issuer} {row.client_id}"


def is_its_own(row: LtiPlatformRow, url: str) -> bool:
    """Only hosts that admins named: a launch's claim is not enough."""
    return urlsplit(url).netloc.lower() in {
        urlsplit(row.token_url).netloc.lower(),
        *(host.lower() for host in row.hosts),
    }


def _view(row: LtiPlatformRow, courses: int) -> LtiPlatformView:
    names = LtiPlatformView.model_fields.keys() - {"courses"}
    return LtiPlatformView(**{name: getattr(row, name) for name in names}, courses=courses)
