"""`grader mcp`: what stdout holds, refusals, waits and answers, against a stub. test_platform.py has the whole way."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_types import CallToolRequestParams, CallToolResult

from grader import limits
from grader.challenge import views
from grader.challenge.catalogue import find_catalogue
from grader.cli import agent_tools
from grader.cli.agent_tools import Tell, ToolServer, tools
from grader.errors import (
    BadRequest,
    BadSource,
    GraderError,
    NotAllowed,
    NotSignedIn,
    TimedOut,
    TooMany,
    UnknownLanguage,
)
from grader.sandbox.emulator.profile import profile_of
from grader.schemas.call_profile import CallProfile
from grader.schemas.report import CaseReport
from grader.schemas.submission import JudgingReason, State
from tests.cli.agent import text_of
from tests.cli.reports import WRONG_CASE, accepted, right_case, view, wrong
from tests.cli.stub import Stub, done
from tests.cli.up import command
from tests.schemas.profiles import launch, row

AT = "/submissions/abc123"
INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
SOURCE = {"challenge": "vector_add", "source": "import triton\n", "language": "triton"}


def call(name: str, tell: Tell = lambda text: None, **arguments: object) -> tuple[Any, str]:
    tool = tools("local")[name]
    return tool.call(tool.arguments.model_validate(arguments), tell)


def refusal(name: str, **arguments: object) -> GraderError:
    with pytest.raises(GraderError) as caught:
        call(name, **arguments)
    return caught.value


def test_only_the_protocol_is_on_stdout_and_a_server_that_is_away_is_an_error(home: Path) -> None:
    """Protects agents' clients: any other line breaks them."""
    asked = [
        {"id": 1, "method": "initialize", "params": INITIALIZE},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "list_challenges", "arguments": {}}},
    ]
    words = command("mcp", "--server", "http://127.0.0.1:9")
    process = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.writelines(json.dumps({"jsonrpc": "2.0", **each}) + "\n" for each in asked)
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(2)]
        rest, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert [answer["id"] for answer in answers] == [1, 2]
    assert answers[0]["result"]["serverInfo"]["name"] == "grader"
    assert answers[1]["result"]["isError"] is True
    told = answers[1]["result"]["content"][0]["text"]
    assert told.startswith("http://127.0.0.1:9 cannot be reached: nothing listens there.")
    assert told.endswith("(unreachable)")
    assert (rest, err, process.returncode) == ("", "", 0)


def test_ctrl_c_ends_it_while_it_reads() -> None:
    # A shell's background jobs ignore SIGINT, and so would this child of theirs.
    words = ["env", "--default-signal=INT", *command("mcp", "--server", "http://127.0.0.1:9")]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(
            json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}) + "\n"
        )
        process.stdin.flush()
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == -signal.SIGINT
    finally:
        process.kill()
        process.communicate()


def test_who_is_not_signed_in_reads_how_to(server: Stub) -> None:
    refused = {"code": "not_signed_in", "message": "Sign in first.", "hint": "grader login"}
    server.answer("POST /runs", {"error": refused}, 401)
    error = refusal("run", **SOURCE)
    assert isinstance(error, NotSignedIn)
    assert "grader login" in error.told


def test_a_used_up_quota_says_when_to_try_again(server: Stub) -> None:
    refused = {"code": "too_many", "message": "You have had 120 runs."}
    server.answer("POST /runs", {"error": refused}, 429, {"Retry-After": "90"})
    error = refusal("run", **SOURCE)
    assert isinstance(error, TooMany)
    assert "You have had 120 runs. Try again in 90 s" in error.told


def test_the_platforms_failure_is_an_error_for_who_asked_and_a_state_for_who_looks(server: Stub) -> None:
    server.answer("POST /runs", view(State.QUEUED, kind=JudgingReason.RUN).model_dump(mode="json"), 201)
    server.answer(f"GET {AT}", view(State.FAILED, error="no box").model_dump(mode="json"))
    assert "could not be judged: no box" in refusal("run", **SOURCE).told
    found, text = call("status", submission="abc123")
    assert (found.done, found.verdict, found.state) == (True, None, State.FAILED)
    assert text.startswith("failed: It could not be judged: no box.")


def test_a_wait_that_ends_early_gives_an_id_to_ask_again(server: Stub) -> None:
    queued = view(State.QUEUED, kind=JudgingReason.RUN, position=3, expected_wait_s=20.0)
    server.answer("POST /runs", queued.model_dump(mode="json"), 201)
    server.answer(f"GET {AT}", queued.model_dump(mode="json"))
    heard: list[str] = []
    found, text = call("run", heard.append, **SOURCE, wait_s=0.3)
    assert (found.submission, found.done, found.expected_wait_s) == ("abc123", False, 20.0)
    assert heard[0] == "abc123: queued, place 3, about 20 s"
    assert "`status` waits for it again" in text


def test_a_cancelled_call_stops_waiting(server: Stub) -> None:
    """Protects the server against threads that poll for nobody."""
    server.answer(f"GET {AT}", view(State.TESTING).model_dump(mode="json"))
    ended: list[bool] = []

    async def cancel() -> None:
        class Session:
            async def report_progress(self, *_: object) -> None:
                scope.cancel()

        class Context:
            session = Session()

        with anyio.CancelScope() as scope:
            asked = CallToolRequestParams(name="status", arguments={"submission": "abc123"})
            await ToolServer("local").call(Context(), asked)  # type: ignore[arg-type]
        ended.append(scope.cancelled_caught)

    began = time.monotonic()
    anyio.run(cancel)
    assert ended == [True]
    assert time.monotonic() - began < agent_tools.WAIT_SECONDS / 2


def test_a_submission_names_its_competition_and_reuses_a_result(server: Stub) -> None:
    done(server, accepted())
    found, text = call("submit", **SOURCE, competition="none")
    assert found.verdict == "accepted"
    assert "- small (n=1,048,576): 1.23 ms; eager 2.47 ms" in text
    assert "Times on cpu are not representative of a GPU." in text
    body = json.loads(server.asked[0].body)
    assert (body["competition"], body["reuse"], body["filename"]) == ("", True, "vector_add.py")


def test_a_result_names_failing_cases_with_sizes_and_seed_and_no_controls(server: Stub) -> None:
    cases = [right_case("one"), *(wrong_case(number) for number in range(12))]
    done(server, wrong(cases))
    found, text = call("status", submission="abc123")
    assert (found.passed, found.total, len(found.failed), found.failed_left_out) == (1, 13, 10, 2)
    assert (found.failed[0].seed, found.failed[0].sizes, found.failed[0].wrong) == (42, {"n": 1023}, 12)
    assert "- n 0 (odd, wrong_answer; n=1,023; seed 42): out[3, 17] is 2, expected 1.5" in text
    assert "\x1b" not in text


def wrong_case(number: int) -> CaseReport:
    return WRONG_CASE.model_copy(update={"name": f"n {number}"})


@pytest.mark.parametrize(
    ("name", "arguments", "kind", "words"),
    [
        ("run", {"challenge": "vector_add"}, BadRequest, "Neither or both of `file` and `source`"),
        ("run", {"challenge": "vector_add", "source": "x"}, UnknownLanguage, "`source` needs `language`."),
        (
            "run",
            {**SOURCE, "source": "#" * (limits.SOURCE_BYTES + 1)},
            BadSource,
            "at most 262,144 are taken",
        ),
        ("run", {**SOURCE, "source": "def solve(:"}, BadSource, "SyntaxError in line 1"),
        ("run", {"challenge": "vector_add", "file": "../up.py"}, NotAllowed, "is outside"),
        ("run", {"challenge": "vector_add", "file": "out.py"}, NotAllowed, "is outside"),
        (
            "run",
            {"challenge": "vector_add", "file": "client.json"},
            UnknownLanguage,
            "does not belong to a language",
        ),
        ("run", {"challenge": "vector_add", "file": "none.py"}, BadRequest, "There is no file"),
        ("run", {**SOURCE, "seed": 1}, BadRequest, "no case is named"),
        ("profile", {}, BadRequest, "Nothing to profile is named"),
        ("profile", {**SOURCE, "submission": "abc123"}, BadRequest, "A submission and a source are given"),
        (
            "show_challenge",
            {"challenge": "vector_add", "language": "hip"},
            UnknownLanguage,
            "It takes: cuda, triton.",
        ),
    ],
)
def test_what_cannot_be_sent_is_refused_here(
    server: Stub, home: Path, name: str, arguments: dict[str, object], kind: type[GraderError], words: str
) -> None:
    """Protects other files of the user, and attempts."""
    (home.parent / "up.py").write_text("secret")
    (home / "out.py").symlink_to(home.parent / "up.py")
    (home / "client.json").write_text("secret")
    detail = views.detail(find_catalogue().load("vector_add")).model_dump(mode="json")
    server.answer("GET /challenges/vector_add", detail)
    error = refusal(name, **arguments)
    assert type(error) is kind
    assert words in error.told
    assert [asked.method for asked in server.asked] == (["GET"] if name == "show_challenge" else [])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"chalenge": "x"}, "chalenge: Extra inputs are not permitted"),
        ({"challenge": "x", "wait_s": 1e9}, "wait_s: Input should be less than or equal to 600"),
        ({"challenge": "x", "language": "rust"}, "language: "),
        ({**SOURCE, "case": "basic", "sizes": {"n": "1" * 300}}, "an expression has at most 200 characters"),
    ],
)
def test_bad_arguments_are_named(server: Stub, arguments: dict[str, object], words: str) -> None:
    async def ask() -> CallToolResult:
        asked = CallToolRequestParams(name="run", arguments=arguments)
        return await ToolServer("local").call(None, asked)  # type: ignore[arg-type]

    told = text_of(anyio.run(ask))
    assert told.startswith("run: ")
    assert words in told
    assert "Its arguments are: file, source, language, challenge," in told
    assert "errors.pydantic.dev" not in told
    assert server.asked == []


def test_a_submissions_profile_holds_what_limits_it(server: Stub) -> None:
    counts = {"requests": 200_000, "sectors": 6_400_000, "ideal_sectors": 800_000, "l2": 6_400_000}
    of_x = {"steps": 128, "lines": 6_400_000, "bytes": 25_600_000, "array": "x", "array_bytes": 12_800_000}
    rows = [row(2, "load", 200_000, **counts, **of_x, dram=64_000, delayed=400_000)]
    counted = CallProfile.model_validate(profile_of([launch("copy", grid=2000, rows=rows)]))
    (timed,) = accepted().workloads
    done(server, accepted(workloads=[timed.model_copy(update={"profile": counted})]))
    source = {"id": "abc123", "language": "triton", "filename": "mine.py", "source": "first\n  second\n"}
    server.answer(f"GET {AT}/source", source)
    found, text = call("profile", submission="abc123")
    (workload,) = found.workloads
    assert (workload.time_us, workload.kernels[0].name, workload.kernels[0].grid[0]) == (
        counted.time_us,
        "copy",
        2000,
    )
    assert [(line.line, line.text, line.sectors_per_request) for line in workload.lines] == [
        (2, "second", 32.0)
    ]
    assert workload.hints[0].sentence.startswith("Line 2: ")
    assert workload.bound in text
    assert "Line 2: 200,000 instructions" in text


def test_the_error_of_a_profile_on_this_machine_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    error = refusal("profile", **SOURCE, workload="huge")
    assert (error.code, "'huge'" in error.message) == ("challenge_invalid", True)


def test_a_profile_on_this_machine_ends_in_time(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = home / "python"
    slow.write_text("#!/bin/sh\nexec sleep 600\n")
    slow.chmod(0o755)
    monkeypatch.setattr(agent_tools.sys, "executable", str(slow))
    monkeypatch.setattr(agent_tools, "_NEWS_SECONDS", 0.05)
    heard: list[str] = []
    tool = tools("local")["profile"]
    with pytest.raises(TimedOut, match="was ended"):
        tool.call(tool.arguments.model_validate({**SOURCE, "wait_s": 0.1}), heard.append)
    assert heard[0] == "counting on this machine's emulated GPU"
