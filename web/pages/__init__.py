"""The pages: HTML for people, made on the server; JavaScript only saves reloads."""

from __future__ import annotations

from flask import Flask


def register(app: Flask) -> None:
    """Put every page into ``app``, and the filters that the templates use."""
    from grader.web.pages import (
        account,
        appearance,
        competitions,
        device,
        differences,
        docs,
        formats,
        home,
        leaderboards,
        people,
        profile,
        progress,
        resets,
        shared,
        sign_in,
        sign_up,
        submissions,
        versions,
    )

    formats.init_app(app)
    for page in (
        home,
        submissions,
        differences,
        shared,
        leaderboards,
        competitions,
        progress,
        versions,
        sign_in,
        sign_up,
        resets,
        account,
        device,
        people,
        profile,
        appearance,
        docs,
    ):
        app.register_blueprint(page.pages)
