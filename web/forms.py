"""What the body of a request may be. Forms hold UTF-8: read leniently, they would become another text than the one
that was sent. Calls of the API hold a JSON object; whether a form says yes or no is not guessed.
"""

from __future__ import annotations

from datetime import datetime
from urllib.parse import unquote_to_bytes
from zoneinfo import ZoneInfo

from flask import Flask, request

from grader.errors import BadRequest

# "on" is what browsers send for a ticked box without a value of its own; one that is not ticked they leave out.
_YES, _NO = ("1", "on"), ("0", "")


def init_app(app: Flask) -> None:
    app.before_request(_check)


def ticked(name: str) -> bool:
    """What the present form says of ``name``: yes or, also where it says nothing, no. Raises BadRequest where it says
    anything else.
    """
    return _yes(name, request.form.get(name, ""))


def asks(name: str) -> bool:
    """The same of the address's query."""
    return _yes(name, request.args.get(name, ""))


def _yes(name: str, value: str) -> bool:
    if value not in (*_YES, *_NO):
        raise BadRequest(f"{name}: '{value[:60]}' is neither yes nor no.", "Send 1 for yes, or leave it out.")
    return value in _YES


def local_time(at: datetime, zone: str) -> str:
    """What a field of type datetime-local holds for ``at``: the time of ``zone``, to the second."""
    return at.astimezone(ZoneInfo(zone)).strftime("%Y-%m-%dT%H:%M:%S")


def _check() -> None:
    if request.path.startswith("/api/"):
        _check_object()
    elif request.mimetype == "application/x-www-form-urlencoded":
        _check_text()


def _check_object() -> None:
    # A string would be parsed once more by what validates requests, and be read as what it holds.
    if request.is_json and not isinstance(request.get_json(silent=True), dict | None):
        raise BadRequest(
            "The body is JSON, but not an object.", "Send one, such as {} where nothing is said."
        )


def _check_text() -> None:
    try:
        unquote_to_bytes(request.get_data()).decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadRequest(
            "The form is not UTF-8 text.", "Save the file as UTF-8 and paste it again."
        ) from error
