"""Forms must be UTF-8, API bodies JSON objects; yes and no are never guessed."""

from __future__ import annotations

from datetime import datetime
from urllib.parse import unquote_to_bytes
from zoneinfo import ZoneInfo

from flask import Flask, request

from grader.errors import BadRequest

# Browsers send "on" for a ticked box without a value, and nothing for others.
_YES, _NO = ("1", "on"), ("0", "")


def init_app(app: Flask) -> None:
    app.before_request(_check)


def ticked(name: str) -> bool:
    """Raises BadRequest for anything but yes or no."""
    return _yes(name, request.form.get(name, ""))


def asks(name: str) -> bool:
    """As ``ticked``, for the query."""
    return _yes(name, request.args.get(name, ""))


def _yes(name: str, value: str) -> bool:
    if value not in (*_YES, *_NO):
        raise BadRequest(f"{name}: '{value[:60]}' is neither yes nor no.", "Send 1 for yes, or leave it out.")
    return value in _YES


def local_time(at: datetime, zone: str) -> str:
    """For a datetime-local field, to the second."""
    return at.astimezone(ZoneInfo(zone)).strftime("%Y-%m-%dT%H:%M:%S")


def _check() -> None:
    if request.path.startswith("/api/"):
        _check_object()
    elif request.mimetype == "application/x-www-form-urlencoded":
        _check_text()


def _check_object() -> None:
    # It would be parsed again, as JSON.
    if request.is_json and not isinstance(request.get_json(silent=True), dict | None):
        raise BadRequest(
            "The body is JSON, but not an object.", "Send an object; {} if there is nothing to say."
        )


def _check_text() -> None:
    try:
        unquote_to_bytes(request.get_data()).decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadRequest(
            "The form is not UTF-8 text.", "Save the file as UTF-8 and paste it again."
        ) from error
