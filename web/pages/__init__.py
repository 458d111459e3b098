"""The pages: HTML for people, made on the server; JavaScript only saves reloads."""

from __future__ import annotations

from flask import Flask


def register(app: Flask) -> None:
    """Put every page into ``app``, and the filters that the templates use."""
    from grader.web.pages import (
        account,
        announcements,
        appearance,
        assignments,
        comments,
        competitions,
        courses,
        device,
        differences,
        docs,
        feedback,
        formats,
        gradebook,
        home,
        inbox,
        leaderboards,
        learning_platforms,
        lti,
        notices,
        operations,
        people,
        personal,
        profile,
        progress,
        publication,
        regrades,
        resets,
        rosters,
        shared,
        sign_in,
        sign_on,
        sign_up,
        similarity,
        submissions,
        uploads,
        versions,
    )

    formats.init_app(app)
    notices.init_app(app)
    for page in (
        home,
        submissions,
        comments,
        notices,
        differences,
        shared,
        leaderboards,
        competitions,
        progress,
        versions,
        uploads,
        operations,
        publication,
        sign_in,
        sign_on,
        lti,
        learning_platforms,
        sign_up,
        resets,
        account,
        device,
        people,
        personal,
        profile,
        appearance,
        docs,
        courses,
        rosters,
        assignments,
        gradebook,
        similarity,
        regrades,
        feedback,
        inbox,
        announcements,
    ):
        app.register_blueprint(page.pages)
