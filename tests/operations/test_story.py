"""One id from submit to verdict, and metrics counted by several real processes."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import select

from grader.challenge.catalogue import find_catalogue
from grader.metrics import folder_of
from grader.records.models import SubmissionRow
from grader.schemas.submission import State
from tests.operations.conftest import PASSWORD, Running, scrape
from tests.operations.requests import call
from tests.service.world import until

MARK = "a_source_text_that_no_log_may_hold"
REQUEST = "proxy-7f3a.0001"


def submit(running: Running, request: str = REQUEST) -> str:
    solution = Path(find_catalogue(None).root / "reference/vector_add/staff/solution.py").read_text()
    body = {"challenge": "vector_add", "filename": "add.py", "source": f"{solution}\n# {MARK}\n"}
    answer = call(
        f"{running.url}/api/v1/submissions",
        body,
        {"Authorization": f"Bearer {running.token}", "X-Request-ID": request},
    )
    assert (answer.status, answer.headers["X-Request-ID"]) == (201, request)
    return str(json.loads(answer.body)["id"])


def ended(running: Running, submission: str) -> SubmissionRow | None:
    with running.platform.sessions() as session:
        row = session.scalar(select(SubmissionRow).where(SubmissionRow.public_id == submission))
        return row if row is not None and row.state.final else None


def samples(text: str) -> dict[str, list[tuple[dict[str, str], float]]]:
    found: dict[str, list[tuple[dict[str, str], float]]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, []).append((sample.labels, sample.value))
    return found


def total(found: list[tuple[dict[str, str], float]], **labels: str) -> float:
    return sum(value for had, value in found if labels.items() <= had.items())


@pytest.mark.in_turn
def test_one_request_id_links_all_logs_and_no_secret_is_logged(running: Running) -> None:
    """Protects operators who trace one submission through all logs, and students whose data is in none of them."""
    submission = submit(running)
    row = until(lambda: ended(running, submission), "a verdict", 240)
    assert (row.state, row.request_id) == (State.DONE, REQUEST), row.error
    figures = until(lambda: counted(running), "figures of the judgement", 60)
    running.end()
    story = [line for line in lines(running) if line.get("request") == REQUEST]
    events = [line["event"] for line in story]
    for (
        event
    ) in "request_served submitted judging judge_began box_started box_ended judge_ended judged".split():
        assert event in events, f"no {event} in {events}"
    of_it = [line for line in lines(running) if line.get("submission") == submission]
    assert {line["event"] for line in of_it} >= set(events) - {"request_served"}
    assert all("timestamp" in line and "level" in line for line in story)
    secrets = [MARK, PASSWORD, running.token, row.source[:60], *hidden_names(), *secret_keys(running)]
    assert [secret for secret in secrets if secret in running.told()] == []
    assert total(figures["grader_verdicts_total"], challenge="vector_add", verdict="accepted") == 1
    assert total(figures["grader_judge_phase_seconds_count"], phase="total", device="cpu") == 1
    assert total(figures["grader_box_start_seconds_count"], purpose="run") >= 1
    assert total(figures["grader_workers"], device="cpu") == 1
    assert total(figures["grader_submissions"], device="cpu") == 0


def counted(running: Running) -> dict[str, list[tuple[dict[str, str], float]]] | None:
    """The worker counts just after it has stored the verdict, and answers are cached for some seconds."""
    found = samples(scrape(running).body)
    done = total(found.get("grader_verdicts_total", []), verdict="accepted") == 1
    return found if done and "grader_judge_phase_seconds_count" in found else None


def hidden_names() -> list[str]:
    return [case.name for case in find_catalogue(None).load("vector_add").hidden_cases]


def secret_keys(running: Running) -> list[str]:
    return [path.read_text() for path in (running.settings.data_dir / "secrets").iterdir()]


def lines(running: Running) -> list[dict[str, Any]]:
    return [json.loads(line) for line in running.told().splitlines()]


def test_request_counts_of_both_processes_add_up(web: Running) -> None:
    asked = 40

    def ask(_number: int) -> int:
        return call(f"{web.url}/api/v1/challenges").status

    with ThreadPoolExecutor(8) as pool:
        processes: set[str] = set()

        def both() -> bool:
            nonlocal asked
            processes.update(path.stem for path in folder_of(web.settings).glob("histogram_*.db"))
            if len(processes) >= 2:
                return True
            assert set(pool.map(ask, range(20))) == {200}
            asked += 20
            return False

        assert set(pool.map(ask, range(40))) == {200}
        until(both, "both processes served something", 60)
    found = samples(scrape(web).body)
    served = found["grader_http_request_seconds_count"]
    assert total(served, route="/api/v1/challenges", method="GET", status="200") == asked


def test_scraping_needs_the_token(web: Running) -> None:
    assert scrape(web).status == 200
    assert scrape(web, "wrong").status == 401
    assert call(f"{web.url}/metrics").status == 404
