"""Addresses that show every page of the application.

Only a page with several states, or with variables in its address that `plain` does not know, needs an entry;
without one it fails a test.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from werkzeug.routing import Rule

from grader.manual.pages import manual
from grader.schemas.notice import NoticeKind
from grader.service.accounts import resets
from grader.service.boards import share
from grader.service.messages import digests
from grader.web.access import ADMINS, PARTY, STAFF, TEACHERS, access_of
from tests.browser.furnished import Site
from tests.web import builders

# GET routes for programs, or for scripts of a page.
NO_PAGES = (
    "lti.",
    *("static", "language_colours"),
    *("probes.", "openapi_document", "api_", "submissions.panel", "steps.bundle", "leaderboards.table"),
    "notices.follow",
    *("competitions.rows", "competitions.certificate", "competitions.signing_key"),
    *(
        "gradebook.export",
        "sign_on.",
        "regrades.panel",
        "uploads.panel",
        "uploads.download",
        "operations.panel",
    ),
    "personal.export",
    *("portfolio.markdown", "portfolio.pdf"),
    "client.show",
)


@dataclass(frozen=True)
class Sample:
    """Screenshots are named ``name``; ``who`` is the visitor, "" for nobody signed in."""

    endpoint: str
    name: str
    path: str
    who: str = "ada"


Paths = Mapping[str, str]


def _docs(_: Site) -> Paths:
    """The first page of each part: one template renders all."""
    first = [role.pages[0].name for role in manual().roles if role.pages]
    return {f"docs-{name.replace('/', '-')}": f"/docs/{name}" for name in first}


_OF_NOBODY: dict[str, Callable[[Site], Paths]] = {
    "sign_in.form": lambda _: {"sign-in": "/sign-in"},
    "sign_up.form": lambda _: {"sign-up": "/sign-up"},
    "resets.forgot": lambda _: {"forgot": "/forgot"},
    "resets.form": lambda site: {"reset": resets.make_link(site.platform, "bob").path},
    "notices.offer_unsubscribe": lambda site: {
        "unsubscribe": "/notices/unsubscribe?key="
        + digests.unsubscribe_key(site.platform.settings, site.ada.id, NoticeKind.COMMENT)
    },
    "shared.show": lambda site: {
        "shared": f"/shared/{share.share(site.platform, site.ada, site.submissions['accepted'])}"
    },
    "resets.setup_form": lambda _: {"setup": "/setup?key=x"},
}
_OF_STAFF: dict[str, Callable[[Site], Paths]] = {
    "versions.show": lambda _: {"versions": f"/challenges/{builders.SLUG}/versions"},
    "personal.show": lambda _: {"personal-of-ada": "/people/ada/data"},
    "publication.show": lambda _: {"publishing": "/challenge-states"},
    "uploads.show": lambda _: {"upload": f"/uploads/{builders.SLUG}/1"},
    "uploads.preview": lambda _: {"upload-preview": f"/uploads/{builders.SLUG}/1/preview"},
    "uploads.edit": lambda _: {
        "upload-spec": f"/uploads/{builders.SLUG}/spec",
        "upload-file": f"/uploads/{builders.SLUG}/spec?file=challenges/{builders.SLUG}/cases.py",
    },
    "publication.offer": lambda _: {"publish": f"/challenges/{builders.SLUG}/state"},
    "course_catalogues.show": lambda _: {"course-catalogue": "/courses/gpu/catalogue"},
    "competitions.new": lambda _: {"competition-new": "/competitions/new"},
    "competitions.manage": lambda _: {
        "competition-manage": "/competitions/league/manage",
        "competition-managed": "/competitions/cup/manage",
    },
    "courses.log": lambda _: {"course-log": "/courses/gpu/log"},
    "rosters.show": lambda _: {"roster": "/courses/gpu/roster?member=ada"},
    "assignments.new": lambda _: {"new-assignment": "/courses/gpu/new-assignment"},
    "similarity.show": lambda _: {"similarity": "/courses/gpu/assignments/week1/similarity"},
    "similarity.pair": lambda _: {"similar-pair": "/courses/gpu/assignments/week1/similarity/1"},
    "announcements.of_competition": lambda _: {
        "competition-announcements": "/competitions/league/announcements"
    },
    "feedback.show": lambda _: {"feedback": "/courses/gpu/assignments/week1/feedback"},
    "feedback.requests": lambda _: {"regrade-requests": "/courses/gpu/regrade-requests"},
    "gradebook.show": lambda _: {"gradebook": "/courses/gpu/gradebook"},
    "gradebook.curve": lambda _: {"curve": "/courses/gpu/curve?formula=p+*+0.9+%2B+10"},
    "inbox.index": lambda _: {"inbox": "/inbox", "inbox-empty": "/inbox?user=grace&outcome=void"},
    "regrades.new": lambda _: {"regrade-new": "/regrades/new?course=gpu&assignment=week1"},
    "regrades.show": lambda _: {"regrade": "/regrades/1"},
    "learning_platforms.index": lambda _: {"learning-platforms": "/lti/platforms"},
    "learning_platforms.show": lambda _: {"course-lti": "/courses/gpu/lti"},
    "gradebook.of_student": lambda _: {"grades-of-student": "/courses/gpu/grades/ada"},
}
_OF_STUDENTS: dict[str, Callable[[Site], Paths]] = {
    "challenges.index": lambda _: {"home": "/", "home-filtered": "/?q=softmax"},
    "challenges.show": lambda _: {"challenge": f"/challenges/{builders.SLUG}"},
    "chapters.show": lambda _: {"chapter": "/learn/threads_and_blocks"},
    "discussions.show": lambda _: {
        "discussion": f"/challenges/{builders.SLUG}/discussion",
        "discussion-thread": f"/challenges/{builders.SLUG}/discussion?thread=1",
        "discussion-empty": "/learn/threads_and_blocks/discussion",
    },
    "submissions.index": lambda _: {
        "submissions": "/submissions",
        "submissions-none": "/submissions?challenge=softmax",
    },
    "submissions.show": lambda site: {
        f"submission-{what.replace('_', '-')}": f"/submissions/{id}" for what, id in site.submissions.items()
    },
    "steps.show": lambda site: {"step": f"/submissions/{site.submissions['stepped']}/step"},
    "leaderboards.show_track": lambda _: {"track": "/leaderboards/tracks/fundamentals"},
    "profile.show": lambda _: {"profile": "/users/ada", "profile-of-other": "/users/bob"},
    "docs.find": lambda _: {"docs-search": "/docs/search?q=tolerance"},
    "docs.show": _docs,
    "leaderboards.show": lambda _: {
        "leaderboard": f"/leaderboards/{builders.SLUG}",
        "leaderboard-empty": "/leaderboards/softmax",
    },
    "differences.show": lambda site: {
        "difference": f"/submissions/{site.submissions['accepted']}/diff",
        "difference-of-nothing": f"/submissions/{site.submissions['slower']}/diff",
    },
    "competitions.show": lambda _: {
        "competition": "/competitions/league",
        "competition-over": "/competitions/cup",
    },
    "competitions.board": lambda _: {
        "competition-board": "/competitions/league/board",
        "competition-results": "/competitions/cup/board",
    },
    "competitions.screen": lambda _: {
        "competition-screen": "/competitions/league/screen",
        "competition-resolved": "/competitions/cup/screen",
    },
    "competitions.show_code": lambda _: {
        "competition-code": f"/competitions/cup/teams/Grace%20&%20co/code/{builders.SLUG}"
    },
    "announcements.of_course": lambda _: {"course-announcements": "/courses/gpu/announcements"},
    "courses.show": lambda _: {"course": "/courses/gpu"},
    "courses.offer": lambda site: {"join": f"/join?key={site.code}"},
    "assignments.show": lambda _: {"assignment": "/courses/gpu/assignments/week1"},
    "gradebook.own": lambda _: {"grades": "/courses/gpu/grades"},
    "personal.show_own": lambda _: {"personal": "/account/data"},
    "account.confirm_email": lambda _: {"email": "/account/email?key=x"},
}
# Statuses of pages that the samples open with a bad key.
REFUSED = {"resets.setup_form": {403, 404, 400}, "account.confirm_email": {403, 404, 400}, "error": {404}}


def pages(site: Site) -> Iterable[Rule]:
    for rule in site.app.url_map.iter_rules():
        if "GET" in (rule.methods or ()) and not rule.endpoint.startswith(NO_PAGES):
            yield rule


def plain(site: Site, named: set[str]) -> Iterable[Sample]:
    """Pages without an entry above: staff visit those for staff and those of a course, ada the others."""
    values = {
        "assignment": "week1",
        "course": "gpu",
        "name": "ada",
        "number": "1",
        "slug": builders.SLUG,
        "submission": site.submissions["accepted"],
    }
    for rule in pages(site):
        access = access_of(site.app.view_functions[rule.endpoint])
        if rule.endpoint in named or access is None or not rule.arguments <= set(values):
            continue
        path = re.sub(r"<(?:\w+:)?(\w+)>", lambda found: values[found[1]], rule.rule)
        staff = access.who in (PARTY, TEACHERS, STAFF, ADMINS)
        yield Sample(rule.endpoint, path.strip("/").replace("/", "-"), path, "boss" if staff else "ada")


def samples(site: Site) -> list[Sample]:
    groups = [("", _OF_NOBODY), ("ada", _OF_STUDENTS), ("boss", _OF_STAFF)]
    found = [
        Sample(endpoint, name, path, who)
        for who, group in groups
        for endpoint, make in group.items()
        for name, path in make(site).items()
    ]
    found += plain(site, {sample.endpoint for sample in found})
    found.append(Sample("challenges.index", "home-of-nobody", "/", ""))
    found.append(Sample("error", "no-such-page", "/no-such-page"))
    return found
