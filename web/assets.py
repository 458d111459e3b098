"""Static files, at addresses that change with the content."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from flask import Flask, Response, current_app

from grader.languages import Language
from grader.web.access import ANYONE, open_to

_STATIC = Path(__file__).parent / "static"


def init_app(app: Flask) -> None:
    app.url_defaults(_stamp)


def add_routes(app: Flask) -> None:
    app.add_url_rule("/static/languages.css", "language_colours", _language_colours)


@open_to(ANYONE)
def _language_colours() -> Response:
    """The languages' colours as a style sheet, since the content security policy forbids style in the page."""
    response = Response(_language_rules(), mimetype="text/css")
    response.cache_control.public = True
    response.cache_control.max_age = current_app.config["SEND_FILE_MAX_AGE_DEFAULT"]
    return response


def _language_rules() -> str:
    return "".join(
        f".language.{language.value}, progress.{language.value} "
        f"{{ --language: light-dark({language.colours[0]}, {language.colours[1]}); }}\n"
        for language in Language
    )


def _stamp(endpoint: str, values: dict[str, Any]) -> None:
    if endpoint == "static" and "filename" in values:
        values.setdefault("v", _digest(values["filename"]))
    elif endpoint == "language_colours":
        values.setdefault("v", _short(_language_rules().encode()))


def built(filename: str) -> str | None:
    """None if not built: pages work without it."""
    path = f"built/{filename}"
    return path if _digest(path) else None


@cache
def _digest(filename: str) -> str:
    path = _STATIC / filename
    return _short(path.read_bytes()) if path.is_file() else ""


def _short(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]
