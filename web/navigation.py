from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flask import Flask, current_app, request, url_for

from grader.service.boards import readers
from grader.service.operation import health
from grader.service.review import inbox
from grader.service.submissions.submissions import teaches
from grader.web.auth.identity import is_staff, viewer
from grader.web.current import platform


@dataclass(frozen=True)
class Link:
    """Current on pages of its endpoint's blueprint and of those in it."""

    label: str
    endpoint: str
    count: int = 0  # waiting items

    @property
    def current(self) -> bool:
        here = request.blueprint or ""
        return _WITHIN.get(here, here) == self.endpoint.partition(".")[0]


# Blueprints that belong to another.
_WITHIN = dict.fromkeys(
    (
        *("rosters", "assignments", "course_catalogues", "gradebook"),
        *("learning_platforms", "feedback", "similarity"),
    ),
    "courses",
)
_EVERYONE = (Link("Challenges", "challenges.index"), Link("Learn", "chapters.index"))
_READERS = (Link("Leaderboards", "leaderboards.index"), Link("Competitions", "competitions.index"))
_DOCS = (Link("Docs", "docs.index"),)
_SIGNED_IN = (
    Link("Courses", "courses.index"),
    Link("Submissions", "submissions.index"),
    Link("Progress", "progress.show"),
)
# Each links to the others (own_pages in _parts.html).
_OWN = (
    Link("Profile", "profile.show"),
    Link("Progress", "progress.show"),
    Link("Portfolio", "portfolio.show"),
    Link("Notices", "notices.index"),
    Link("Settings", "account.show"),
    Link("Export and deletion", "personal.show_own"),
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
    app.jinja_env.globals["own_links"] = own_links  # for a macro


def links() -> list[Link]:
    """Links to pages that this release has."""
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
    return [*_inbox(), *_STAFF] if is_staff() else []


def _inbox() -> list[Link]:
    """For staff, and teachers."""
    user = viewer()
    if user is None or not (user.staff or teaches(user)):
        return []
    return [Link("Inbox", "inbox.index", inbox.open_count(platform(), user))]


def own_links() -> list[tuple[Link, str]]:
    """With addresses."""
    user = viewer()
    if user is None:
        return []
    values: dict[str, dict[str, Any]] = {"profile.show": {"name": user.name}}
    return [(link, url_for(link.endpoint, **values.get(link.endpoint, {}))) for link in _OWN]


def _for_templates() -> dict[str, Any]:
    return {
        "main_links": links,
        "staff_links": staff_links,
        "broken_challenges": _broken_challenges,
    }


def _broken_challenges() -> list[str]:
    """For staff; the first page lists them anyway."""
    if not is_staff() or request.endpoint == "challenges.index":
        return []
    return health.broken_challenges(platform())
