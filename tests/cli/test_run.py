"""`grader run`: request, output and exit code."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from grader import errors
from grader.cli.output import EXIT_INTERRUPTED
from grader.cli.saves import on_each_save
from grader.schemas.report import Report, ThreadPrints, Verdict
from grader.schemas.submission import JudgingReason, State
from tests.cli.conftest import Cli
from tests.cli.reports import accepted, view, wrong
from tests.cli.stub import Stub

AT = "/submissions/abc123"
HEADER = b"{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }\n"
NPY = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(HEADER)) + HEADER + struct.pack("<6i", *range(1, 7))
CHANGES = {
    "run": "old1",
    "verdict_then": "wrong_answer",
    "verdict_now": "accepted",
    "source_changed": True,
    "same_inputs": True,
    "outputs": [
        {
            "argument": "out",
            "same": False,
            "where": "out[3]",
            "then": "1.0",
            "now": "2.0",
            "changed": 2,
            "of": 5,
        }
    ],
    "sentence": "The verdict was wrong answer and is accepted now; out changed.",
}


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


def test_one_case_with_own_sizes_and_inputs(server: Stub, cli: Cli, kernel: str, tmp_path: Path) -> None:
    ran(server, accepted())
    server.answer("GET /runs/abc123/changes", CHANGES)
    (tmp_path / "b.json").write_text("[[1, 2.5], [3, NaN]]")
    (tmp_path / "c.npy").write_bytes(NPY)
    told = cli(
        *("run", kernel, "-c", "vector_add", "--case", "basic", "--size", "n=2*n", "--size", "m = 4"),
        *("--input", "a=ramp(0, 2)", "--input", "b=@b.json", "--input", "c=@c.npy", "--seed", "7"),
    )
    assert told.code == errors.EXIT_ACCEPTED, told
    assert json.loads(server.asked[0].body)["case"] == {
        "name": "basic",
        "sizes": {"n": "2*n", "m": "4"},
        "inputs": {"a": "ramp(0, 2)", "b": [[1, 2.5], [3, "nan"]], "c": [[1, 2, 3], [4, 5, 6]]},
        "seed": 7,
        "step": None,
        "tool": None,
        "version": None,
    }
    assert "Since run old1  The verdict was wrong answer and is accepted now; out changed." in told.out
    assert "out: 2 of the first 5 elements changed; the first is out[3], 1.0 then and 2.0 now." in told.out
    assert "the case that you chose" in told.err


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["--size", "n=1"], "--size, --input, --seed and --tool go with one case, and no case is named."),
        (
            ["--case", "basic", "--size", "n"],
            "--size 'n' is not NAME=VALUE. hint: Write it as --size n=1000.",
        ),
        (["--case", "basic", "--input", "a=@none.npy"], "--input a: 'none.npy' cannot be read"),
        (["--case", "basic", "--input", "a=@text.json"], "--input a: 'text.json' holds no values"),
        (["--case", "basic", "--input", "a=@dict.json"], "--input a: 'dict.json' holds no list."),
        (["--case", "basic", "--input", "a=@cut.npy"], "--input a: 'cut.npy' holds no values"),
    ],
)
def test_what_is_no_case(cli: Cli, kernel: str, tmp_path: Path, args: list[str], sentence: str) -> None:
    (tmp_path / "text.json").write_text("one, two")
    (tmp_path / "dict.json").write_text('{"a": 1}')
    (tmp_path / "cut.npy").write_bytes(NPY[:-5])
    told = cli("run", kernel, "-c", "vector_add", *args)
    assert told.code == errors.EXIT_USAGE
    assert sentence in " ".join(told.err.split())


def test_prints_are_lines_of_block_and_thread(server: Stub, cli: Cli, kernel: str) -> None:
    prints = [
        ThreadPrints(block=(0, 0, 0), thread=(5, 0, 0), text="i = 5\nx = [red]1\n"),
        ThreadPrints(block=(1, 2, 0), thread=(0, 0, 3), text="last"),
    ]
    case = accepted().cases[0].model_copy(update={"prints": prints, "prints_left_out": 9})
    ran(server, accepted(cases=[case], workloads=[]))
    told = cli("run", kernel, "-c", "vector_add")
    assert (
        "  block 0 thread 5: i = 5\n  block 0 thread 5: x = [red]1\n  block 1,2 thread 0,0,3: last\n"
        in told.out
    )
    assert "They printed 9 more times; only the first prints are kept." in told.out


class Saved:
    """Saves of a file in place of pauses; then Ctrl+C."""

    def __init__(self, file: Path, texts: list[str | None]) -> None:
        self.file, self.texts = file, texts

    def __call__(self, _: float) -> None:
        if not self.texts:
            raise KeyboardInterrupt
        text = self.texts.pop(0)
        if text is None:
            self.file.unlink()
        else:
            self.file.write_text(text)


def test_each_save_runs_again_until_ctrl_c(tmp_path: Path) -> None:
    file = tmp_path / "a.cu"
    file.write_text("1")
    seen: list[str] = []

    def once() -> int:
        seen.append(file.read_text())
        if seen[-1] == "three":
            raise errors.BadSource("It is empty.")
        return 0 if seen[-1] == "1" else 1

    assert on_each_save(file, once, Saved(file, [None, "1", "two2"])) == 1
    assert seen == ["1", "1", "two2"]
    assert on_each_save(file, once, Saved(file, ["three"])) == errors.EXIT_USAGE


def test_ctrl_c_while_it_runs_keeps_the_last_verdicts_code(tmp_path: Path) -> None:
    file = tmp_path / "a.cu"
    file.write_text("1")
    codes = iter([1, EXIT_INTERRUPTED])
    assert on_each_save(file, lambda: next(codes), Saved(file, ["two"])) == 1
    assert on_each_save(file, lambda: EXIT_INTERRUPTED) == EXIT_INTERRUPTED
