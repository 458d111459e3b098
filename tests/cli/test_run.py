"""`grader run`: request, output and exit code."""

from __future__ import annotations

import json

import pytest

from grader import errors
from grader.schemas.report import Report, Verdict
from grader.schemas.submission import JudgingReason, State
from tests.cli.conftest import Cli
from tests.cli.reports import accepted, view, wrong
from tests.cli.stub import Stub

AT = "/submissions/abc123"


def ran(server: Stub, report: Report, **values: object) -> None:
    """The server accepts a run, and judges it at once."""
    queued = view(State.QUEUED, kind=JudgingReason.RUN, **values).model_dump(mode="json")
    server.answer("POST /runs", queued, 201)
    done = view(State.DONE, kind=JudgingReason.RUN, verdict=report.verdict).model_dump(mode="json")
    server.answer(f"GET {AT}", done)
    server.answer(f"GET {AT}/report", report.model_dump(mode="json"))


def test_run_sends_a_run_and_prints_its_cases(server: Stub, cli: Cli, kernel: str) -> None:
    ran(server, wrong())
    told = cli("run", kernel, "-c", "vector_add")
    assert told.code == errors.EXIT_NOT_ACCEPTED
    assert "WRONG ANSWER" in told.out
    assert "--seed" in told.out
    assert "This was only a run" in told.err
    asked = server.asked[0]
    assert (asked.method, asked.path) == ("POST", "/api/v1/runs")
    assert json.loads(asked.body) == {
        "challenge": "vector_add",
        "language": "triton",
        "source": "import triton\n",
        "filename": "mine.py",
        "device": None,
    }
    assert len(asked.headers["Idempotency-Key"]) == 32


def test_json_holds_report_and_id(server: Stub, cli: Cli, kernel: str) -> None:
    ran(server, accepted())
    told = cli("run", kernel, "-c", "vector_add", "--json")
    assert told.code == errors.EXIT_ACCEPTED
    answer = json.loads(told.out)
    assert answer.pop("submission") == "abc123"
    assert Report.model_validate(answer).verdict is Verdict.ACCEPTED


@pytest.mark.parametrize(("remaining", "told"), [(None, False), (6, False), (5, True)])
def test_run_warns_if_few_runs_are_left(
    server: Stub, cli: Cli, kernel: str, remaining: int | None, told: bool
) -> None:
    ran(server, accepted(), remaining=remaining)
    assert ("more runs for now" in cli("run", kernel, "-c", "vector_add").err) is told


def test_a_refusal_of_the_server_is_shown(server: Stub, cli: Cli, kernel: str) -> None:
    refusal = {"code": "too_many", "message": "You have had 120 runs.", "hint": "The next ones: later."}
    server.answer("POST /runs", {"error": refusal}, 429)
    told = cli("run", kernel, "-c", "vector_add")
    assert told.code == errors.EXIT_NOT_ALLOWED
    assert "You have had 120 runs." in told.err
    assert "The next ones: later." in told.err


def test_a_replaced_run_is_reported_as_cancelled(server: Stub, cli: Cli, kernel: str) -> None:
    ran(server, accepted())
    server.answer(f"GET {AT}", view(State.CANCELLED, kind=JudgingReason.RUN).model_dump(mode="json"))
    told = cli("run", kernel, "-c", "vector_add")
    assert told.code == errors.EXIT_USAGE
    assert "was cancelled" in told.err
