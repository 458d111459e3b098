"""The HTTP API, version 1: one file per resource. Each view calls one use case and answers with its model."""

from __future__ import annotations

from flask_openapi3.openapi import OpenAPI


def register(app: OpenAPI) -> None:
    """Put every resource under /api/v1."""
    from grader.web.api import (
        accounts,
        announcements,
        assignments,
        challenges,
        comments,
        competitions,
        courses,
        device_codes,
        diagnostics,
        drafts,
        feedback,
        gradebook,
        health,
        inbox,
        leaderboards,
        lti,
        me,
        notices,
        operations,
        people,
        personal,
        preferences,
        progress,
        publication,
        queues,
        regrades,
        rosters,
        similarity,
        sources,
        submissions,
        tokens,
        uploads,
        versions,
    )

    for resource in (
        challenges,
        submissions,
        comments,
        diagnostics,
        drafts,
        leaderboards,
        competitions,
        lti,
        progress,
        versions,
        uploads,
        operations,
        publication,
        tokens,
        me,
        notices,
        preferences,
        health,
        accounts,
        device_codes,
        people,
        personal,
        queues,
        courses,
        rosters,
        assignments,
        gradebook,
        similarity,
        regrades,
        feedback,
        inbox,
        announcements,
        sources,
    ):
        app.register_api(resource.api)
    app.register_api(notices.unsubscribing)
