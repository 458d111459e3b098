from __future__ import annotations

from collections.abc import Callable

from flask import Blueprint, render_template, url_for
from werkzeug.utils import redirect
from werkzeug.wrappers import Response

from grader.errors import Conflict, GraderError, NotFound
from grader.schemas.version import ChangeView, Comparison, VersionList
from grader.service.challenges import rejudge as rejudging
from grader.service.challenges import versions
from grader.web import forms
from grader.web.access import STAFF, open_to
from grader.web.auth.identity import current_user
from grader.web.current import platform

pages = Blueprint("versions", __name__)


@pages.get("/challenges/<slug>/versions")
@open_to(STAFF)
def show(slug: str) -> str:
    """Versions, changes since the version shown, and the comparison."""
    return _page(slug, None)


@pages.post("/challenges/<slug>/rejudge")
@open_to(STAFF)
def rejudge(slug: str) -> Response | tuple[str, int]:
    """Judge earlier submissions again under the folder's version."""
    ranked = forms.ticked("ranked")
    return _do(slug, lambda: rejudging.rejudge(platform(), current_user(), slug, ranked))


@pages.post("/challenges/<slug>/publish")
@open_to(STAFF)
def publish(slug: str) -> Response | tuple[str, int]:
    """Show the board of the folder's version."""
    force = forms.ticked("force")
    return _do(slug, lambda: versions.publish(platform(), current_user(), slug, force))


def _do(slug: str, act: Callable[[], object]) -> Response | tuple[str, int]:
    versions.check_staff(current_user())
    try:
        act()
    except Conflict as error:
        return _page(slug, error), error.status
    return redirect(url_for("versions.show", slug=slug), 303)


def _page(slug: str, error: GraderError | None) -> str:
    found = versions.list_versions(platform(), current_user(), slug)
    return render_template(
        "versions.html",
        challenge=platform().catalogue.load(slug).manifest.title,
        found=found,
        shown=next((each.version for each in found.versions if each.shown), None),
        changes=_changes(found),
        compared=_comparison(slug),
        error=error,
    )


def _changes(found: VersionList) -> list[ChangeView]:
    """Empty if the shown version is unknown."""
    for each in found.versions:
        if each.shown:
            try:
                return versions.changes_since(platform(), current_user(), found.challenge, each.version)
            except NotFound:
                return []
    return []


def _comparison(slug: str) -> Comparison | None:
    try:
        return rejudging.compare(platform(), current_user(), slug)
    except Conflict:
        return None
