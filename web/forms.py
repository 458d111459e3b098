"""Forms hold UTF-8. What is not is refused: read leniently, it would become another text than the one that was sent."""

from __future__ import annotations

from urllib.parse import unquote_to_bytes

from flask import Flask, request

from grader.errors import BadRequest


def init_app(app: Flask) -> None:
    app.before_request(_check)


def _check() -> None:
    if request.mimetype != "application/x-www-form-urlencoded" or request.path.startswith("/api/"):
        return
    try:
        unquote_to_bytes(request.get_data()).decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadRequest(
            "The form is not UTF-8 text.", "Save the file as UTF-8 and paste it again."
        ) from error
