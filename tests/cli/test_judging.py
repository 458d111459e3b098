"""`grader test`: the judge on this machine, without server, queue or database."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from grader.schemas.report import CaseVerdict, Report
from tests.cli.conftest import Cli
from tests.cli.reports import WRONG_CASE, right_case, wrong
from tests.cli.stub import Stub, done
from tests.components import need

STAFF = Path(__file__).resolve().parents[2] / "reference" / "vector_add" / "staff"
RIGHT, WRONG = STAFF / "solution.py", STAFF / "mutants" / "tail_dropped.py"

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="judging needs Linux")


def test_a_right_kernel_is_accepted(cli: Cli) -> None:
    ran = cli("test", str(RIGHT), "-c", "vector_add", "--no-timing", "--json")
    assert ran.code == 0, ran.err
    report = Report.model_validate_json(ran.out)
    assert report.verdict == "accepted"
    assert report.workloads == []


def test_the_replay_command_in_a_report_repeats_the_failure(cli: Cli) -> None:
    ran = cli("test", str(WRONG), "-c", "vector_add")
    assert ran.code == 1
    assert "WRONG ANSWER" in ran.out
    line = next(line for line in ran.out.splitlines() if "replay: " in line)
    command = shlex.split(line.partition("replay: ")[2])
    assert command[0] == "grader"
    replayed = cli(*command[1:], "--json")
    assert replayed.code == 1
    (case,) = json.loads(replayed.out)["cases"]
    assert case["detail"] in ran.out
    assert str(case["seed"]) in line


def test_a_submissions_case_is_replayed_on_its_data(server: Stub, cli: Cli) -> None:
    need("emulator")
    told = {"id": "abc123", "language": "triton", "filename": "mine.py", "source": WRONG.read_text()}
    case = WRONG_CASE.model_copy(update={"name": "prime"})
    server.answer("GET /submissions/abc123/source", told)
    done(server, wrong([right_case("one_element"), case]))
    ran = cli("replay", "abc123", "--json")
    assert ran.code == 1, ran.err
    report = Report.model_validate_json(ran.out)
    assert report.device == "emulated"
    assert [(case.name, case.seed, case.verdict) for case in report.cases] == [
        ("prime", 42, CaseVerdict.WRONG_ANSWER)
    ]
    assert "no public case 'other' that ran" in cli("replay", "abc123", "other").err


def test_a_syntax_error_needs_no_box(cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.sandbox.choose.make_boxes", lambda _: pytest.fail("a box was asked for"))
    (home / "vector_add.py").write_text("def solve(a, b, out, n):\n\tout = (\n")
    ran = cli("test", "vector_add.py", "--json")
    assert ran.code == 1
    report = Report.model_validate_json(ran.out)
    assert report.verdict == "compile_error"
    assert report.detail == "SyntaxError in line 2: '(' was never closed\n    \tout = (\n    \t      ^"


def test_an_unknown_case_is_refused(cli: Cli) -> None:
    ran = cli("test", str(RIGHT), "-c", "vector_add", "--case", "nope")
    assert ran.code == 2
    assert "has no case 'nope'" in ran.err


def test_a_gpu_only_case_is_refused_on_the_host(cli: Cli) -> None:
    ran = cli("test", str(RIGHT), "-c", "vector_add", "--device", "cpu", "--case", "beyond_2_31")
    assert ran.code == 2
    assert "Case 'beyond_2_31' is too large for the board cpu." in ran.err


@pytest.mark.skipif(shutil.which("nvidia-smi") is not None, reason="this machine has a GPU")
def test_cuda_without_a_gpu_runs_on_the_emulated_gpu(cli: Cli) -> None:
    need("emulator")
    source = str(STAFF / "solution.cu")
    ran = cli("test", source, "-c", "vector_add", "--json")
    assert ran.code == 0
    report = json.loads(ran.out)
    assert (report["verdict"], report["device"]) == ("accepted", "emulated")
    assert report["score"]["ci"] == [report["score"]["time_us"]] * 2, "a model has no noise"
    ran = cli("test", source, "-c", "vector_add", "--device", "cpu", "--json")
    assert ran.code == 3
    assert json.loads(ran.out)["error"]["code"] == "language_not_served"


def test_a_profile_is_deterministic(cli: Cli) -> None:
    need("emulator")
    need("nvcc")
    source = str(STAFF / "solution.cu")
    first, second = (
        cli("profile", source, "-c", "vector_add", "--workload", "interpreter", "--json") for _ in range(2)
    )
    assert first.code == 0, first.err
    assert first.out == second.out
    report = Report.model_validate_json(first.out)
    assert len(report.cases) == 1
    assert [workload.name for workload in report.workloads] == ["interpreter"]
    assert all(workload.profile for workload in report.workloads)


def test_a_profile_of_an_unknown_workload_is_refused(cli: Cli) -> None:
    ran = cli("profile", str(RIGHT), "-c", "vector_add", "--workload", "nope")
    assert ran.code == 2
    assert "'vector_add' has no workload 'nope'." in ran.err
