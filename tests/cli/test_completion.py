"""`completion`: real completions by bash, and the contents of every script."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.cli import names
from grader.cli.commands.completion import places
from grader.cli.registry import COMMANDS
from grader.languages import LANGUAGES
from grader.schemas.submission import State
from tests.cli.conftest import Cli
from tests.cli.reports import view
from tests.cli.stub import Stub

Complete = Callable[..., list[str]]

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")


@pytest.fixture
def complete(cli: Cli, home: Path) -> Complete:
    """Bash's offers after `grader` and these words, the last one unfinished. No grader is on its PATH."""
    names.keep(names.CHALLENGES, ["vector_add", "vector_scale", "softmax"])
    names.keep(names.SUBMISSIONS, ["abc123defg"])
    (home / "script").write_text(cli("completion", "bash").out)

    def run(*typed: str) -> list[str]:
        words = " ".join(shlex.quote(word) for word in ("grader", *typed))
        ask = f'. ./script; COMP_WORDS=({words}); COMP_CWORD={len(typed)}; _grader; printf "%s\\n" "${{COMPREPLY[@]}}"'
        ran = subprocess.run(
            ["bash", "--norc", "-u", "-c", ask],
            cwd=home,
            env={"PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        assert ran.stderr == ""
        return [line for line in ran.stdout.splitlines() if line]

    return run


def test_commands_are_completed(complete: Complete) -> None:
    assert set(complete("")) == {*COMMANDS, "help"}
    assert complete("wat") == ["watch"]
    assert set(complete("admin", "queue", "")) >= {"pause", "resume"}
    assert complete("admin", "queue", "pa") == ["pause"]


def test_only_the_commands_options_are_completed(complete: Complete) -> None:
    assert complete("submit", "--wa") == ["--wait"]
    assert "--challenge" in complete("submit", "x.py", "-")
    assert complete("watch", "--challenge") == []


def test_seen_challenges_and_submissions_are_completed(complete: Complete) -> None:
    assert complete("show", "vector_") == ["vector_add", "vector_scale"]
    assert complete("submit", "x.py", "-c", "so") == ["softmax"]
    assert complete("watch", "") == ["abc123defg"]
    assert set(complete("open", "")) == {"abc123defg", "vector_add", "vector_scale", "softmax"}


def test_option_values_and_files_are_completed(complete: Complete, home: Path) -> None:
    (home / "my kernel.py").write_text("")
    assert complete("init", "softmax", "--language", "") == [*LANGUAGES]
    assert complete("submit", "my") == ["my kernel.py"]
    assert complete("submit", "--timeout", "") == [], "a number is nothing to complete"


def test_names_that_a_shell_would_expand_are_not_cached(complete: Complete, home: Path) -> None:
    names.keep(
        names.CHALLENGES, ["$(touch owned)", "`touch owned`", "a;b", "-x", "../x", "fine_1", "a b", ""]
    )
    assert names.read(names.CHALLENGES) == ["fine_1"]
    (names.folder() / names.CHALLENGES).write_text("$(touch owned)\nfine\n")
    assert names.read(names.CHALLENGES) == ["fine"], "nor read, where another wrote them"


def test_commands_cache_the_names_they_show(cli: Cli, server: Stub, kernel: str) -> None:
    queued = view(State.QUEUED).model_dump(mode="json")
    server.answer("POST /submissions", queued | {"id": "new0000000"}, 201)
    server.answer("GET /submissions", {"submissions": [queued | {"id": "old0000000"}], "total": 1})
    cli("history")
    cli("submit", kernel, "-c", "vector_add")
    assert names.read(names.SUBMISSIONS) == ["new0000000", "old0000000"]


def test_an_unwritable_cache_fails_no_command(
    cli: Cli, server: Stub, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "file"))
    server.answer("GET /submissions", {"submissions": [], "total": 0})
    assert cli("history").code == 0


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_every_command_and_option_is_in_every_script(cli: Cli, shell: str) -> None:
    ran = cli("completion", shell)
    assert ran.code == 0
    assert str(names.folder()) in ran.out
    for place in places():
        assert place.path in ran.out
        for option in place.options:
            for spelling in option.spellings:
                spelled = f" {spelling[2:]}" if shell == "fish" and spelling[:2] == "--" else spelling
                assert (
                    f"-s {spelling[1:]}" if shell == "fish" and spelling[:2] != "--" else spelled
                ) in ran.out


def test_zsh_and_bash_parse_their_scripts(cli: Cli, home: Path) -> None:
    for shell in ("bash", "zsh", "fish"):
        if shutil.which(shell):
            (home / shell).write_text(cli("completion", shell).out)
            subprocess.run([shell, "-n", str(home / shell)], check=True, timeout=60)


def test_completion_detects_the_current_shell(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/usr/bin/fish")
    assert "grader completion fish" in cli("completion").out
    monkeypatch.setenv("SHELL", "")
    assert "grader completion bash" in cli("completion").out
    monkeypatch.setattr("sys.platform", "win32")
    assert "grader completion powershell" in cli("completion").out
