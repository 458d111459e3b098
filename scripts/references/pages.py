"""The web's pages, from its routes."""

from __future__ import annotations

from collections.abc import Iterator

from flask import Flask

from grader.manual.markup import code, table, unwrapped
from grader.web.access import access_of
from references.application import API, application
from references.markdown import page

ABOUT = (
    "After this page you can find every address of the web outside the [API](../api.md). Pages are made on the server "
    "and work without JavaScript. Forms carry a token against forgery, so a program should use the API instead."
)
_STATIC = "A file that pages need: style, script, icon. Its address changes with its content."


def make() -> str:
    with application() as app:
        rows = sorted(_rows(app), key=lambda row: (row[0], row[1]))
    return page("Pages", ABOUT, [table(("address", "method", "what it shows or does", "open to"), rows)])


def _rows(app: Flask) -> Iterator[tuple[str, str, str, str]]:
    for rule in app.url_map.iter_rules():
        if rule.rule.startswith(API):
            continue
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"}):
            access = access_of(app.view_functions[rule.endpoint])
            yield code(rule.rule), method, about(app, rule.endpoint), access.who if access else ""


def about(app: Flask, endpoint: str) -> str:
    """The view's first paragraph."""
    if endpoint == "static":
        return _STATIC
    return unwrapped((app.view_functions[endpoint].__doc__ or "").partition("\n\n")[0])
