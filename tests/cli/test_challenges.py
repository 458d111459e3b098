"""`challenges`, `show`, `init`: from a server, and from the catalogue on this machine."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from grader.challenge import views
from grader.challenge.catalogue import find_catalogue
from grader.cli import agent_tools, agents_file
from grader.cli.client import Client
from grader.cli.registry import COMMANDS
from grader.errors import UnknownChallenge
from tests.cli.conftest import Cli, narrow
from tests.cli.stub import Stub


@pytest.fixture
def detail() -> dict[str, object]:
    return views.detail(find_catalogue().load("vector_add")).model_dump(mode="json")


def test_challenges_lists_the_servers(server: Stub, cli: Cli, detail: dict[str, object]) -> None:
    summary = views.summary(find_catalogue().load("vector_add")).model_dump(mode="json")
    server.answer("GET /challenges", {"challenges": [summary]})
    ran = cli("challenges")
    assert ran.code == 0
    assert "vector_add" in ran.out
    assert "cuda, triton" in ran.out


@pytest.mark.parametrize("args", [["challenges", "--json", "--local"], ["challenges", "--local", "--json"]])
def test_challenges_local_lists_this_machines(cli: Cli, args: list[str]) -> None:
    found = json.loads(cli(*args).out)["challenges"]
    assert "vector_add" in [challenge["slug"] for challenge in found]


def test_no_slug_is_cut_on_a_narrow_terminal(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    narrow(monkeypatch, 50)
    lines = cli("challenges", "--local").out.splitlines()
    assert [line.split()[0] for line in lines if line and not line.startswith(" ")][1:] == [
        challenge.slug for challenge in find_catalogue().all()
    ]
    assert max(map(len, lines)) <= 50


def test_piped_output_is_not_cut(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    lines = cli("challenges", "--local").out.splitlines()
    assert len(lines) == 1 + len(find_catalogue().slugs())
    assert lines[0].split() == ["challenge", "title", "track", "difficulty", "languages", "version"]


@pytest.mark.parametrize("command", [["challenges"], ["show", "vector_add"], ["init", "vector_add"]])
def test_the_bundled_catalogue_is_used_without_a_server(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.setattr("grader.cli.login.DEFAULT_SERVER", "http://127.0.0.1:9")
    ran = cli(*command)
    assert ran.code == 0
    assert "the catalogue on this machine" in ran.err


def test_show_prints_the_challenge(server: Stub, cli: Cli, detail: dict[str, object]) -> None:
    server.answer("GET /challenges/vector_add", detail)
    ran = cli("show", "vector_add")
    assert ran.code == 0
    for words in ("def solve(a, b, out, n)", 'extern "C" void solve', "Cases", "Workloads"):
        assert words in ran.out
    assert json.loads(cli("show", "vector_add", "--json").out) == detail


def test_show_never_breaks_a_signature_and_names_the_versions_that_judge(
    server: Stub, cli: Cli, detail: dict[str, object]
) -> None:
    long = f'extern "C" void solve({", ".join(f"const float* argument_{number}" for number in range(20))})'
    judged_with = {"python": "3.11.7", "triton": "3.9.0"}
    changed = {**detail, "signatures": {"cuda": long}, "judged_with": judged_with}
    server.answer("GET /challenges/vector_add", changed)
    told = cli("show", "vector_add").out.splitlines()
    assert long in told
    assert "Triton is judged with python 3.11.7, triton 3.9.0" in told


def test_show_lists_prerequisites(server: Stub, cli: Cli, detail: dict[str, object]) -> None:
    server.answer("GET /challenges/vector_add", {**detail, "prerequisites": ["one", "two"]})
    assert "builds on one, two" in cli("show", "vector_add").out
    server.answer("GET /challenges/vector_add", {**detail, "prerequisites": []})
    assert "builds on" not in cli("show", "vector_add").out


def test_show_of_an_unknown_challenge_is_refused(server: Stub, cli: Cli) -> None:
    server.answer(
        "GET /challenges/nope", {"error": UnknownChallenge("There is no challenge 'nope'.").as_dict()}, 404
    )
    assert cli("show", "nope").code == 2
    assert cli("show", "nope", "--local").code == 2
    said = cli("show", "VectorAdd", "--local").err
    assert re.search(r"There is no challenge 'VectorAdd' in /\S+/challenges\.", said)
    assert "Did you mean 'vector_add'?" in said
    assert "Did you mean 'matmul_bf16', 'matmul_fp16' or 'matmul'?" in cli("show", "matmul_bf", "--local").err


def test_a_slug_is_escaped_in_the_request_path(server: Stub, cli: Cli) -> None:
    assert cli("show", "../me?x=1").code == 2
    assert server.asked[0].path == "/api/v1/challenges/..%2Fme%3Fx%3D1"


@pytest.mark.parametrize(
    ("options", "name", "words"),
    [
        ([], "vector_add.py", "import triton"),
        (["--language", "cuda"], "vector_add.cu", "__global__"),
        (["-o", "mine.py"], "mine.py", "import triton"),
    ],
)
def test_init_writes_the_starter(cli: Cli, home: Path, options: list[str], name: str, words: str) -> None:
    ran = cli("init", "vector_add", "--local", *options)
    assert (ran.code, ran.out) == (0, "")
    assert words in (home / name).read_text()
    which = " -c vector_add" if "-o" in options else ""
    assert ran.err.endswith(f"grader test {name}{which}\n")


def test_init_overwrites_nothing(cli: Cli, home: Path) -> None:
    (home / "vector_add.py").write_text("my work")
    ran = cli("init", "vector_add", "--local")
    assert ran.code == 2
    assert "already exists" in ran.err
    assert (home / "vector_add.py").read_text() == "my work"


def test_init_writes_a_file_for_agents_once(cli: Cli, home: Path) -> None:
    """Protects a student's own AGENTS.md."""
    assert f"Wrote {Path('AGENTS.md')} for coding agents." in cli("init", "vector_add", "--local").err
    told = (home / "AGENTS.md").read_text()
    for words in (
        "`grader run FILE`",
        "rules on help from agents",
        "5 timed out waiting",
        "kernel-grader[mcp]",
    ):
        assert words in told
    (home / "AGENTS.md").write_text("mine")
    assert "AGENTS.md" not in cli("init", "saxpy", "--local").err
    assert (home / "AGENTS.md").read_text() == "mine"
    (home / "AGENTS.md").unlink()
    (home / "apart").mkdir()
    assert cli("init", "saxpy", "--local", "-o", "apart/saxpy.py", "--no-agents").code == 0
    assert [path.name for path in (home / "apart").iterdir()] == ["saxpy.py"]


def test_the_file_for_agents_names_commands_and_tools_that_exist() -> None:
    told = agents_file.TEXT
    commands = set(re.findall(r"`grader ([a-z]+)", told))
    assert {"run", "submit", "mcp"} <= commands <= set(COMMANDS)
    (tools,) = re.findall(r"^Tools: (.+)\.$", told, re.MULTILINE)
    assert tools.split(", ") == [*agent_tools.tools("local")]


def test_init_refuses_an_unknown_language(cli: Cli) -> None:
    assert "There is no language 'rust'" in cli("init", "vector_add", "--local", "--language", "rust").err


def test_local_sends_no_request(server: Stub, cli: Cli) -> None:
    cli("challenges", "--local")
    assert server.asked == []
    assert Client(server.url)
