"""For attacks on the service: a platform with a browser, and programs of two students."""

from __future__ import annotations

from dataclasses import dataclass

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from grader.languages import Language
from grader.schemas.report import CaseReport, CaseVerdict, Report, Score, Verdict
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from tests.web import builders
from tests.web.conftest import csrf
from tests.web.security.inert import what_runs


@dataclass(frozen=True)
class Service:
    """``browser`` and ``program`` are the attacker's, ``other`` is another student's program."""

    platform: Platform
    user: User
    browser: FlaskClient
    program: FlaskClient
    other: FlaskClient
    API = "/api/v1/submissions"

    def by_form(self, source: bytes) -> TestResponse:
        token = csrf(self.browser, "/account")
        form = {"language": "triton", "source-triton": source, "csrf_token": token}
        return self.browser.post(f"/challenges/{builders.SLUG}", data=form)

    def by_api(
        self, source: str, key: str = "", program: FlaskClient | None = None, **more: str
    ) -> TestResponse:
        body = {"challenge": builders.SLUG, "source": source, "filename": "a.py", **more}
        headers = {"Idempotency-Key": key} if key else {}
        return (program or self.program).post(self.API, json=body, headers=headers)

    def stored(self) -> list[str]:
        return [submission["id"] for submission in self.program.get(self.API).json["submissions"]]

    def judged(self, report: Report) -> str:
        return builders.judged(self.platform, self.user, report).id

    def what_runs(self, path: str) -> list[str]:
        return what_runs(self.browser.get(path).text)


def failed_with(text: str) -> Report:
    """A report with ``text`` in every place that a submission, or its judging, may put words into."""
    case = CaseReport(
        name="basic",
        category="basic",
        verdict=CaseVerdict.RUNTIME_ERROR,
        sizes={"n": 1},
        seed=1,
        seconds=0.1,
        detail=text,
        output=text,
        hint=text,
    )
    return Report(
        verdict=Verdict.RUNTIME_ERROR,
        challenge=builders.SLUG,
        version=builders.VERSION,
        language=Language.TRITON,
        device="cpu",
        representative=False,
        score=Score(passed=0, total=1),
        cases=[case],
        detail=text,
        hint=text,
        compiler_log=text,
        environment={"torch": text[:50]},
    )
