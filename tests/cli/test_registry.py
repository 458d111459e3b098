"""The table of commands, which `grader --help` prints, agrees with the Typer apps."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import subprocess
import sys
from typing import Any

import pytest
from typer.main import get_command

import grader.cli.commands
from grader.cli.command import load
from grader.cli.main import listing
from grader.cli.registry import COMMANDS
from tests.cli.conftest import Cli


def _commands(name: str) -> dict[str, str]:
    group = get_command(load(name))
    return {key: (command.help or "") for key, command in group.commands.items()}  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_listed_command_exists_with_that_help(name: str) -> None:
    help_text = _commands(name)[name]
    if help_text.startswith("Manage"):
        assert COMMANDS[name][1].startswith(help_text.rstrip("."))
    else:
        assert help_text.startswith(COMMANDS[name][1].partition(";")[0].partition(":")[0])


def test_every_command_is_listed() -> None:
    modules = {module for module, _ in COMMANDS.values()}
    assert modules == {info.name for info in pkgutil.iter_modules(grader.cli.commands.__path__)}
    found = set()
    for module in modules:
        app = importlib.import_module(f"grader.cli.commands.{module}").app
        found |= set(get_command(app).commands)  # type: ignore[attr-defined]
    assert found == set(COMMANDS)


def test_groups_are_listed_with_their_commands() -> None:
    for name in ("user", "sandbox", "db"):
        group = get_command(load(name)).commands[name]  # type: ignore[attr-defined]
        listed = COMMANDS[name][1].partition(": ")[2].split(", ")
        there = [f"{name} {inner}" for inner in group.commands]
        assert listed == ([*there[: len(listed) - 1], "..."] if listed[-1] == "..." else there)


def test_every_command_of_a_server_takes_its_address() -> None:
    """Includes commands that connect in a helper."""
    lacking = []
    for name in COMMANDS:
        if name in (
            "challenge",
            "login",
            "logout",
            "up",
            "user",
            "sandbox",
            "db",
            "admin",
            "test",
            "profile",
        ):
            continue  # they also act on this machine; `login --server` keeps the address
        found = get_command(load(name)).commands[name]  # type: ignore[attr-defined]
        for inner, each in getattr(found, "commands", {"": found}).items():
            options = {option for parameter in each.params for option in parameter.opts}
            if "--server" not in options and "connect" in _globals_of(each):
                lacking.append(f"{name} {inner}".strip())
    assert lacking == []


def _globals_of(command: Any) -> dict[str, Any]:
    return inspect.unwrap(command.callback).__globals__


@pytest.mark.parametrize("args", [[], ["--help"], ["-h"], ["help"]])
def test_the_listing_names_every_command(cli: Cli, args: list[str]) -> None:
    ran = cli(*args)
    assert (ran.code, ran.out.rstrip(), ran.err) == (0, listing().rstrip(), "")
    assert all(f"\n  {name} " in ran.out for name in COMMANDS)
    assert max(len(line) for line in ran.out.splitlines()) <= 88


def test_version_is_printed(cli: Cli) -> None:
    assert cli("--version").out == "grader 0.1.0\n"


@pytest.mark.parametrize("arg", ["--help", "--version", "no-such-command"])
def test_the_listing_needs_no_heavy_import(arg: str) -> None:
    code = (
        "import sys; from grader.cli.main import main; main(sys.argv[1:]);"
        "print(*({'typer', 'rich', 'pydantic', 'http', 'dataclasses', 'pathlib'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", code, arg], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == ""


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(cli: Cli, name: str) -> None:
    ran = cli(name, "--help")
    assert ran.code == 0
    assert f"Usage: grader {name}" in ran.out
