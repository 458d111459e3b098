"""Every route's answer to each role, from the route's declaration (web/access.py).

A new route needs an entry only if the access test must send it something, or call it at a special path.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from flask_openapi3.openapi import OpenAPI

from grader.client_wheel import client_wheel_name
from grader.web.access import Access, Who, access_of, open_to
from grader.web.app import add_routes

ROLES = ("anonymous", "owner", "other", "staff")
API = "/api/v1"
# One for each of ROLES. None: let in, with any answer.
Statuses = tuple[int | None, int | None, int | None, int | None]
NOT_SIGNED_IN = 401


# Routes that change an account or export a person's data need the scope `account`.
OF_ACCOUNTS = {
    f"{API}{rule}"
    for rule in (
        "/me/deletion",
        "/me/export",
        "/people/<name>/deletion",
        "/people/<name>/export",
        "/tokens/<number>/budget",
    )
}


@dataclass(frozen=True)
class Row:
    """A call, and each role's status. ``{id}``, ``{running}`` and ``{number}`` in the path are the owner's
    submissions and token.
    """

    method: str
    rule: str
    path: str
    statuses: Statuses

    def allows(self, role: str, answer: int) -> bool:
        expected = self.statuses[ROLES.index(role)]
        return answer == expected if expected is not None else answer not in (401, 403) and answer < 500


# Values of variables in addresses; "none" for any other.
_STAND_INS = {
    "about": "challenge",
    "assignment": "week1",
    "challenge": "scale",
    "course": "none",
    "id": "{id}",
    "language": "triton",
    "name": "bob",
    "number": "9",
    "payer": "user",
    "queue": "cpu",
    "slug": "scale",
    "submission": "{id}",
    "track": "first",
    "version": "1",
}
_STAND_INS_BELOW = {
    "/account/tokens": {"number": "{number}"},
    "/competitions/<slug>": {"slug": "cup"},
    "/courses/<course>/grades": {"name": "ada"},
    "/courses/<course>/roster": {"name": "ada"},
    "/invitations": {"number": "1"},
    "/people/invitations": {"number": "1"},
    "/users": {"name": "owner"},
}
_SCORES = f"{API}/courses/<course>/assignments/<assignment>/scores"
# Calls at another path.
PATHS = {
    "GET /account/email": "/account/email?key=x",
    "GET /api/v1/challenges/<slug>/sources.zip": "/api/v1/challenges/nothing/sources.zip",
    f"GET {_SCORES}": "/api/v1/courses/none/assignments/week1/scores?student=ada",
    "GET /client/<wheel>": f"/client/{client_wheel_name()}",
    "GET /docs/<path:name>": "/docs/judging",
    "GET /docs/search": "/docs/search?q=gate",
    "GET /join": "/join?key=BCDF-GHJK",
    "GET /notices/unsubscribe": "/notices/unsubscribe?key=x",
    "GET /people/<name>/data": "/people/owner/data",
    "GET /people/<name>/export": "/people/owner/export",
    "GET /reset": "/reset?key=x",
    "GET /setup": "/setup?key=x",
    "GET /shared/<key>": "/shared/nothing-of-that-key",
    "GET /static/<path:filename>": "/static/page.js",
    "POST /api/v1/notices/unsubscribe": "/api/v1/notices/unsubscribe?key=x",
    "POST /api/v1/submissions/<id>/cancel": "/api/v1/submissions/{running}/cancel",
    "POST /api/v1/workers/<worker>/drain": "/api/v1/workers/nobody/drain",
    "POST /api/v1/workers/<worker>/resume": "/api/v1/workers/nobody/resume",
    "POST /people/<name>/deletion": "/people/owner/deletion",
    "POST /people/<name>/deletion/cancel": "/people/owner/deletion/cancel",
    "POST /submissions/<submission>/cancel": "/submissions/{running}/cancel",
    "POST /submissions/<submission>/void": "/submissions/{running}/void",
    # Each call makes another token.
    "PUT /api/v1/tokens/<number>/budget": "/api/v1/tokens/99999/budget",
    "PUT /api/v1/submissions/<id>/void": "/api/v1/submissions/0000000000/void",
    "DELETE /api/v1/submissions/<id>/withdrawal": "/api/v1/submissions/{running}/withdrawal",
    "PUT /api/v1/submissions/<id>/withdrawal": "/api/v1/submissions/{running}/withdrawal",
    "POST /submissions/<submission>/withdraw": "/submissions/{running}/withdraw",
}
# Answers to permitted callers. Default: 200 for GET, anything for others.
ANSWERS = {
    200: """
        PUT /api/v1/challenges/<slug>/board
        POST /api/v1/challenges/<slug>/kind
        POST /api/v1/challenges/<slug>/rejudge
        PUT /api/v1/challenges/<slug>/state
        PUT /api/v1/drafts/<challenge>/<language>
        DELETE /api/v1/me/deletion
        PATCH /api/v1/me/preferences
        PUT /api/v1/notices/choices
        POST /api/v1/notices/read
        POST /api/v1/operations/retry
        DELETE /api/v1/people/<name>/deletion
        PUT /api/v1/budgets/<payer>/<name>
        POST /api/v1/queues/<queue>/pause
        POST /api/v1/queues/<queue>/resume
        POST /api/v1/submissions/<id>/cancel
        POST /people/<name>/reset
    """,
    201: """
        POST /api/v1/courses
        POST /api/v1/device-codes
        POST /api/v1/discussions/<about>/<slug>
        POST /api/v1/discussions/<about>/<slug>/reports
    """,
    204: """
        DELETE /api/v1/drafts/<challenge>/<language>
        DELETE /api/v1/tokens/current
    """,
    302: """
        GET /lti/launch
    """,
    303: """
        POST /account/deletion/cancel
        POST /account/preferences
        POST /account/sessions/end
        POST /account/tokens/<int:number>/budget
        POST /account/tokens/<int:number>/revoke
        POST /challenges/<slug>/board
        POST /challenges/<slug>/discussion
        POST /challenges/<slug>/discussion/report
        POST /challenges/<slug>/rejudge
        POST /challenges/<slug>/state
        POST /courses
        POST /notices/choices
        POST /notices/read
        POST /operations/queues/<queue>/pause
        POST /operations/queues/<queue>/resume
        POST /operations/retry
        POST /people/<name>/deletion/cancel
        POST /sign-out
        POST /submissions/<submission>/cancel
        POST /theme
    """,
    400: """
        POST /account/deletion
        POST /account/email/prove
        POST /api/v1/batches
        POST /api/v1/competitions
        POST /api/v1/courses/join
        POST /api/v1/device-codes/token
        POST /api/v1/inbox/assign
        POST /api/v1/inbox/decide
        POST /api/v1/me/deletion
        POST /api/v1/notices/unsubscribe
        POST /api/v1/people/<name>/deletion
        POST /api/v1/runs
        POST /api/v1/submissions
        POST /api/v1/uploads
        PUT /api/v1/uploads/<slug>/spec
        POST /challenges/<slug>
        POST /competitions
        POST /competitions/<slug>/manage/<act>
        POST /inbox
        GET /join
        POST /join
        GET /notices/unsubscribe
        POST /notices/unsubscribe
        POST /people/<name>/deletion
        GET /reset
        POST /reset
        GET /setup
        POST /setup
        POST /uploads
        POST /uploads/<slug>/spec
    """,
    401: """
        POST /api/v1/tokens
        POST /sign-in
    """,
    403: """
        POST /account/email
        POST /account/identities/<int:number>/disconnect
        POST /account/password
        POST /lti/connect
        GET /lti/continue
        POST /lti/launch
        POST /lti/link
        GET /lti/login
        POST /lti/login
        POST /lti/select
        GET /sign-in/with/<provider>/back
    """,
    404: """
        POST /account/connect/<provider>
        GET /api/v1/batches/<batch>
        POST /api/v1/batches/<batch>/cancel
        GET /api/v1/batches/<batch>/results
        GET /api/v1/challenges/<slug>/sources.zip
        GET /api/v1/competitions/<slug>
        GET /api/v1/competitions/<slug>/board
        GET /api/v1/competitions/<slug>/final
        GET /api/v1/competitions/<slug>/teams/<team>/certificate
        GET /api/v1/competitions/<slug>/teams/<team>/code/<challenge>
        GET /api/v1/runs/<id>/changes
        DELETE /api/v1/discussions/<about>/<slug>/<int:number>
        PATCH /api/v1/discussions/<about>/<slug>/<int:number>
        PUT /api/v1/discussions/<about>/<slug>/<int:number>/hidden
        POST /challenges/<slug>/discussion/<int:number>
        GET /learn/<slug>
        POST /learn/<slug>/<exercise>
        GET /learn/<slug>/discussion
        POST /learn/<slug>/discussion
        POST /learn/<slug>/discussion/<int:number>
        POST /learn/<slug>/discussion/report
        DELETE /api/v1/invitations/<int:number>
        POST /api/v1/submissions/<id>/comments
        DELETE /api/v1/submissions/<id>/comments/<int:number>
        PATCH /api/v1/submissions/<id>/comments/<int:number>
        POST /api/v1/submissions/<id>/quiz/<int:number>
        DELETE /api/v1/submissions/<id>/void
        GET /api/v1/uploads/<slug>/<number>
        GET /api/v1/uploads/<slug>/<number>/archive
        POST /api/v1/uploads/<slug>/<number>/check
        GET /api/v1/uploads/<slug>/<number>/preview
        POST /api/v1/uploads/<slug>/<number>/stop
        POST /api/v1/uploads/<slug>/<number>/use
        POST /api/v1/uploads/<slug>/withdraw
        PUT /api/v1/tokens/<number>/budget
        POST /api/v1/workers/<worker>/drain
        POST /api/v1/workers/<worker>/resume
        GET /competitions/<slug>
        GET /competitions/<slug>/board
        GET /competitions/<slug>/board/rows
        POST /competitions/<slug>/delete
        POST /competitions/<slug>/edit
        GET /competitions/<slug>/manage
        GET /competitions/<slug>/screen
        GET /competitions/<slug>/teams/<team>/certificate.json
        GET /competitions/<slug>/teams/<team>/code/<challenge>
        POST /device
        POST /forgot
        GET /metrics
        GET /notices/<int:number>
        POST /operations/workers/<worker>/drain
        POST /operations/workers/<worker>/resume
        POST /people/invitations/<int:number>/revoke
        GET /shared/<key>
        GET /sign-up
        POST /sign-up
        POST /sign-up/address
        POST /submissions/<submission>/comments
        POST /submissions/<submission>/comments/<int:number>
        POST /submissions/<submission>/quiz/<int:number>
        GET /submissions/<submission>/step
        GET /submissions/<submission>/step/bundle
        GET /uploads/<slug>/<int:number>
        GET /uploads/<slug>/<int:number>/archive.zip
        POST /uploads/<slug>/<int:number>/check
        GET /uploads/<slug>/<int:number>/panel
        GET /uploads/<slug>/<int:number>/preview
        POST /uploads/<slug>/<int:number>/stop
        POST /uploads/<slug>/<int:number>/use
        POST /uploads/<slug>/<int:number>/withdraw
    """,
    409: """
        POST /api/v1/challenges/<slug>/publish
        POST /api/v1/invitations
        POST /api/v1/regrades
        GET /api/v1/submissions/<id>/comparison
        GET /api/v1/submissions/<id>/standing
        POST /challenges/<slug>/publish
        POST /people/invitations
        POST /regrades
        GET /submissions/<submission>/compare
        POST /submissions/<submission>/void
    """,
    503: """
        GET /api/v1/health
    """,
}
# Refusals that differ from the declaration's.
STATUSES: dict[str, Statuses] = {
    "PUT /api/v1/submissions/<id>/void": (401, 404, 404, 404),
    "POST /submissions/<submission>/share": (302, 303, 404, 403),
    "POST /submissions/<submission>/unshare": (302, 303, 404, 403),
    "PUT /api/v1/submissions/<id>/withdrawal": (401, 409, 404, 403),
    "DELETE /api/v1/submissions/<id>/withdrawal": (401, 200, 404, 403),
    "PUT /api/v1/submissions/<id>/note": (401, 200, 404, 403),
    "POST /submissions/<submission>/withdraw": (302, 409, 404, 403),
    "POST /submissions/<submission>/note": (302, 303, 404, 403),
    "GET /sign-in": (200, 302, 302, 302),
    "GET /sign-in/with/<provider>": (404, 302, 302, 302),
}
# Further calls of a route, whose query or variable decides who may.
MORE = [
    Row("GET", "/api/v1/leaderboards/<slug>", "/api/v1/leaderboards/scale?version=2", (401, 404, 404, 200)),
    Row(
        "GET",
        "/api/v1/leaderboards/<slug>/records",
        "/api/v1/leaderboards/scale/records?version=2",
        (401, 404, 404, 200),
    ),
    Row("GET", "/api/v1/progress", "/api/v1/progress?user=owner", (401, 200, 403, 200)),
    Row("GET", "/device", "/device?code=BCDF-GHJK", (302, 404, 404, 404)),
    Row("GET", "/docs/<path:name>", "/docs/nothing", (404, 404, 404, 404)),
    Row("GET", "/leaderboards/<slug>", "/leaderboards/scale?version=2", (302, 404, 404, 200)),
    Row(
        "GET",
        "/leaderboards/<slug>/board.csv",
        "/leaderboards/scale/board.csv?version=2",
        (302, 404, 404, 200),
    ),
    Row("GET", "/people/<name>/data", "/people/teacher/data", (302, 403, 403, 200)),
    Row("GET", "/progress", "/progress?user=owner", (302, 200, 403, 200)),
    Row(
        "GET",
        "/submissions/<submission>/diff",
        "/submissions/{running}/diff?against={id}",
        (302, 200, 404, 200),
    ),
    Row("GET", "/users/<name>", "/users/nobody", (302, 404, 404, 404)),
    Row("POST", "/people/<name>/reset", "/people/teacher/reset", (302, 403, 403, 403)),
    Row("POST", "/submissions/<submission>/share", "/submissions/{running}/share", (302, 409, 404, 403)),
]


_ANSWERS = {
    call.strip(): status for status, calls in ANSWERS.items() for call in calls.split("\n") if call.strip()
}


def _statuses(method: str, rule: str, who: Who) -> Statuses:
    key = f"{method} {rule}"
    if key in STATUSES:
        return STATUSES[key]
    # Pages redirect to the sign-in page.
    out = NOT_SIGNED_IN if rule.startswith(API) else 302
    ok = _ANSWERS.get(key, 200 if method == "GET" else None)
    return {
        Who.ANYONE: (ok, ok, ok, ok),
        Who.SIGNED_IN: (out, ok, ok, ok),
        Who.READERS: (out, ok, ok, ok),
        Who.OWNER: (out, ok, 404, 404),
        Who.AUTHOR: (out, ok, 404, ok),
        Who.PERSON: (out, ok, 403, ok),
        # The course, competition or regrade does not exist, as for everyone who is not a member. Existing
        # ones: test_course_access.py, test_competitions.py.
        Who.PARTY: (out, 404, 404, 404),
        Who.TEACHERS_OF_AUTHOR: (out, 403, 404, ok),
        Who.TEACHERS: (out, 403, 403, ok),
        Who.STAFF: (out, 403, 403, ok),
        Who.ADMINS: (out, 403, 403, 403),
        Who.WORKER: (401, 401, 401, 401),
    }[who]


def _path(method: str, rule: str) -> str:
    values = dict(_STAND_INS)
    for start, others in _STAND_INS_BELOW.items():
        if rule.removeprefix(API).startswith(start):
            values |= others
    made = re.sub(r"<(?:\w+:)?(\w+)>", lambda found: values.get(found[1], "none"), rule)
    return PATHS.get(f"{method} {rule}", made)


def routes() -> list[tuple[str, str, Access | None]]:
    """Method, rule and declaration of every route; None if it declares nothing."""
    app = OpenAPI("grader.web", doc_ui=False)
    open_to(Who.ANYONE)(app.view_functions["static"])
    add_routes(app)
    found = []
    for rule in app.url_map.iter_rules():
        access = access_of(app.view_functions[rule.endpoint])
        found += [
            (method, rule.rule, access) for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})
        ]
    return found


ROUTES = routes()
ROWS = [
    *(
        Row(method, rule, _path(method, rule), _statuses(method, rule, access.who))
        for method, rule, access in ROUTES
        if access
    ),
    *MORE,
]


def _below(start: str) -> list[tuple[str, str, str]]:
    return [
        (row.method, row.rule.removeprefix(f"{start}/<course>"), row.path.removeprefix(f"{start}/none"))
        for row in ROWS
        if row.rule.startswith(f"{start}/<course>")
    ]


OF_COURSES = _below(f"{API}/courses")
PAGES_OF_COURSES = _below("/courses")
_OF_BOTH = ("/announcements", "/announcements/9", "/questions", "/questions/9")
FORMS_OF_COURSES = {
    "": {"name": "Another"},
    "/curve": {"formula": "p + 1", "action": "apply"},
    "/group": {"join": "BCDF-GHJK"},
    "/staff": {"name": "bob", "role": "assistant"},
    "/roster": {"text": "account\nada\n", "action": "check"},
    "/roster/ada": {"section": "B"},
    "/new-assignment": {
        "slug": "week2",
        "title": "Week 2",
        "parts": "scale",
        "open_at": "2026-01-01T10:00",
        "due_at": "2026-12-31T10:00",
    },
    "/assignments/week1": {
        "title": "Week 1",
        "parts": "scale 2",
        "open_at": "2026-01-01T10:00:00",
        "due_at": "2026-12-31T10:00:00",
    },
    "/assignments/week1/extensions": {"student": "ada", "due_at": "2027-01-31T10:00"},
    "/assignments/week1/similarity/9": {"decision": "dismissed"},
    "/assignments/week1/feedback": {"shown": "on_release", "rubric-scale": "5 Readability"},
    "/grades/ada/scores": {
        "assignment": "week1",
        "criterion": "1",
        "points": "2",
        "reason": "",
        "seen": "",
        "seen_reason": "",
    },
    "/regrade-requests": {"assignment": "week1", "challenge": "scale", "text": "Why?"},
    "/regrade-requests/9": {"state": "granted", "reason": "Yes"},
    "/announcements": {"title": "Room 2"},
    "/announcements/9": {"title": "Room 3"},
    "/questions": {"text": "Why?"},
    "/questions/9": {"answer": "So."},
    "/catalogue/source": {"url": "https://git.uni.edu/x.git", "branch": "main"},
    "/grades/ada/override": {"assignment": "week1", "challenge": "scale", "points": "1", "reason": "why"},
}

# Bodies by path. Credentials are wrong; a submission is refused after its sender was checked.
FORMS = {
    "/courses": {"slug": "new-page", "name": "New"},
    "/submissions/{id}/comments": {"text": "Why?", "thread": "9"},
    "/submissions/{id}/comments/9": {"action": "resolve"},
    "/submissions/{id}/note": {"text": "Tiles of 32."},
    "/submissions/{id}/quiz/9": {"answer": "7"},
    **{f"/courses/none{path}": form for path, form in FORMS_OF_COURSES.items()},
    "/challenges/scale/state": {"state": "published"},
    "/challenges/scale/board": {"board": "public"},
    **{
        f"{page}/discussion{path}": {"text": "Why?", "action": "delete"}
        for page in ("/challenges/scale", "/learn/scale")
        for path in ("", "/9", "/report")
    },
    "/account/deletion": {"confirm": "somebody else"},
    "/people/owner/deletion": {"confirm": "somebody else"},
    "/theme": {"theme": "dark"},
    "/sign-in": {"name": "owner", "password": "a wrong one"},
    "/challenges/scale": {"language": "perl"},
    "/account/password": {"present": "a wrong one", "new": "correct horses"},
    "/account/email": {"present": "a wrong one", "email": "owner@uni.example"},
    "/device": {"code": "BCDF-GHJK", "answer": "approve"},
    "/people/bob/role": {"role": "staff"},
    "/regrades": {"challenge": "scale", "reason": "a broken card"},
    "/regrades/9": {"action": "discard"},
}
OF_COURSES_BODIES: dict[str, dict[str, object]] = {
    "/curve": {"formula": "p + 1"},
    "/group": {"join": "BCDF-GHJK"},
    "/staff/bob": {"role": "assistant"},
    "/roster": {"text": "account\nada\n"},
    "/roster/ada": {"section": "B"},
    "/assignments/week1": {
        "title": "Week 1",
        "parts": [{"challenge": "scale"}],
        "open_at": "2026-01-01",
        "due_at": "2026-12-31",
    },
    "/assignments/week1/extensions": {"student": "ada", "due_at": "2027-01-31"},
    "/assignments/week1/overrides": {"student": "ada", "challenge": "scale", "points": 1, "reason": "why"},
    "/assignments/week1/similarity/9": {"decision": "dismissed"},
    "/assignments/week1/feedback": {
        "shown": "on_release",
        "rubric": {"scale": [{"id": 1, "title": "Readability", "points": 5}]},
    },
    "/assignments/week1/scores": {"student": "ada", "scores": [{"criterion": 1, "points": 2}]},
    "/regrade-requests": {"assignment": "week1", "challenge": "scale", "text": "Why?"},
    "/regrade-requests/9": {"state": "granted", "reason": "Yes"},
    "/announcements": {"title": "Room 2"},
    "/announcements/9": {"title": "Room 3"},
    "/questions": {"text": "Why?"},
    "/questions/9": {"answer": "So."},
    "/catalogue": {"archive": "eA=="},
    "/catalogue/source": {"url": "https://git.uni.edu/x.git"},
    "/lti/links/9": {"released": False},
}
BODIES = {
    f"{API}/challenges/scale/state": {"state": "published"},
    f"{API}/challenges/scale/board": {"board": "public"},
    f"{API}/discussions/challenge/scale": {"text": "Why?"},
    f"{API}/discussions/challenge/scale/9": {"text": "Why?"},
    f"{API}/discussions/challenge/scale/9/hidden": {"hidden": True, "reason": "rude"},
    f"{API}/discussions/challenge/scale/reports": {"text": "A typo."},
    f"{API}/me/deletion": {"confirm": "somebody else"},
    f"{API}/people/bob/deletion": {"confirm": "somebody else"},
    f"{API}/submissions": {"challenge": "scale", "source": "", "filename": "a.py"},
    f"{API}/drafts/scale/triton": {"source": "x = 1"},
    f"{API}/submissions/{{id}}/comments": {"text": "Why?", "thread": 9},
    f"{API}/submissions/{{id}}/quiz/9": {"answer": 7},
    f"{API}/notices/choices": {"choices": [{"kind": "comment"}]},
    f"{API}/submissions/0000000000/void": {"reason": "a copy"},
    f"{API}/submissions/{{id}}/note": {"text": "Tiles of 32."},
    f"{API}/regrades": {"challenge": "scale", "reason": "a broken card"},
    f"{API}/runs": {"challenge": "scale", "source": "", "filename": "a.py"},
    f"{API}/tokens": {"name": "owner", "password": "a wrong one"},
    f"{API}/device-codes/token": {"device_code": "a wrong one"},
    f"{API}/courses": {"slug": "new", "name": "New"},
    f"{API}/courses/join": {"key": "BCDF-GHJK"},
    **{f"{API}/courses/none{path}": body for path, body in OF_COURSES_BODIES.items()},
    **{f"{API}/competitions/cup{path}": OF_COURSES_BODIES.get(path, {}) for path in _OF_BOTH},
}
