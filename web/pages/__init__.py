"""The pages: HTML for people, made on the server; JavaScript only saves reloads."""

from __future__ import annotations

from flask import Flask


def register(app: Flask) -> None:
    """Put every page into ``app``, and the filters that the templates use."""
    from grader.web.pages import (
        account,
        challenges,
        device,
        formats,
        leaderboards,
        people,
        progress,
        resets,
        sign_in,
        sign_up,
        submissions,
        versions,
    )

    formats.init_app(app)
    for page in (
        challenges,
        submissions,
        leaderboards,
        progress,
        versions,
        sign_in,
        sign_up,
        resets,
        account,
        device,
        people,
    ):
        app.register_blueprint(page.pages)
