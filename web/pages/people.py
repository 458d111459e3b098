from __future__ import annotations

from flask import Blueprint, Response, redirect, render_template, request, url_for
from pydantic import ValidationError
from werkzeug.wrappers import Response as BaseResponse

from grader.errors import BadRequest, GraderError
from grader.schemas.account import InvitationBody, Role
from grader.service.accounts import invitations, people, resets
from grader.web.access import ADMINS, STAFF, open_to
from grader.web.auth.identity import current_user
from grader.web.current import platform
from grader.web.pages.keys import Page, private

pages = Blueprint("people", __name__)


@pages.get("/people")
@open_to(STAFF)
def show() -> Response:
    """All accounts with their roles, and open invitations. For staff."""
    return private(_page())


@pages.post("/people/invitations")
@open_to(STAFF)
def invite() -> Response:
    """Create an invitation; only the answering page shows its link."""
    form = request.form
    try:
        body = _read(form.to_dict())
        made = invitations.make(platform(), body, current_user(), request.host_url.rstrip("/"))
    except BadRequest as error:
        return private(_page(error=error))
    uses = "one account" if made.uses == 1 else f"{made.uses} accounts"
    return private(_page(link=made.link, about=f"An invitation for {uses} ({made.role})."))


@pages.post("/people/invitations/<int:number>/revoke")
@open_to(STAFF)
def revoke(number: int) -> BaseResponse:
    """Revoke an invitation."""
    invitations.revoke(platform(), number, current_user())
    return redirect(url_for("people.show"), 303)


@pages.post("/people/<name>/reset")
@open_to(STAFF)
def reset(name: str) -> Response:
    """Create a link that sets somebody's password, to hand over."""
    link = resets.make_link_as(platform(), current_user(), name)
    at = platform().settings.url or request.host_url.rstrip("/")
    return private(_page(link=link.at(at), about=f"A new password for {name}."))


@pages.post("/people/<name>/role")
@open_to(ADMINS)
def set_role(name: str) -> BaseResponse | Response:
    """Change somebody's role. For admins."""
    try:
        role = Role(request.form.get("role", ""))
    except ValueError:
        return private(_page(error=BadRequest("Unknown role.")))
    people.set_role(platform(), name, role, current_user())
    return redirect(url_for("people.show"), 303)


def _read(form: dict[str, str]) -> InvitationBody:
    given = {key: value for key, value in form.items() if key in InvitationBody.model_fields and value}
    try:
        return InvitationBody.model_validate_strings(given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise BadRequest(f"{'.'.join(map(str, first['loc']))}: {first['msg']}.") from error


def _page(link: str = "", about: str = "", error: GraderError | None = None) -> Page:
    page = render_template(
        "people.html",
        found=people.list_people(platform(), current_user()),
        kept=invitations.list_all(platform(), current_user()),
        roles=[role.value for role in Role],
        link=link,
        about=about,
        error=error,
    )
    return page, error.status if error else 200
