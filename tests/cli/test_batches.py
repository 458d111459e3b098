"""`grader batch` against a stub: parts, results, resuming, exit codes."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from grader import errors, limits
from grader.cli.commands import batches
from grader.schemas.batch import BatchReceipt, BatchResult, BatchView
from grader.schemas.report import Verdict
from grader.schemas.submission import ErrorBody, State
from tests.cli.conftest import Cli
from tests.cli.reports import view as submission
from tests.cli.stub import Stub

LINES = '{"id": "a", "challenge": "x", "source": "1"}\n\n{"id": "b", "challenge": "x", "source": "2"}\n'
RESULTS = [
    BatchResult(
        number=1,
        line=1,
        id="a",
        submission="abc123",
        state=State.DONE,
        verdict=Verdict.ACCEPTED,
        time_us=12.0,
    ),
    BatchResult(
        number=2, line=3, id="b", error=ErrorBody(code="bad_source", message="Line 3: oh.", hint="Do so.")
    ),
]


def seen(**values: Any) -> BatchView:
    at = submission(State.QUEUED).created_at
    given: dict[str, Any] = {
        "id": "b1", "name": "n", "created_at": at, "finished_at": at, "total": 2, "held": 0, "open": 0, "ended": 2,
        "counts": {"accepted": 1, "refused": 1},
    }  # fmt: skip
    return BatchView(**(given | values))


@pytest.fixture
def served(server: Stub, home: Path) -> Stub:
    (home / "kernels.jsonl").write_text(LINES)
    receipt = BatchReceipt(batch=seen(), new=2, known=0, refused=1)
    server.answer("POST /batches", receipt.model_dump(mode="json"), 201)
    server.answer("GET /batches/b1", seen().model_dump(mode="json"))
    whole = "".join(f"{result.model_dump_json()}\n" for result in RESULTS)
    server.answer("GET /batches/b1/results", whole.encode())
    return server


def test_a_file_is_sent_and_its_results_are_printed(served: Stub, cli: Cli) -> None:
    ran = cli("batch", "kernels.jsonl")
    assert ran.code == errors.EXIT_USAGE
    assert ran.out == "a: accepted, 12.0 µs (abc123)\nb: Line 3: oh. Do so.\n"
    assert "2 new lines, 0 sent before" in ran.err
    assert "has ended: 1 accepted, 1 refused" in ran.err
    sent = served.asked[0]
    assert sent.body.decode().splitlines() == LINES.splitlines()
    assert "name=kernels-" in sent.path
    assert sent.headers["Content-Type"] == "application/x-ndjson"
    cli("batch", "kernels.jsonl")
    assert served.asked[-3].path == sent.path, "the same file is the same batch"
    lines = cli("batch", "kernels.jsonl", "--json").out.splitlines()
    assert [json.loads(line)["number"] for line in lines] == [1, 2]


def test_a_large_file_is_sent_in_parts(
    served: Stub, cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "_PART_LINES", 2)
    (home / "many.jsonl").write_text("\n{}\n{}\n\n{}\n")
    ran = cli("batch", "many.jsonl", "--name", "mine")
    posts = [asked for asked in served.asked if asked.method == "POST"]
    assert [(asked.path.partition("?")[2], asked.body) for asked in posts] == [
        ("name=mine&first_line=2", b"{}\n{}"),
        ("name=mine&first_line=5", b"{}\n"),
    ]
    assert "4 new lines" in ran.err


def test_results_in_a_file_go_on_after_the_last_one(served: Stub, cli: Cli, home: Path) -> None:
    out = home / "results.jsonl"
    first = RESULTS[0].model_dump_json()
    out.write_text(f'{first}\n{{"number": 2, "li')
    served.answer("GET /batches/b1/results", f"{first}\n".encode())
    # The stub gives one answer to every question: the check reads line 1, as does the rest.
    served.answer("GET /batches/b1", seen(ended=1, counts={"accepted": 1}).model_dump(mode="json"))
    ran = cli("batch", "kernels.jsonl", "--out", "results.jsonl", "--json")
    assert (ran.code, out.read_text()) == (0, f"{first}\n")
    assert json.loads(ran.out)["id"] == "b1"
    assert "after=0&limit=1" in served.asked[1].path
    assert "after=1&" in served.asked[2].path
    out.write_text(RESULTS[1].model_dump_json() + "\n")
    ran = cli("batch", "kernels.jsonl", "--out", "results.jsonl")
    assert (ran.code, out.read_text()) == (2, RESULTS[1].model_dump_json() + "\n")
    assert "does not end with a result of this batch" in ran.err


def test_an_interruption_says_how_to_go_on(served: Stub, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", interrupt)
    served.answer("GET /batches/b1", seen(finished_at=None, held=1, ended=1).model_dump(mode="json"))
    ran = cli("batch", "kernels.jsonl")
    assert ran.code == 130
    assert "grader batch --cancel b1" in ran.err


def test_it_times_out(served: Stub, cli: Cli) -> None:
    served.answer("GET /batches/b1", seen(finished_at=None, open=1).model_dump(mode="json"))
    assert cli("batch", "kernels.jsonl", "--timeout", "0.05").code == errors.EXIT_TIMED_OUT


def test_cancelling_and_listing(served: Stub, cli: Cli) -> None:
    served.answer("POST /batches/b1/cancel", seen(open=3).model_dump(mode="json"))
    served.answer("GET /batches", {"batches": [seen().model_dump(mode="json")]})
    ran = cli("batch", "--cancel", "b1")
    assert (ran.code, ran.out) == (0, "b1 is cancelled. 3 that have begun go on.\n")
    assert json.loads(cli("batch", "--cancel", "b1", "--json").out)["open"] == 3
    assert "1 accepted, 1 refused" in cli("batch").out
    assert json.loads(cli("batch", "--json").out)["batches"][0]["name"] == "n"


@pytest.mark.parametrize(
    ("counts", "code"),
    [
        ({"accepted": 3}, errors.EXIT_ACCEPTED),
        ({"accepted": 3, "wrong_answer": 1}, errors.EXIT_NOT_ACCEPTED),
        ({"wrong_answer": 1, "cancelled": 1}, errors.EXIT_USAGE),
        ({"refused": 1, "internal_error": 1}, errors.EXIT_OUR_FAILURE),
    ],
)
def test_the_exit_code_is_the_worst(counts: dict[str, int], code: int) -> None:
    assert batches.exit_code(seen(counts=counts)) == code


def test_files_that_cannot_be_sent(
    server: Stub, cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "empty.jsonl").write_text("\n \n")
    monkeypatch.setattr(limits, "BATCH_BYTES", 3)
    (home / "large.jsonl").write_text("{}{}")
    for file, said in (
        ("none.jsonl", "cannot be read"),
        ("empty.jsonl", "no line"),
        ("large.jsonl", "4 bytes"),
    ):
        ran = cli("batch", file)
        assert ran.code == errors.EXIT_USAGE
        assert said in ran.err
    assert server.asked == []
