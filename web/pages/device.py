from __future__ import annotations

from flask import Blueprint, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from grader.errors import NotFound
from grader.service.accounts import device_codes
from grader.web import throttle
from grader.web.access import SIGNED_IN, open_to
from grader.web.auth.identity import current_user, viewer
from grader.web.current import platform

pages = Blueprint("device", __name__)


@pages.get("/device")
@open_to(SIGNED_IN, guard=False)
def form() -> Response | str | tuple[str, int]:
    """Asks for the code, or shows what the code in the address asks for. Opening it approves nothing."""
    if viewer() is None:
        return redirect(url_for("sign_in.form", next=request.full_path.rstrip("?")))
    code = request.args.get("code", "")
    if not code:
        return render_template("device.html", asked=None, error=None, code="")
    throttle.count_code_guess()
    try:
        asked = device_codes.find_pending(platform(), current_user(), code)
    except NotFound as error:
        return render_template("device.html", asked=None, error=error, code=code), error.status
    return render_template("device.html", asked=asked, error=None, code=asked.code)


@pages.post("/device")
@open_to(SIGNED_IN)
def decide() -> str | tuple[str, int]:
    """Approve if the button says so; anything else denies."""
    user = current_user()
    approve = request.form.get("answer") == "approve"
    code = request.form.get("code", "")
    throttle.count_code_guess()
    try:
        device_codes.decide(platform(), user, code, approve)
    except NotFound as error:
        return render_template("device.html", asked=None, error=error, code=code), error.status
    message = "Signed in. Go back to the terminal: it continues within seconds." if approve else "Denied."
    return render_template("message.html", title="Command line", message=message)
