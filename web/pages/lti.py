"""In a platform's frame browsers keep none of our cookies, so a launch begins again in a new tab. Choosing an
assignment needs no session and stays there."""

from __future__ import annotations

import hmac
from urllib.parse import urlsplit

from flask import (
    Blueprint,
    Response,
    after_this_request,
    g,
    jsonify,
    redirect,
    render_template,
    request,
)
from werkzeug.wrappers import Response as BaseResponse

from grader import limits
from grader.errors import BadRequest, Conflict, GraderError, SignOnFailed
from grader.schemas.lti import Teachers
from grader.service.accounts import accounts
from grader.service.lti import deep_linking
from grader.service.lti import launch as lti_launch
from grader.service.lti import platforms as lti_platforms
from grader.service.lti.claims import Launch
from grader.service.lti.launch import Outcome
from grader.web import throttle
from grader.web.access import ANYONE, open_to
from grader.web.auth import sessions
from grader.web.auth.identity import current_user, viewer
from grader.web.current import platform
from grader.web.pages.keys import Page, private

pages = Blueprint("lti", __name__)

COOKIE = "grader_lti"
_SECONDS = 60 * limits.LAUNCH_MINUTES


@pages.route("/lti/login", methods=["GET", "POST"])
@open_to(ANYONE)
def login() -> BaseResponse | Page:
    """Redirects a browser that followed a learning platform's link back to the platform, in a new tab."""
    throttle.count_sign_on()
    given = request.form if request.method == "POST" else request.args
    params = {name: given[name] for name in _PARAMETERS if name in given}
    chooses = urlsplit(params.get("target_link_uri", "")).path == "/lti/select"
    if request.headers.get("Sec-Fetch-Dest") in ("iframe", "frame", "embed", "object") and not chooses:
        known = lti_launch.find_platform(platform(), params)
        _framed_by(known.id)
        return render_template("lti/open.html", params=params, name=known.name), 200
    begun = lti_launch.begin(platform(), params)

    @after_this_request
    def _set(response: Response) -> Response:
        # Browsers send only SameSite=None cookies with another site's form.
        response.set_cookie(
            COOKIE,
            begun.state,
            max_age=_SECONDS,
            path="/lti",
            secure=request.is_secure,
            httponly=True,
            samesite="None" if request.is_secure else "Lax",
        )
        return response

    return redirect(begun.url)


_PARAMETERS = ("iss", "client_id", "login_hint", "lti_message_hint", "target_link_uri", "lti_deployment_id")


@pages.route("/lti/launch", methods=["POST"])
@open_to(ANYONE)
def launch() -> BaseResponse | Page:
    """Receives a platform's signed token: signs the person in and opens the course, or asks for missing details."""
    throttle.count_sign_on()
    state = request.form.get("state", "")
    if "error" in request.form:
        raise SignOnFailed(
            "The learning platform did not sign you in.", "Sign in there and follow the link again."
        )
    said = lti_launch.receive(platform(), request.form.get("id_token", ""), state)
    if said.selects:
        return _choice(said, state)
    # A victim's browser would finish an attacker's launch, signed in as the attacker.
    if not hmac.compare_digest(request.cookies.get(COOKIE, "").encode(), state.encode()):
        raise SignOnFailed(
            "This launch did not begin in this browser, or the browser blocks this site's cookie.",
            "Set the link in the learning platform to open in a new window, or follow it again.",
        )
    outcome = lti_launch.complete(platform(), said)
    if outcome.user is not None:
        sessions.begin(outcome.user)
    return redirect(outcome.path, 303)


@pages.get("/lti/launch")
@open_to(ANYONE)
def launched() -> BaseResponse:
    """Redirects bookmarks of a launch's address."""
    return redirect("/courses")


@pages.get("/lti/continue")
@open_to(ANYONE)
def show() -> Page | BaseResponse:
    """Asks for the person's account, or for the course, as the launch needs."""
    said = _waiting()
    return _continue_page(said, lti_launch.complete(platform(), said))


@pages.post("/lti/connect")
@open_to(ANYONE)
def connect() -> Page | BaseResponse:
    """Connect the launch's person to the signed-in account. Needs the password."""
    said, user = _waiting(), current_user()
    try:
        if not sessions.is_recent():
            with throttle.password_try(user.name):
                accounts.check_password(platform(), user, request.form.get("present", ""))
        lti_launch.connect(platform(), user, said)
    except GraderError as error:
        return _continue_page(said, lti_launch.complete(platform(), said), error)
    return _go_on(said)


@pages.post("/lti/link")
@open_to(ANYONE)
def link() -> Page | BaseResponse:
    """Link the launch's course to a course here."""
    said = _waiting()
    try:
        try:
            teachers = Teachers(request.form.get("teachers", ""))
        except ValueError as error:
            raise BadRequest("Choose what its teachers become here.") from error
        lti_launch.link_course(platform(), current_user(), said, request.form.get("course", ""), teachers)
    except (BadRequest, Conflict) as error:
        return _continue_page(said, lti_launch.complete(platform(), said), error)
    return _go_on(said)


def _go_on(said: Launch) -> Page | BaseResponse:
    outcome = lti_launch.complete(platform(), said)
    if outcome.needs:
        return _continue_page(said, outcome)
    return redirect(outcome.path, 303)


def _waiting() -> Launch:
    """Its own cookie survives signing in."""
    return lti_launch.pending(platform(), request.cookies.get(COOKIE, ""))


def _continue_page(said: Launch, outcome: Outcome, error: GraderError | None = None) -> Page | BaseResponse:
    if not outcome.needs and error is None:
        return redirect(outcome.path, 303)
    user = viewer()
    page = render_template(
        "lti/continue.html",
        launch=said,
        outcome=outcome,
        recent=sessions.is_recent(),
        courses=lti_launch.linkable(platform(), user) if user is not None else [],
        teachers=Teachers,
        error=error,
    )
    return private((page, error.status if error else 200))


def _choice(said: Launch, state: str) -> Page:
    """In the platform's frame, without a session."""
    _framed_by(said.platform)
    try:
        choice = deep_linking.choose(platform(), said, state)
    except GraderError as error:
        return render_template("lti/select.html", choice=None, error=error), error.status
    return render_template("lti/select.html", choice=choice, error=None), 200


@pages.post("/lti/select")
@open_to(ANYONE)
def select() -> Page:
    """Returns the chosen assignment to the platform. The form's ticket works once, and is its only authorisation."""
    return_url, choice, said = deep_linking.chosen(
        platform(), request.form.get("ticket", ""), request.form.get("assignment", "")
    )
    _framed_by(said.platform)
    parts = urlsplit(return_url)
    g.forms_to = f"{parts.scheme}://{parts.netloc}"
    return render_template("lti/chosen.html", return_url=return_url, choice=choice), 200


@pages.get("/lti/keys.json")
@open_to(ANYONE)
def keys() -> Response:
    """The public keys of this site's messages to learning platforms."""
    return _public(jsonify(lti_platforms.public_keys(platform())))


@pages.get("/lti/canvas.json")
@open_to(ANYONE)
def canvas() -> Response:
    """A developer key's configuration for Canvas."""
    return _public(jsonify(lti_platforms.canvas_configuration(platform())))


def _public(response: Response) -> Response:
    response.headers["Cache-Control"] = "public, max-age=300"
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response


def _framed_by(number: int) -> None:
    g.framed_by = " ".join(deep_linking.frames(platform(), number))
