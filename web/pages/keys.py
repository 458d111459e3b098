"""Pages with a secret address: forms pass it on, and no cache or Referer keeps it."""

from __future__ import annotations

from flask import Response, make_response, request

Page = tuple[str, int]
_KEY_CHARS = 128


def shown_key() -> str:
    given = request.form if request.method == "POST" else request.args
    return given.get("key", "")[:_KEY_CHARS]


def private(page: Page) -> Response:
    response = make_response(*page)
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["Cache-Control"] = "private, no-store"
    return response
