"""Every route, and what each role gets of it."""

from __future__ import annotations

from dataclasses import dataclass

ROLES = ("anonymous", "owner", "other", "staff")
API = "/api/v1"


@dataclass(frozen=True)
class Row:
    """One route and the status that each of ROLES gets. ``{id}``, ``{running}``, ``{number}`` stand for the owner's
    things."""

    method: str
    rule: str
    path: str
    statuses: tuple[int, int, int, int]


def everyone(status: int) -> tuple[int, int, int, int]:
    return (status,) * 4


# Method, rule and path of what the API has below courses and competitions alike, and of their pages.
OF_BOTH = [
    ("GET", "/announcements", "/announcements"),
    ("POST", "/announcements", "/announcements"),
    ("PUT", "/announcements/<int:number>", "/announcements/9"),
    ("DELETE", "/announcements/<int:number>", "/announcements/9"),
    ("GET", "/questions", "/questions"),
    ("POST", "/questions", "/questions"),
    ("PUT", "/questions/<int:number>", "/questions/9"),
]
PAGES_OF_BOTH = [
    ("GET", "/announcements", "/announcements"),
    ("POST", "/announcements", "/announcements"),
    ("POST", "/announcements/<int:number>/remove", "/announcements/9/remove"),
    ("POST", "/questions", "/questions"),
    ("POST", "/questions/<int:number>", "/questions/9"),
]

# Method, rule and path of what the API has below a course.
OF_COURSES = [
    ("GET", "", ""),
    ("PATCH", "", ""),
    ("PUT", "/staff/<name>", "/staff/bob"),
    ("GET", "/log", "/log"),
    ("GET", "/join-codes", "/join-codes"),
    ("POST", "/join-codes", "/join-codes"),
    ("DELETE", "/join-codes/<int:number>", "/join-codes/9"),
    ("GET", "/roster", "/roster"),
    ("POST", "/roster", "/roster"),
    ("PATCH", "/roster/<name>", "/roster/ada"),
    ("POST", "/invitations", "/invitations"),
    ("DELETE", "/invitations/<int:number>", "/invitations/9"),
    ("GET", "/assignments", "/assignments"),
    ("GET", "/assignments/<assignment>", "/assignments/week1"),
    ("PUT", "/assignments/<assignment>", "/assignments/week1"),
    ("DELETE", "/assignments/<assignment>", "/assignments/week1"),
    ("POST", "/assignments/<assignment>/publish", "/assignments/week1/publish"),
    ("GET", "/assignments/<assignment>/extensions", "/assignments/week1/extensions"),
    ("PUT", "/assignments/<assignment>/extensions", "/assignments/week1/extensions"),
    ("DELETE", "/assignments/<assignment>/extensions/<int:number>", "/assignments/week1/extensions/9"),
    ("PUT", "/assignments/<assignment>/overrides", "/assignments/week1/overrides"),
    *(
        (method, f"/assignments/<assignment>/similarity{rule}", f"/assignments/week1/similarity{path}")
        for method, rule, path in (
            ("GET", "", ""),
            ("POST", "", ""),
            ("GET", "/<int:number>", "/9"),
            ("PUT", "/<int:number>", "/9"),
        )
    ),
    ("GET", "/assignments/<assignment>/feedback", "/assignments/week1/feedback"),
    ("PUT", "/assignments/<assignment>/feedback", "/assignments/week1/feedback"),
    ("POST", "/assignments/<assignment>/feedback/release", "/assignments/week1/feedback/release"),
    ("GET", "/assignments/<assignment>/scores", "/assignments/week1/scores?student=ada"),
    ("PUT", "/assignments/<assignment>/scores", "/assignments/week1/scores"),
    ("GET", "/regrade-requests", "/regrade-requests"),
    ("POST", "/regrade-requests", "/regrade-requests"),
    ("PATCH", "/regrade-requests/<int:number>", "/regrade-requests/9"),
    ("POST", "/regrade-requests/<int:number>/withdraw", "/regrade-requests/9/withdraw"),
    *OF_BOTH,
    ("GET", "/gradebook", "/gradebook"),
    ("GET", "/gradebook/export", "/gradebook/export"),
    ("GET", "/gradebook.csv", "/gradebook.csv"),
    ("GET", "/grades", "/grades"),
    ("GET", "/grades/<name>", "/grades/ada"),
]


# The same of its pages.
PAGES_OF_COURSES = [
    ("GET", "", ""),
    ("POST", "", ""),
    ("POST", "/staff", "/staff"),
    ("GET", "/log", "/log"),
    ("GET", "/roster", "/roster"),
    ("POST", "/roster", "/roster"),
    ("POST", "/roster/<name>", "/roster/ada"),
    ("POST", "/invitations", "/invitations"),
    ("POST", "/join-codes", "/join-codes"),
    ("POST", "/join-codes/<int:number>/revoke", "/join-codes/9/revoke"),
    ("GET", "/new-assignment", "/new-assignment"),
    ("POST", "/new-assignment", "/new-assignment"),
    ("GET", "/assignments/<assignment>", "/assignments/week1"),
    ("POST", "/assignments/<assignment>", "/assignments/week1"),
    ("POST", "/assignments/<assignment>/publish", "/assignments/week1/publish"),
    ("POST", "/assignments/<assignment>/extensions", "/assignments/week1/extensions"),
    (
        "POST",
        "/assignments/<assignment>/extensions/<int:number>/remove",
        "/assignments/week1/extensions/9/remove",
    ),
    *(
        (method, f"/assignments/<assignment>/similarity{rule}", f"/assignments/week1/similarity{path}")
        for method, rule, path in (
            ("GET", "", ""),
            ("POST", "", ""),
            ("GET", "/<int:number>", "/9"),
            ("POST", "/<int:number>", "/9"),
        )
    ),
    ("GET", "/assignments/<assignment>/feedback", "/assignments/week1/feedback"),
    ("POST", "/assignments/<assignment>/feedback", "/assignments/week1/feedback"),
    ("POST", "/assignments/<assignment>/feedback/release", "/assignments/week1/feedback/release"),
    ("POST", "/grades/<name>/scores", "/grades/ada/scores"),
    ("GET", "/regrade-requests", "/regrade-requests"),
    ("POST", "/regrade-requests", "/regrade-requests"),
    ("POST", "/regrade-requests/<int:number>", "/regrade-requests/9"),
    ("POST", "/regrade-requests/<int:number>/withdraw", "/regrade-requests/9/withdraw"),
    *PAGES_OF_BOTH,
    ("GET", "/gradebook", "/gradebook"),
    ("GET", "/gradebook/grades.csv", "/gradebook/grades.csv"),
    ("GET", "/grades", "/grades"),
    ("GET", "/grades/<name>", "/grades/ada"),
    ("POST", "/grades/<name>/override", "/grades/ada/override"),
]
FORMS_OF_COURSES = {
    "": {"name": "Another"},
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
    "/grades/ada/scores": {"assignment": "week1", "criterion": "1", "points": "2", "reason": ""},
    "/regrade-requests": {"assignment": "week1", "challenge": "scale", "text": "Why?"},
    "/regrade-requests/9": {"state": "granted", "reason": "Yes"},
    "/announcements": {"title": "Room 2"},
    "/questions": {"text": "Why?"},
    "/questions/9": {"answer": "So."},
    "/grades/ada/override": {"assignment": "week1", "challenge": "scale", "points": "1", "reason": "why"},
}


# Where a page sends those who are not signed in; a session that is not there is not found.
ROWS = [
    Row("GET", "/static/<path:filename>", "/static/page.js", everyone(200)),
    Row("GET", "/health", "/health", everyone(200)),
    Row("GET", "/ready", "/ready", everyone(200)),
    Row("GET", "/metrics", "/metrics", everyone(404)),
    Row("GET", "/", "/", everyone(200)),
    Row("GET", "/challenges/<slug>", "/challenges/scale", everyone(200)),
    Row("POST", "/challenges/<slug>", "/challenges/scale", (302, 400, 400, 400)),
    Row("GET", "/docs", "/docs", everyone(200)),
    Row("GET", "/docs/search", "/docs/search?q=gate", everyone(200)),
    Row("GET", "/docs/<path:name>", "/docs/judging", everyone(200)),
    Row("GET", "/docs/<path:name>", "/docs/nothing", everyone(404)),
    Row("GET", "/leaderboards/<slug>", "/leaderboards/scale", (302, 200, 200, 200)),
    Row("GET", "/leaderboards", "/leaderboards", (302, 200, 200, 200)),
    Row("GET", "/leaderboards/<slug>", "/leaderboards/scale?version=2", (302, 404, 404, 200)),
    Row("GET", "/leaderboards/<slug>/board.csv", "/leaderboards/scale/board.csv", (302, 200, 200, 200)),
    Row(
        "GET",
        "/leaderboards/<slug>/board.csv",
        "/leaderboards/scale/board.csv?version=2",
        (302, 404, 404, 200),
    ),
    Row("GET", "/leaderboards/tracks/<track>", "/leaderboards/tracks/first", (302, 200, 200, 200)),
    Row("GET", "/submissions", "/submissions", (302, 200, 200, 200)),
    Row("GET", "/submissions/<submission>", "/submissions/{id}", (302, 200, 404, 200)),
    Row("GET", "/submissions/<submission>/panel", "/submissions/{id}/panel", (302, 200, 404, 200)),
    Row("POST", "/submissions/<submission>/cancel", "/submissions/{running}/cancel", (302, 303, 404, 303)),
    Row("POST", "/submissions/<submission>/void", "/submissions/{running}/void", (302, 403, 404, 409)),
    Row("GET", "/submissions/<submission>/diff", "/submissions/{id}/diff", (302, 200, 404, 200)),
    Row(
        "GET",
        "/submissions/<submission>/diff",
        "/submissions/{running}/diff?against={id}",
        (302, 200, 404, 200),
    ),
    Row("POST", "/submissions/<submission>/share", "/submissions/{id}/share", (302, 303, 404, 403)),
    Row("POST", "/submissions/<submission>/share", "/submissions/{running}/share", (302, 409, 404, 403)),
    Row("POST", "/submissions/<submission>/unshare", "/submissions/{id}/unshare", (302, 303, 404, 403)),
    Row("POST", "/submissions/<submission>/comments", "/submissions/{id}/comments", (302, 404, 404, 404)),
    Row(
        "POST",
        "/submissions/<submission>/comments/<int:number>",
        "/submissions/{id}/comments/9",
        (302, 404, 404, 404),
    ),
    Row("GET", "/notices", "/notices", (302, 200, 200, 200)),
    Row("GET", "/notices/<int:number>", "/notices/9", (302, 404, 404, 404)),
    Row("POST", "/notices/read", "/notices/read", (302, 303, 303, 303)),
    Row("POST", "/notices/choices", "/notices/choices", (302, 303, 303, 303)),
    Row("GET", "/shared/<key>", "/shared/nothing-of-that-key", everyone(404)),
    Row("GET", "/inbox", "/inbox", (302, 403, 403, 200)),
    Row("POST", "/inbox", "/inbox", (302, 403, 403, 400)),
    Row("GET", "/regrades", "/regrades", (302, 403, 403, 200)),
    Row("GET", "/regrades/new", "/regrades/new", (302, 403, 403, 200)),
    Row("POST", "/regrades", "/regrades", (302, 403, 403, 409)),
    Row("GET", "/regrades/<int:number>", "/regrades/9", (302, 404, 404, 404)),
    Row("POST", "/regrades/<int:number>", "/regrades/9", (302, 404, 404, 404)),
    Row("GET", "/progress", "/progress", (302, 200, 200, 200)),
    Row("GET", "/progress", "/progress?user=owner", (302, 200, 403, 200)),
    Row("GET", "/challenges/<slug>/versions", "/challenges/scale/versions", (302, 403, 403, 200)),
    Row("POST", "/challenges/<slug>/rejudge", "/challenges/scale/rejudge", (302, 403, 403, 303)),
    Row("POST", "/challenges/<slug>/publish", "/challenges/scale/publish", (302, 403, 403, 409)),
    Row("GET", "/users/<name>", "/users/owner", (302, 200, 200, 200)),
    Row("GET", "/users/<name>", "/users/nobody", (302, 404, 404, 404)),
    Row("POST", "/theme", "/theme", everyone(303)),
    Row("GET", "/design", "/design", (302, 403, 403, 200)),
    Row("POST", "/account/preferences", "/account/preferences", (302, 303, 303, 303)),
    Row("GET", "/sign-in", "/sign-in", (200, 302, 302, 302)),
    Row("POST", "/sign-in", "/sign-in", everyone(401)),
    Row("GET", "/sign-in/with/<provider>", "/sign-in/with/none", (404, 302, 302, 302)),
    Row("GET", "/sign-in/with/<provider>/back", "/sign-in/with/none/back", everyone(403)),
    Row("POST", "/account/connect/<provider>", "/account/connect/none", (302, 404, 404, 404)),
    Row(
        "POST",
        "/account/identities/<int:number>/disconnect",
        "/account/identities/9/disconnect",
        (302, 403, 403, 403),
    ),
    Row("POST", "/sign-out", "/sign-out", everyone(303)),
    Row("GET", "/sign-up", "/sign-up", everyone(404)),
    Row("POST", "/sign-up", "/sign-up", everyone(404)),
    Row("POST", "/sign-up/address", "/sign-up/address", everyone(404)),
    Row("GET", "/forgot", "/forgot", everyone(200)),
    Row("POST", "/forgot", "/forgot", everyone(404)),
    Row("GET", "/reset", "/reset?key=x", everyone(400)),
    Row("POST", "/reset", "/reset", everyone(400)),
    Row("GET", "/setup", "/setup?key=x", everyone(400)),
    Row("POST", "/setup", "/setup", everyone(400)),
    Row("GET", "/device", "/device", (302, 200, 200, 200)),
    Row("GET", "/device", "/device?code=BCDF-GHJK", (302, 404, 404, 404)),
    Row("POST", "/device", "/device", (302, 404, 404, 404)),
    Row("GET", "/people", "/people", (302, 403, 403, 200)),
    Row("POST", "/people/invitations", "/people/invitations", (302, 403, 403, 409)),
    Row(
        "POST",
        "/people/invitations/<int:number>/revoke",
        "/people/invitations/1/revoke",
        (302, 403, 403, 404),
    ),
    Row("POST", "/people/<name>/reset", "/people/bob/reset", (302, 403, 403, 200)),
    Row("POST", "/people/<name>/reset", "/people/teacher/reset", (302, 403, 403, 403)),
    Row("POST", "/people/<name>/role", "/people/bob/role", (302, 403, 403, 403)),
    Row("GET", "/account", "/account", (302, 200, 200, 200)),
    Row("POST", "/account/password", "/account/password", (302, 403, 403, 403)),
    Row("GET", "/account/email", "/account/email?key=x", (302, 200, 200, 200)),
    Row("POST", "/account/email", "/account/email", (302, 403, 403, 403)),
    Row("POST", "/account/email/prove", "/account/email/prove", (302, 400, 400, 400)),
    Row("POST", "/account/sessions/end", "/account/sessions/end", (302, 303, 303, 303)),
    Row(
        "POST",
        "/account/tokens/<int:number>/revoke",
        "/account/tokens/{number}/revoke",
        (302, 303, 404, 404),
    ),
    Row("GET", f"{API}/openapi.json", f"{API}/openapi.json", everyone(200)),
    Row("GET", f"{API}/challenges", f"{API}/challenges", everyone(200)),
    Row("GET", f"{API}/challenges/<slug>", f"{API}/challenges/scale", everyone(200)),
    Row("GET", f"{API}/challenges/<slug>/versions", f"{API}/challenges/scale/versions", (401, 403, 403, 200)),
    Row(
        "GET",
        f"{API}/challenges/<slug>/versions/<version>",
        f"{API}/challenges/scale/versions/1",
        (401, 403, 403, 200),
    ),
    Row(
        "GET",
        f"{API}/challenges/<slug>/comparison",
        f"{API}/challenges/scale/comparison",
        (401, 403, 403, 200),
    ),
    Row("POST", f"{API}/challenges/<slug>/rejudge", f"{API}/challenges/scale/rejudge", (401, 403, 403, 200)),
    Row("POST", f"{API}/challenges/<slug>/publish", f"{API}/challenges/scale/publish", (401, 403, 403, 409)),
    Row("GET", f"{API}/challenge-states", f"{API}/challenge-states", (401, 403, 403, 200)),
    Row("GET", f"{API}/challenges/<slug>/state", f"{API}/challenges/scale/state", (401, 403, 403, 200)),
    Row("PUT", f"{API}/challenges/<slug>/state", f"{API}/challenges/scale/state", (401, 403, 403, 200)),
    Row("PUT", f"{API}/challenges/<slug>/board", f"{API}/challenges/scale/board", (401, 403, 403, 200)),
    Row("POST", "/challenges/<slug>/board", "/challenges/scale/board", (302, 403, 403, 303)),
    Row("GET", "/challenge-states", "/challenge-states", (302, 403, 403, 200)),
    Row("POST", "/challenges/<slug>/state", "/challenges/scale/state", (302, 403, 403, 303)),
    Row("GET", f"{API}/leaderboards/<slug>", f"{API}/leaderboards/scale", (401, 200, 200, 200)),
    Row("GET", f"{API}/leaderboards", f"{API}/leaderboards", (401, 200, 200, 200)),
    Row("GET", f"{API}/leaderboards/<slug>", f"{API}/leaderboards/scale?version=2", (401, 404, 404, 200)),
    Row(
        "GET", f"{API}/leaderboards/<slug>/records", f"{API}/leaderboards/scale/records", (401, 200, 200, 200)
    ),
    Row(
        "GET",
        f"{API}/leaderboards/<slug>/records",
        f"{API}/leaderboards/scale/records?version=2",
        (401, 404, 404, 200),
    ),
    Row("GET", f"{API}/tracks/<track>/leaderboard", f"{API}/tracks/first/leaderboard", (401, 200, 200, 200)),
    Row(
        "GET", f"{API}/submissions/<id>/comments", f"{API}/submissions/{{id}}/comments", (401, 200, 404, 200)
    ),
    Row(
        "POST", f"{API}/submissions/<id>/comments", f"{API}/submissions/{{id}}/comments", (401, 404, 404, 404)
    ),
    *(
        Row(
            method,
            f"{API}/submissions/<id>/comments/<int:number>",
            f"{API}/submissions/{{id}}/comments/9",
            (401, 404, 404, 404),
        )
        for method in ("PATCH", "DELETE")
    ),
    Row("GET", f"{API}/notices", f"{API}/notices", (401, 200, 200, 200)),
    Row("POST", f"{API}/notices/read", f"{API}/notices/read", (401, 200, 200, 200)),
    Row("GET", f"{API}/notices/choices", f"{API}/notices/choices", (401, 200, 200, 200)),
    Row("PUT", f"{API}/notices/choices", f"{API}/notices/choices", (401, 200, 200, 200)),
    # Uploads: of one that is there, tests/web/test_uploads.py. A broken body is refused after who sent it.
    Row("GET", "/uploads", "/uploads", (302, 403, 403, 200)),
    Row("POST", "/uploads", "/uploads", (302, 403, 403, 400)),
    Row("GET", "/uploads/<slug>/spec", "/uploads/scale/spec", (302, 403, 403, 200)),
    Row("POST", "/uploads/<slug>/spec", "/uploads/scale/spec", (302, 403, 403, 400)),
    *(
        Row(method, f"/uploads/<slug>/<int:number>{rest}", f"/uploads/scale/9{rest}", (302, 403, 403, 404))
        for method, rest in (
            ("GET", ""),
            ("GET", "/panel"),
            ("GET", "/preview"),
            ("GET", "/archive.zip"),
            ("POST", "/check"),
            ("POST", "/stop"),
            ("POST", "/use"),
            ("POST", "/withdraw"),
        )
    ),
    Row("GET", f"{API}/uploads", f"{API}/uploads", (401, 403, 403, 200)),
    Row("POST", f"{API}/uploads", f"{API}/uploads", (401, 403, 403, 400)),
    Row("GET", f"{API}/uploads/<slug>", f"{API}/uploads/scale", (401, 403, 403, 200)),
    Row("GET", f"{API}/uploads/<slug>/spec", f"{API}/uploads/scale/spec", (401, 403, 403, 200)),
    Row("PUT", f"{API}/uploads/<slug>/spec", f"{API}/uploads/scale/spec", (401, 403, 403, 400)),
    Row("POST", f"{API}/uploads/<slug>/withdraw", f"{API}/uploads/scale/withdraw", (401, 403, 403, 404)),
    *(
        Row(
            method,
            f"{API}/uploads/<slug>/<number>{rest}",
            f"{API}/uploads/scale/9{rest}",
            (401, 403, 403, 404),
        )
        for method, rest in (
            ("GET", ""),
            ("GET", "/preview"),
            ("GET", "/archive"),
            ("POST", "/check"),
            ("POST", "/stop"),
            ("POST", "/use"),
        )
    ),
    Row("GET", f"{API}/queues", f"{API}/queues", (401, 200, 200, 200)),
    Row("POST", f"{API}/queues/<queue>/pause", f"{API}/queues/cpu/pause", (401, 403, 403, 200)),
    Row("POST", f"{API}/queues/<queue>/resume", f"{API}/queues/cpu/resume", (401, 403, 403, 200)),
    Row("GET", f"{API}/workers", f"{API}/workers", (401, 403, 403, 200)),
    Row("POST", f"{API}/workers/<worker>/drain", f"{API}/workers/nobody/drain", (401, 403, 403, 404)),
    Row("POST", f"{API}/workers/<worker>/resume", f"{API}/workers/nobody/resume", (401, 403, 403, 404)),
    # A course that is not there, as one is for all who have no part in it. Of one that is: test_course_access.py.
    Row("GET", "/courses", "/courses", (302, 200, 200, 200)),
    Row("POST", "/courses", "/courses", (302, 403, 403, 303)),
    Row("GET", "/join", "/join?key=BCDF-GHJK", everyone(400)),
    Row("POST", "/join", "/join", (302, 400, 400, 400)),
    *(
        Row(method, f"/courses/<course>{rule}", f"/courses/none{path}", (302, 404, 404, 404))
        for method, rule, path in PAGES_OF_COURSES
    ),
    Row("GET", f"{API}/courses", f"{API}/courses", (401, 200, 200, 200)),
    Row("POST", f"{API}/courses", f"{API}/courses", (401, 403, 403, 201)),
    Row("POST", f"{API}/courses/join", f"{API}/courses/join", (401, 400, 400, 400)),
    *(
        Row(method, f"{API}/courses/<course>{rule}", f"{API}/courses/none{path}", (401, 404, 404, 404))
        for method, rule, path in OF_COURSES
    ),
    # A competition that is not there. Of one that is: tests/web/test_competitions.py. A broken body is refused first.
    Row("GET", f"{API}/competitions", f"{API}/competitions", (401, 200, 200, 200)),
    *(
        Row(method, f"{API}/competitions/<slug>{rule}", f"{API}/competitions/cup{path}", (401, 404, 404, 404))
        for method, rule, path in OF_BOTH
    ),
    *(
        Row(method, f"/competitions/<slug>{rule}", f"/competitions/cup{path}", (302, 404, 404, 404))
        for method, rule, path in PAGES_OF_BOTH
    ),
    Row("POST", f"{API}/competitions", f"{API}/competitions", (401, 403, 403, 400)),
    Row("DELETE", f"{API}/competitions/<slug>", f"{API}/competitions/cup", (401, 404, 404, 404)),
    Row("GET", f"{API}/competitions/<slug>", f"{API}/competitions/cup", (401, 404, 404, 404)),
    Row("POST", f"{API}/competitions/<slug>", f"{API}/competitions/cup", (401, 404, 404, 404)),
    Row("GET", f"{API}/competitions/<slug>/board", f"{API}/competitions/cup/board", (401, 404, 404, 404)),
    Row(
        "GET",
        f"{API}/competitions/<slug>/definition",
        f"{API}/competitions/cup/definition",
        (401, 404, 404, 404),
    ),
    Row(
        "POST",
        f"{API}/competitions/<slug>/disqualify",
        f"{API}/competitions/cup/disqualify",
        (401, 404, 404, 404),
    ),
    Row("GET", f"{API}/competitions/<slug>/final", f"{API}/competitions/cup/final", (401, 404, 404, 404)),
    Row("POST", f"{API}/competitions/<slug>/final", f"{API}/competitions/cup/final", (401, 404, 404, 404)),
    Row(
        "POST",
        f"{API}/competitions/<slug>/final/cancel",
        f"{API}/competitions/cup/final/cancel",
        (401, 404, 404, 404),
    ),
    Row(
        "POST",
        f"{API}/competitions/<slug>/finalists",
        f"{API}/competitions/cup/finalists",
        (401, 404, 404, 404),
    ),
    Row(
        "POST",
        f"{API}/competitions/<slug>/invite-code",
        f"{API}/competitions/cup/invite-code",
        (401, 404, 404, 404),
    ),
    Row("POST", f"{API}/competitions/<slug>/leave", f"{API}/competitions/cup/leave", (401, 404, 404, 404)),
    Row(
        "POST", f"{API}/competitions/<slug>/publish", f"{API}/competitions/cup/publish", (401, 404, 404, 404)
    ),
    Row(
        "POST",
        f"{API}/competitions/<slug>/register",
        f"{API}/competitions/cup/register",
        (401, 404, 404, 404),
    ),
    Row(
        "POST", f"{API}/competitions/<slug>/results", f"{API}/competitions/cup/results", (401, 404, 404, 404)
    ),
    Row(
        "GET",
        f"{API}/competitions/<slug>/teams/<team>/certificate",
        f"{API}/competitions/cup/teams/none/certificate",
        (401, 404, 404, 404),
    ),
    Row(
        "GET",
        f"{API}/competitions/<slug>/teams/<team>/code/<challenge>",
        f"{API}/competitions/cup/teams/none/code/scale",
        (401, 404, 404, 404),
    ),
    Row("GET", f"{API}/signing-key", f"{API}/signing-key", everyone(200)),
    Row("GET", "/signing-key.pem", "/signing-key.pem", everyone(200)),
    Row("GET", "/competitions", "/competitions", (302, 200, 200, 200)),
    Row("POST", "/competitions", "/competitions", (302, 403, 403, 400)),
    Row("GET", "/competitions/new", "/competitions/new", (302, 403, 403, 200)),
    Row("GET", "/competitions/<slug>", "/competitions/cup", (302, 404, 404, 404)),
    Row("GET", "/competitions/<slug>/board", "/competitions/cup/board", (302, 404, 404, 404)),
    Row("GET", "/competitions/<slug>/board/rows", "/competitions/cup/board/rows", (302, 404, 404, 404)),
    Row("POST", "/competitions/<slug>/edit", "/competitions/cup/edit", (302, 403, 403, 404)),
    Row("POST", "/competitions/<slug>/leave", "/competitions/cup/leave", (302, 404, 404, 404)),
    Row("GET", "/competitions/<slug>/manage", "/competitions/cup/manage", (302, 403, 403, 404)),
    Row("POST", "/competitions/<slug>/register", "/competitions/cup/register", (302, 404, 404, 404)),
    Row("GET", "/competitions/<slug>/screen", "/competitions/cup/screen", (302, 404, 404, 404)),
    Row("POST", "/competitions/<slug>/manage/<act>", "/competitions/cup/manage/none", (302, 403, 403, 400)),
    Row(
        "GET",
        "/competitions/<slug>/teams/<team>/certificate.json",
        "/competitions/cup/teams/none/certificate.json",
        (302, 404, 404, 404),
    ),
    Row(
        "GET",
        "/competitions/<slug>/teams/<team>/code/<challenge>",
        "/competitions/cup/teams/none/code/scale",
        (302, 404, 404, 404),
    ),
    Row("GET", f"{API}/challenges/<slug>/kind", f"{API}/challenges/scale/kind", (401, 403, 403, 200)),
    Row("POST", f"{API}/challenges/<slug>/kind", f"{API}/challenges/scale/kind", (401, 403, 403, 200)),
    Row("GET", f"{API}/challenges/<slug>/quota", f"{API}/challenges/scale/quota", (401, 200, 200, 200)),
    Row("GET", f"{API}/health", f"{API}/health", everyone(503)),
    Row("GET", f"{API}/me", f"{API}/me", (401, 200, 200, 200)),
    Row("GET", f"{API}/me/preferences", f"{API}/me/preferences", (401, 200, 200, 200)),
    Row("PATCH", f"{API}/me/preferences", f"{API}/me/preferences", (401, 200, 200, 200)),
    Row("GET", f"{API}/progress", f"{API}/progress", (401, 200, 200, 200)),
    Row("GET", f"{API}/progress", f"{API}/progress?user=owner", (401, 200, 403, 200)),
    Row("GET", f"{API}/submissions", f"{API}/submissions", (401, 200, 200, 200)),
    Row("POST", f"{API}/submissions", f"{API}/submissions", (401, 400, 400, 400)),
    Row("POST", f"{API}/runs", f"{API}/runs", (401, 400, 400, 400)),
    Row("GET", f"{API}/submissions/<id>", f"{API}/submissions/{{id}}", (401, 200, 404, 200)),
    Row("GET", f"{API}/submissions/<id>/source", f"{API}/submissions/{{id}}/source", (401, 200, 404, 200)),
    Row("GET", f"{API}/submissions/<id>/report", f"{API}/submissions/{{id}}/report", (401, 200, 404, 200)),
    Row("GET", f"{API}/inbox", f"{API}/inbox", (401, 403, 403, 200)),
    Row("POST", f"{API}/inbox/assign", f"{API}/inbox/assign", (401, 403, 403, 400)),
    Row("POST", f"{API}/inbox/decide", f"{API}/inbox/decide", (401, 403, 403, 400)),
    Row("GET", f"{API}/regrades", f"{API}/regrades", (401, 403, 403, 200)),
    Row("POST", f"{API}/regrades", f"{API}/regrades", (401, 403, 403, 409)),
    Row("GET", f"{API}/regrades/<int:number>", f"{API}/regrades/9", (401, 404, 404, 404)),
    Row("POST", f"{API}/regrades/<int:number>/publish", f"{API}/regrades/9/publish", (401, 404, 404, 404)),
    Row("POST", f"{API}/regrades/<int:number>/discard", f"{API}/regrades/9/discard", (401, 404, 404, 404)),
    Row("PUT", f"{API}/submissions/<id>/void", f"{API}/submissions/0000000000/void", (401, 404, 404, 404)),
    Row("DELETE", f"{API}/submissions/<id>/void", f"{API}/submissions/{{id}}/void", (401, 403, 404, 404)),
    Row(
        "POST",
        f"{API}/submissions/<id>/cancel",
        f"{API}/submissions/{{running}}/cancel",
        (401, 200, 404, 200),
    ),
    Row(
        "GET",
        f"{API}/submissions/<id>/diagnostics",
        f"{API}/submissions/{{id}}/diagnostics",
        (401, 200, 404, 200),
    ),
    Row("GET", f"{API}/drafts", f"{API}/drafts", (401, 200, 200, 200)),
    Row("GET", f"{API}/drafts/<challenge>/<language>", f"{API}/drafts/scale/triton", (401, 200, 404, 404)),
    Row("PUT", f"{API}/drafts/<challenge>/<language>", f"{API}/drafts/scale/triton", (401, 200, 200, 200)),
    Row("DELETE", f"{API}/drafts/<challenge>/<language>", f"{API}/drafts/scale/triton", (401, 204, 204, 204)),
    Row("POST", f"{API}/tokens", f"{API}/tokens", everyone(401)),
    Row("GET", f"{API}/tokens", f"{API}/tokens", (401, 200, 200, 200)),
    Row("DELETE", f"{API}/tokens/current", f"{API}/tokens/current", (401, 204, 204, 204)),
    Row("DELETE", f"{API}/tokens/<int:number>", f"{API}/tokens/{{number}}", (401, 204, 404, 404)),
    Row("DELETE", f"{API}/sessions", f"{API}/sessions", (401, 204, 204, 204)),
    Row("POST", f"{API}/device-codes", f"{API}/device-codes", everyone(201)),
    Row("POST", f"{API}/device-codes/token", f"{API}/device-codes/token", everyone(400)),
    Row("POST", f"{API}/accounts", f"{API}/accounts", everyone(404)),
    Row("POST", f"{API}/accounts/address", f"{API}/accounts/address", everyone(404)),
    Row("POST", f"{API}/password-resets", f"{API}/password-resets", everyone(409)),
    Row("POST", f"{API}/password-resets/use", f"{API}/password-resets/use", everyone(400)),
    Row("GET", f"{API}/people", f"{API}/people", (401, 403, 403, 200)),
    Row("PUT", f"{API}/people/<name>/role", f"{API}/people/bob/role", (401, 403, 403, 403)),
    Row(
        "POST",
        f"{API}/people/<name>/password-reset",
        f"{API}/people/bob/password-reset",
        (401, 403, 403, 201),
    ),
    Row("GET", f"{API}/invitations", f"{API}/invitations", (401, 403, 403, 200)),
    Row("POST", f"{API}/invitations", f"{API}/invitations", (401, 403, 403, 409)),
    Row("DELETE", f"{API}/invitations/<int:number>", f"{API}/invitations/1", (401, 403, 403, 404)),
]
# What the rows' calls send: credentials are wrong, a submission is one that is refused after who sent it was asked.
FORMS = {
    "/courses": {"slug": "new-page", "name": "New"},
    "/submissions/{id}/comments": {"text": "Why?", "thread": "9"},
    "/submissions/{id}/comments/9": {"action": "resolve"},
    **{f"/courses/none{path}": form for path, form in FORMS_OF_COURSES.items()},
    "/challenges/scale/state": {"state": "published"},
    "/challenges/scale/board": {"board": "public"},
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
}
BODIES = {
    f"{API}/challenges/scale/state": {"state": "published"},
    f"{API}/challenges/scale/board": {"board": "public"},
    f"{API}/submissions": {"challenge": "scale", "source": "", "filename": "a.py"},
    f"{API}/drafts/scale/triton": {"source": "x = 1"},
    f"{API}/submissions/{{id}}/comments": {"text": "Why?", "thread": 9},
    f"{API}/notices/choices": {"choices": [{"kind": "comment"}]},
    f"{API}/submissions/0000000000/void": {"reason": "a copy"},
    f"{API}/regrades": {"challenge": "scale", "reason": "a broken card"},
    f"{API}/runs": {"challenge": "scale", "source": "", "filename": "a.py"},
    f"{API}/tokens": {"name": "owner", "password": "a wrong one"},
    f"{API}/device-codes/token": {"device_code": "a wrong one"},
    f"{API}/accounts": {"name": "eve", "password": "correct horses"},
    f"{API}/accounts/address": {"email": "eve@uni.example"},
    f"{API}/password-resets": {"name": "owner"},
    f"{API}/password-resets/use": {"key": "a wrong one", "password": "correct horses"},
    f"{API}/people/bob/role": {"role": "staff"},
    f"{API}/courses": {"slug": "new", "name": "New"},
    f"{API}/courses/join": {"key": "BCDF-GHJK"},
    **{f"{API}/courses/none{path}": body for path, body in OF_COURSES_BODIES.items()},
    **{f"{API}/competitions/cup{path}": OF_COURSES_BODIES.get(path, {}) for _, _, path in OF_BOTH},
}
