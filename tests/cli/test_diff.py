"""`diff` against a stub: the choice of the two, and the printed comparison."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from grader import errors
from grader.schemas.report import Report, WorkloadReport
from grader.schemas.submission import State
from tests.cli.conftest import Cli
from tests.cli.reports import accepted, view, wrong
from tests.cli.stub import Stub

OLD = "import triton\n\n# [bold]slow\nx = 1\n"
NEW = "import triton\n\n# fast\nx = 1\n"


def faster() -> Report:
    (old,) = accepted().workloads
    new = old.model_copy(update={"time_us": 617.0, "ci_us": (600.0, 650.0)})
    return accepted(workloads=[new])


def submission(server: Stub, name: str, source: str, report: Report, day: int) -> dict[str, Any]:
    changes = {"id": name, "verdict": report.verdict, "score": report.score}
    done = view(State.DONE, created_at=datetime(2026, 1, day, tzinfo=UTC), **changes).model_dump(mode="json")
    told = {"id": name, "language": "triton", "filename": "mine.py", "source": source}
    server.answer(f"GET /submissions/{name}", done)
    server.answer(f"GET /submissions/{name}/source", told)
    server.answer(f"GET /submissions/{name}/report", report.model_dump(mode="json"))
    return done


@pytest.fixture
def both(server: Stub) -> Stub:
    new = submission(server, "new", NEW, faster(), 3)
    old = submission(server, "old", OLD, accepted(), 2)
    server.answer("GET /submissions", {"submissions": [new, old], "total": 2})
    return server


def test_diff_compares_two_submissions(both: Stub, cli: Cli) -> None:
    ran = cli("diff", "old", "new")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0] == "old/mine.py  ACCEPTED  3/3 cases  1.23 ms  speedup 2.00x  on cpu"
    assert "small 1.23 ms 617 µs 0.50x faster".split() in [line.split() for line in lines]
    changed = lines[lines.index("--- old/mine.py") :]
    assert changed[1] == "+++ new/mine.py"
    assert "-# [bold]slow" in changed
    assert "+# fast" in changed


def test_diff_prints_json(both: Stub, cli: Cli) -> None:
    told = json.loads(cli("diff", "old", "new", "--json").out)
    assert told["before"]["submission"]["id"] == "old"
    assert told["after"]["submission"]["verdict"] == "accepted"
    (change,) = told["workloads"]
    assert (change["name"], change["ratio"], change["sure"]) == ("small", 0.5, True)
    assert told["diff"][:2] == ["--- old/mine.py", "+++ new/mine.py"]


def test_a_single_submission_is_compared_with_its_predecessor(both: Stub, cli: Cli) -> None:
    told = json.loads(cli("diff", "new", "--json").out)
    assert (told["before"]["submission"]["id"], told["after"]["submission"]["id"]) == ("old", "new")
    assert any("challenge=vector_add" in asked.path for asked in both.asked)
    ran = cli("diff", "old")
    assert ran.code == errors.EXIT_USAGE
    assert "no earlier submission" in ran.err


def test_a_file_is_compared_with_the_latest_of_its_language(both: Stub, cli: Cli, home: Path) -> None:
    (home / "mine.py").write_bytes(NEW.replace("\n", "\r\n").encode())
    ran = cli("diff", "mine.py", "-c", "vector_add")
    assert ran.code == 0
    assert "new/mine.py  ACCEPTED" in ran.out
    assert "mine.py  a file" in ran.out
    assert "The sources are the same." in ran.err, "line ends are no difference"
    (home / "mine.cu").write_text("x")
    assert "no earlier submission" in cli("diff", "mine.cu").err
    told = json.loads(cli("diff", "old", "mine.py", "--json").out)
    assert (told["after"]["submission"], told["workloads"]) == (None, [])


def test_times_within_the_intervals_are_not_called_faster(server: Stub, cli: Cli) -> None:
    (old,) = accepted().workloads
    near = old.model_copy(update={"time_us": 1220.0})
    submission(server, "old", OLD, accepted(), 2)
    submission(server, "new", NEW, accepted(workloads=[near]), 3)
    assert "within the intervals" in cli("diff", "old", "new").out


def test_times_of_other_devices_or_sizes_are_not_compared(server: Stub, cli: Cli) -> None:
    other: WorkloadReport = accepted().workloads[0].model_copy(update={"sizes": {"n": 5}})
    submission(server, "old", OLD, accepted(device="h200"), 1)
    submission(server, "new", NEW, accepted(), 2)
    submission(server, "resized", NEW, accepted(workloads=[other]), 3)
    submission(server, "wrong", NEW, wrong(), 4)
    for before, after in (("old", "new"), ("new", "resized"), ("new", "wrong")):
        assert json.loads(cli("diff", before, after, "--json").out)["workloads"] == []
    assert "WRONG ANSWER" in cli("diff", "new", "wrong").out


def test_an_unfinished_submission_shows_only_its_source(server: Stub, cli: Cli) -> None:
    submission(server, "old", OLD, accepted(), 1)
    submission(server, "new", NEW, accepted(), 2)
    server.answer("GET /submissions/new", view(State.TESTING, id="new").model_dump(mode="json"))
    ran = cli("diff", "old", "new")
    assert ran.code == 0
    assert "new/mine.py  testing" in ran.out
