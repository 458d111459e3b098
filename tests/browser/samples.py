"""Which addresses show every page of the application. A page that is not here fails a test."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from grader.manual.pages import manual
from grader.schemas.notice import NoticeKind
from grader.service.accounts import resets
from grader.service.boards import share
from grader.service.messages import digests
from tests.browser.furnished import Site
from tests.web import builders

# What answers GET and is no page: programs read it, or a page fetches it.
NO_PAGES = (
    "lti.",
    *("static", "probes.", "openapi_document", "api_", "submissions.panel", "leaderboards.table"),
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
)


@dataclass(frozen=True)
class Sample:
    """One page: ``name`` is of a file, too; ``who`` looks at it, nobody where it is empty."""

    endpoint: str
    name: str
    path: str
    who: str = "ada"


Paths = Mapping[str, str]


def _docs(_: Site) -> Paths:
    """The first page of each part: all are set by one template."""
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
    "operations.show": lambda _: {"operations": "/operations"},
    "operations.log": lambda _: {"audit": "/audit"},
    "uploads.index": lambda _: {"uploads": "/uploads"},
    "uploads.show": lambda _: {"upload": f"/uploads/{builders.SLUG}/1"},
    "uploads.preview": lambda _: {"upload-preview": f"/uploads/{builders.SLUG}/1/preview"},
    "uploads.edit": lambda _: {"upload-spec": f"/uploads/{builders.SLUG}/spec"},
    "design.show": lambda _: {"design": "/design"},
    "people.show": lambda _: {"people": "/people"},
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
    "inbox.index": lambda _: {"inbox": "/inbox", "inbox-empty": "/inbox?user=grace&outcome=void"},
    "regrades.index": lambda _: {"regrades": "/regrades"},
    "regrades.new": lambda _: {"regrade-new": "/regrades/new?course=gpu&assignment=week1"},
    "regrades.show": lambda _: {"regrade": "/regrades/1"},
    "learning_platforms.index": lambda _: {"learning-platforms": "/lti/platforms"},
    "learning_platforms.show": lambda _: {"course-lti": "/courses/gpu/lti"},
    "gradebook.of_student": lambda _: {"grades-of-student": "/courses/gpu/grades/ada"},
}
_OF_STUDENTS: dict[str, Callable[[Site], Paths]] = {
    "challenges.index": lambda _: {"home": "/", "home-filtered": "/?q=softmax"},
    "challenges.show": lambda _: {"challenge": f"/challenges/{builders.SLUG}"},
    "submissions.index": lambda _: {
        "submissions": "/submissions",
        "submissions-none": "/submissions?challenge=softmax",
    },
    "submissions.show": lambda site: {
        f"submission-{what.replace('_', '-')}": f"/submissions/{it}" for what, it in site.submissions.items()
    },
    "leaderboards.index": lambda _: {"leaderboards": "/leaderboards"},
    "leaderboards.show_track": lambda _: {"track": "/leaderboards/tracks/fundamentals"},
    "profile.show": lambda _: {"profile": "/users/ada", "profile-of-other": "/users/bob"},
    "docs.find": lambda _: {"docs-search": "/docs/search?q=tolerance"},
    "docs.index": lambda _: {"docs": "/docs"},
    "docs.show": _docs,
    "leaderboards.show": lambda _: {
        "leaderboard": f"/leaderboards/{builders.SLUG}",
        "leaderboard-empty": "/leaderboards/softmax",
    },
    "differences.show": lambda site: {
        "difference": f"/submissions/{site.submissions['accepted']}/diff",
        "difference-of-nothing": f"/submissions/{site.submissions['slower']}/diff",
    },
    "progress.show": lambda _: {"progress": "/progress"},
    "competitions.index": lambda _: {"competitions": "/competitions"},
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
    "courses.index": lambda _: {"courses": "/courses"},
    "courses.show": lambda _: {"course": "/courses/gpu"},
    "courses.offer": lambda site: {"join": f"/join?key={site.code}"},
    "assignments.show": lambda _: {"assignment": "/courses/gpu/assignments/week1"},
    "gradebook.own": lambda _: {"grades": "/courses/gpu/grades"},
    "personal.show_own": lambda _: {"personal": "/account/data"},
    "account.show": lambda _: {"account": "/account"},
    "notices.index": lambda _: {"notices": "/notices"},
    "account.confirm_email": lambda _: {"email": "/account/email?key=x"},
    "device.form": lambda _: {"device": "/device"},
}
# What a page answers that is shown with a key which is no longer good.
REFUSED = {"resets.setup_form": {403, 404, 400}, "account.confirm_email": {403, 404, 400}, "error": {404}}


def pages(site: Site) -> Iterable[str]:
    """The endpoint of every page that the application has."""
    for rule in site.app.url_map.iter_rules():
        if "GET" in (rule.methods or ()) and not rule.endpoint.startswith(NO_PAGES):
            yield rule.endpoint


def samples(site: Site) -> list[Sample]:
    """Every page, some of them in several states."""
    groups = [("", _OF_NOBODY), ("ada", _OF_STUDENTS), ("boss", _OF_STAFF)]
    found = [
        Sample(endpoint, name, path, who)
        for who, group in groups
        for endpoint, make in group.items()
        for name, path in make(site).items()
    ]
    found.append(Sample("challenges.index", "home-of-nobody", "/", ""))
    found.append(Sample("error", "no-such-page", "/no-such-page"))
    return found
