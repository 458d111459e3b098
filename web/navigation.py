"""The links of the header, for who is looking, and what staff must know on every page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flask import Flask, current_app, request

from grader.service.boards import readers
from grader.service.operation import health
from grader.service.review import inbox
from grader.service.submissions.submissions import teaches
from grader.web.auth.identity import is_staff, viewer
from grader.web.current import platform


@dataclass(frozen=True)
class Link:
    """``endpoint`` is where it leads; it is marked on every page of that blueprint, and of those
    within it."""

    label: str
    endpoint: str
    count: int = 0
    """of what waits there"""

    @property
    def current(self) -> bool:
        here = request.blueprint or ""
        return _WITHIN.get(here, here) == self.endpoint.partition(".")[0]


# Blueprints whose pages lie within another's.
_WITHIN = dict.fromkeys(
    ("rosters", "assignments", "gradebook", "learning_platforms", "feedback", "similarity"), "courses"
)
_EVERYONE = (Link("Challenges", "challenges.index"),)
_READERS = (Link("Leaderboards", "leaderboards.index"), Link("Competitions", "competitions.index"))
_DOCS = (Link("Docs", "docs.index"),)
_SIGNED_IN = (
    Link("Courses", "courses.index"),
    Link("Submissions", "submissions.index"),
    Link("Progress", "progress.show"),
)
_STAFF = (
    Link("Regrades", "regrades.index"),
    Link("Publishing", "publication.show"),
    Link("Uploads", "uploads.index"),
    Link("Operations", "operations.show"),
    Link("People", "people.show"),
    Link("Design", "design.show"),
)


def init_app(app: Flask) -> None:
    app.context_processor(_for_templates)


def links() -> list[Link]:
    """Those that this release has a page for."""
    user = viewer()
    reads = readers.may_read(platform(), user)
    wanted = [
        *_EVERYONE,
        *(_READERS if reads else ()),
        *_DOCS,
        *(_SIGNED_IN if user else ()),
        *(() if is_staff() else _inbox()),
    ]
    return [link for link in wanted if link.endpoint in current_app.view_functions]


def staff_links() -> list[Link]:
    """The second line of the header, for staff of the whole platform."""
    return [*_inbox(), *_STAFF] if is_staff() else []


def _inbox() -> list[Link]:
    """For whoever decides of something."""
    user = viewer()
    if user is None or not (user.staff or teaches(user)):
        return []
    return [Link("Inbox", "inbox.index", inbox.open_count(platform(), user))]


def _for_templates() -> dict[str, Any]:
    return {"main_links": links, "staff_links": staff_links, "broken_challenges": _broken_challenges}


def _broken_challenges() -> list[str]:
    """What the banner of staff's pages names; the first page lists it in full."""
    if not is_staff() or request.endpoint == "challenges.index":
        return []
    return health.broken_challenges(platform())
