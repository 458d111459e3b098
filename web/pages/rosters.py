from __future__ import annotations

from flask import Blueprint, Response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from grader import roster_file
from grader.errors import BadRequest, Conflict, GraderError
from grader.schemas.course import InvitationOrder, JoinCodeBody, MemberChange, RosterBody, RosterResult
from grader.service.courses import courses, joining, rosters
from grader.service.courses.permissions import Action
from grader.web import forms
from grader.web.access import PARTY, open_to
from grader.web.auth.identity import current_user
from grader.web.current import platform
from grader.web.pages.courses import body, given
from grader.web.pages.keys import Page, private

pages = Blueprint("rosters", __name__)


@pages.get("/courses/<course>/roster")
@open_to(PARTY, action=Action.ROSTER_READ)
def show(course: str) -> str:
    """Members, invited students and join codes; ?member= opens a form for that member."""
    return _page(course, member=request.args.get("member"))[0]


@pages.post("/courses/<course>/roster")
@open_to(PARTY, action=Action.ROSTER_EDIT)
def take(course: str) -> Page:
    """Show what a CSV file would change, then, with the same text, change it."""
    try:
        file = request.files.get("file")
        content = roster_file.decode(file.read()) if file else None
        wanted = RosterBody(
            text=content.text if content else request.form.get("text", ""),
            dry_run=request.form.get("action") != "import",
            drop_missing=forms.ticked("drop_missing"),
            skip_bad=forms.ticked("skip_bad"),
            let_back_in=forms.ticked("let_back_in"),
        )
        result = rosters.import_roster(platform(), current_user(), course, wanted)
    except (BadRequest, Conflict) as error:
        return _page(course, error)
    guessed = content.encoding if content is not None and content.guessed else ""
    return _page(course, result=result, wanted=wanted, guessed=guessed)


@pages.post("/courses/<course>/roster/<name>")
@open_to(PARTY, action=Action.ROSTER_EDIT)
def change(course: str, name: str) -> BaseResponse | Page:
    """Edit a member, remove a student, or let one back in."""
    # Sends only changed fields: somebody else may have changed others.
    values: dict[str, object] = {
        each: value
        for each in ("full_name", "student_number", "section", "group")
        if (value := request.form.get(each)) is not None and value != request.form.get(f"was-{each}")
    }
    on_roster = False if forms.ticked("drop") else True if forms.ticked("enrol") else None
    try:
        change = body(MemberChange, values).model_copy(update={"on_roster": on_roster})
        rosters.change_member(platform(), current_user(), course, name, change)
    except BadRequest as error:
        return _page(course, error, member=name)
    return redirect(url_for("rosters.show", course=course), 303)


@pages.post("/courses/<course>/invitations/<int:number>/withdraw")
@open_to(PARTY, action=Action.ROSTER_EDIT)
def withdraw(course: str, number: int) -> BaseResponse:
    """Remove an invited student from the roster; the link stops working."""
    rosters.withdraw_invitation(platform(), current_user(), course, number)
    return redirect(url_for("rosters.show", course=course), 303)


@pages.post("/courses/<course>/invitations")
@open_to(PARTY, action=Action.ROSTER_EDIT)
def invite(course: str) -> Response | Page:
    """Create new personal links: a sheet to print, shown only now, or mails."""
    try:
        order = body(InvitationOrder, given("days", "section")).model_copy(
            update={"mail": forms.ticked("mail")}
        )
        sheet = joining.order_invitations(
            platform(), current_user(), course, order, request.host_url.rstrip("/")
        )
    except (BadRequest, Conflict) as error:
        return _page(course, error)
    return private((render_template("course/sheet.html", sheet=sheet), 200))


@pages.post("/courses/<course>/join-codes")
@open_to(PARTY, action=Action.ROSTER_EDIT)
def make_code(course: str) -> BaseResponse | Page:
    """Create a join code."""
    try:
        joining.make_code(
            platform(), current_user(), course, body(JoinCodeBody, given("section", "uses", "days"))
        )
    except (BadRequest, Conflict) as error:
        return _page(course, error)
    return redirect(url_for("rosters.show", course=course), 303)


@pages.post("/courses/<course>/join-codes/<int:number>/revoke")
@open_to(PARTY, action=Action.ROSTER_EDIT)
def revoke_code(course: str, number: int) -> BaseResponse:
    """Revoke a join code."""
    joining.revoke_code(platform(), current_user(), course, number)
    return redirect(url_for("rosters.show", course=course), 303)


def _page(
    course: str,
    error: GraderError | None = None,
    result: RosterResult | None = None,
    wanted: RosterBody | None = None,
    guessed: str = "",
    member: str | None = None,
) -> Page:
    user, base = current_user(), request.host_url.rstrip("/")
    with courses.reading(platform(), user, course, Action.ROSTER_READ) as opened:
        edits = opened.may(Action.ROSTER_EDIT)
    roster = rosters.get_roster(platform(), user, course)
    page = render_template(
        "course/roster.html",
        course=course,
        roster=roster,
        changed=next((each for each in roster.members if edits and each.name == member), None),
        codes=joining.list_codes(platform(), user, course, base).codes if edits else [],
        edits=edits,
        result=result,
        wanted=wanted,
        guessed=guessed,
        error=error,
    )
    return page, error.status if error else 200
