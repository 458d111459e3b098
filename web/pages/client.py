"""The command line as a wheel, public because pip does not sign in."""

from __future__ import annotations

import hashlib
import io
from importlib.metadata import PackageNotFoundError

from flask import Blueprint, Response, request, send_file, url_for

from grader.client_wheel import client_wheel, client_wheel_name
from grader.errors import NotFound
from grader.web.access import ANYONE, open_to
from grader.web.current import platform

pages = Blueprint("client", __name__, url_prefix="/client")


@pages.get("/<wheel>")
@open_to(ANYONE)
def show(wheel: str) -> Response:
    """The wheel; its name has the version, so there is one name."""
    if wheel != _name():
        raise NotFound(f"There is no client '{wheel}' here.", f"Install this one: {install_command()}")
    found = client_wheel()
    etag = hashlib.sha256(found.content).hexdigest()
    content = io.BytesIO(found.content)
    return send_file(
        content, "application/zip", as_attachment=True, download_name=found.name, etag=etag, max_age=0
    )


def install_command() -> str:
    """The operator's command, or pip with this server's wheel; "" if this server runs from a checkout that is not
    installed."""
    if chosen := platform().settings.client_install:
        return chosen
    name = _name()
    base = platform().settings.url or request.host_url.rstrip("/")
    return f"pip install {base}{url_for('client.show', wheel=name)}" if name else ""


def _name() -> str:
    try:
        return client_wheel_name()
    except PackageNotFoundError:
        return ""
